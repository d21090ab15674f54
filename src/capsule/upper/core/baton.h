/* core/baton.h - several threads inside MPI at once (MPI_THREAD_MULTIPLE; not with capsule.threads = no).
 *
 * Only one thread at a time ever enters the lower half: it has one thread pointer, and a repair in place must not
 * find a second thread in the middle of the MPI library. So the threads share a baton:
 *
 *   1. If upper.several is set, INSIDE takes the baton and gives it back at the end. Waiting threads stand in a
 *      first-come, first-served queue. There they can be parked, because they are not in the library yet.
 *   2. No thread waits for another process while it holds the baton. Every wait is a loop of short calls of the
 *      lower half; between two of them the thread passes the baton on if another wants it (upper.wanted). So this
 *      mode starts a blocking send or collective in its non-blocking form. A thread passes the baton only where a
 *      checkpoint may stop it anyway: all objects are consistent there, and no local variable holds a handle of the
 *      lower half.
 *   3. A few calls have no form that avoids waiting: those that create communicators, windows and files, and
 *      collectives on files. They keep the baton. If two such calls share processes, comm/gate.c makes one of them
 *      come first everywhere, so that neither waits for a baton that the other keeps.
 *   4. The main thread speaks for a checkpoint, with the baton in hand. If it is outside MPI, a signal brings it in,
 *      and the others leave the baton to it. All other threads are outside MPI or in the queue, so they can be
 *      parked. The image holds the baton and the queue as they are, and a resumed process continues with them.
 *   5. When a repair rolls the process back, the thread that noticed the failure was the only one below.
 *
 * upper.several is set on all ranks or on none: a collective must not block on one rank and be non-blocking on
 * another. The fast functions (faces/fast.h) work only while it is not set.
 */
#ifndef CAPSULE_CORE_BATON_H
#define CAPSULE_CORE_BATON_H
#include <stdint.h>
#pragma GCC visibility push(hidden)

void baton_take(void); /* within INSIDE; waits outside it */
int baton_try(void);   /* from a signal handler; 1: taken */
void baton_give(void);
void baton_pass(
    void); /* hand it to the next in the queue and wait for it again; within INSIDE, with objects consistent */
void baton_rest(void); /* give it up for a moment, even if nobody wants it */

/* --- comm/gate.c: calls that keep the baton while they wait for other processes --- */
struct gate {
    int used;
};
struct object;
/* All members of `comm` call gate_enter, and each calls gate_leave, even if gate_enter returned an error. */
int gate_enter(struct object *comm, struct gate *g);
void gate_leave(struct gate *g);
/* The second step of gate_enter alone, for members who meet in their own way before and after it. `members` are world
 * ranks; gates_take sorts them. */
int gates_take(int n, int *members, uint64_t id, struct gate *g);
/* These enclose such a call on a file or window. It counts as a collective on `comm`; no checkpoint happens inside. */
int exclusive_enter(struct object *comm, struct gate *g);
void exclusive_leave(struct gate *g);

#pragma GCC visibility pop
#endif
