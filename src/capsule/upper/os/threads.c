/* os/threads.c - the application's threads: their beginning, their end, their names. */
#include "os/threads.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <unistd.h>

__thread int my_slot = -1;
__thread volatile int opening;
static struct {
    pthread_key_t end;           /* see wait_for_others */
    ptrdiff_t self_offset;       /* from a pthread_t to the thread pointer */
    char names[MAX_THREADS][16]; /* as ps shows them */
} all;

/* Where glibc keeps its idea of the thread's ID. A restart never changes it: a recursive or
 * error-checking mutex remembers its holder by it.
 */
static int *name_in_glibc(const void *thread_pointer)
{
    return (int *)((char *)thread_pointer + upper.tid_offset);
}

struct start {
    void *(*function)(void *);
    void *argument;
    int slot;
};

static void thread_gone(void *slot)
{
    __atomic_store_n(&upper.threads[(intptr_t)slot].used, DYING, __ATOMIC_SEQ_CST);
}

/* After a restart the kernel may give a new thread the ID by which glibc still knows an older one. A
 * mutex would take the two for one thread. So the new one gets an ID that no kernel assigns.
 */
enum { NAMES_OF_OURS = 0x20000000 };
static void take_own_name(int slot)
{
    int *mine = name_in_glibc(thread_pointer_get());
    for (int i = 0; i < upper.nthreads; i++)
        if (i != slot && upper.threads[i].used == ALIVE &&
            *name_in_glibc(upper.threads[i].thread_pointer) == *mine)
            *mine = NAMES_OF_OURS + slot;
}

static void *thread_main(void *p)
{
    struct start s = *(struct start *)p;
    void *result;
    my_slot = s.slot;
    upper.threads[s.slot].thread_pointer = thread_pointer_get();
    upper.threads[s.slot].tid = (int)raw_syscall(SYS_gettid, 0, 0, 0, 0, 0, 0);
    take_own_name(s.slot);
    __atomic_store_n(&upper.threads[s.slot].used, ALIVE, __ATOMIC_SEQ_CST);
    free(p); /* may wait for a parked thread: this thread must be ALIVE, so that it can be parked */
    pthread_cleanup_push(thread_gone, (void *)(intptr_t)s.slot);
    result = s.function(s.argument);
    pthread_cleanup_pop(1);
    return result;
}

/* A thread that has left its function still has a kernel thread for a while. A join waits for that to
 * end, and a restart would not bring it back.
 */
int thread_is_gone(const struct upper_thread *t)
{
    for (int i = 0; i < upper.nthreads; i++) /* has the kernel given its ID to another thread? */
        if (&upper.threads[i] != t && upper.threads[i].used == ALIVE &&
            upper.threads[i].tid == t->tid)
            return 1;
    return raw_syscall(SYS_tgkill, raw_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0), t->tid, 0, 0, 0, 0) ==
           -ESRCH;
}

static int take_slot(void)
{
    for (int i = 0; i < MAX_THREADS; i++) {
        struct upper_thread *t = &upper.threads[i];
        int old = __atomic_load_n(&t->used, __ATOMIC_SEQ_CST);
        if ((old == FREE || (old == DYING && thread_is_gone(t))) &&
            __atomic_compare_exchange_n(&t->used, &old, BEING_BORN, 0, __ATOMIC_SEQ_CST,
                                        __ATOMIC_SEQ_CST)) {
            t->thread_pointer = NULL;
            for (int n = __atomic_load_n(&upper.nthreads, __ATOMIC_SEQ_CST);
                 n <= i && !__atomic_compare_exchange_n(&upper.nthreads, &n, i + 1, 0,
                                                        __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);)
                ; /* another thread may raise it as well */
            return i;
        }
    }
    return -1;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*function)(void *),
                   void *argument)
{
    struct start *s = malloc(sizeof *s);
    if (!s)
        return EAGAIN;
    in_library++; /* no image may hold a slot that waits for its thread */
    *s = (struct start){function, argument, take_slot()};
    if (s->slot < 0)
        file_say("more than 4096 threads at once are not supported", "pthread_create");
    int rc = s->slot < 0 ? EAGAIN : NEXT(pthread_create)(thread, attributes, thread_main, s);
    if (rc) {
        if (s->slot >= 0)
            upper.threads[s->slot].used = FREE;
        free(s);
    }
    in_library--;
    return rc;
}

static const struct upper_thread *alive(pthread_t thread)
{
    char *pointer = (char *)thread + all.self_offset;
    for (int i = 0; i < upper.nthreads; i++)
        if (upper.threads[i].used == ALIVE && upper.threads[i].thread_pointer == pointer)
            return &upper.threads[i];
    return NULL;
}

static int signal_to(const struct upper_thread *t, int sig)
{
    return (int)-raw_syscall(SYS_tgkill, raw_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0), t->tid, sig, 0,
                             0, 0);
}

/* libc's own would use glibc's idea of the thread's ID. */
int pthread_kill(pthread_t thread, int sig)
{
    const struct upper_thread *t = alive(thread);
    return t ? signal_to(t, sig) : NEXT(pthread_kill)(thread, sig);
}

/* libc's own marks the thread as cancelled, and then signals the ID that the thread had at its birth. That may be nobody's, or
 * that of another thread, which ignores the signal. */
int pthread_cancel(pthread_t thread)
{
    enum { SIGNAL_CANCEL = 32 };
    const struct upper_thread *t = alive(thread);
    int renamed = t && *name_in_glibc(t->thread_pointer) != t->tid;
    int rc = NEXT(pthread_cancel)(thread);
    if (!renamed)
        return rc;
    signal_to(t, SIGNAL_CANCEL);
    return 0;
}

/* libc's own would not call our pthread_create(). */
struct c11_start {
    thrd_start_t function;
    void *argument;
};

static void *c11_main(void *p)
{
    struct c11_start s = *(struct c11_start *)p;
    free(p);
    return (void *)(intptr_t)s.function(s.argument);
}

int thrd_create(thrd_t *thread, thrd_start_t function, void *argument)
{
    struct c11_start *s = malloc(sizeof *s);
    if (!s)
        return thrd_nomem;
    *s = (struct c11_start){function, argument};
    int rc = pthread_create((pthread_t *)thread, NULL, c11_main, s);
    if (rc)
        free(s);
    return rc ? thrd_error : thrd_success;
}

/* An image includes thread names: a GPU driver finds its own threads by name. */
static long name_file(int tid, int flags)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%d/comm", tid);
    return raw_syscall(SYS_openat, AT_FDCWD, (long)path, flags | O_CLOEXEC, 0, 0, 0);
}

/* All threads are parked, except the speaker. */
void note_thread_names(void)
{
    for (int i = 0; i < upper.nthreads; i++) {
        long n = 0,
             fd = upper.threads[i].used == ALIVE ? name_file(upper.threads[i].tid, O_RDONLY) : -1;
        if (fd >= 0) {
            n = raw_syscall(SYS_read, fd, (long)all.names[i], sizeof all.names[i], 0, 0, 0);
            raw_syscall(SYS_close, fd, 0, 0, 0, 0, 0);
        }
        for (long k = n > 0 ? n - 1 : 0; k < (long)sizeof all.names[i]; k++)
            all.names[i][k] = 0; /* from the newline on */
    }
}

void name_threads_again(void)
{
    for (int i = 0; i < upper.nthreads; i++) {
        long fd = all.names[i][0] ? name_file(upper.threads[i].tid, O_WRONLY) : -1;
        if (fd < 0)
            continue;
        raw_syscall(SYS_write, fd, (long)all.names[i], (long)strlen(all.names[i]), 0, 0, 0);
        raw_syscall(SYS_close, fd, 0, 0, 0, 0, 0);
    }
}

/* The main thread ends by pthread_exit() (or by a cancellation) while others go on. It stays until they have ended: it
 * speaks for the process in a checkpoint, and takes part in a recovery. The last thread that ends ends the program, and now
 * that is always this one. libc destroys the values of a key in several turns; ours comes last. */
static void wait_for_others(void *turn)
{
    intptr_t next = (intptr_t)turn + 1;
    if (next <= PTHREAD_DESTRUCTOR_ITERATIONS && !pthread_setspecific(all.end, (void *)next))
        return;
    for (int left = 1; left;) {
        left = 0;
        for (int i = MAIN_SLOT + 1; i < upper.nthreads && !left; i++)
            left = __atomic_load_n(&upper.threads[i].used, __ATOMIC_SEQ_CST) != FREE &&
                   !thread_is_gone(&upper.threads[i]);
        if (left)
            raw_syscall(SYS_nanosleep, (long)&(struct timespec){0, 2000000}, 0, 0, 0, 0, 0);
    }
}

void threads_init(void)
{
    if (pthread_key_create(&all.end, wait_for_others) == 0)
        pthread_setspecific(all.end, (void *)1);
    (void)NEXT(pthread_create); /* call dlsym() now rather than later, inside something else */
    my_slot = MAIN_SLOT;
    upper.nthreads = 1;
    upper.threads[MAIN_SLOT].thread_pointer = thread_pointer_get();
    upper.threads[MAIN_SLOT].tid = (int)raw_syscall(SYS_gettid, 0, 0, 0, 0, 0, 0);
    upper.threads[MAIN_SLOT].used = ALIVE;
    all.self_offset = (char *)thread_pointer_get() - (char *)pthread_self();
    upper.tid_offset = (char *)upper.lower->tid_address - (char *)thread_pointer_get();
    install_park_handler();
}
