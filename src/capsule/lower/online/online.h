/* online/online.h - inside online/ and mpi.c: real MPI objects, and the parts of a recovery. */
#ifndef CAPSULE_RECOVER_H
#define CAPSULE_RECOVER_H
#include "ground/ground.h"
#include "images/paged.h"
#include "undo/together.h"
#include <mend/types.h>
#include <mpi.h>
#include <setjmp.h>

/* --- state.c: what this process knows of itself --- */
struct held_image { /* in memory (held.c) */
    int rank;
    mend_version_t version; /* 0: free */
    int busy;               /* being written to disk: it stays until that is done */
    int checked;            /* written or verified by this process */
    int lending;            /* another one reads it: it stays until all have met (online/lend.c) */
    size_t size;            /* of the stream */
    struct paged pages;
};
#define IMAGES_HELD 8

extern struct online {
    MPI_Comm world, self; /* what the application takes for MPI_COMM_WORLD and MPI_COMM_SELF */
    int leaving;          /* no upper half runs in this process */
    /* A blocking receive of the application, while it waits: no request of the upper half stands for it. */
    handle_t receive_under_way;
    handle_t request_consumed; /* by a call that failed: nobody may look at it again */
    /* hear.c */
    int deaf_calls;   /* under way, that do not hear of failures */
    int hear_every;   /* looked for in every so many-th turn of the library's progress */
    int windows_open; /* of the lower half */
    /* creation.c */
    int creating;         /* a call that makes a communicator is under way */
    int creations_failed; /* so many; the library cannot be ended in order any more */
    /* held.c */
    struct held_image held[IMAGES_HELD];
    size_t pages_wanted; /* for two images */
} online;
void fill_predefined(void); /* lower.predef[], with world and self */

/* Communicators that the application has made: all of them are revoked by a repair. */
void comm_made(MPI_Comm comm);
void comm_gone(MPI_Comm comm);
void revoke_application(void);

/* Call MPI; if that fails because processes died, it does not return: the job is repaired. */
#define GUARD(name, call)                                                 \
    ({                                                                    \
        int rc_ = (call);                                                 \
        if (__builtin_expect(rc_ != MPI_SUCCESS, 0) && ground.recovering) \
            recover_error(rc_, name);                                     \
        rc_;                                                              \
    })

/* The same for a call that completes `request`, which the caller knows by `handle`: a call that
 * fails may have freed it, and then nobody may look at it again. */
#define GUARD_REQUEST(name, handle, request, call)                                  \
    ({                                                                              \
        int rc_ = (call);                                                           \
        if (__builtin_expect(rc_ != MPI_SUCCESS, 0) && ground.recovering) {         \
            online.request_consumed = (request) == MPI_REQUEST_NULL ? (handle) : 0; \
            recover_error(rc_, name);                                               \
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
void creation_begin_in_join(sigjmp_buf *out); /* any death ends it, there */
void creation_end(void);
void creation_settle(void);        /* after one that has failed */
void creation_note(MPI_Comm comm); /* there is this one */
void creation_hear(MPI_Comm base); /* at a turn of the library; a failure in `base` ends the call */

/* --- online/leave.c --- */
void leave_prepare(void (*then)(void));         /* `then` runs on a stack of the lower half */
void leave_now(void) __attribute__((noreturn)); /* from any thread, whatever stack it is on */
void leave_upper(MPI_Comm private_comm); /* on our stack: end it for good; twice does nothing */
void on_own_stack(void (*function)(void)) __attribute__((noreturn));

/* --- online/held.c: images in memory, gone with the process that holds them --- */
struct held_image *held_find(int rank, mend_version_t version);
struct held_image *held_new(void);
void held_reserve(size_t size); /* memory for two of that size, made by the next: */
int held_reserve_more(void);    /* a part of it; 0: all is there */
/* Forget all but these two versions (the newest, and the newest that partners have) of two ranks. */
void held_keep(mend_version_t version, mend_version_t copied, int rank, int other_rank);
/* What is as in `base`, if any, is shared with it. */
size_t held_write(struct held_image *image, struct upper *upper, const struct held_image *base);
void held_load(struct held_image *image);

/* --- online/delta.c --- */
/* Send or receive an image; 0 if a peer failed. near: both are on one machine, so its pages may be lent. */
int held_move(struct held_image *out, int to, struct held_image *in, int from, int near,
              MPI_Comm comm);
/* A new version goes to one process, and that of another one comes. sent: bytes, of which so many are the pages that
 * changed. */
struct held_side {
    struct held_image *image, *base; /* base: an older one that both sides may have; or NULL */
    int peer;                        /* or MPI_PROC_NULL */
    int near;                        /* on one machine */
};
int held_copy(const struct held_side *out, const struct held_side *in, MPI_Comm comm, size_t *sent,
              size_t *changed);

/* --- online/lend.c --- */
struct lend_side {
    struct held_image *image; /* all but its new pages is there, or there is none */
    const struct paged_delta *delta;
    int peer; /* or MPI_PROC_NULL */
    int done; /* they are lent; else they must be sent */
};
int lend_exchange(struct lend_side *out, struct lend_side *in,
                  MPI_Comm comm); /* 0: a peer failed */
void lend_begin(void);            /* all that was taken becomes our own, in the background */
void lend_end(void);              /* it is */
void lend_all_back(void);         /* all have come to that: what was lent may go */

/* --- anchor.c --- */
void anchor_cast(void);

int a_player_died(void); /* a process that plays a rank is known to be dead */

/* --- online/hear.c --- */
void windows_watch(MPI_Comm comm); /* a failure in it ends them */
void windows_allowed(void);        /* ends the process if they cannot be watched */
void file_call(void);              /* one on a file begins */
/* One on a window begins: it only waits, so looking is seldom. */
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
/* Step 1 of a meeting: who is left. *base becomes their communicator. 0: it must be begun again. */
int gather_and_shrink(MPI_Comm *base);
/* In the first meeting: what later ones need to leave an agreement. 0: a peer has failed. */
int agree_prepare(MPI_Comm base);
/* A hall for other processes, which the next agreement that is a yes adopts; 0: a peer has failed. */
int agree_open_next(MPI_Comm comm);
void agree_adopt_next(void);    /* without one */
void patience_for(int seconds); /* this process ends itself when they are over; 0: it has none */
/* All say 1; collective, also for those who are in trouble. UNSURE: this process said 1 and does not know what
 * became of it. */
enum agreed { AGREED_NO, AGREED_YES, AGREED_UNSURE };
enum agreed agree(MPI_Comm base, int ok);
/* The last one, after which all end: it is not left, but it ends. */
void agree_to_end(MPI_Comm base, int *flag);

/* --- online/connect.c: PMIx_Connect() can be left --- */
/* Until the end: it is left when `comm` is revoked, has lost a member, `gone` says so, or after so many seconds. */
void connect_begin(MPI_Comm comm, double seconds, int (*gone)(void));
void connect_end(void);
const char *connect_reason(void); /* to leave now; NULL: none */

/* --- online/times.c: of a recovery, for the event that ends it --- */
double wall(void);
void phase(const char *name); /* it has ended */
void phases_begin(void);
void phases_noticed(void); /* the same, and the recovery begins now */
void phases_tell(const char *how, mend_version_t version);
int phases_repairs(void); /* how many have ended */

/* --- online/: the job repairs itself when ranks die --- */
void recover_main(int argc, char **argv) __attribute__((noreturn));
void recover_error(
    int rc, const char *function); /* repairs, or ends the job: no return if it was a failure */
void recover_resumed(void);
void recover_finalize(void);
void recover_begun(void); /* the application has called MPI_Init */
#endif
