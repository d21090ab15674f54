/* control.h - the messages between agents (one per process) and the coordinator (in the process of rank 0),
 * over sockets (door.h). Not over MPI: the agents answer for ranks that are blocked inside MPI or compute
 * outside it, and still do so when MPI itself is broken.
 *
 * A message is a head and `bytes` bytes: arrays of 64-bit words, the same on both sides (one architecture per
 * job). The receiver drops messages of an older round.
 */
#ifndef CAPSULE_CONTROL_H
#define CAPSULE_CONTROL_H
#include <stddef.h>
#include <stdint.h>

enum control_type {
    /* agent -> coordinator */
    CONTROL_HELLO = 1, /* words: cookie, rank */
    CONTROL_REQUEST,   /* a checkpoint is wanted; words: 1 = and stop the job */
    CONTROL_CLOCKS,    /* struct control_clocks: how far this rank is */
    CONTROL_STOPPED, /* struct control_count[]: messages sent since it last told, final; the rank is
                          stopped or inside a blocking send */
    CONTROL_DRAINED, /* messages to this rank have arrived, messages from it have left */
    CONTROL_CAPTURED, /* its memory may change again (a copy is being written) */
    CONTROL_SAVED,    /* words: code (0 or negative), bytes, microseconds, version */
    CONTROL_FLUSHED,  /* words: version, save id, root, code: its copy is in the job's folder */
    CONTROL_BYE,      /* in MPI_Finalize: no more checkpoints */
    CONTROL_HERE,     /* the answer to ASK */
    CONTROL_BUSY, /* it will stop when its GPU is taken, which may take long; repeated until then */
    /* coordinator -> agent */
    CONTROL_COLLECT = 32, /* begin a round: report clocks */
    CONTROL_TARGETS,      /* pairs of words: card id, collectives to begin on it */
    CONTROL_STOP,         /* all are even: stop at once */
    CONTROL_EXPECT,       /* word: messages sent to this rank, by all together */
    CONTROL_SAVE,         /* struct control_save: write the image of this version */
    CONTROL_FLUSH,        /* words: version, save id, root: complete, copy it to the job's folder */
    CONTROL_PRUNE,        /* word: remove local files of versions below */
    CONTROL_GO_ON,        /* the round is over (or given up); words: 1 = leave the job;
                           * the newest complete version; those below this one are gone */
    CONTROL_ASK,          /* are you there? */
};

struct control_head {
    uint32_t type, round;
    uint64_t bytes;
};

struct control_clocks {
    uint64_t activity, waiting_for; /* enum activity, world rank + 1 or 0 */
    uint64_t count;
    struct control_clock {
        uint64_t id, begun, at_door; /* at_door: a thread waits to begin the next one */
    } clock[];
};

struct control_count {
    uint64_t to;
    int64_t more;
};

/* Both return -1 when the other side is gone. 0: sent. */
int control_send(int fd, uint32_t type, uint32_t round, const void *bytes, size_t count);
/* Reads one message; the payload is malloc'ed. 1: one was read. */
int control_receive(int fd, struct control_head *head, void **payload);
enum { CONTROL_LIMIT = 1 << 30 };
#endif
