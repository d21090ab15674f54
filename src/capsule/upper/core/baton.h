/* core/baton.h - several threads inside MPI at once (MPI_THREAD_MULTIPLE; not with capsule.threads = no).
 *
 * The lower half is only ever entered by one thread at a time: it has one thread pointer, and a repair in place
 * must not find a second thread in the middle of the MPI library. So threads share a baton:
 *
 *   1. INSIDE takes the baton when upper.several is set, and gives it back at the end. Who waits for it stands in a
 *      queue, first come, first served, where it can be parked: it is not in the library yet.
 *   2. Nobody waits for another process with the baton in his hand. Whatever waits is a loop of short calls of the
 *      lower half, and between two of them it passes the baton on if somebody wants it (upper.wanted). So a blocking
 *      send or collective is begun as its non-blocking form here. The places where it is passed are those where
 *      a checkpoint may stop a thread anyway: all objects are whole there, and no handle of the lower half is
 *      in a local variable.
 *   3. A few calls have no form that does not wait: those that make communicators, windows and files, and
 *      collectives on files. They keep the baton; comm/gate.c sees to it that of two such calls that share
 *      processes one comes first everywhere, so that none waits for a baton that the other one keeps.
 *   4. A checkpoint is spoken for by the main thread, with the baton in hand; if it is outside MPI, a signal brings it in, and
 *      the others leave the baton to it. All others are outside MPI or in the queue, that
 *      is, can be parked. The image holds baton and queue as they are: a resumed process goes on with them.
 *   5. When a repair rolls the process back, the thread that noticed it was the only one below.
 *
 * All ranks have upper.several or none has: a collective must not be blocking here and non-blocking there.
 * The fast functions (faces/fast.h) are only for processes without it.
 */
#ifndef CAPSULE_CORE_BATON_H
#define CAPSULE_CORE_BATON_H
#include <stdint.h>
#pragma GCC visibility push(hidden)

void baton_take(void); /* within INSIDE; waits outside it */
int baton_try(void);   /* by a signal's handler: 1: taken */
void baton_give(void);
void baton_pass(
    void); /* to whoever waits for it, and wait for it again; within INSIDE, where objects are whole */
void baton_rest(void); /* the same for a while, also if nobody wants it */

/* --- comm/gate.c: calls that keep the baton while they wait for other processes --- */
struct gate {
    int used;
};
struct object;
/* From gate_enter, by all members of `comm`, to gate_leave. Not 0: it has failed, and is left as otherwise. */
int gate_enter(struct object *comm, struct gate *g);
void gate_leave(struct gate *g);
/* Its second step alone, for members who meet in their own way before and after it: world ranks, which are sorted. */
int gates_take(int n, int *members, uint64_t id, struct gate *g);
/* Around such a call on a file or window: counted as a collective on `comm`; no checkpoint inside. */
int exclusive_enter(struct object *comm, struct gate *g);
void exclusive_leave(struct gate *g);

#pragma GCC visibility pop
#endif
