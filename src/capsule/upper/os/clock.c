/* os/clock.c - the clocks of libc, and the entry points of os/. */
#include <signal.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "os/os.h"

/* The upper half has no vdso, so this borrows the lower half's fast clock. It does not switch the thread
 * pointer: with a valid clock ID that function cannot fail, so it does not touch errno. */
int clock_gettime(clockid_t c, struct timespec *ts)
{
    if (!upper.lower || (unsigned)c > CLOCK_BOOTTIME)
        return syscall(SYS_clock_gettime, c, ts);
    in_library++;
    FENCE_INSIDE(); /* load the address only now: see INSIDE */
    int r = upper.lower->clock_gettime(c, ts);
    in_library--;
    return r;
}
int gettimeofday(struct timeval *restrict tv, void *restrict tz)
{
    struct timespec t;
    (void)tz;
    if (clock_gettime(CLOCK_REALTIME, &t))
        return -1;
    tv->tv_sec = t.tv_sec;
    tv->tv_usec = t.tv_nsec / 1000;
    return 0;
}

void os_init(void)
{
    number_init();
    files_init();
    signals_init();
    threads_init();
}

void os_before_image(void)
{
    upper.thread_pointer = thread_pointer_get();
    park_threads();
    note_thread_names();
    note_files();
    note_timers();
    note_signals();
}

void os_go_on(void)
{
    files_forget();
    release_threads();
}

void os_resumed(void)
{
    number_resumed();
    reinstall_signals();
    install_park_handler();
    reopen_files();
    children_forget();
    map_files_again();
    locks_again();
    timers_again();
    release_held_threads();
}
