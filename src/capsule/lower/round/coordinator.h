/* coordinator.h - inside round/. */
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
    double asked_at;        /* whether it is there; 0: it has answered */
    int silent;             /* it has not, and was named */
};

struct target {
    uint64_t id, count;
};

struct coordinator {
    pthread_t thread;
    int running, wake[2], ranks, present, leaving;
    int members; /* the descriptors of those that are present (epoll) */
    struct door door;
    struct member *member;
    enum state state;
    uint32_t round;
    struct control_save save, complete; /* this round's, the last complete version's */
    int chain;                          /* incremental images since the last full one */
    mend_version_t root, flushed, told_version;
    mend_version_t local_below, global_below; /* older versions are removed */
    struct generations global, local;
    int leave, asked; /* stop the job when this round is done; somebody waits for it */
    int full;         /* who asks wants all pages */
    int leaves;       /* it does */
    enum { NOT_WANTED, BY_TIME, ASKED, ASKED_TO_STOP } wanted; /* a checkpoint */
    char token[64];                                            /* by whom (request file), "" */
    double started, round_began, stop_began, drained_at, went_on, last_change, not_before,
        last_done, patient_since;
    double pulse_at; /* when silence.c looked at the members last */
    int attempts;
    struct target *target;
    size_t targets, target_room;
    int reports, behind,
        creating; /* members that have reported, that are behind, that make a communicator */
    int judged;   /* all have reported, and the last two are known */
    int missing;  /* a rank of which all() has seen that it is missing */
    int laggard;  /* and one whose copy is not in the job's folder yet */
    int64_t code;
    uint64_t bytes, slowest;
    struct {
        uint64_t sent, received, bytes;
    } traffic; /* messages of this round, and their bytes both ways; without CONTROL_ASK and its answers */
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
void request_taken(char *path, size_t size);       /* the file of the request that is served */
void begin_saving(void);
void take_flushed(struct member *m, const int64_t *words, size_t bytes);
void take_captured(struct member *m);
void take_saved(struct member *m, const int64_t *words, size_t bytes);

/* --- round/counts.c: see there --- */
int all(size_t field); /* of every member is not 0 */
#define ALL(field) all(offsetof(struct member, field))
void add_counts(const struct control_count *list, size_t bytes);
void take_stopped(struct member *m);

/* --- round/silence.c: ranks that answer nobody --- */
void silence_begin(void);
void silence_pass(double now);
void silence_broken(int rank);
void silence_end(void);

/* --- round/collect.c --- */
void take_clocks(struct member *m, void *payload, size_t bytes);
void open_doors(void);
#endif
