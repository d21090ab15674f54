/* gpu.c - see gpu.h. */
#include "gpu/gpu.h"

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct {
    pthread_mutex_t lock; /* held for as long as a step takes */
    volatile enum { FREE, LOCKED, HELD } state;
    atomic_int going;   /* it is being undone */
    char library[4096]; /* of the driver, as the program has loaded it */
    char why[500];
} gpu = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The driver's library in the upper half. */
static int find_library(void)
{
    char line[4352];
    unsigned long from;
    FILE *f = fopen("/proc/self/maps", "re");
    gpu.library[0] = 0;
    while (f && !gpu.library[0] && fgets(line, sizeof line, f) && sscanf(line, "%lx", &from) == 1 &&
           from < UPPER_END) {
        char *path = strchr(line, '/');
        if (path && strstr(path, "/libcuda.so"))
            snprintf(gpu.library, sizeof gpu.library, "%.*s", (int)strcspn(path, "\n"), path);
    }
    if (f)
        fclose(f);
    return gpu.library[0] != 0;
}

static int find_device(char *path, size_t room)
{
    DIR *d = opendir("/proc/self/fd");
    struct dirent *e;
    int found = 0;
    while (d && !found && (e = readdir(d))) {
        ssize_t n = readlinkat(dirfd(d), e->d_name, path, room - 1);
        path[n > 0 ? n : 0] = 0;
        found = strstr(path, "/dev/nvidia") != NULL;
    }
    if (d)
        closedir(d);
    return found;
}

/* The launcher and the lower half's MPI may have such devices open as well (to look at the machine), so
 * the open device alone says nothing. */
int gpu_used(char *path, size_t room)
{
    return find_library() && find_device(path, room);
}

const char *gpu_why(void)
{
    return gpu.why;
}

int gpu_is_bound(void)
{
    return gpu.state != FREE;
}

static int ask(const char *const *steps)
{
    return gpu_ask(gpu.library, steps, gpu.why, sizeof gpu.why);
}

void gpu_lock(void)
{
    char path[4200];
    pthread_mutex_lock(&gpu.lock);
    gpu.why[0] = 0;
    if (gpu.state == FREE && !recovering && gpu_used(path, sizeof path) &&
        !ask((const char *[]){"lock", NULL}))
        gpu.state = LOCKED;
    pthread_mutex_unlock(&gpu.lock);
}

int gpu_hold(void)
{
    pthread_mutex_lock(&gpu.lock);
    if (gpu.state == LOCKED && !ask((const char *[]){"checkpoint", NULL}))
        gpu.state = HELD;
    int held = gpu.state == HELD;
    pthread_mutex_unlock(&gpu.lock);
    return held;
}

static void *let_go(void *unused)
{
    static const char *const back[] = {"restore", "unlock", NULL}, *const only[] = {"unlock", NULL};
    pthread_mutex_lock(&gpu.lock);
    int held = gpu.state == HELD, free = gpu.state == FREE;
    if (!free && ask(held ? back : only))
        die("the GPU could not be given back to the program: %s", gpu.why);
    gpu.state = FREE;
    pthread_mutex_unlock(&gpu.lock);
    atomic_store(&gpu.going, 0);
    return unused;
}

/* It may take seconds, in which the agent must answer others. */
void gpu_let_go(void)
{
    pthread_t thread;
    sigset_t all, old;
    if (atomic_exchange(&gpu.going, 1))
        return;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int error = pthread_create(&thread, NULL, let_go, NULL);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (error)
        let_go(NULL);
    else
        pthread_detach(thread);
}

void gpu_again(void)
{
    if (!find_library())
        die("the program has used a GPU, and its driver's library is not in the image");
    if (ask((const char *[]){"restore", "unlock", NULL}))
        die("the program's state on the GPU does not come back: %s", gpu.why);
}
