/* os/children.c - programs that the application starts. We do not see what they do to files
 * (lower/undo/undo.c), so if the job can roll back in place, we warn the user once.
 *
 * No image brings a child back. Most children live for a moment (system("mkdir …")), and a restart from an
 * image taken in that moment would look like a failed command. So an image waits until the application has
 * seen the child's end, but not for a child older than CHILD_SECONDS, nor longer than that in total.
 */
#include "os/os.h"

#include <dlfcn.h>
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CHILD_SECONDS = 2, CHILDREN = 64 };
struct child {
    time_t born;  /* 0: this entry is free */
    pid_t pid;    /* 0: one of our functions (system, pclose) sees its end */
    void *stream; /* of popen() */
};
struct household {
    struct child children[CHILDREN];
    struct household *next; /* never freed */
};
static struct {
    struct household first;
    struct child none;
    volatile time_t first_asked, last_asked; /* child_is_awaited(), every few ms */
    int told;                                /* the user was warned */
} family;

static time_t seconds_now(void)
{
    struct timespec t;
    raw_syscall(SYS_clock_gettime, CLOCK_MONOTONIC_COARSE, (long)&t, 0, 0, 0, 0);
    return t.tv_sec + 1;
}

static struct household *next_of(struct household *h)
{
    return __atomic_load_n(&h->next, __ATOMIC_ACQUIRE);
}

static struct child *take_place(struct household *h, time_t now)
{
    for (struct child *c = h->children; c < h->children + CHILDREN; c++) {
        time_t born = __atomic_load_n(&c->born, __ATOMIC_ACQUIRE);
        if ((!born || now - born > CHILD_SECONDS) &&
            __atomic_compare_exchange_n(&c->born, &born, now, 0, __ATOMIC_ACQ_REL,
                                        __ATOMIC_RELAXED)) {
            c->pid = 0;
            c->stream = NULL;
            return c;
        }
    }
    return NULL;
}

/* Append a household. No malloc(): the program may call fork() where malloc() is not allowed. */
static struct household *extend(struct household *last)
{
    struct household *none = NULL, *more = mmap(NULL, sizeof *more, PROT_READ | PROT_WRITE,
                                                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (more == MAP_FAILED)
        return NULL;
    if (__atomic_compare_exchange_n(&last->next, &none, more, 0, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE))
        return more;
    munmap(more, sizeof *more);
    return none; /* another thread was faster: this is its household */
}

static struct child *child_begins(const char *command)
{
    if (upper.lower && OF_LOWER(rolls_back) >= 2 && !family.told++)
        file_say("is started by the program: Mend does not restore files that it changes", command);
    time_t now = seconds_now();
    for (struct household *h = &family.first, *next; h; h = next) {
        struct child *c = take_place(h, now);
        if (c)
            return c;
        next = next_of(h);
        if (!next)
            next = extend(h);
    }
    file_say("is started by the program: without memory to note it, an image does not wait for it",
             command);
    return &family.none;
}

static void child_is_over(struct child *c)
{
    __atomic_store_n(&c->born, 0, __ATOMIC_RELEASE);
}

/* Is there a child, running or ended, for which the program has not waited? (waitid() does not report those
 * that write an image: they send no signal at their end.) */
static int is_unseen(int which, pid_t pid)
{
    siginfo_t ended;
    return raw_syscall(SYS_waitid, which, pid, (long)&ended, WEXITED | WNOHANG | WNOWAIT, 0, 0) !=
           -ECHILD;
}

static int any_is_young(time_t now)
{
    for (struct household *h = &family.first; h; h = next_of(h))
        for (struct child *c = h->children; c < h->children + CHILDREN; c++) {
            time_t born = __atomic_load_n(&c->born, __ATOMIC_ACQUIRE);
            if (born && now - born <= CHILD_SECONDS && (!c->pid || is_unseen(P_PID, c->pid)))
                return 1;
        }
    return 0;
}

int child_is_awaited(void)
{
    time_t now = seconds_now();
    if (!any_is_young(now))
        return 0;
    if (now - family.last_asked > 1)
        family.first_asked = now;
    family.last_asked = now;
    return now - family.first_asked <= CHILD_SECONDS;
}

void note_children(void)
{
    if (is_unseen(P_ALL, 0))
        file_say("the image does not keep a child process", "note");
}

void children_forget(void)
{
    for (struct household *h = &family.first; h; h = next_of(h))
        memset(h->children, 0, sizeof h->children);
}

int system(const char *command)
{
    if (!command)
        return NEXT(system)(command);
    struct child *c = child_begins(command);
    int status = NEXT(system)(command);
    child_is_over(c);
    return status;
}

FILE *popen(const char *command, const char *mode)
{
    struct child *c = child_begins(command);
    in_library++; /* see os/descriptors.c */
    FILE *f = NEXT(popen)(command, mode);
    c->stream = f;
    if (f)
        stream_moved(f);
    else
        child_is_over(c);
    in_library--;
    return f;
}

int pclose(FILE *f)
{
    int status = NEXT(pclose)(f);
    for (struct household *h = &family.first; h; h = next_of(h))
        for (struct child *c = h->children; c < h->children + CHILDREN; c++)
            if (c->stream == f && c->born)
                child_is_over(c);
    return status;
}

/* posix_spawn() returns an error number, or 0. */
static int spawned(struct child *c, int error, const pid_t *pid)
{
    if (error)
        child_is_over(c);
    else
        c->pid = *pid;
    return error;
}

int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
                const posix_spawnattr_t *attributes, char *const argv[], char *const envp[])
{
    pid_t own, *child = pid ? pid : &own;
    struct child *c = child_begins(path);
    return spawned(c, NEXT(posix_spawn)(child, path, actions, attributes, argv, envp), child);
}

int posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
                 const posix_spawnattr_t *attributes, char *const argv[], char *const envp[])
{
    pid_t own, *child = pid ? pid : &own;
    struct child *c = child_begins(file);
    return spawned(c, NEXT(posix_spawnp)(child, file, actions, attributes, argv, envp), child);
}

pid_t fork(void)
{
    struct child *c = child_begins("a child");
    pid_t pid = NEXT(fork)();
    if (pid > 0)
        c->pid = pid;
    else
        child_is_over(c);
    return pid;
}
