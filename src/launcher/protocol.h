/* The messages between the head (one process beside `mend run`) and the nodes (one daemon on each machine, with a
 * PMIx server).
 *
 * Authentication: the head gives each node a secret when it starts it, on standard input and never on a command line.
 * The node proves itself with the first half, the head with the second. Any other first message, or a malformed one,
 * ends that connection and nothing else.
 *
 *  1. launch   The head starts a node's daemon. The daemon says HELLO. The head answers with WELCOME and JOB. The
 *              node starts its ranks and says STARTED for each.
 *  2. fence    When all ranks of a node have entered the fence, the node says FENCE. When all nodes with ranks in the
 *              fence have said so, the head answers each with FENCED: two messages for each node.
 *  3. modex    MODEX asks for one rank's data. The head asks that rank's node (MODEX_ASK, MODEX_GIVE) and answers
 *              MODEX_DONE.
 *  4. a rank   When a rank ends, its node sends ENDED to the head, and the head sends DEAD to all other nodes. Each
 *              node informs its ranks with one PMIx event.
 *  5. a node   When a node's connection closes, or is silent for the time-out, the head sends DEAD once, with all
 *              ranks of that node.
 *  6. silence  A node sends BEAT with its own time, and the head returns that time in ECHO. A node's lease ends one
 *              time-out after it sent the newest beat that the head has answered; then the node ends its ranks and
 *              itself. The head waits one time-out, and a moment more, from the arrival of the newest message, which
 *              is later than the sending of any beat it has answered. So a node has ended its ranks before the head
 *              gives it up and tells the others. This needs no synchronized clocks.
 *  7. streams  A node sends OUTPUT at most one window ahead of TAKEN. The head sends INPUT at most one window ahead
 *              of INPUT_TAKEN.
 *     warning  WARNED: Slurm sent SIGTERM to a node of its allocation. The ranks ignore the signal; `mend run`
 *              decides what to do.
 *     refill   ADD announces a new process, a world of one, that replaces a dead one (head/fill.c). Its own node
 *              starts it. The head offers it to nobody until all nodes have said ADDED. KILL ends it if the job does
 *              not take it in.
 *     later    NODE: the user added a machine, or a lost one answers again; it becomes a node with a new number
 *              (head/later.c). The new node gets JOB and all ADDs so far.
 *  8. the end  END: the node ends its remaining ranks after a grace period, removes what they leave behind, says BYE,
 *              and exits when the head has closed the connection. If the head closes it earlier, the node does the same
 *              without the grace period.
 *
 * Death between any two steps. Before JOB: the launch fails and names the node, so that the next launch avoids it.
 * After JOB: the node is lost (5). In the middle of 2, the fence then completes with an error; in the middle of 3,
 * the asker gets an error. If the head dies, every node does 8.
 */
#ifndef MEND_LAUNCHER_PROTOCOL_H
#define MEND_LAUNCHER_PROTOCOL_H

#include "wire.h"

enum { PROTOCOL_MAGIC = 0x646e656d, PROTOCOL_VERSION = 4, SECRET_SIZE = 32 };
enum { STREAM_WINDOW = 1 << 18, STREAM_CHUNK = 1 << 14 };
enum {
    END_LIMIT = 10
}; /* seconds that a node may take to end in order; the head waits a little longer */

enum { NAME_TAKE = 1, NAME_WAIT = 2 };
#define GATHER_CONNECT "connect" /* a fence of this name ends for all when a member is dead */

enum message {
    SAY_HELLO = 1,   /* node: u32 magic, u32 version, u32 index, bytes first half of the secret */
    SAY_WELCOME,     /* head: bytes second half of the secret */
    SAY_JOB,         /* head: see job.h */
    SAY_STARTED,     /* node: u32 rank, u32 pid */
    SAY_REFUSED,     /* node: text why it cannot run this job, u32 it could later */
    SAY_ENDED,       /* node: u32 rank, u32 signal, u32 code, u32 it had called PMIx_Finalize */
    SAY_ABORT,       /* node: u32 rank, u32 code, text */
    SAY_DEAD,        /* head: u32 count, u32 rank… */
    SAY_FENCE,       /* node: u32 id, bytes members (see put_who), bytes data */
    SAY_FENCED,      /* head: u32 id, u32 error, bytes data, u64 a unique number */
    SAY_MODEX,       /* node: u32 id, u32 rank */
    SAY_MODEX_ASK,   /* head: u32 id, u32 rank */
    SAY_MODEX_GIVE,  /* node: u32 id, u32 error, bytes */
    SAY_MODEX_DONE,  /* head: u32 id, u32 error, bytes */
    SAY_BEAT,        /* node: u64 */
    SAY_ECHO,        /* head: u64 */
    SAY_OUTPUT,      /* node: u32 rank, u32 stream (1, 2), bytes */
    SAY_TAKEN,       /* head: u32 bytes */
    SAY_INPUT,       /* head: bytes for rank 0; none: end of input */
    SAY_INPUT_TAKEN, /* node: u32 bytes */
    SAY_SIGNAL,      /* head: u32 signal for all ranks */
    SAY_PUT,         /* node: u32 id, text key, bytes value, u32 for one reader only; GOT answers */
    SAY_GET,         /* node: u32 id, text key, u32 1: remove it, 2: wait for it */
    SAY_GOT,         /* head: u32 id, u32 error, bytes */
    SAY_END,         /* head */
    SAY_BYE,         /* node */
    SAY_WARNED,      /* node: its owner wants the machine back soon (SIGTERM from Slurm) */
    SAY_NODE,        /* head: u32 number, text name: a node that joins later */
    SAY_ADD,         /* head: u32 process, u32 node, list of additional environment variables */
    SAY_ADDED,       /* node: u32 process, u32 1: success */
    SAY_KILL         /* head: u32 process */
};
#endif
