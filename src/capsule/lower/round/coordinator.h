/* coordinator.h - internal to round/. */
#ifndef CAPSULE_COORDINATOR_H
#define CAPSULE_COORDINATOR_H
#include "round/agent.h"

#include "round/control.h"
#include "round/door.h"
#include "versions/versions.h"

#include <mend/types.h>
#include <pthread.h>
#include <stddef.h>

enum state { IDLE, COLLECTING, STOPPING, SAVING };

struct member {
    int fd, bye, reported, stopped, drained, captured, saved;
    struct control_clocks *clocks;
    int64_t expected;       /* messages that were sent to it */
    int behind, creating;   /* collect.c: as of its last report */
    uint64_t targets_sum;   /* of the targets it was sent last */
    mend_version_t flushed; /* newest version that is in the job's folder */
    double asked_at;        /* when we asked whether it is there; 0: it has answered */
    int silent;             /* it has not, and we have named it */
};

struct target {
    uint64_t id, count;
};

struct coordinator {
    pthread_t thread;
    pthread_mutex_t hanging_up; /* held to close a member's descriptor, or to shut all down */
    int running, wake[2], ranks, present, leaving;
    int hung_up; /* no member is welcome any more */
    int members; /* epoll: the descriptors of the members that are present */
    struct door door;
    struct member *member;
    enum state state;
    uint32_t round;
    struct control_save save, complete; /* of this round; of the last complete version */
    int chain;                          /* incremental images since the last full one */
    mend_version_t root, flushed, told_version;
    mend_version_t local_below, global_below; /* older versions are removed */
    struct retention global, local;
    int leave, asked; /* stop the job after this round; somebody waits for it */
    int full;         /* the request is for all pages */
    int leaves;       /* the job stops after this round, which is complete */
    enum { NOT_WANTED, BY_TIME, ASKED, ASKED_TO_STOP } wanted; /* a checkpoint */
    char token[64];                                            /* of the request file, "" */
    double started, round_began, stop_began, drained_at, went_on, last_change, not_before,
        last_done, patient_since;
    double moved_at, /* when a rank last began a collective or came to a door, in this round */
        patience_at_doors; /* how long after that all doors open */
    double pulse_at;       /* when silence.c last looked at the members */
    int attempts;
    struct target *target;
    size_t targets, target_room;
    int reports, behind,
        creating; /* members that have reported; that are behind; that make a communicator */
    int judged;   /* all have reported, and the last two are known */
    int missing;  /* a rank that all() has seen missing */
    int laggard;  /* a rank whose copy is not in the job's folder yet */
    int64_t code;
    uint64_t bytes, slowest;
    struct {
        uint64_t sent, received, bytes;
    } traffic; /* of this round: messages, bytes both ways; without CONTROL_ASK and answers */
};
extern struct coordinator the;

static inline void tell(int rank, uint32_t type, const void *bytes, size_t count)
{
    if (type != CONTROL_ASK) {
        the.traffic.sent++;
        the.traffic.bytes += sizeof(struct control_head) + count;
    }
    control_send(the.member[rank].fd, type, the.round, bytes, count);
}

static inline void tell_all(uint32_t type, const void *bytes, size_t count)
{
    for (int i = 0; i < the.ranks; i++)
        tell(i, type, bytes, count);
}

/* --- coordinator.c --- */
int on_disk(void);
void begin_round(void);
void give_up(const char *why);
void answer(const char *format, long long number); /* to `mend checkpoint` */
void request_taken(char *path, size_t size);       /* the file of the request being served */
void begin_saving(void);
void take_flushed(struct member *m, const int64_t *words, size_t bytes);
void take_captured(struct member *m);
void take_saved(struct member *m, const int64_t *words, size_t bytes);

/* --- round/counts.c --- */
int all(size_t field); /* is nonzero in every member */
#define ALL(field) all(offsetof(struct member, field))
void add_counts(const struct control_count *list, size_t bytes);
void take_stopped(struct member *m);

/* --- round/silence.c: ranks that do not answer --- */
void silence_begin(void);
void silence_pass(double now);
void silence_broken(int rank);
void silence_end(void);

/* --- round/collect.c --- */
void take_clocks(struct member *m, void *payload, size_t bytes);
void open_doors(void);     /* for the ranks that others wait for, as far as we know that */
void open_all_doors(void); /* if nothing has moved for too long */
#endif
