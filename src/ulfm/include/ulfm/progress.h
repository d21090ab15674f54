/* Open MPI's progress loop. */
#ifndef ULFM_PROGRESS_H
#define ULFM_PROGRESS_H

#include <stdbool.h>

/* From now on the library calls `at_turn` at the end of each turn of its progress loop; it returns 0. False: this
 * library has no hook. */
bool mend_progress_hook(int (*at_turn)(void));

/* The library's function for one turn; NULL: it has none. It may leave by a jump, if a hook does. */
void (*mend_progress_turn(void))(void);

#endif
