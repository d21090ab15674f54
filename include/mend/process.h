/* mend/process.h: keep an MPI program running when its processes die.
 *
 * A base communicator is split into active ranks and spares. The active ranks work on the
 * *resilient communicator*. When a process dies, every survivor is told (revoke), all agree on who
 * is left, spares take the places of the dead (rank numbers are kept), and work goes on.
 *
 *     mend_process *p;
 *     mend_process_options options = {.spares = 1, .resume = MEND_RESUME_JUMP};
 *     mend_process_open(MPI_COMM_WORLD, &options, &p);   // spares wait in here
 *     int rc = mend_process_resume_here(p);               // survivors come back to this line
 *     const mend_repair *now = mend_process_state(p);
 *     if (rc == 0 && now->role != MEND_ROLE_RELEASED)
 *         work(now->comm, now->role);
 *     mend_process_close(p);
 *     MPI_Finalize();
 *
 * Caveats, all of them:
 * - Needs an MPI library with ULFM, started with it (Open MPI 5: `mpirun --with-ft ulfm`); else
 *   mend_process_open returns MEND_ERR_NO_ULFM. All other layers of Mend work without.
 * - A rank notices a failure in its next MPI call on the resilient communicator or on one derived
 *   from it, or in mend_process_check(). A repair waits for ranks that compute, and for ranks that
 *   talk only among themselves on a small communicator until they use a larger one.
 * - One thread, the one that called mend_process_open, makes the calls of this header. Other
 *   threads may communicate; a failure that they see is revoked and left to that thread.
 * - After a repair, old handles (the old communicator and everything derived from it) are dead;
 *   take the new one from mend_process_state(). Requests on them: mend_process_request().
 * - MPI_COMM_WORLD stays broken once a process died. Do not use it after the start.
 * - SIGPIPE is ignored from the start on, unless the program has set it: writing to the connection of
 *   a dead process raises it.
 * - RMA windows and files on the old communicator are not repaired.
 */
#ifndef MEND_PROCESS_H
#define MEND_PROCESS_H

#include <mend/error.h>
#include <mpi.h>
#include <setjmp.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mend_process mend_process;

typedef enum mend_role {
    MEND_ROLE_INITIAL = 0,   /* nothing has failed yet */
    MEND_ROLE_RECOVERED = 1, /* a spare or a new process: it has none of its rank's data */
    MEND_ROLE_SURVIVOR = 2,  /* it has worked before the failure, its memory is intact */
    MEND_ROLE_SPARE = 3,     /* waiting; seen with options.spares_return only */
    MEND_ROLE_RELEASED = 4   /* a spare that was never needed; the work is done (or was stopped) */
} mend_role;

typedef enum mend_resume {
    MEND_RESUME_MANUAL = 0, /* MPI calls return their error; the caller calls mend_process_repair */
    MEND_RESUME_JUMP = 1,   /* repair, then jump to mend_process_resume_here */
    MEND_RESUME_RETURN = 2  /* repair inside the failing MPI call, which then returns its error */
} mend_resume;

typedef enum mend_policy {
    MEND_POLICY_NONE = 0,
    MEND_POLICY_SPARE = 1,  /* spares take the places of dead ranks; rank numbers are kept */
    MEND_POLICY_SPAWN = 2,  /* new processes take them (MPI_Comm_spawn) */
    MEND_POLICY_SHRINK = 3, /* the survivors close ranks; rank numbers change, order is kept */
    MEND_POLICY_STOP = 4    /* every survivor gets MEND_ERR_STOPPED, agreed */
} mend_policy;
#define MEND_POLICIES 4

/* What this process knows of the present generation. All fields but role, comm, rank and caused_by
 * are agreed: equal on all ranks. Owned by the layer, valid until the next repair. Later versions add
 * fields at the end: do not keep arrays of it. */
typedef struct mend_repair {
    int generation;      /* 0 after the start, one more with every agreed repair */
    mend_role role;      /* of this process */
    MPI_Comm comm;       /* the resilient communicator; MPI_COMM_NULL on a spare */
    int rank, size;      /* in comm; rank is -1 on a spare */
    mend_policy policy;  /* that made this generation; MEND_POLICY_NONE: the start */
    int spares;          /* left */
    int n_failed;        /* ranks that died since the last generation ... */
    const int *failed;   /* ... by their number in that generation */
    int n_replaced;      /* ranks whose process may lack its data: replaced since the last */
    const int *replaced; /* generation that every rank has settled in, by their number now */
    int caused_by;       /* MPI error code that brought this process into the repair, or 0 */
    double detected;     /* seconds (CLOCK_REALTIME) when this process noticed the failure */
    double repaired;     /* and when the repair was agreed */
} mend_repair;

/* Called on every active rank after an agreed repair and before it resumes, newest first.
 * It may communicate on now->comm. If a process dies meanwhile, the callback is left: in mode JUMP
 * by a jump, otherwise its MPI calls return errors and it should return soon; the repair is done
 * again and so are the callbacks. */
typedef void mend_process_callback(mend_process *p, const mend_repair *now, void *arg);

/* Makes a communicator from the resilient one, for example by MPI_Comm_split. Collective.
 * Returns 0, or an MPI error code if it could not. */
typedef int mend_process_build(MPI_Comm comm, MPI_Comm *made, void *arg);

typedef struct mend_process_builder {
    mend_process_build *build;
    void *arg;
    MPI_Comm *made; /* gets the communicator now and after every repair */
} mend_process_builder;

/* All zero is a good start. Must be equal on all processes, but for args and domain. */
typedef struct mend_process_options {
    int spares; /* processes held back, the last ones of the base */
    mend_resume resume;
    mend_policy
        order[MEND_POLICIES]; /* tried in this order; all 0: MEND_PROCESS_POLICY, or SPARE */
                              /* what none of them can repair is stopped, agreed */
    mend_process_callback *on_repair; /* the oldest callback; also runs on recovered ranks */
    void *on_repair_arg;
    /* Called for MPI errors that are not failures (a wrong rank, say), in modes JUMP and RETURN;
     * afterwards the MPI call returns its code. NULL: it just returns it. */
    void (*on_error)(MPI_Comm comm, int mpi_error_code, void *arg);
    void *on_error_arg;
    const mend_process_builder *builders; /* rebuilt within the repair, on recovered ranks too */
    int n_builders;
    int spares_return;   /* start returns on spares (role SPARE); wait with mend_process_wait */
    int explicit_settle; /* a rank has its data back only when it says mend_process_settled */
    int domain;          /* failure domain of this process, > 0; 0: its node */
    int (*keep_apart)(int rank, int size, void *arg); /* a rank whose domain a replacement of */
    void *keep_apart_arg; /* `rank` should avoid (it holds the copy), or -1; same on all ranks */
    const char *spawn_command; /* for MEND_POLICY_SPAWN; NULL: this program ... */
    char **spawn_argv;         /* ... and its arguments; NULL: those of this process */
    double watchdog;     /* seconds in one phase until MEND_ERR_HUNG; 0: MEND_PROCESS_WATCHDOG */
    double hang_timeout; /* > 0: stopped processes of a node are found after so many seconds and */
                         /* killed; 0: MEND_PROCESS_HANG_TIMEOUT (default: off). See below */
} mend_process_options;

/* hang_timeout: a process that is stopped (SIGSTOP, a debugger, a dead file system) is not dead for
 * MPI. With this option every process has a thread that beats ten times per timeout in memory
 * shared by its node; a process whose beat is older than the timeout is killed (SIGKILL) by
 * another one of its node, and so becomes an ordinary failure. Price: one thread per process, ten
 * wake-ups per timeout; a machine that does not schedule a process for so long loses it. It does
 * not see a main thread in an endless loop, nor a silent node (use Open MPI's mpi_ft_detector). */

/* Start on `base`, with the last options->spares processes held back. `options` may be NULL.
 *
 * Collective over base; base itself is not touched and not needed again. Agreed.
 * Active ranks return with role INITIAL. Spares return when they are needed (RECOVERED) or when all
 * others have finished (RELEASED), unless options->spares_return is set. Processes that die before
 * or inside the call are treated as failures: the call ends with those that are left.
 * The handle is freed by mend_process_close, also after an error of another call.
 *
 * Errors: MEND_ERR_ARGUMENT (spares < 0 or >= size, NULL, options that differ between ranks),
 * MEND_ERR_NO_ULFM, MEND_ERR_STOPPED (too few processes are left), MEND_ERR_HUNG,
 * MEND_ERR_NO_MEMORY. After an error *process is NULL. */
static inline int mend_process_open(MPI_Comm base, const mend_process_options *options,
                                    mend_process **process);
/* The same; `size` is the length that the caller's header gives the options, so that a later version
 * can add fields. Fields that this library does not know must be zero: else MEND_ERR_UNSUPPORTED. */
MEND_API int mend_process_open_sized(MPI_Comm base, const mend_process_options *options,
                                     size_t size, mend_process **process);
static inline int mend_process_open(MPI_Comm base, const mend_process_options *options,
                                    mend_process **process)
{
    return mend_process_open_sized(base, options, sizeof *options, process);
}

/* Mode JUMP: the line that survivors come back to. Returns 0, or MEND_ERR_STOPPED or
 * MEND_ERR_HUNG when the job cannot be repaired. The calling function must not return while
 * the program works on the resilient communicator; its locals that change after this line must be
 * volatile. Not a barrier the first time; collective over all processes left after a failure. */
#define mend_process_resume_here(process) \
    (_setjmp(*mend_process_jump_buffer(process)), mend_process_resume(process))
MEND_API jmp_buf *mend_process_jump_buffer(mend_process *p); /* for mend_process_resume_here */
MEND_API int mend_process_resume(mend_process *p);           /* for mend_process_resume_here */

/* Run body(p, now, arg) on every active rank, and again from its beginning after each repair, until
 * it returns without a failure; then finalize. The whole life of a resilient program in one call.
 * *result gets what body returned (0 on a spare that was not needed). options->resume is ignored.
 *
 * Collective over base. Errors: those of mend_process_open, MEND_ERR_STOPPED. */
typedef int mend_process_body(mend_process *p, const mend_repair *now, void *arg);
MEND_API int mend_process_run_sized(MPI_Comm base, const mend_process_options *options, size_t size,
                                    mend_process_body *body, void *arg, int *result);
static inline int mend_process_run(MPI_Comm base, const mend_process_options *options,
                                   mend_process_body *body, void *arg, int *result)
{
    return mend_process_run_sized(base, options, sizeof *options, body, arg, result);
}

/* Mode MANUAL: an MPI call has returned a failure (mend_process_is_failure), or the caller wants
 * all to meet: tell everybody, agree, repair, run the callbacks. Then see mend_process_state().
 *
 * Collective over all processes left: the others are brought in by errors of their own MPI calls.
 * Agreed. No jump. A process that dies inside the call is one more failure to repair.
 * Errors: MEND_ERR_STOPPED, MEND_ERR_HUNG, MEND_ERR_STATE. */
MEND_API int mend_process_repair(mend_process *p);

/* With options.spares_return: wait until this spare is needed or released; see role afterwards.
 * Collective with the repairs of the others. Costs next to no CPU. Errors: as repair. */
MEND_API int mend_process_wait(mend_process *p);

/* The present generation. Not collective. Never NULL for a started handle; NULL for p == NULL. */
MEND_API const mend_repair *mend_process_state(const mend_process *p);

/* The role of any rank of the present generation, and how many ranks have a role (for SPARE: spares
 * left). Not collective, the same answer on all ranks. Errors: MEND_ERR_ARGUMENT. */
MEND_API int mend_process_role_of(const mend_process *p, int rank, mend_role *role);
MEND_API int mend_process_count_role(const mend_process *p, mend_role role, int *count);

/* Look now whether a failure is known here. Not collective; drives MPI's progress once.
 * Returns 0, or MEND_ERR_PEER_FAILED: the next step is a repair. With `act` set, mode JUMP jumps
 * and mode RETURN repairs before it returns. */
MEND_API int mend_process_check(mend_process *p, int act);

/* Is this MPI error code one of a failed peer or a revoked communicator? Not collective. */
MEND_API int mend_process_is_failure(int mpi_error_code);

/* Push a callback, newest first; pop the newest (the one of the options stays). Not collective.
 * Errors: MEND_ERR_ARGUMENT, MEND_ERR_STATE (nothing to pop). */
MEND_API int mend_process_callback_push(mend_process *p, mend_process_callback *callback,
                                        void *arg);
MEND_API int mend_process_callback_pop(mend_process *p);

/* With options.explicit_settle: this rank has its data. Until then a later repair lists it in
 * `replaced` again and a recovered process keeps its role. Not collective. */
MEND_API int mend_process_settled(mend_process *p);

/* Communicators made from the resilient one by any MPI call are known to the layer and revoked with
 * it. For one that it cannot see (made by a library that was linked statically with its own MPI
 * symbols), say so. Not collective, but every member should. */
MEND_API int mend_process_watch(mend_process *p, MPI_Comm comm);

/* Build *made now and again after every repair. Collective over comm of the present generation.
 * Calling it again with the same `made` rebuilds it in place. A recovered rank must call it, too,
 * as survivors do in mode JUMP when they run their set-up again; builders that a recovered rank
 * should run inside the repair belong into the options. Errors: MEND_ERR_ARGUMENT,
 * MEND_ERR_PEER_FAILED (mode MANUAL), MEND_ERR_MPI. */
MEND_API int mend_process_builder_add(mend_process *p, mend_process_build *build, void *arg,
                                      MPI_Comm *made);

/* What became of a request that was pending when a process died? Not collective, never blocks for
 * long, never starts a repair. *request is MPI_REQUEST_NULL in either case.
 * LOST means: it did not complete, or its completion cannot be known. */
typedef enum mend_request_fate {
    MEND_REQUEST_COMPLETED = 0,
    MEND_REQUEST_LOST = 1
} mend_request_fate;
MEND_API int mend_process_request(mend_process *p, MPI_Request *request, MPI_Status *status,
                                  mend_request_fate *fate);

/* The end of the work: releases the spares and frees the handle.
 *
 * Collective over the active ranks. Agreed: either all have finished, or a process died before all
 * came here and its rank has work to do again. Then the job is repaired: mode JUMP jumps back;
 * RETURN and MANUAL return MEND_ERR_PEER_FAILED with the handle alive and the new state in place.
 * A death after all have come is ignored. Cannot hang after failures, and MPI_Finalize after it
 * does not either: loading libmend sets OMPI_MCA_async_mpi_finalize=1 unless it is set. Start may
 * be called again afterwards. A handle that was stopped is just freed. Errors: MEND_ERR_PEER_FAILED
 * (not freed), MEND_ERR_ARGUMENT. */
MEND_API int mend_process_close(mend_process *p);

#ifdef __cplusplus
}
#endif
#endif
