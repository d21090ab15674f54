/* gpu.c - see gpu.h. */
#include "gpu/gpu.h"

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static struct {
    atomic_int busy; /* AWAITED, AT_WORK; 0: nothing is in progress */
    atomic_int abandoned;
    volatile int held;
    void (*done)(void);
    void (*say)(const char *, const char *);
    volatile int known; /* 1: the driver can do it; -1: it cannot */
    int doubts;
    char device[4200];
    char library[4096]; /* of the driver, as the program has loaded it */
    char why[GPU_LINE];
} gpu;

enum { AWAITED = 1, AT_WORK };

/* Finds the driver's library in the upper half. An image may hold all of it (--full-images, or a library that
 * was written just before): then its memory has no name any more, but the image has its path. */
static int find_library(void)
{
    char line[4352], library[sizeof gpu.library] = "";
    unsigned long from;
    FILE *f = fopen("/proc/self/maps", "re");
    while (f && !library[0] && fgets(line, sizeof line, f) && sscanf(line, "%lx", &from) == 1 &&
           from < UPPER_END) {
        char *path = strchr(line, '/');
        if (path && strstr(path, "/libcuda.so"))
            snprintf(library, sizeof library, "%.*s", (int)strcspn(path, "\n"), path);
    }
    if (f)
        fclose(f);
    if (!library[0] && lower.upper)
        snprintf(library, sizeof library, "%s", lower.upper->gpu_library);
    if (library[0] && strcmp(library, gpu.library) != 0) /* else another thread may be reading it */
        memcpy(gpu.library, library, sizeof library);
    return library[0] != 0;
}

/* Files of the lower half have smaller numbers (upper/os/files.c). */
static int first_upper_file(void)
{
    struct rlimit r;
    return !getrlimit(RLIMIT_NOFILE, &r) && r.rlim_cur < 2 * (rlim_t)UPPER_FILES
               ? (int)(r.rlim_cur / 2)
               : UPPER_FILES;
}

static int find_device(int from, char *path, size_t room)
{
    DIR *d = opendir("/proc/self/fd");
    struct dirent *e;
    int found = 0;
    while (d && !found && (e = readdir(d))) {
        ssize_t n = readlinkat(dirfd(d), e->d_name, path, room - 1);
        path[n > 0 ? n : 0] = 0;
        found = strstr(path, "/dev/nvidia") != NULL && atoi(e->d_name) >= from;
    }
    if (d)
        closedir(d);
    return found;
}

/* The launcher and the lower half's MPI may have such devices open as well (to look at the machine), so an
 * open device alone proves nothing. While the driver has closed its own, only those of the upper half count.
 */
int gpu_used(char *path, size_t room)
{
    return find_library() && find_device(gpu.held ? first_upper_file() : 0, path, room);
}

const char *gpu_why(void)
{
    return gpu.why;
}

int gpu_is_busy(void)
{
    return atomic_load(&gpu.busy);
}

int gpu_held(void)
{
    return gpu.held;
}

/* ---- the steps, in a thread of ours ---------------------------------------------------------- */

/* Runs the helper. If somebody kills it (the kernel, for want of memory) or the driver never answers, the driver may
 * have stopped half-way, and the program's next call could wait for ever. This rank dies instead: the job continues from its newest version. */
static int ask(const char *const *steps)
{
    int rc = gpu_ask(gpu.library, steps, gpu.why, sizeof gpu.why);
    if (rc != -3 || gpu.abandoned)
        return rc;
    fprintf(stderr, "mend: the state of the program on the GPU is lost: %s\n", gpu.why);
    kill(getpid(), SIGKILL);
    return rc;
}

static void *take(void *unused)
{
    static const char *const steps[] = {"lock", "checkpoint", NULL};
    int rc = ask(steps);
    if (rc == -2 && !gpu.abandoned)
        die("the GPU's driver does not give its devices back to the program: %s", gpu.why);
    gpu.held = rc == 0;
    if (gpu.held && lower.upper) { /* into the image: a resume may find other devices */
        snprintf(lower.upper->gpus, sizeof lower.upper->gpus, "%s", gpu.why);
        memcpy(lower.upper->gpu_library, gpu.library, sizeof lower.upper->gpu_library);
        gpu.why[0] = 0;
    }
    atomic_store(&gpu.busy, 0);
    gpu.done();
    return unused;
}

static void *give_back(void *unused)
{
    static const char *const steps[] = {"restore", "unlock", NULL};
    if (ask(steps) && !gpu.abandoned)
        die("cannot restore the program's state on the GPU: %s", gpu.why);
    gpu.held = 0;
    atomic_store(&gpu.busy, 0);
    return unused;
}

/* As tools/mend/doctor/gpu.c does. */
static int is_shared_by_mps(char *why, size_t room)
{
    char path[4200];
    const char *folder = getenv("CUDA_MPS_PIPE_DIRECTORY");
    snprintf(path, sizeof path, "%.4100s/control", folder && *folder ? folder : "/tmp/nvidia-mps");
    if (access(path, F_OK))
        return 0;
    snprintf(why, room, "the driver cannot save programs that share a GPU by MPS (%.300s exists)",
             path);
    return 1;
}

static void begin(void *(*steps)(void *))
{
    pthread_t thread;
    sigset_t all, old;
    atomic_store(&gpu.busy, AT_WORK);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int error = pthread_create(&thread, NULL, steps, NULL);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (error)
        steps(NULL);
    else
        pthread_detach(thread);
}

/* Does the driver know the process, and does it have the functions that we need? One failure is not enough:
 * the program may have been about to begin. */
static void *consider(void *unused)
{
    static const char *const steps[] = {"getState", NULL};
    if (is_shared_by_mps(gpu.why, sizeof gpu.why))
        gpu.doubts = 1;
    else if (!gpu_ask(gpu.library, steps, gpu.why, sizeof gpu.why))
        gpu.known = 1;
    if (!gpu.known && gpu.doubts++) {
        gpu.say(gpu.device, gpu.why);
        gpu.known = -1;
    }
    gpu.why[0] = 0;
    atomic_store(&gpu.busy, 0);
    return unused;
}

int gpu_look(void (*say)(const char *device, const char *why))
{
    if (gpu.known || !gpu_used(gpu.device, sizeof gpu.device))
        return gpu.known;
    gpu.say = say;
    begin(consider);
    return 0;
}

void gpu_take(void (*done)(void))
{
    char path[4200];
    gpu.why[0] = 0;
    gpu.done = done;
    if (!gpu.held && gpu_used(path, sizeof path) && !is_shared_by_mps(gpu.why, sizeof gpu.why))
        begin(take); /* else snapshot_refused() finds the device open, and tells why */
}

void gpu_give_back(void)
{
    begin(give_back);
}

void gpu_resumed(void)
{
    if (!find_library())
        die("the program has used a GPU, and its driver's library is not in the image");
    gpu.held = 1;
    atomic_store(&gpu.busy, AWAITED);
}

void gpu_abandon(void)
{
    const struct timespec pause = {0, 200000};
    atomic_store(&gpu.abandoned, 1);
    for (; atomic_load(&gpu.busy) == AT_WORK; nanosleep(&pause, NULL))
        gpu_stop_asking();
    gpu.held = 0;
    atomic_store(&gpu.busy, 0);
    atomic_store(&gpu.abandoned, 0);
}
