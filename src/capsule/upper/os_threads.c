/* os_threads.c - the application's threads: parked by a signal, brought back by a restart. */
#include <dlfcn.h>
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "core.h"

/* A further thread is parked by a signal: its registers then lie in the kernel's
 * signal frame on its own stack, that is, in memory that is saved.  At restart
 * the lower half clones a thread that returns through this very frame. */
#define SIGNAL_PARK 61
static __thread int my_slot = -1;

static void on_park(int sig, siginfo_t *si, void *uc)
{
    (void)sig;
    if (thread_pointer_get() == upper.lower->thread_pointer || in_lower || my_slot < 0)
        return; /* not now: asked again */
    struct upper_thread *t = &upper.threads[my_slot];
    int gen = __atomic_load_n(&upper.release, __ATOMIC_SEQ_CST);
    t->frame = signal_frame(si, uc);
    __atomic_store_n(&t->parked, 1, __ATOMIC_SEQ_CST);
    syscall(SYS_futex, &t->parked, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    while (__atomic_load_n(&upper.release, __ATOMIC_SEQ_CST) == gen)
        syscall(SYS_futex, &upper.release, FUTEX_WAIT_PRIVATE, gen, NULL, NULL, 0);
}

struct start {
    void *(*fn)(void *);
    void *arg;
    int slot;
};
static void thread_gone(void *slot)
{
    upper.threads[(intptr_t)slot].used = 0;
    my_slot = -1;
}
static void *thread_main(void *p)
{
    struct start s = *(struct start *)p;
    void *ret;
    free(p);
    my_slot = s.slot;
    upper.threads[s.slot].thread_pointer = thread_pointer_get();
    __atomic_store_n(&upper.threads[s.slot].used, 2, __ATOMIC_SEQ_CST);
    pthread_cleanup_push(thread_gone, (void *)(intptr_t)s.slot);
    ret = s.fn(s.arg);
    pthread_cleanup_pop(1);
    return ret;
}
int pthread_create(pthread_t *th, const pthread_attr_t *a, void *(*fn)(void *), void *arg)
{
    struct start *s = malloc(sizeof *s);
    *s = (struct start){fn, arg, -1};
    for (int i = 0; i < MAX_THREADS && s->slot < 0; i++) {
        int zero = 0;
        if (__atomic_compare_exchange_n(&upper.threads[i].used, &zero, 1, 0, __ATOMIC_SEQ_CST,
                                        __ATOMIC_SEQ_CST)) {
            s->slot = i;
            if (i >= upper.nthreads)
                upper.nthreads = i + 1;
        }
    }
    if (s->slot < 0) {
        fprintf(stderr, "mend: too many threads\n");
        abort();
    }
    int rc = NEXT(pthread_create)(th, a, thread_main, s);
    if (rc) {
        upper.threads[s->slot].used = 0;
        free(s);
    }
    return rc;
}

static void ask(struct upper_thread *t) /* &pd->tid is at the same distance from every tp */
{
    syscall(SYS_tgkill, getpid(),
            *(int *)((char *)t->thread_pointer +
                     ((char *)upper.lower->tid_address - (char *)upper.thread_pointer)),
            SIGNAL_PARK);
}

void park_threads(void)
{
    for (int i = 0; i < upper.nthreads; i++)
        if (upper.threads[i].used) {
            while (__atomic_load_n(&upper.threads[i].used, __ATOMIC_SEQ_CST) == 1)
                sched_yield(); /* being born */
            upper.threads[i].parked = 0;
            ask(&upper.threads[i]);
        }
    struct timespec ms = {0, 1000000};
    for (int i = 0; i < upper.nthreads; i++)
        while (upper.threads[i].used &&
               !__atomic_load_n(&upper.threads[i].parked, __ATOMIC_SEQ_CST))
            if (syscall(SYS_futex, &upper.threads[i].parked, FUTEX_WAIT_PRIVATE, 0, &ms, NULL, 0) &&
                errno == ETIMEDOUT)
                ask(&upper.threads[i]);
}

void release_threads(void)
{
    __atomic_add_fetch(&upper.release, 1, __ATOMIC_SEQ_CST);
    syscall(SYS_futex, &upper.release, FUTEX_WAKE_PRIVATE, MAX_THREADS, NULL, NULL, 0);
}
void install_park_handler(void)
{
    struct sigaction sa = {.sa_sigaction = on_park, .sa_flags = SA_SIGINFO | SA_RESTART};
    NEXT(sigaction)(SIGNAL_PARK, &sa, NULL);
}
