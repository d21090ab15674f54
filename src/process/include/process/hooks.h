/* For the faces of other systems (src/compat): what they need beyond mend/process.h. */
#ifndef PROCESS_HOOKS_H
#define PROCESS_HOOKS_H

#include <mend/process.h>

/* `adopted` runs on every active rank when a new generation is in place, before all callbacks.
 * `returning` runs in mode RETURN inside the failing MPI call, when all is repaired and only the
 * return is left to do; it may leave the call by throwing. Either may be NULL. */
void mend_process_set_hooks(mend_process *p, void (*adopted)(const mend_repair *now, void *arg),
                            void (*returning)(const mend_repair *now, void *arg), void *arg);
/* Change the mode at work. JUMP needs a buffer that is set already. */
void mend_process_set_resume(mend_process *p, mend_resume resume);
/* Run all callbacks now, as after a repair. */
int mend_process_run_callbacks(mend_process *p);

#endif
