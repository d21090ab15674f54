/* online/online.h - internal to online/ and mpi/: real MPI objects, and the parts of a recovery. */
#ifndef CAPSULE_RECOVER_H
#define CAPSULE_RECOVER_H
#include "ground/ground.h"
#include "images/paged.h"
#include "undo/together.h"
#include <mend/types.h>
#include <mpi.h>
#include <setjmp.h>

/* --- state.c: what this process knows about itself --- */
struct held_image { /* in memory (held.c) */
    int rank;
    mend_version_t version; /* 0: free */
    int busy;               /* being written to disk: it stays until that is done */
    int checked;            /* written or verified by this process */
    int lending;            /* another process reads it: it stays until all have met (lend.c) */
    size_t size;            /* of the stream */
    struct paged pages;
};
#define IMAGES_HELD 8

extern struct online {
    MPI_Comm world, self; /* the application's MPI_COMM_WORLD and MPI_COMM_SELF */
    int leaving;          /* no upper half runs in this process */
    /* A blocking receive of the application, while it waits: the upper half has no request for it. */
    handle_t receive_under_way;
    handle_t request_consumed; /* by a call that failed: nobody may look at it again */
    /* hear.c */
    int deaf_calls;   /* calls in progress that do not notice failures */
    int hear_every;   /* look for failures at every n-th turn of the library's progress */
    int windows_open; /* in the lower half */
    /* creation.c */
    int creating;         /* a call that makes a communicator is in progress */
    int creations_failed; /* their number; if not 0, MPI_Finalize is impossible */
    /* held.c */
    struct held_image held[IMAGES_HELD];
    size_t pages_wanted; /* for two images */
} online;
void fill_predefined(void); /* lower.predef[], with world and self */

/* The communicators that the application has made: a repair revokes all of them. */
void comm_made(MPI_Comm comm);
void comm_gone(MPI_Comm comm);
void revoke_application(void);

/* Calls MPI. If the call fails because processes died, this does not return: the job is repaired. */
#define GUARD(name, call)                                                 \
    ({                                                                    \
        int rc_ = (call);                                                 \
        if (__builtin_expect(rc_ != MPI_SUCCESS, 0) && ground.recovering) \
            recover_error(rc_, name);                                     \
        rc_;                                                              \
    })

/* The same for a call that completes `request`, which the caller knows by `handle`: a call that fails may
 * have freed it, and then nobody may look at it again. */
#define GUARD_REQUEST(name, handle, request, call)                                  \
    ({                                                                              \
        int rc_ = (call);                                                           \
        if (__builtin_expect(rc_ != MPI_SUCCESS, 0) && ground.recovering) {         \
            online.request_consumed = (request) == MPI_REQUEST_NULL ? (handle) : 0; \
            recover_error(rc_, name);                                               \
            online.request_consumed = 0; /* another request may get this handle */  \
        }                                                                           \
        rc_;                                                                        \
    })
/* The same for a call that makes a communicator (online/creation.c). */
#define CREATE(name, call)               \
    ({                                   \
        creation_begin();                \
        int made_ = GUARD(name, (call)); \
        creation_end();                  \
        made_;                           \
    })
void creation_begin(void);
void creation_begin_in_meeting(MPI_Comm comm);
void creation_begin_in_join(sigjmp_buf *out); /* any death ends the call, by a jump there */
void creation_end(void);
void creation_settle(void);        /* after one has failed */
void creation_note(MPI_Comm comm); /* this one exists */
void creation_hear(MPI_Comm base); /* at a turn of the library; a failure in `base` ends the call */

/* --- online/leave.c --- */
void leave_prepare(void (*then)(void));         /* `then` runs on a stack of the lower half */
void leave_now(void) __attribute__((noreturn)); /* from any thread, on any stack */
void leave_upper(MPI_Comm private_comm);        /* on our stack: ends it for good, once */
void on_own_stack(void (*function)(void)) __attribute__((noreturn));

/* --- online/held.c: images in memory, gone with the process that holds them --- */
struct held_image *held_find(int rank, mend_version_t version);
struct held_image *held_new(void);
void held_reserve(size_t size); /* memory for two of that size, made by the next: */
int held_reserve_more(void);    /* makes a part of it; 0: all is there */
/* Forget everything but these two versions (the newest, and the newest that partners have) of two ranks. */
void held_keep(mend_version_t version, mend_version_t copied, int rank, int other_rank);
/* Shares unchanged pages with `base`, if any. */
size_t held_write(struct held_image *image, struct upper *upper, const struct held_image *base);
void held_load(struct held_image *image);

/* --- online/delta.c --- */
/* Sends or receives an image; 0: a peer failed. near: both are on one machine, so its pages may be lent. */
int held_move(struct held_image *out, int to, struct held_image *in, int from, int near,
              MPI_Comm comm);
/* Sends a new version to one process, and receives that of another. sent: bytes; changed: those of them that
 * are pages that changed. */
struct held_side {
    struct held_image *image, *base; /* base: an older one that both sides may have; or NULL */
    int peer;                        /* or MPI_PROC_NULL */
    int near;                        /* on one machine */
};
int held_copy(const struct held_side *out, const struct held_side *in, MPI_Comm comm, size_t *sent,
              size_t *changed);

/* --- online/lend.c --- */
struct lend_side {
    struct held_image *image; /* everything but its new pages is there; or NULL */
    const struct paged_delta *delta;
    int peer; /* or MPI_PROC_NULL */
    int done; /* the new pages are lent; otherwise they must be sent */
};
int lend_exchange(struct lend_side *out, struct lend_side *in,
                  MPI_Comm comm); /* 0: a peer failed */
void lend_begin(void);            /* copy everything that was taken, in the background */
void lend_end(void);              /* wait until that is done */
void lend_all_back(void);         /* all have come to that: what was lent may go */

/* --- anchor.c --- */
void anchor_cast(void);

int a_player_died(void); /* a process that plays a rank is known to be dead */

/* --- online/hear.c --- */
void windows_watch(MPI_Comm comm); /* a failure in it ends calls on windows */
void windows_allowed(void);        /* ends the process if windows cannot be watched */
void file_call(void);              /* a call on a file begins */
/* A call on a window begins: it only waits, so we look rarely. */
static inline void window_call(void)
{
    online.deaf_calls++;
    online.hear_every = 256;
}
#define DEAF(name, call)                   \
    ({                                     \
        window_call();                     \
        int result_ = GUARD(name, (call)); \
        online.deaf_calls--;               \
        result_;                           \
    })

#define FILE_CALL(name, call)              \
    ({                                     \
        file_call();                       \
        int result_ = GUARD(name, (call)); \
        online.deaf_calls--;               \
        result_;                           \
    })

/* --- online/agree.c: agreements that end --- */
/* Step 1 of a meeting: who is left. *base becomes their communicator. 0: begin the meeting again. */
int gather_and_shrink(MPI_Comm *base);
void agree_begin(
    void); /* once, before the first meeting; not in a process that was started later */
/* Opens a hall for other processes, which the next agreement on yes adopts; 0: a peer has failed. */
int agree_open_next(MPI_Comm comm);
void agree_adopt_next(void);    /* without an agreement */
void patience_for(int seconds); /* this process ends itself after that many seconds; 0: never */
/* Do all say 1? Collective, also for processes in trouble. UNSURE: this process said 1 and does not know the
 * result. */
enum agreed { AGREED_NO, AGREED_YES, AGREED_UNSURE };
enum agreed agree(MPI_Comm base, int ok);
int agree_was_yes(
    void); /* in the next meeting, after step 1: was the agreement of which this process is UNSURE a yes? */
void agree_farewell(void); /* all have agreed on the end, and this process leaves */
/* The last agreement, after which all end. */
void agree_to_end(MPI_Comm base, int *flag);

/* --- online/connect.c: a PMIx_Connect() that can be left --- */
/* Until connect_end(), leave it when `comm` is revoked or has lost a member, when `gone` says so, or after
 * that many seconds. */
void connect_begin(MPI_Comm comm, double seconds, int (*gone)(void));
void connect_end(void);
const char *connect_reason(void); /* to leave now; NULL: none */

/* --- online/times.c: the times of a recovery, for the event that ends it --- */
double wall(void);
void phase(const char *name); /* it has ended */
void phases_begin(void);
void phases_noticed(void); /* the same, and the recovery begins now */
void phases_tell(const char *how, mend_version_t version);
int phases_repairs(void); /* how many have ended */

/* --- online/: the job repairs itself when ranks die --- */
void recover_main(int argc, char **argv) __attribute__((noreturn));
void recover_error(
    int rc, const char *function); /* repairs, or ends the job; returns if no process failed */
void recover_resumed(void);
void recover_finalize(void);
void recover_begun(void); /* the application has called MPI_Init */
#endif
