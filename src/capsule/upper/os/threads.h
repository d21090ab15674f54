/* os/threads.h - for threads.c and parking.c. */
#ifndef CAPSULE_OS_THREADS_H
#define CAPSULE_OS_THREADS_H
#include "os/os.h"
#pragma GCC visibility push(hidden)

enum { FREE, BEING_BORN, ALIVE, DYING }; /* upper_thread.used */
enum { MAIN_SLOT = 0 };
extern __thread int my_slot; /* in upper.threads */
int thread_is_gone(const struct upper_thread *t);

#pragma GCC visibility pop
#endif
