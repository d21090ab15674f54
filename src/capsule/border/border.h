/* border/border.h - the whole interface between the two halves of a capsule.
 *
 * One process holds two programs, each with its own ld.so, libc, heap and thread-local storage:
 *
 *   lower half   lower/ and the REAL MPI library; never saved
 *   upper half   the unmodified application and upper/, which it takes for its MPI library; saved
 *
 * Neither half includes the other's headers. The interface is MPI-neutral: an image taken on one MPI
 * library can resume on another. BORDER_VERSION changes with every change to struct lower, to struct
 * upper or to a neutral value; images carry it.
 */
#ifndef CAPSULE_BORDER_H
#define CAPSULE_BORDER_H
#include "arch/arch.h"
#include "border/array.h"
#include "border/each.h"
#include <stddef.h>
#include <stdint.h>

#define BORDER_VERSION 26

/* --- whose memory is it? -------------------------------------------------------------------
 * Every address below UPPER_END belongs to the upper half, every address above it to the lower
 * half. No other rule decides ownership. The kernel puts a PIE, its heap, stack, libraries and
 * anonymous mappings far above UPPER_END (0xaaaa..., 0xffff... on aarch64; 0x55..., 0x7f... on
 * x86_64). A seccomp filter (lower/start/steer.c) steers the upper half's mappings below it. The
 * limits are multiples of 2^32 because the filter compares one 32-bit word.
 */
#define UPPER_END   0x100000000000UL /* 16 TiB */
#define UPPER_ARENA 0x080000000000UL /*  8 TiB: mappings of the upper half */
#define UPPER_BREAK 0x070000000000UL /*  7 TiB: emulated program break */

/* File descriptors of the upper half start here; those of the lower half are smaller. */
#define UPPER_FILES 400
/* Except standard input, output and error: the program may close them, and open others in their place. */
#define STANDARD_FILES 3
#define LOW_FILES      64 /* numbers below UPPER_FILES that stay open for a while: upper/os/closing.c */
/* The last argument of a system call by which our own code in the upper half makes pipes: do not renumber them. */
#define NUMBERS_AS_THEY_ARE 0x6d656e642d617369L
#define SIGNAL_LEAVE        62 /* from the lower half: it will replace this thread's memory */

/* --- neutral handles and constants ---------------------------------------------------------
 * A real MPI handle crosses the border as an integer: Open MPI's are pointers, MPICH's are ints, and
 * both fit. Special values (ranks, tags, MPI_IN_PLACE, the layout of a status) cross in Open MPI's
 * encoding. lower/mpi/functions.c converts them for the library below; the faces (upper/faces/)
 * convert them for the application's ABI.
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
enum { /* those of Open MPI alone lie between the first two */
       NEUTRAL_SPLIT_SHARED,
       NEUTRAL_SPLIT_HW_UNGUIDED = 12,
       NEUTRAL_SPLIT_HW_GUIDED,
       NEUTRAL_SPLIT_RESOURCE_GUIDED = 100,
       NEUTRAL_SPLIT_NEIGHBORHOOD, /* of MPICH */
       NEUTRAL_SPLIT_NONE = -1
};
#define SPLIT_RESOURCE_KEY "mpi_hw_resource_type" /* the hint that says by what, in and out */
enum { SPLIT_RESOURCE = 256 };
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

/* How a datatype was constructed. With its ints, addresses and types, this is the complete recipe. */
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

/* One request to wait for. The functions that take an array of these return how many are done,
 * counted from the first: fewer than all if the phase of a checkpoint is STOP_HERE.
 */
struct wait_item {
    handle_t *real;
    struct status *status; /* NULL: not wanted */
    int peer;              /* its world rank, or WAITING_FOR_ANY */
    int error;
};
#define WAITING_FOR_ANY (-1)
/* A resumed rank waits for a lock on a file (upper/os/locks.c); zeros at first. */
struct lock_wait {
    double since;
    int told;
};
/* A receive that the program has begun and the lower half has not (faces/fast.h); the head of the object that is its
 * request (core/object.h). */
struct posting {
    handle_t real;
    struct posting *next; /* begun later; NULL: the last one */
    void *buf;
    const handle_t *type, *comm; /* the first field of their objects */
    uint64_t order;
    int n, source, tag;
    unsigned char is_recv, done, live, holds;
    int error;
};
/* finish_receive returns an error; or 0 for a receive that is done; or this: a checkpoint wants us, or the receive could
 * not be begun, and its error field says why. */
enum { FINISH_STOPPED = -1 };
/* Results of agent_door: stop; go in; wait a moment and ask again (several threads). */
enum { DOOR_STOP, DOOR_IN, DOOR_WAIT };
/* Results of recv_or_stop. RECV_NOT_BEGUN: no receive was posted; item->error says why. */
enum { RECV_STOPPED, RECV_DONE, RECV_NOT_BEGUN };
/* waitall_or_stop returns this, an error, or 0 if some are incomplete; each handle shows whether its
 * request is. */
enum { WAITALL_DONE = -1 };

enum stop_role { STOP_ROLE_NONE, STOP_ROLE_SPEAKER, STOP_ROLE_LISTENER };
enum stop_command { STOP_COMMAND_NONE, STOP_COMMAND_SAVE, STOP_COMMAND_GO_ON, STOP_COMMAND_LEAVE };

/* --- functions of the lower half: from table/functions.def, and from table/services.def ------ */
struct upper;
struct comm_card;

/* BELOW_ROW(Name, name, ...) expands once for each row with a function in the lower half. */
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
#define BELOW_ANYTIME(...)
#define BELOW(class, ...) BELOW_##class(__VA_ARGS__)

struct lower {
    void *thread_pointer;    /* of the lower half */
    const char *name;        /* of the MPI library */
    int thread_pointer_fast; /* see thread_pointer_choose */
    int rolls_back;      /* 1: resuming an image truncates files that have grown; 2: that may happen
                     * at any time, in place */
    int standard_error;  /* the launcher's, whatever the program has done with its own */
    int threads;         /* MPI_THREAD_MULTIPLE is available (capsule.threads) */
    int *tid_address;    /* &pd->tid of the upper half's main thread */
    struct upper *upper; /* for callbacks: user-defined operations */
    handle_t predef[N_PREDEFINED]; /* real values, valid after Init_thread */
    handle_t sent_at_once;         /* this library's request for a send that was complete before
                                    * MPI_Isend returned; 0: it has no such value */
    unsigned char *checks;         /* 0 there: the library need not check arguments (mpi/watch.c) */
#define SERVICE(type, name, ...) type (*name)(__VA_ARGS__);
#include "table/services.def"
#undef SERVICE
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

/* What the lower half must know about a communicator: how many collectives have begun on it (to stop
 * all ranks at a consistent place) and who its members are (to rebuild it after a restart).
 */
struct comm_card {
    uint64_t id;               /* the same on all members, see upper/comm/comm.c */
    uint64_t begun;            /* collectives this rank has begun on it; only upper/ writes it */
    uint64_t reported, target; /* for lower/round/agent.c, under its lock */
    struct comm_card *next;
    int at_door,
        door_turns; /* threads that wait at its door, and how long (lower/round/application.c) */
    int freed;      /* this rank has freed it; others may be behind */
    int released;   /* freed, but requests of this rank still hold it: nobody rebuilds it */
    int replaced;   /* since a restart a communicator of this rank alone stands in for it */
    int size, rank;
    const int *ranks; /* members as world ranks */
    int remote_size;  /* inter-communicators; else 0 */
    const int *remote_ranks;
    /* the place that holds the lower half's handle; NULL: there is none (upper/comm/comm.c) */
    handle_t *real;
};
#define WORLD_CARD_ID 1

/* Words that a window has on each rank: its lock, and a mutex (upper/windows). */
enum { LOCK_WORDS = 2 };

/* Parks a thread of the upper half, or asks its main thread to stop. */
#define SIGNAL_PARK 61

/* The phase of a checkpoint, as the upper half sees it. lower/round/agent.c writes it. */
enum stop_phase {
    STOP_NONE,       /* nothing to do: the only value in normal work */
    STOP_WATCH,      /* tests: look at every collective (request_at) */
    STOP_COLLECTING, /* a rank that has reached all its targets waits at its next collective */
    STOP_HERE        /* every MPI call is a place to stop */
};

/* What the thread inside MPI is doing, for lower/round/agent.c. */
enum activity {
    ACTIVITY_NONE,     /* outside MPI, or in a call that does not wait */
    ACTIVITY_SENDING,  /* inside a blocking send: counted; the receiver's drain can complete it */
    ACTIVITY_CREATING, /* reported only: upper.creating is odd, and it stands at no door */
    ACTIVITY_WAITING   /* reported only: `turns` grows; it waits for waiting_for */
};
#define WAITING_FOR_ANY (-1)

#define MAX_THREADS     4096
struct upper_thread { /* a thread of the upper half */
    int used, parked;
    int tid; /* the kernel's. glibc keeps the one from its birth, which held mutexes remember. */
    void *thread_pointer;
    void *frame; /* kernel signal frame to return through */
};

#define GPU_LINE 2000 /* bytes for the names of all GPUs that a program may use */

struct upper {
    const struct lower *lower; /* a restart replaces it */
    struct { /* copies of what the busiest calls need from it (upper/faces/fast.h) */
        void *thread_pointer;
        handle_t sent_at_once, no_request;
        unsigned char *checks;
        const void *right; /* a predefined type that the library has accepted */
        int off; /* nothing may take the short way: several threads, or a machine without its instruction */
#define COPY(function) __typeof__(((struct lower *)0)->function) function
        COPY(Send);
        COPY(Isend);
        COPY(Irecv);
        COPY(recv_or_stop);
        COPY(begin_receives);
        COPY(finish_receive);
        COPY(Barrier);
        COPY(Bcast);
        COPY(Reduce);
        COPY(Allreduce);
#undef COPY
    } fast;
    /* Receives that the next call across the border begins first, in this order; where the next one is to be linked
     * (NULL: none may wait here). */
    struct posting *later, **later_end;
    void *volatile thread_pointer_inside; /* of the thread inside the lower half */
    long *sent_to, *received_from;        /* messages to / from each world rank */
    volatile int stop_phase, activity, waiting_for;
    volatile int wanted;     /* threads that wait for the baton (upper/core/baton.h) */
    int several;             /* threads may be inside MPI at once; the same on all ranks */
    volatile unsigned turns; /* of loops that wait for a message */
    unsigned creating; /* odd: inside a call that creates a communicator, which has no card yet */
    void *thread_pointer;   /* of the thread that took the image */
    struct context context; /* its registers */
    uint64_t sigmask;       /* and its signal mask */
    ptrdiff_t tid_offset;   /* from a thread pointer to glibc's copy of the thread id */
    int rank, size, thread_level;
    /* stopping */
    int unsafe;                     /* > 0: no image may be taken now; nothing sets it today */
    long request_at, request_again; /* tests: request a checkpoint at this collective, and then */
    struct comm_card *cards;        /* newest first */
    /* threads */
    int nthreads; /* size of the part of threads[] in use */
    int release;  /* futex on which parked threads wait */
    /* visits the pending requests, for a lower half that must end them */
    void (*each_request)(void (*visit)(handle_t real, int is_receive));
    void (*user_op)(int slot, void *in, void *inout, int *n, handle_t type); /* called from below */
    uint64_t printed[2]; /* bytes of standard output and error so far; for lower/output/output.c */
    int capture;         /* number of the latest capture; for lower/versions/relaunch.c */
    int low_files[LOW_FILES]; /* each plus 1; 0: none */
    int low_used;             /* there has been one */
    int locks_files;     /* the program has locked files: several ranks may change the same bytes */
    int doubtful;        /* an MPI call failed, or SIGTERM came: perhaps another rank is dead */
    char gpus[GPU_LINE]; /* GPUs in use when the image was taken; for lower/gpu */
    char gpu_library[4096]; /* path of their driver's library; "": no GPU was in use */
    struct upper_thread threads[MAX_THREADS];
};
#endif
