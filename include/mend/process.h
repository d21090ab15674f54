/* mend/process.h: keep an MPI program running when its processes die.
 *
 * A base communicator is split into active ranks and spares. The active ranks work on the
 * *resilient communicator*. When a process dies, a revoke informs every survivor, all agree on who
 * is left, spares replace the dead ranks (rank numbers are kept), and work continues.
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
 * CAVEATS
 * - This layer needs an MPI library with ULFM, started with it (Open MPI 5: `mpirun --with-ft
 *   ulfm`); otherwise mend_process_open returns MEND_ERR_NO_ULFM. The other layers work without
 *   ULFM.
 * - A rank notices a failure in its next MPI call on the resilient communicator or on one derived
 *   from it, or in mend_process_check(). A repair waits for ranks that compute, and for ranks that
 *   communicate only among themselves on a small communicator until they use a larger one.
 * - One thread, the one that called mend_process_open, makes the calls of this header. Other
 *   threads may communicate; if they see a failure, they revoke and leave the repair to that thread.
 * - After a repair, old handles (the old communicator and everything derived from it) are invalid.
 *   Get the new one from mend_process_state(). For requests on them see mend_process_request().
 * - MPI_COMM_WORLD stays broken once a process died. Do not use it after the start.
 * - The layer ignores SIGPIPE from the start, unless the program has set a handler, because a write
 *   to the connection of a dead process raises it.
 * - The layer does not repair RMA windows and files on the old communicator.
 *
 * ERRORS
 * Functions return 0 or a negative MEND_ERR_* code; mend_error_text() has the facts. "The common
 * errors" below are MEND_ERR_ARGUMENT (a NULL pointer), MEND_ERR_THREAD (the caller is not the
 * thread that called mend_process_open) and MEND_ERR_STOPPED (the job was stopped by agreement).
 * After MEND_ERR_STOPPED or MEND_ERR_HUNG only mend_process_close is useful.
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
    MEND_ROLE_SPARE = 3,     /* waiting; only with options.spares_return */
    MEND_ROLE_RELEASED = 4   /* a spare that was never needed; the work has ended or was stopped */
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
    MEND_POLICY_SHRINK = 3, /* only survivors continue; rank numbers change, order is kept */
    MEND_POLICY_STOP = 4    /* every survivor gets MEND_ERR_STOPPED, agreed */
} mend_policy;
#define MEND_POLICIES 4

/* The present generation, as this process knows it. All fields but role, comm, rank, caused_by,
 * detected and repaired are agreed: equal on all ranks. Owned by the layer, valid until the next
 * repair. Later versions add fields at the end: do not keep arrays of it. */
typedef struct mend_repair {
    int generation;      /* 0 after the start, one more with every agreed repair */
    mend_role role;      /* of this process */
    MPI_Comm comm;       /* the resilient communicator; MPI_COMM_NULL on a spare */
    int rank, size;      /* in comm; rank is -1 on a spare */
    mend_policy policy;  /* that made this generation; MEND_POLICY_NONE: the start */
    int spares;          /* left */
    int n_failed;        /* ranks that died since the last generation ... */
    const int *failed;   /* ... by their number in that generation */
    int n_replaced;      /* ranks whose process may lack its data: those replaced since the last */
    const int *replaced; /* generation in which every rank had settled, by their number now */
    int caused_by;       /* MPI error code that brought this process into the repair, or 0 */
    double detected;     /* seconds (CLOCK_REALTIME) when this process noticed the failure */
    double repaired;     /* and when the repair was agreed */
} mend_repair;

/* Runs on every active rank after an agreed repair and before it resumes, newest first.
 * Collective if it communicates on now->comm, which it may. If a process dies in the meantime, the
 * callback ends: in mode JUMP by a jump; otherwise its MPI calls return errors and it should return
 * soon. The layer then repairs again and runs all callbacks again. */
typedef void mend_process_callback(mend_process *p, const mend_repair *now, void *arg);

/* Makes a communicator from the resilient one, for example by MPI_Comm_split. Collective over comm.
 * Returns 0 or an MPI error code. */
typedef int mend_process_build(MPI_Comm comm, MPI_Comm *made, void *arg);

typedef struct mend_process_builder {
    mend_process_build *build;
    void *arg;
    MPI_Comm *made; /* gets the communicator now and after every repair */
} mend_process_builder;

/* All zero is a good start. Must be equal on all processes, except args and domain. */
typedef struct mend_process_options {
    int spares; /* processes held back, the last ones of the base */
    mend_resume resume;
    /* Policies, tried in this order; all 0: MEND_PROCESS_POLICY, or SPARE. If none can repair the
     * job, all agree to stop it. */
    mend_policy order[MEND_POLICIES];
    mend_process_callback *on_repair; /* the oldest callback; also runs on recovered ranks */
    void *on_repair_arg;
    /* Called for MPI errors that are not failures (for example a wrong rank), in modes JUMP and
     * RETURN; then the MPI call returns its code. NULL: the MPI call only returns its code. */
    void (*on_error)(MPI_Comm comm, int mpi_error_code, void *arg);
    void *on_error_arg;
    const mend_process_builder *builders; /* run inside every repair, on recovered ranks too */
    int n_builders;
    int spares_return;   /* open returns on spares (role SPARE); wait with mend_process_wait */
    int explicit_settle; /* a rank has its data back only when it calls mend_process_settled */
    int domain;          /* failure domain of this process, > 0; 0: its node */
    /* Returns the rank whose domain a replacement of `rank` should avoid (it holds the copy), or -1;
     * the same on all ranks. */
    int (*keep_apart)(int rank, int size, void *arg);
    void *keep_apart_arg;
    const char *spawn_command; /* for MEND_POLICY_SPAWN; NULL: this program ... */
    char **spawn_argv;         /* ... and its arguments; NULL: those of this process */
    double watchdog; /* seconds in one phase until MEND_ERR_HUNG; 0: MEND_PROCESS_WATCHDOG */
    /* > 0: kill processes on the same node that have been stopped for this many seconds; 0:
     * MEND_PROCESS_HANG_TIMEOUT (default: off). See below. */
    double hang_timeout;
} mend_process_options;

/* hang_timeout: a process that is stopped (SIGSTOP, a debugger, a dead file system) is not dead for
 * MPI. With this option every process has a thread that beats ten times per timeout in memory
 * shared by its node. If a beat is older than the timeout, another process of the node kills that
 * process (SIGKILL), and it becomes an ordinary failure. The cost is one thread per process and ten
 * wake-ups per timeout. It also kills a process that the machine does not schedule for this long.
 * The option does not detect a main thread in an endless loop, nor a silent node (use Open MPI's
 * mpi_ft_detector). */

/* Start on `base`, with the last options->spares processes held back. `options` may be NULL.
 *
 * Collective over base. Agreed, except for the errors that a process finds before it meets the
 * others (marked *). The layer does not change base and does not need it again.
 * Active ranks return with role INITIAL. Spares return when they are needed (RECOVERED) or when all
 * others have finished (RELEASED), unless options->spares_return is set. A process that dies before
 * or inside the call is a failure like any other: the call ends with those that are left.
 * Free the handle with mend_process_close, also after an error of another call.
 *
 * Errors: MEND_ERR_ARGUMENT (spares < 0 or >= size, options that differ between ranks; *: NULL, an
 * intercommunicator, an unknown policy or mode), MEND_ERR_NO_ULFM*, MEND_ERR_STATE* (MPI is not
 * running, or this process has a handle already), MEND_ERR_CONFIG*, MEND_ERR_UNSUPPORTED* (an option
 * that this library does not know), MEND_ERR_MPI* (a static MPI library), MEND_ERR_NO_MEMORY,
 * MEND_ERR_STOPPED (too few processes are left), MEND_ERR_HUNG. After an error *process is NULL. */
static inline int mend_process_open(MPI_Comm base, const mend_process_options *options,
                                    mend_process **process);
/* The same; `size` and `builder_size` are the lengths that the caller's header gives the options and a
 * builder, so that a later version can add fields. Options that this library does not know must be
 * zero; it refuses builders of another length. Collective over base, agreed, deaths and errors: as
 * mend_process_open. */
MEND_API int mend_process_open_sized(MPI_Comm base, const mend_process_options *options,
                                     size_t size, size_t builder_size, mend_process **process);
static inline int mend_process_open(MPI_Comm base, const mend_process_options *options,
                                    mend_process **process)
{
    return mend_process_open_sized(base, options, sizeof *options, sizeof *options->builders,
                                   process);
}

/* Mode JUMP: the line that survivors come back to. The calling function must not return while
 * the program works on the resilient communicator. Its locals that change after this line must be
 * volatile.
 *
 * Not collective the first time (and no barrier); after a failure collective over all processes
 * left, and agreed. A process that dies inside the call is one more failure to repair.
 * Errors: the common errors; MEND_ERR_HUNG, MEND_ERR_NO_MEMORY. */
#define mend_process_resume_here(process) \
    (_setjmp(*mend_process_jump_buffer(process)), mend_process_resume(process))
MEND_API jmp_buf *mend_process_jump_buffer(mend_process *p); /* for the macro; not collective */
MEND_API int mend_process_resume(mend_process *p);           /* for the macro; as the macro */

/* Run body(p, now, arg) on every active rank, and again from its beginning after each repair, until
 * it returns without a failure; then close. The whole life of a resilient program in one call.
 * *result gets the return value of body (0 on a spare that was not needed). options->resume is
 * ignored.
 *
 * Collective over base. Agreed, as in mend_process_open. A death is a failure to repair.
 * Errors: those of mend_process_open. */
typedef int mend_process_body(mend_process *p, const mend_repair *now, void *arg);
MEND_API int mend_process_run_sized(MPI_Comm base, const mend_process_options *options, size_t size,
                                    size_t builder_size, mend_process_body *body, void *arg,
                                    int *result);
static inline int mend_process_run(MPI_Comm base, const mend_process_options *options,
                                   mend_process_body *body, void *arg, int *result)
{
    return mend_process_run_sized(base, options, sizeof *options, sizeof *options->builders, body,
                                  arg, result);
}

/* Mode MANUAL: call it when an MPI call has returned a failure (mend_process_is_failure), or when
 * all processes should meet. Revokes, agrees, repairs and runs the callbacks. Then see
 * mend_process_state().
 *
 * Collective over all processes left: errors of their own MPI calls bring the others in.
 * Agreed. No jump. A process that dies inside the call is one more failure to repair.
 * Errors: the common errors; MEND_ERR_HUNG, MEND_ERR_NO_MEMORY, MEND_ERR_STATE (a spare, or not at
 * work), MEND_ERR_PEER_FAILED (called inside a callback: return from it). */
MEND_API int mend_process_repair(mend_process *p);

/* With options.spares_return: wait until this spare is needed or released; then see its role.
 * Collective with the repairs of the others. Agreed. Uses almost no CPU time. A death of an active
 * rank ends the wait; a death of another spare does not. Returns 0 at once on a process that is not
 * a spare. Errors: the common errors; MEND_ERR_HUNG, MEND_ERR_NO_MEMORY. */
MEND_API int mend_process_wait(mend_process *p);

/* The present generation. Not collective. Never NULL, unless p is NULL. No errors. */
MEND_API const mend_repair *mend_process_state(const mend_process *p);

/* The role of any rank of the present generation, and how many ranks have a role (for SPARE: spares
 * left). Not collective; the same answer on all ranks. Deaths change it only by a repair.
 * Errors: MEND_ERR_ARGUMENT (NULL, no such rank, no such role). */
MEND_API int mend_process_role_of(const mend_process *p, int rank, mend_role *role);
MEND_API int mend_process_count_role(const mend_process *p, mend_role role, int *count);

/* Check now whether this process knows of a failure. Drives MPI's progress once. With `act` set, mode
 * JUMP jumps after a failure, and mode RETURN repairs before it returns.
 *
 * Not collective and not agreed; a repair is both. Returns 0 if no failure is known.
 * Errors: MEND_ERR_PEER_FAILED (in mode MANUAL or without `act`, repair next); the common errors;
 * MEND_ERR_STATE (not at work); with `act` those of mend_process_repair. */
MEND_API int mend_process_check(mend_process *p, int act);

/* 1 if this MPI error code is that of a failed peer or a revoked communicator, else 0. Not
 * collective. No errors. */
MEND_API int mend_process_is_failure(int mpi_error_code);

/* Push a callback (the newest runs first); pop the newest (the one of the options stays). Not
 * collective. Errors: the common errors; MEND_ERR_NO_MEMORY, MEND_ERR_STATE (nothing to pop). */
MEND_API int mend_process_callback_push(mend_process *p, mend_process_callback *callback,
                                        void *arg);
MEND_API int mend_process_callback_pop(mend_process *p);

/* With options.explicit_settle: this rank has its data. Until then a later repair lists it in
 * `replaced` again and a recovered process keeps its role. Not collective. Errors: the common
 * errors. */
MEND_API int mend_process_settled(mend_process *p);

/* The layer knows every communicator that an MPI call makes from the resilient one, and revokes it
 * with that one. Name here one that it cannot see (made by a library that was linked statically with
 * its own MPI symbols). Not collective, but every member should call. Errors: the common errors;
 * MEND_ERR_ARGUMENT (MPI_COMM_NULL), MEND_ERR_MPI (the communicator takes no attribute). */
MEND_API int mend_process_watch(mend_process *p, MPI_Comm comm);

/* Build *made now and again after every repair. A second call with the same `made` rebuilds it in
 * place. A recovered rank must call it, too, as survivors do in mode JUMP when they run their set-up
 * again. Put builders that a recovered rank should run inside the repair into the options.
 *
 * Collective over comm of the present generation. The result is that of `build`, not agreed. If a
 * peer dies inside the call, mode JUMP jumps; otherwise MEND_ERR_PEER_FAILED.
 * Errors: the common errors; MEND_ERR_STATE (not at work), MEND_ERR_PEER_FAILED, MEND_ERR_MPI,
 * MEND_ERR_NO_MEMORY. */
MEND_API int mend_process_builder_add(mend_process *p, mend_process_build *build, void *arg,
                                      MPI_Comm *made);

/* Find out whether a request that was pending when a process died has completed. *request is
 * MPI_REQUEST_NULL afterwards in either case. LOST: it did not complete, or nobody can know.
 * Not collective; waits a second at most; never starts a repair. Errors: the common errors. */
typedef enum mend_request_fate {
    MEND_REQUEST_COMPLETED = 0,
    MEND_REQUEST_LOST = 1
} mend_request_fate;
MEND_API int mend_process_request(mend_process *p, MPI_Request *request, MPI_Status *status,
                                  mend_request_fate *fate);

/* The end of the work: releases the spares and frees the handle.
 *
 * Collective over the active ranks. Agreed: either all have finished, or a process died before all
 * had called this function, and its rank must do work again. Then the call repairs the job: mode
 * JUMP jumps back; RETURN and MANUAL return MEND_ERR_PEER_FAILED with the handle alive and the new
 * state in place. A death after all have called is ignored. The call cannot hang after failures,
 * and MPI_Finalize after it does not either: loading libmend sets OMPI_MCA_async_mpi_finalize=1
 * unless it is set. mend_process_open may be called again afterwards. A handle whose job was
 * stopped is only freed (not collective).
 * Errors: MEND_ERR_PEER_FAILED (repaired, not freed), MEND_ERR_STOPPED and MEND_ERR_HUNG (not freed:
 * close again), MEND_ERR_NO_MEMORY, MEND_ERR_STATE (inside a repair), MEND_ERR_THREAD,
 * MEND_ERR_ARGUMENT (NULL). */
MEND_API int mend_process_close(mend_process *p);

#ifdef __cplusplus
}
#endif
#endif
