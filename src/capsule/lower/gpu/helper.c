/* helper.c - the process that asks the driver to take the devices from another process, or to give them back.
 *
 * It loads its own copy of the driver's library, the one that the program has loaded.
 */
#include "gpu/devices.h"
#include "gpu/gpu.h"

#include <base/config.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LOCK_MS = 60000, STEPS = 4, NOT_SUPPORTED = 801 };
static const double look_limit = 60; /* s, for getState */

/* ---- in the helper --------------------------------------------------------------------------- */

/* As in cuda.h: 64 bytes, whatever the step; zeros are the defaults. */
union arguments {
    unsigned lock_ms;
    struct {
        const struct device_pair *pairs;
        unsigned count;
    } restore;
    char room[64];
};

/* What a rank passes before the steps. */
struct told {
    const char *from, *map; /* devices.h: those of the program, and the user's map */
};

static const char *name_of(void *library, int code)
{
    int (*name)(int, const char **) = NULL;
    const char *text = NULL;
    *(void **)&name = dlsym(library, "cuGetErrorName");
    return name && !name(code, &text) && text ? text : "an error without a name";
}

/* The driver finds a thread of its own in the other process by its name: list those that exist. */
static void name_threads(int pid, char *names, size_t room)
{
    char path[300], name[40];
    size_t n = 0;
    snprintf(path, sizeof path, "/proc/%d/task", pid);
    DIR *d = opendir(path);
    names[0] = 0;
    for (struct dirent *e; d && (e = readdir(d));) {
        snprintf(path, sizeof path, "/proc/%d/task/%s/comm", pid, e->d_name);
        FILE *f = fopen(path, "re");
        if (f && fgets(name, sizeof name, f) && !strncmp(name, "cuda", 4) && n + 40 < room)
            n += (size_t)snprintf(names + n, room - n, "%s%.*s", n ? ", " : "",
                                  (int)strcspn(name, "\n"), name);
        if (f)
            fclose(f);
    }
    if (d)
        closedir(d);
}

static int state_of(void *library, int pid)
{
    int (*call)(int, int *) = NULL, state = -1;
    *(void **)&call = dlsym(library, "cuCheckpointProcessGetState");
    return call && !call(pid, &state) ? state : -1;
}

static void tell_failure(void *library, int pid, const char *function, int code)
{
    char names[300];
    name_threads(pid, names, sizeof names);
    printf("%s failed with %s (%d) for process %d in state %d; threads of the driver there: %s%s\n",
           function, name_of(library, code), code, pid, state_of(library, pid),
           *names ? names : "none",
           code == NOT_SUPPORTED ? "; drivers refuse memory that is shared between processes (CUDA "
                                   "IPC), older ones managed memory as well"
                                 : "");
}

/* lock: cuCheckpointProcessLock, and so on. */
static int take_step(void *library, int pid, const char *step, const struct told *told)
{
    char function[64];
    struct device_pair pairs[DEVICES_MOST];
    union arguments a = {.room = ""};
    int (*call)(int, void *) = NULL;
    snprintf(function, sizeof function, "cuCheckpointProcess%c%s", step[0] - 'a' + 'A', step + 1);
    *(void **)&call = dlsym(library, function);
    if (!call) {
        printf("the driver has no %s: it is too old (570 or newer is needed)\n", function);
        return 1;
    }
    if (!strcmp(step, "lock"))
        a.lock_ms = LOCK_MS;
    if (!strcmp(step, "restore")) {
        if (devices_pair(library, told->from, told->map, pairs, &a.restore.count))
            return 1;
        a.restore.pairs = a.restore.count ? pairs : NULL;
    }
    int code = call(pid, &a);
    if (code)
        tell_failure(library, pid, function, code);
    return code != 0;
}

/* If a later step fails, unlock what was locked here. 1: failed; 3: failed, and could not be undone. */
static int take_steps(void *library, int pid, int count, char **steps, const struct told *told)
{
    for (int i = 0; i < count; i++)
        if (take_step(library, pid, steps[i], told))
            return i == 0 || strcmp(steps[0], "lock")        ? 1
                   : take_step(library, pid, "unlock", told) ? 3
                                                             : 1;
    return 0;
}

/* The rank keeps the line in the image. */
static void tell_devices(void *library)
{
    char line[GPU_LINE];
    devices_name(library, line, sizeof line);
    printf("%s\n", line);
}

static const char *value_of(const char *argument, const char *name)
{
    size_t n = strlen(name);
    return strncmp(argument, name, n) ? NULL : argument + n;
}

void gpu_help(int argc, char **argv)
{
    int (*init)(unsigned) = NULL, code;
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (argc < 3)
        _exit(2);
    void *library = dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL);
    if (library)
        *(void **)&init = dlsym(library, "cuInit");
    if (!init) {
        printf("%s cannot be loaded: %s\n", argv[1], library ? "no cuInit" : dlerror());
        exit(1);
    }
    if ((code = init(0))) {
        printf("cuInit failed with %s (%d)\n", name_of(library, code), code);
        exit(1);
    }
    int pid = atoi(argv[0]);
    struct told told = {"", ""};
    for (argv += 2, argc -= 2; argc; argv++, argc--) {
        const char *from = value_of(*argv, "from="), *map = value_of(*argv, "map=");
        if (!from && !map)
            break;
        told.from = from ? from : told.from;
        told.map = map ? map : told.map;
    }
    int failed = take_steps(library, pid, argc, argv, &told);
    if (!failed && argc && !strcmp(argv[argc - 1], "checkpoint"))
        tell_devices(library);
    exit(failed);
}

/* ---- in the rank ----------------------------------------------------------------------------- */

struct child {
    char *argv[8 + STEPS];
    int out;
};

static struct {
    pthread_mutex_t lock;
    int pid; /* not waited for yet, so its number is not reused; 0: none */
} running = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void note_running(int pid)
{
    pthread_mutex_lock(&running.lock);
    running.pid = pid;
    pthread_mutex_unlock(&running.lock);
}

void gpu_stop_asking(void)
{
    pthread_mutex_lock(&running.lock);
    if (running.pid)
        kill(running.pid, SIGKILL);
    pthread_mutex_unlock(&running.lock);
}

/* Runs on a stack of its own, in the rank's memory, until it has become the helper. */
static int become_helper(void *p)
{
    const struct child *c = p;
    dup2(c->out, 1);
    /* close the rank's files, which the driver may have reopened without FD_CLOEXEC: they would keep its
     * devices open */
    if (raw_syscall(SYS_close_range, 3, UINT_MAX, 0, 0, 0, 0) < 0)
        for (int fd = 3; fd < 65536; fd++)
            raw_syscall(SYS_close, fd, 0, 0, 0, 0, 0);
    execv("/proc/self/exe", c->argv);
    _exit(127);
}

/* The driver may never answer. */
static double limit_of(const char *step)
{
    double limit = mend_setting_seconds(MEND_KEY_CAPSULE_GPU_LIMIT);
    return !strcmp(step, "getState") && (limit <= 0 || limit > look_limit) ? look_limit : limit;
}

/* Waits until something can be read. 0: nothing came until then (0: wait forever). */
static int is_heard(int fd, double until)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    for (;;) {
        double left = until > 0 ? until - seconds_now() : 1;
        int rc = poll(&p, 1, left <= 0 ? 0 : left < 1 ? (int)(1e3 * left) + 1 : 1000);
        if (rc > 0 || (rc < 0 && errno != EINTR))
            return 1;
        if (left <= 0)
            return 0;
    }
}

/* What it says, up to its end. -1: it has not ended within the limit (0: none). */
static int listen_to(int fd, double limit, char *text, size_t room)
{
    size_t n = 0;
    double until = limit > 0 ? seconds_now() + limit : 0;
    int rc = 0;
    for (;;) {
        if (!is_heard(fd, until)) {
            rc = -1;
            break;
        }
        ssize_t got = read(fd, text + n, room - 1 - n);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        n += (size_t)got;
        if (n == room - 1)
            break;
    }
    text[n] = 0;
    text[strcspn(text, "\n")] = 0;
    return rc;
}

/* One that was killed inside the kernel's driver may stay there: then it is left behind. */
static void wait_for_end(int pid, int killed, int *status)
{
    const struct timespec pause = {0, 5000000};
    for (int tries = 0; !killed || tries < 1000; tries++) {
        int rc = waitpid(pid, status, __WALL | (killed ? WNOHANG : 0));
        if (rc == pid || (rc < 0 && errno != EINTR))
            return;
        if (!rc)
            nanosleep(&pause, NULL);
    }
}

/* The application waits for its own children and never meets this one: no signal reports its end. */
static int start(const struct child *c)
{
    enum { ROOM = 64 << 10 };
    sigset_t all, old;
    char *stack = malloc(ROOM);
    if (!stack)
        return -1;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int pid = clone(become_helper, (void *)ROUND_DOWN(stack + ROOM, 16), CLONE_VM | CLONE_VFORK,
                    (void *)c);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    free(stack);
    return pid;
}

int gpu_ask(const char *library, const char *const *steps, char *text, size_t room)
{
    char number[16], from[GPU_LINE + 8], map[GPU_LINE + 8];
    int two[2], status = -1;
    struct child c = {.argv = {"capsule", "--gpu", number, (char *)library, from, map}};
    for (int i = 0; i < STEPS && steps[i]; i++)
        c.argv[6 + i] = (char *)steps[i];
    snprintf(from, sizeof from, "from=%s", lower.upper ? lower.upper->gpus : "");
    snprintf(map, sizeof map, "map=%s", mend_setting_string(MEND_KEY_CAPSULE_GPU_MAP));
    snprintf(number, sizeof number, "%d", (int)getpid());
    if (pipe2(two, O_CLOEXEC)) {
        snprintf(text, room, "cannot make a pipe to the helper: %s", strerror(errno));
        return -1;
    }
    c.out = two[1];
    double limit = limit_of(steps[0]);
    int pid = start(&c), late = 0;
    close(two[1]);
    text[0] = 0;
    if (pid > 0) {
        note_running(pid);
        late = listen_to(two[0], limit, text, room) < 0;
        if (late)
            gpu_stop_asking();
        note_running(0);
        wait_for_end(pid, late, &status);
    }
    close(two[0]);
    if (late) {
        snprintf(text, room, "the driver has not answered for %g s (capsule.gpu_limit)", limit);
        return -3;
    }
    if (pid > 0 && WIFSIGNALED(status)) { /* perhaps in the middle of a step */
        snprintf(text, room, "signal %d has ended the process that asked the driver",
                 WTERMSIG(status));
        return -3;
    }
    if (status && !text[0])
        snprintf(text, room,
                 pid > 0 ? "the helper ended with status %#x" : "no helper could be started",
                 (unsigned)status);
    return !status ? 0 : WIFEXITED(status) && WEXITSTATUS(status) == 3 ? -2 : -1;
}
