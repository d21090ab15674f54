/* Hooks for the interfaces of other systems (src/compat), beyond mend/process.h. */
#ifndef PROCESS_HOOKS_H
#define PROCESS_HOOKS_H

#include <mend/process.h>

/* `adopted` runs on every active rank when a new generation is in place, before all callbacks. `returning` runs in
 * mode RETURN inside the failing MPI call, when everything is repaired and only the return is left; it may leave the
 * call by throwing. Either may be NULL. */
void mend_process_set_hooks(mend_process *p, void (*adopted)(const mend_repair *now, void *arg),
                            void (*returning)(const mend_repair *now, void *arg), void *arg);
/* Change the mode while the program works. JUMP needs a buffer that is already set. */
void mend_process_set_resume(mend_process *p, mend_resume resume);
/* Run all callbacks now, as after a repair. */
int mend_process_run_callbacks(mend_process *p);

#endif
