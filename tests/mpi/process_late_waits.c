/* Loaded before the other libraries: holds a thread up for a moment after it has looked whether its
 * peer has failed and before it can be woken by news of failures, as an overloaded machine does now
 * and then. That is inside Open MPI, right before ompi_sync_wait_mt() takes its lock.
 *
 * LATE_AFTER  a file: nobody is held up before it exists
 * LATE_MS     for so long, in the first waits after that */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { WAITS = 4, CODE_BYTES = 0x100 };

static int (*next_lock)(pthread_mutex_t *);
static const char *after;
static char *wait_code;
static long milliseconds;
static atomic_int held;

static void prepare(void)
{
    const char *ms = getenv("LATE_MS");
    after = getenv("LATE_AFTER");
    milliseconds = ms ? atol(ms) : 0;
    next_lock = (int (*)(pthread_mutex_t *))dlsym(RTLD_NEXT, "pthread_mutex_lock");
}

static int on_the_way_to_wait(const char *caller)
{
    if (!after || atomic_load(&held) >= WAITS)
        return 0;
    if (!wait_code)
        wait_code = dlsym(RTLD_DEFAULT, "ompi_sync_wait_mt");
    return wait_code && caller >= wait_code && caller < wait_code + CODE_BYTES &&
           access(after, F_OK) == 0;
}

__attribute__((visibility("default"))) int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    if (!next_lock)
        prepare();
    if (on_the_way_to_wait(__builtin_return_address(0)) && atomic_fetch_add(&held, 1) < WAITS) {
        struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};
        nanosleep(&time, NULL);
    }
    return next_lock(mutex);
}
