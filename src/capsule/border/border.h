/* border/border.h - everything the two halves of a capsule agree on.
 *
 * One process holds two programs, each with its own ld.so, libc, heap and thread-local storage:
 *
 *   lower half   lower/: the REAL MPI library; never saved
 *   upper half   the unmodified application and upper/, which it takes for its MPI library; saved
 *
 * Neither half includes the other's headers: this file is the whole interface. It is MPI-neutral:
 * an image that was taken on one MPI library is resumed on another. BORDER_VERSION changes with
 * every change of struct lower, struct upper or of a neutral value; images carry it.
 */
#ifndef CAPSULE_BORDER_H
#define CAPSULE_BORDER_H
#include "arch/arch.h"
#include "border/array.h"
#include "border/each.h"
#include <stddef.h>
#include <stdint.h>

#define BORDER_VERSION 21

/* --- whose memory is it? -------------------------------------------------------------------
 * Every address below UPPER_END belongs to the upper half, every address above it to the lower
 * half. Nothing else is ever asked. The kernel puts a PIE, its heap, stack, libraries and anonymous
 * mappings far above (0xaaaa..., 0xffff... on aarch64; 0x55..., 0x7f... on x86_64); what the upper
 * half maps is steered below by a seccomp filter (lower/start/steer.c). The limits are multiples of 2^32,
 * because the filter compares one 32-bit word.
 */
#define UPPER_END   0x100000000000UL /* 16 TiB */
#define UPPER_ARENA 0x080000000000UL /*  8 TiB: mappings of the upper half */
#define UPPER_BREAK 0x070000000000UL /*  7 TiB: emulated program break */

/* Files of the upper half have numbers from here on; those of the lower half are below. */
#define UPPER_FILES 400
/* The last argument of a system call of our own code in the upper half that makes pipes: leave their numbers as they are. */
#define NUMBERS_AS_THEY_ARE 0x6d656e642d617369L
#define SIGNAL_LEAVE        62 /* the lower half's: this thread's memory will be replaced */

/* --- neutral handles and constants ---------------------------------------------------------
 * A real MPI handle crosses the border as an integer: Open MPI's are pointers, MPICH's are ints,
 * both fit. Special values (ranks, tags, MPI_IN_PLACE, the layout of a status) cross in Open MPI's
 * encoding; lower/mpi/functions.c converts them for the library below, the faces (upper/faces/) for the ABI
 * of the application above.
 */
typedef uintptr_t handle_t;

struct status {
    int source, tag, error, cancelled;
    size_t bytes;
};

#define NEUTRAL_ANY_SOURCE (-1)
#define NEUTRAL_ANY_TAG    (-1)
#define NEUTRAL_PROC_NULL  (-2)
#define NEUTRAL_ROOT       (-4)
#define NEUTRAL_UNDEFINED  (-32766) /* the same in both */
#define NEUTRAL_IN_PLACE   ((void *)1)
#define NEUTRAL_BOTTOM     ((void *)0)
enum { NEUTRAL_SPLIT_SHARED };
enum { NEUTRAL_ORDER_C, NEUTRAL_ORDER_FORTRAN };
enum {
    NEUTRAL_DISTRIBUTE_BLOCK,
    NEUTRAL_DISTRIBUTE_CYCLIC,
    NEUTRAL_DISTRIBUTE_NONE,
    NEUTRAL_DISTRIBUTE_DFLT_DARG = -1
};
enum { NEUTRAL_TYPECLASS_INTEGER = 1, NEUTRAL_TYPECLASS_REAL, NEUTRAL_TYPECLASS_COMPLEX };
enum { NEUTRAL_IDENT, NEUTRAL_CONGRUENT, NEUTRAL_SIMILAR, NEUTRAL_UNEQUAL }; /* same in both */
enum { NEUTRAL_SEEK_SET = 600, NEUTRAL_SEEK_CUR = 602, NEUTRAL_SEEK_END = 604 };
#define NEUTRAL_DISPLACEMENT_CURRENT (-54278278L)
enum { /* MPI_File_open */
       NEUTRAL_MODE_CREATE = 1,
       NEUTRAL_MODE_RDONLY = 2,
       NEUTRAL_MODE_WRONLY = 4,
       NEUTRAL_MODE_RDWR = 8,
       NEUTRAL_MODE_DELETE_ON_CLOSE = 16,
       NEUTRAL_MODE_UNIQUE_OPEN = 32,
       NEUTRAL_MODE_EXCL = 64,
       NEUTRAL_MODE_APPEND = 128,
       NEUTRAL_MODE_SEQUENTIAL = 256
};
enum {
    NEUTRAL_THREAD_SINGLE,
    NEUTRAL_THREAD_FUNNELED,
    NEUTRAL_THREAD_SERIALIZED,
    NEUTRAL_THREAD_MULTIPLE
};

/* How a datatype was made: with its ints, addresses and types this is the whole recipe. */
enum recipe_how {
    RECIPE_NAMED,
    RECIPE_CONTIGUOUS,
    RECIPE_VECTOR,
    RECIPE_HVECTOR,
    RECIPE_INDEXED,
    RECIPE_HINDEXED,
    RECIPE_INDEXED_BLOCK,
    RECIPE_STRUCT,
    RECIPE_SUBARRAY,
    RECIPE_RESIZED,
    RECIPE_DUP,
    RECIPE_HINDEXED_BLOCK,
    RECIPE_DARRAY,
    RECIPE_F90_REAL,
    RECIPE_F90_COMPLEX,
    RECIPE_F90_INTEGER
};

enum object_kind {
    KIND_COMM,
    KIND_TYPE,
    KIND_OP,
    KIND_REQ,
    KIND_GROUP,
    KIND_INFO,
    KIND_ERRH,
    KIND_WIN,
    KIND_FILE,
    KIND_MSG,
    KIND_SESSION,
    N_KINDS
};

enum predefined {
#define PREDEFINED(kind, symbol, name, fortran) PRE_##name,
#include "table/predefined.def"
#undef PREDEFINED
    N_PREDEFINED
};

#include "border/kinds.h"
#include "border/services.h"

/* One thing to wait for. The calls with it return how many of them are done, in order: fewer than
 * asked for when the phase of a checkpoint is STOP_HERE.
 */
struct wait_item {
    handle_t *real;
    struct status *status; /* NULL: not wanted */
    int peer;              /* world rank waited for, or WAITING_FOR_ANY */
    int error;
};
#define WAITING_FOR_ANY (-1)
/* recv_or_stop returns one of these. Not begun: no message was asked for, item->error tells why. */
/* A door (agent_door): stop; go in; wait a moment and come again (several threads). */
enum { DOOR_STOP, DOOR_IN, DOOR_WAIT };
enum { RECV_STOPPED, RECV_DONE, RECV_NOT_BEGUN };
/* waitall_or_stop returns this, an error, or 0: not all are complete, each handle tells. */
enum { WAITALL_DONE = -1 };

enum stop_role { STOP_ROLE_NONE, STOP_ROLE_SPEAKER, STOP_ROLE_LISTENER };
enum stop_command { STOP_COMMAND_NONE, STOP_COMMAND_SAVE, STOP_COMMAND_GO_ON, STOP_COMMAND_LEAVE };

/* --- functions of the lower half: those of the table, and these ------------------------------ */
struct upper;
struct comm_card;
/* The former are made from table/functions.def, these are listed in table/services.def. */

/* BELOW_ROW(Name, name, ...) is called for each row that has a function in the lower half. */
#define BELOW_FORWARD(...)          BELOW_ROW(__VA_ARGS__)
#define BELOW_COLLECTIVE(...)       BELOW_ROW(__VA_ARGS__)
#define BELOW_CREATING(...)         BELOW_ROW(__VA_ARGS__)
#define BELOW_NONBLOCKING(...)      BELOW_ROW(__VA_ARGS__)
#define BELOW_BYHAND(...)           BELOW_ROW(__VA_ARGS__)
#define BELOW_ATOMIC(...)           BELOW_ROW(__VA_ARGS__)
#define BELOW_ONESIDED(...)         BELOW_ROW(__VA_ARGS__)
#define BELOW_FILE_FORWARD(...)     BELOW_ROW(__VA_ARGS__)
#define BELOW_FILE_COLLECTIVE(...)  BELOW_ROW(__VA_ARGS__)
#define BELOW_FILE_NONBLOCKING(...) BELOW_ROW(__VA_ARGS__)
#define BELOW_ABOVE(...)
#define BELOW(class, ...) BELOW_##class(__VA_ARGS__)

struct lower {
    void *thread_pointer;    /* of the lower half */
    const char *name;        /* which MPI library this is */
    int thread_pointer_fast; /* see thread_pointer_choose */
    int rolls_back; /* 1: files that have grown are cut when an image is resumed; 2: that may happen
                     * at any time, in place */
    int threads;    /* MPI_THREAD_MULTIPLE may be given (capsule.threads) */
    int *tid_address;              /* &pd->tid of the upper half's main thread */
    struct upper *upper;           /* for callbacks: user-defined operations */
    handle_t predef[N_PREDEFINED]; /* real values, valid after Init_thread */
    handle_t sent_at_once;         /* what this library gives for a send that was complete before
                                    * MPI_Isend returned; 0: it has no such value */
#define SERVICE(type, name, ...) type (*name)(__VA_ARGS__);
#include "table/services.def"
#undef SERVICE
#define X(ret, name, args) ret(*name) args;
    LOWER_SERVICES_MORE(X)
#undef X
#define OBJECT                     handle_t
#define BELOW_ROW(Name, name, ...) int (*Name)(LIST(PARAM, __VA_ARGS__));
#define FUNCTION                   BELOW
#include "table/functions.def"
#undef FUNCTION
#undef BELOW_ROW
#undef OBJECT
};
#define MAX_USER_OPS    1024
#define AUXV_MEND_LOWER 0x4d454e44 /* auxv type: address of struct lower */

/* --- state of the upper half that the lower half must find again ------------------------------ */

/* What the lower half must know of a communicator: how far its collectives are (to stop all ranks
 * at a consistent place) and who its members are (to make it again after a restart).
 */
struct comm_card {
    uint64_t id;               /* the same on all members, see upper/comm/comm.c */
    uint64_t begun;            /* collectives this rank has begun on it; written by upper/ only */
    uint64_t reported, target; /* lower/round/agent.c's, under its lock */
    struct comm_card *next;
    int at_door,
        door_turns; /* threads that wait at its door, and for how long (lower/round/application.c) */
    int freed;      /* by this rank; others may not be so far */
    int released;   /* as freed, but requests of this rank still hold it: nobody makes it again */
    int size, rank;
    const int *ranks; /* members as world ranks */
    int remote_size;  /* inter-communicators; else 0 */
    const int *remote_ranks;
    /* where the handle of the lower half is kept; NULL: there is none (upper/comm/comm.c) */
    handle_t *real;
};
#define WORLD_CARD_ID 1

/* What each rank has in the window of locks (win_lock_words): its lock, and a mutex (upper/windows). */
enum { LOCK_WORDS = 2 };

/* Parks a thread of the upper half, or asks its main thread to stop. */
#define SIGNAL_PARK 61

/* How far a checkpoint is, as the upper half sees it. Written by lower/round/agent.c. */
enum stop_phase {
    STOP_NONE,       /* nothing to do: the only value in normal work */
    STOP_WATCH,      /* tests: look at every collective (request_at) */
    STOP_COLLECTING, /* ranks whose collectives are even wait at the door of the next one */
    STOP_HERE        /* every MPI call is a place to stop */
};

/* What the thread that is inside MPI does, for lower/round/agent.c. */
enum activity {
    ACTIVITY_NONE,     /* outside MPI, or in a call that does not wait */
    ACTIVITY_SENDING,  /* inside a blocking send: counted, and can be ended by the receiver's drain
                       */
    ACTIVITY_CREATING, /* reported only: upper.creating is odd, and it stands at no door */
    ACTIVITY_WAITING   /* reported only: `turns` grow, it waits for waiting_for */
};
#define WAITING_FOR_ANY (-1)

#define MAX_THREADS     4096
struct upper_thread { /* a thread of the upper half */
    int used, parked;
    int tid; /* the kernel's; glibc keeps the one it was born with, which held mutexes remember */
    void *thread_pointer;
    void *frame; /* kernel signal frame to return through */
};

#define GPU_LINE 2000 /* room for the names of all GPUs that a program may use */

struct upper {
    const struct lower *lower; /* replaced at restart */
    struct { /* copies of what the busiest calls need of it (upper/faces/fast.h) */
        void *thread_pointer;
        handle_t sent_at_once;
#define COPY(function) __typeof__(((struct lower *)0)->function) function
        COPY(Send);
        COPY(Isend);
        COPY(Irecv);
        COPY(recv_or_stop);
        COPY(waitall_or_stop);
        COPY(Barrier);
        COPY(Bcast);
        COPY(Reduce);
        COPY(Allreduce);
#undef COPY
    } fast;
    void *volatile thread_pointer_inside; /* of the thread that is inside the lower half */
    long *sent_to, *received_from;        /* messages to / from each world rank */
    volatile int stop_phase, activity, waiting_for;
    volatile int wanted;     /* threads that wait for the baton (upper/core/baton.h) */
    int several;             /* threads may be inside MPI at once; the same on all ranks */
    volatile unsigned turns; /* of loops that wait for a message */
    unsigned creating;    /* odd: inside a call that makes a communicator, which has no card yet */
    void *thread_pointer; /* of the thread that took the image */
    struct context context; /* its registers */
    uint64_t sigmask;       /* and its signal mask */
    ptrdiff_t tid_offset;   /* from a thread pointer to glibc's copy of the thread id */
    int rank, size, thread_level;
    /* stopping */
    int unsafe;                     /* >0: something is open that cannot be saved (RMA epochs) */
    long request_at, request_again; /* tests: ask for a checkpoint at this collective, and then */
    struct comm_card *cards;        /* newest first */
    /* threads */
    int nthreads; /* size of the part of threads[] in use */
    int release;  /* futex: parked threads wait for it */
    /* pending requests, for a lower half that must end them */
    void (*each_request)(void (*visit)(handle_t real, int is_receive));
    void (*user_op)(int slot, void *in, void *inout, int *n, handle_t type); /* called from below */
    uint64_t printed[2];    /* bytes of standard output and error so far; lower/output/output.c's */
    int capture;            /* lower/versions/relaunch.c's number of it */
    int doubtful;           /* an MPI call failed, or SIGTERM came, as when another rank is dead */
    char gpus[GPU_LINE];    /* on which it ran when the image was taken; lower/gpu's */
    char gpu_library[4096]; /* their driver's; "": none was used when an image was taken */
    struct upper_thread threads[MAX_THREADS];
};
#endif
