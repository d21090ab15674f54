/* The gate: while a thread is inside an agreement of Open MPI, no other thread of ours drives MPI (gate.c). */
#ifndef ULFM_GATE_H
#define ULFM_GATE_H

#include <stdbool.h>

/* Put these around MPI calls in a thread that is not the program's; none of those calls may block. Enter waits while
 * another thread has closed the gate. In the thread that has closed it, both do nothing. */
void mend_gate_enter(void);
/* Like enter, without waiting. False: the gate is closed. */
bool mend_gate_try(void);
void mend_gate_leave(void);

/* Put these around an agreement that all living processes are about to enter. Close returns when nobody is inside any
 * more. Open does nothing if this thread has not closed the gate. */
void mend_gate_close(void);
void mend_gate_open(void);

#endif
