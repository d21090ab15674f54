/* What the head (one, beside `mend run`) and the nodes (one a machine, with a PMIx server) say to each other.
 *
 * Who may talk: the node proves itself by the first half of a secret that came with its start (standard input, never a
 * command line), the head by the second half. Any other first message, or a garbled one, ends that connection and
 * nothing else.
 *
 *  1. launch   The head starts a node's daemon; the daemon says HELLO; the head answers WELCOME and JOB; the node
 *              starts its ranks and says STARTED for each.
 *  2. fence    When all its ranks have come, a node says FENCE; when all nodes with ranks in it have, the head answers
 *              each with FENCED: two messages a node.
 *  3. modex    MODEX asks for one rank's data; the head asks its node (MODEX_ASK, MODEX_GIVE) and answers MODEX_DONE.
 *  4. a rank   ENDED goes to the head, DEAD from the head to all other nodes, which tell their ranks by one PMIx event.
 *  5. a node   Its connection is closed, or silent for the time-out: the head says DEAD once, with all ranks of it.
 *  6. silence  A node says BEAT with its own time, the head answers it with ECHO. A node's lease ends a time-out after
 *              the sending of the newest beat that was answered; then it ends its ranks and itself. The head waits
 *              for a time-out since the newest beat that came, which was sent before it came, and a moment more. So a
 *              node that is given up has ended its ranks before the others hear of it, without synchronous clocks.
 *  7. streams  OUTPUT, not more than a window ahead of TAKEN; INPUT the same way with INPUT_TAKEN.
 *     warning  WARNED: Slurm has sent SIGTERM to a node that it lent us. The ranks ignore it; mend run decides.
 *     refill   ADD: a new process, a world of one, to take a place that a death has left (head/fill.c). All nodes hear of
 *              it and say ADDED, before it is offered to anybody; its own node starts it. KILL ends it, if it was not
 *              taken in.
 *     later    NODE: a machine was added, or one that was lost answers again, as a node of a new number (head/later.c).
 *              It gets JOB and all ADDs so far.
 *  8. the end  END: the node ends what is left of its ranks, removes what they leave, says BYE and ends. A closed
 *              connection means the same.
 *
 * Death between any two steps: before JOB the node is left out and the launch fails with its name, so that the next one
 * avoids it; after JOB it is a lost node (5), also in the middle of 2 (the fence completes with an error) and of 3
 * (the asker gets an error). The head's death is 8 for every node.
 */
#ifndef MEND_LAUNCHER_PROTOCOL_H
#define MEND_LAUNCHER_PROTOCOL_H

#include "wire.h"

enum { PROTOCOL_MAGIC = 0x646e656d, PROTOCOL_VERSION = 3, SECRET_SIZE = 32 };
enum { STREAM_WINDOW = 1 << 18, STREAM_CHUNK = 1 << 14 };

enum { NAME_TAKE = 1, NAME_WAIT = 2 };
#define GATHER_CONNECT "connect" /* a fence of this name ends for all when one in it is dead */

enum message {
    SAY_HELLO = 1, /* node: u32 magic, u32 version, u32 index, bytes half of the secret */
    SAY_WELCOME,   /* head: bytes the other half */
    SAY_JOB,       /* head: see job.h */
    SAY_STARTED,   /* node: u32 rank, u32 pid */
    SAY_REFUSED,   /* node: text why it cannot run this job */
    SAY_ENDED,  /* node: u32 rank, u32 signal, u32 code, u32 it had said good-bye (PMIx_Finalize) */
    SAY_ABORT,  /* node: u32 rank, u32 code, text */
    SAY_DEAD,   /* head: u32 count, u32 rank… */
    SAY_FENCE,  /* node: u32 id, bytes who (see fence.h), bytes data */
    SAY_FENCED, /* head: u32 id, u32 error, bytes data, u64 a number that is new */
    SAY_MODEX,  /* node: u32 id, u32 rank */
    SAY_MODEX_ASK,   /* head: u32 id, u32 rank */
    SAY_MODEX_GIVE,  /* node: u32 id, u32 error, bytes */
    SAY_MODEX_DONE,  /* head: u32 id, u32 error, bytes */
    SAY_BEAT,        /* node: u64 */
    SAY_ECHO,        /* head: u64 */
    SAY_OUTPUT,      /* node: u32 rank, u32 stream (1, 2), bytes */
    SAY_TAKEN,       /* head: u32 bytes */
    SAY_INPUT,       /* head: bytes, for rank 0; none: it has ended */
    SAY_INPUT_TAKEN, /* node: u32 bytes */
    SAY_SIGNAL,      /* head: u32 signal for all ranks */
    SAY_PUT,         /* node: u32 id, text key, bytes value, u32 for one reader only; GOT answers */
    SAY_GET,         /* node: u32 id, text key, u32 1: take it away, 2: wait for it */
    SAY_GOT,         /* head: u32 id, u32 error, bytes */
    SAY_END,         /* head */
    SAY_BYE,         /* node */
    SAY_WARNED,      /* node: whoever gave us this machine wants it back soon (SIGTERM of Slurm) */
    SAY_NODE,        /* head: u32 number, text name: a node that comes later */
    SAY_ADD,         /* head: u32 process, u32 node, list of what its environment has in addition */
    SAY_ADDED,       /* node: u32 process, u32 well */
    SAY_KILL         /* head: u32 process */
};
#endif
