/* Open MPI's progress loop. */
#ifndef ULFM_PROGRESS_H
#define ULFM_PROGRESS_H

#include <stdbool.h>

/* From now on the library calls `at_turn` at the end of each turn of its progress loop; it returns 0. False: this
 * library has no hook. */
bool mend_progress_hook(int (*at_turn)(void));

/* The library's function for one turn; NULL: it has none. It may leave by a jump, if a hook does. */
void (*mend_progress_turn(void))(void);

/* Let the library read notices of deaths at every turn instead of every millisecond, until it is called with false. An
 * agreement defers a notice that it receives, with a pointer to the next agreement, and that one must not have ended
 * when the library reads the notice. */
void mend_progress_read_news(bool at_once);

#endif
