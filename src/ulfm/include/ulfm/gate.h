/* The gate: while a thread is inside an agreement of Open MPI, no other thread of ours drives MPI (gate.c). */
#ifndef ULFM_GATE_H
#define ULFM_GATE_H

#include <stdbool.h>

/* Around calls of MPI, none of which may wait, in a thread that is not the program's. Enter waits while another
 * thread has closed the gate; in the thread that has, both do nothing. */
void mend_gate_enter(void);
/* The same without waiting; false: the gate is closed. */
bool mend_gate_try(void);
void mend_gate_leave(void);

/* Around an agreement that all living processes are about to enter. Close returns when nobody is inside any more;
 * open does nothing if this thread has not closed it. */
void mend_gate_close(void);
void mend_gate_open(void);

#endif
