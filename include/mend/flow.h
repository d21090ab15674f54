/* mend/flow.h: survive failures with a few changed lines.
 *
 *     #include <mend/flow.h>                      // instead of <mpi.h>
 *     ...
 *     mend_view("grid", grid, n, MPI_DOUBLE, 0);  // what must survive
 *     mend_view("step", &step, 1, MPI_INT, MEND_CONTROL);
 *     for (; mend_point() && step < steps; step++) { // when, and where to come back to
 *         ...
 *     }
 *
 * mend_point() at the top of a loop is a safe point: it saves the views when a save is due and
 * restores them after a failure; then the program evaluates the loop's condition. `break`,
 * `continue` and `return` keep their meaning. When a process dies, survivors jump back to the safe
 * point of the newest complete version. A spare takes the place of the dead rank, runs the program's
 * set-up, and joins them there. A job that is restarted in the same folder finds its last version
 * and resumes from it, by the same code.
 *
 * With this header MPI_COMM_WORLD means the communicator of the working ranks, which Mend repairs
 * after a failure. Spares (the last MEND_FLOW_SPARES processes) wait in MPI_Init. MPI_Finalize
 * returns only when all ranks have called it. Define MEND_FLOW_NO_WORLD before including it to keep
 * MPI's own meaning, and use a context (mend_flow_open and the mend_flow_ functions).
 *
 * RULES
 *  - Everything that changes from one safe point to the next and is read afterwards must be a view.
 *    Locals of the function with the safe point that are not views have an unspecified value after a
 *    failure if they change inside the loop.
 *  - A replacement runs the set-up before the first safe point again, alone. Put code that
 *    communicates there into `if (mend_first()) ...`, and code that makes a communicator into
 *    mend_rebuild().
 *  - Communicators derived from MPI_COMM_WORLD become invalid with it: make them in mend_rebuild().
 *  - The function that holds the loop, or one of its callers, calls MPI_Init and MPI_Finalize.
 *  - If a function had safe points in an earlier call and communicates before its first safe point,
 *    call mend_leave() when it is entered again.
 *  - All ranks pass the same safe points in the same order, on one thread (that of MPI_Init).
 *  - free() a view's memory after MPI_Finalize, directly before it, or after mend_view_remove().
 *
 * SEVERAL LOOPS. Each mend_point() in the source is a separate place. If a replacement reaches
 * another place than that of the version to restore, it continues to that place: out of a loop that
 * is over (mend_point() returns 0), into one that is still open (views are restored, so its
 * condition holds). A loop is open if it was reached again after the inner place, or has been
 * entered only once so far.
 *
 * DEATHS. A peer's death shows in the next MPI call or at the next safe point. Survivors then leave
 * whatever they do by a jump, recover together, and continue at the safe point of the version. Calls
 * that are not collective do not notice a death.
 *
 * ERRORS. Functions with a context return 0 or a negative MEND_ERR_* code. The short forms, made
 * for programs that check nothing, print the reason to stderr and end the job (MPI_Abort), unless
 * MEND_FLOW_ON_ERROR=return: then mend_point() always returns 0 and mend_status() has the code.
 * This error stops the context: later calls that name views return it, too.
 *
 * CONFIGURATION (variables, or [flow] in the file of MEND_CONFIG): every, spares, name, learn,
 * rollback, report, process, on_error; the store's keys apply too. See mend-flow(7).
 */
#ifndef MEND_FLOW_H
#define MEND_FLOW_H

#include <mend/error.h>
#include <mend/types.h>
#include <mpi.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Every safe point is a _setjmp, and gcc warns about each local that it keeps in a register across
 * one, changed or not. See RULES above for the locals that matter. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wclobbered"
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mend_flow mend_flow; /* opaque; NULL stands for the context that MPI_Init made */

/* ---- views: what must survive ---------------------------------------------------------------- */

enum {
    MEND_CONTROL = 1,  /* controls the program (a loop counter); agreed in a partial rollback */
    MEND_CONSTANT = 2, /* made by set-up, never changed: only its hash is saved, and checked */
    MEND_SCRATCH = 4,  /* dead at safe points: named for the report, never saved */
    MEND_KEEP = 8,     /* survivors keep their content, only a replacement restores it */
    MEND_TRY = 16,     /* learn mode may fill it with zeros even if it is not floating point */
};

/* Name `count` elements of `type` at `address` as a view. Use the same label again if the data has
 * moved or changed its length. Mend finds overlapping views by address and saves them once. The
 * memory stays the caller's. Not collective, but all ranks need views with the same labels; lengths
 * may differ.
 * Errors: MEND_ERR_VIEW (null pointer, bad label, type or flags, two labels with the same hash),
 * MEND_ERR_NO_MEMORY, MEND_ERR_STATE (outside MPI_Init and MPI_Finalize), or the error that stopped
 * the context. */
MEND_API int mend_flow_view(mend_flow *flow, const char *label, void *address, size_t count,
                            MPI_Datatype type, unsigned flags);

/* A view whose memory comes from malloc and changes: *count elements of `size` bytes at *pointer. Mend
 * reads both whenever it needs them. A restore reallocates it to the saved length and sets *pointer
 * and *count. Several views may share one count. Not collective. Errors: as mend_flow_view(). */
MEND_API int mend_flow_view_dynamic(mend_flow *flow, const char *label, void *pointer,
                                    size_t *count, size_t size, unsigned flags);

/* A view that is this rank's part of an array over all ranks: `count` elements from element
 * `offset` of `total`. Only these views (and control views) can be restored on another number of
 * ranks, each part as it is registered there. Not collective. Errors: as mend_flow_view();
 * MEND_ERR_VIEW also if the part is not inside the array. */
MEND_API int mend_flow_view_global(mend_flow *flow, const char *label, void *address, size_t count,
                                   MPI_Datatype type, uint64_t offset, uint64_t total,
                                   unsigned flags);

/* `label` holds the same data as `of` at safe points (a swap space): it is not saved. Not
 * collective. Errors: MEND_ERR_VIEW (not two known views). */
MEND_API int mend_flow_alias(mend_flow *flow, const char *label, const char *of);

/* Forget a view, before its memory is freed. Not collective. Errors: MEND_ERR_VIEW (no such label). */
MEND_API int mend_flow_view_remove(mend_flow *flow, const char *label);

/* A variable at file scope as a view, under the variable's name; no call is needed. MPI_Init
 * refuses a mend_state of another size (MEND_ERR_UNSUPPORTED). */
typedef struct mend_state {
    size_t size; /* sizeof(mend_state), set by the macro */
    const char *label;
    void *address;
    size_t bytes;
    unsigned flags;
} mend_state;
#define MEND_STATE_FLAGS(variable, flags)                                                  \
    static mend_state mend_state_of_##variable                                             \
        __attribute__((used, section("mend_state"), aligned(__alignof__(mend_state)))) = { \
            sizeof(mend_state), #variable, &variable, sizeof variable, flags}
#define MEND_STATE(variable) MEND_STATE_FLAGS(variable, 0)
extern mend_state __start_mend_state[] __attribute__((weak, visibility("hidden")));
extern mend_state __stop_mend_state[] __attribute__((weak, visibility("hidden")));

/* Save the whole program: its heap, its variables, and the stack from the safe point up to main().
 * For programs whose data are lists, trees and tables. Add one line at file scope, in one file of the
 * program:
 *
 *     MEND_STATE_ALL;
 *
 * It needs no views (they are accepted and do nothing), no second set-up and no mend_first(): a
 * version is the whole program, and any process of the job can continue from it in the middle of the
 * loop. The executable's calls to malloc and its relatives go to a heap at a fixed address. A
 * restore also resets rand() and drand48() to their state in the version.
 *  - C only; libmend as a shared library; the same executable and libraries on all nodes. Before
 *    main() the program restarts itself with fixed addresses. If a process finds other addresses
 *    than those of the version, it reports that and the job stops.
 *  - Handles of MPI (also a copy of MPI_COMM_WORLD), FILE pointers and memory of libraries are not
 *    saved. Make those that live across safe points in mend_rebuild(), which runs after the memory
 *    was restored and finds them set to NULL. A remaining pointer to memory of this kind is an
 *    error that names the address.
 *  - Not with partial rollback, learn mode, or another number of ranks. */
#define MEND_STATE_ALL                                                                        \
    __attribute__((constructor(101), used)) static void mend_state_all(int argc, char **argv, \
                                                                       char **envp)           \
    {                                                                                         \
        mend_flow_everything(argc, argv, envp);                                               \
    }                                                                                         \
    extern int mend_state_all_needs_a_semicolon
MEND_API void mend_flow_everything(int argc, char **argv,
                                   char **envp); /* for the macro; not collective; no errors */

/* ---- safe points: when, and where to come back to -------------------------------------------- */

typedef struct mend_site {
    size_t size; /* sizeof(mend_site), set by the macro: mend_flow_arrive() refuses another */
    const char *file, *function;
    int line;
    void *inner; /* the library's */
} mend_site;

/* A safe point. 1: continue. 0: leave the loop (see SEVERAL LOOPS, ERRORS).
 * Collective: all ranks pass the same points in the same order. It communicates only when a save is
 * due, when rank 0 decides whether one is, and after a failure. The result is not agreed: a
 * replacement on its way to the job's safe point gets 0 where others get 1. If a peer dies, this
 * call starts the recovery.
 * Errors, by mend_flow_status(): MEND_ERR_STATE (outside MPI_Init and MPI_Finalize), MEND_ERR_THREAD,
 * MEND_ERR_NO_MEMORY, MEND_ERR_MPI, those of the store's save and restore, of the repair and of
 * builders, MEND_ERR_PROGRAM and MEND_ERR_VIEW (the program or its views differ from the saved
 * ones), MEND_ERR_RANK_COUNT, MEND_ERR_NO_VERSION (nothing to go back to, and no start over),
 * MEND_ERR_UNSUPPORTED (the program was built with the header of another Mend). */
#define mend_flow_point(flow)                                                                   \
    (__extension__({                                                                            \
        static mend_site mend_site_here = {sizeof(mend_site), __FILE__, __func__, __LINE__, 0}; \
        mend_flow_arrive((flow), &mend_site_here, __builtin_frame_address(0),                   \
                         _setjmp(*mend_flow_buffer(flow)));                                     \
    }))
MEND_API jmp_buf *mend_flow_buffer(mend_flow *flow); /* for the macro; not collective; no errors */
MEND_API int mend_flow_arrive(mend_flow *flow, mend_site *site, void *frame,
                              int jumped); /* for the macro; collective and errors as there */

/* 1 if the job runs this code for the first time; 0 while this process (a replacement, or part of a
 * restarted job) is on its way to the job's safe point. Not collective. No errors. */
MEND_API int mend_flow_first(mend_flow *flow);

/* Run build(arg) now and again after every repair, before views are restored. It makes derived
 * communicators from MPI_COMM_WORLD (mend_flow_world). A second call with the same pair replaces
 * the first.
 * Collective. The result is that of this rank's build(), not agreed. A death inside build() starts
 * the recovery. Errors: MEND_ERR_ARGUMENT (NULL), MEND_ERR_NO_MEMORY, MEND_ERR_MPI (build returned
 * another value than 0). */
typedef int mend_flow_builder(void *arg);
MEND_API int mend_flow_rebuild(mend_flow *flow, mend_flow_builder *build, void *arg);

/* Watch a communicator that the layer cannot see being made: by Fortran's MPI, or by a library with its
 * own MPI symbols. It becomes invalid when the world does. Call this function where the
 * communicator is made, in a builder. Not collective, but every member should call. Errors:
 * MEND_ERR_STATE (before MPI_Init), MEND_ERR_ARGUMENT (MPI_COMM_NULL), MEND_ERR_MPI. */
MEND_API int mend_flow_watch(mend_flow *flow, MPI_Comm comm);

/* Save at the next safe point. All ranks call it between the same two points, but it does not
 * communicate: not collective. Errors: MEND_ERR_STATE (before MPI_Init). */
MEND_API int mend_flow_save_now(mend_flow *flow);

/* The newest version that this process saved or restored; -1: none. Not collective. No errors. */
MEND_API mend_version_t mend_flow_version(const mend_flow *flow);

/* The number of repairs in which this process took part. Not collective. No errors. */
MEND_API int mend_flow_repairs(const mend_flow *flow);

/* The loop with the last safe point is over: after a failure before the next safe point, the
 * process goes back to MPI_Init. Not collective. No errors: always 0. */
MEND_API int mend_flow_leave(mend_flow *flow);

/* 1 in an iteration whose effects on views learn mode will undo, else 0. A program may use it to print
 * only once. Not collective. No errors. */
MEND_API int mend_flow_rehearsal(const mend_flow *flow);

/* 0, or the error that stopped the context. Not collective, not agreed. No errors of its own. */
MEND_API int mend_flow_status(const mend_flow *flow);

/* The communicator of the working ranks, as repaired. Valid until the next repair. Not collective.
 * No errors. */
MEND_API MPI_Comm mend_flow_world(const mend_flow *flow);

/* Write what is saved, skipped, aliased, dead or constant, view by view, as text; NULL: stderr. Not
 * collective. Errors: MEND_ERR_NO_MEMORY, MEND_ERR_VIEW (a dynamic view with a null pointer). */
MEND_API int mend_flow_report(const mend_flow *flow, FILE *to);

/* ---- contexts -------------------------------------------------------------------------------- */

/* Your own store. All calls are collective over the bound communicator and agreed, except size,
 * read and end. Codes are Mend's; MEND_ERR_PEER_FAILED starts a recovery. */
typedef struct mend_flow_part {
    int id;
    const char *label;
    void *address;
    size_t bytes;
    uint64_t offset, total; /* total > 0: a part of a global array */
} mend_flow_part;
typedef struct mend_flow_store {
    size_t struct_size; /* sizeof(mend_flow_store): later versions may add functions */
    size_t part_size;   /* sizeof(mend_flow_part), the step from parts[0] to parts[1] */
    void *arg;
    int (*bind)(void *arg, MPI_Comm comm, int rank); /* first and after every repair */
    int (*save)(void *arg, mend_version_t version, const mend_flow_part *parts, int count,
                unsigned levels);
    int (*newest)(void *arg, mend_version_t at_most, mend_version_t *version);
    int (*begin)(void *arg, mend_version_t version,
                 int rank); /* make that rank's part readable; -2: none */
    int (*size)(void *arg, int id, size_t *bytes);
    int (*read)(void *arg, int id, size_t offset, void *to, size_t bytes);
    int (*end)(void *arg, mend_version_t version);
    int (*close)(void *arg);
    /* for another number of ranks; both, or both NULL */
    int (*saved_ranks)(void *arg, int *ranks);
    int (*redistribute)(void *arg, mend_version_t version, const mend_flow_part *parts, int count);
} mend_flow_store;

/* Your own repair: `broken` has failed; return the repaired communicator of all processes that
 * continue. Collective over those. A process that it starts or wakes opens its context with
 * `joining` set. */
typedef struct mend_flow_repair {
    size_t struct_size; /* sizeof(mend_flow_repair) */
    void *arg;
    int (*repair)(void *arg, MPI_Comm broken, MPI_Comm *repaired);
    int (*is_failure)(void *arg, int mpi_error_code);
} mend_flow_repair;

typedef enum mend_rollback { MEND_ROLLBACK_FULL, MEND_ROLLBACK_PARTIAL } mend_rollback;
typedef enum mend_on_error { MEND_ON_ERROR_RETURN, MEND_ON_ERROR_ABORT } mend_on_error;

typedef struct mend_flow_options {
    size_t size;      /* sizeof(mend_flow_options), set by mend_flow_defaults() */
    const char *name; /* of the store; a restarted job finds its versions by it */
    long every;       /* save at every n-th point; 0: by seconds */
    double seconds;   /* save at this interval; 0: only by mend_flow_save_now() */
    int automatic;    /* 1: the planner's interval, from measured costs and observed failures */
    double mtbf;      /* prior for `automatic`, seconds */
    int learn;        /* find dead and constant views by experiment */
    mend_rollback rollback;
    mend_on_error on_error;
    int joining;                    /* this process takes the place of a dead one */
    const mend_flow_store *store;   /* NULL: Mend's store, by its configuration */
    const mend_flow_repair *repair; /* NULL: none; MPI decides what a failure does */
} mend_flow_options;

/* Fill from the configuration. Not collective. Errors: MEND_ERR_CONFIG, MEND_ERR_ARGUMENT (NULL). */
MEND_API int mend_flow_defaults_sized(mend_flow_options *options, size_t size);
static inline int mend_flow_defaults(mend_flow_options *options)
{ /* the size that this header gives the options, so that later versions can add fields */
    return mend_flow_defaults_sized(options, sizeof *options);
}

/* Open a context on comm; close it, with a mark that the job has finished. comm stays the caller's
 * and is not freed after a repair. A failure before the first version is MEND_ERR_NO_VERSION.
 *
 * Collective over comm. Agreed, except MEND_ERR_ARGUMENT, MEND_ERR_CONFIG and MEND_ERR_UNSUPPORTED. If
 * a peer dies inside, open recovers with the repair of the options or, without one, returns
 * MEND_ERR_PEER_FAILED; close returns MEND_ERR_PEER_FAILED and the context is gone.
 * Errors: MEND_ERR_ARGUMENT (no communicator, no place for the handle, options not from
 * mend_flow_defaults(), a table of functions without its size), MEND_ERR_CONFIG,
 * MEND_ERR_UNSUPPORTED (an option or a size that this library does not know), MEND_ERR_NO_MEMORY,
 * MEND_ERR_MPI, MEND_ERR_PEER_FAILED, MEND_ERR_PROGRAM; those of mend_store_open() and
 * mend_store_save(). */
MEND_API int mend_flow_open(MPI_Comm comm, const mend_flow_options *options, mend_flow **flow);
MEND_API int mend_flow_close(mend_flow *flow);

/* ---- the short forms ------------------------------------------------------------------------- */

#define mend_view(label, address, count, type, flags) \
    mend_flow_checked(mend_flow_view(0, label, address, count, type, flags))
#define mend_view_dynamic(label, pointer, count, size, flags) \
    mend_flow_checked(mend_flow_view_dynamic(0, label, pointer, count, size, flags))
#define mend_view_global(label, address, count, type, offset, total, flags) \
    mend_flow_checked(mend_flow_view_global(0, label, address, count, type, offset, total, flags))
#define mend_alias(label, of)    mend_flow_checked(mend_flow_alias(0, label, of))
#define mend_view_remove(label)  mend_flow_checked(mend_flow_view_remove(0, label))
#define mend_rebuild(build, arg) mend_flow_checked(mend_flow_rebuild(0, build, arg))
#define mend_point()             mend_flow_point((mend_flow *)0)
#define mend_first()             mend_flow_first(0)
#define mend_save_now()          mend_flow_save_now(0)
#define mend_version()           mend_flow_version(0)
#define mend_repairs()           mend_flow_repairs(0)
#define mend_leave()             mend_flow_leave(0)
#define mend_rehearsal()         mend_flow_rehearsal(0)
#define mend_status()            mend_flow_status(0)
#define mend_report(file)        mend_flow_report(0, file)
/* Applies the policy for errors to a negative code. Not collective. Returns the code, or ends the
 * job. */
MEND_API int mend_flow_checked(int code);

/* For the macros MPI_Init and MPI_Finalize below. Collective over all processes of the job, spares
 * included (they return when they are needed, or end the process). If a peer dies inside, survivors
 * recover; only MPI can handle a death inside its own MPI_Init. Errors: MPI_ERR_OTHER, with
 * MEND_FLOW_ON_ERROR=return; mend_status() has the code. */
MEND_API int mend_flow_init(int *argc, char ***argv, mend_state *first, mend_state *last,
                            void *frame, int jumped);
MEND_API int mend_flow_finalize(int jumped);

/* From here on MPI_COMM_WORLD is an expression, the current repaired communicator. It cannot
 * initialise a static variable (`static MPI_Comm c = MPI_COMM_WORLD;` does not compile), and a copy
 * of it is stale after a repair. Assign it inside a function that mend_rebuild() calls, or define
 * MEND_FLOW_NO_WORLD and use mend_flow_world(). */
#ifndef MEND_FLOW_NO_WORLD
#undef MPI_COMM_WORLD
#define MPI_COMM_WORLD mend_flow_world(0)
#define MPI_Init(argc, argv)                                                                      \
    mend_flow_init(argc, argv, __start_mend_state, __stop_mend_state, __builtin_frame_address(0), \
                   _setjmp(*mend_flow_buffer(0)))
#define MPI_Init_thread(argc, argv, wanted, got) \
    (*(got) = MPI_THREAD_MULTIPLE, (void)(wanted), MPI_Init(argc, argv))
#define MPI_Finalize() mend_flow_finalize(_setjmp(*mend_flow_buffer(0)))
#endif

#ifdef __cplusplus
}
#endif
#endif
