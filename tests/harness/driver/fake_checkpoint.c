/* The stand-in's part of cuCheckpointProcess…, in the way the real driver does it (seen with 580): a process that uses the
 * driver has a thread whose name says where to write requests and where to read answers, by the numbers of two pipes. It waits
 * for an event, for requests, and at a socket with the process' number in its name; an error of any of them ends it.
 * It makes the event and the pipes by system calls of its own.
 * A process with another number than it had is a forked child, which may not use the devices (whether the real one looks, nobody
 * told us; it could).
 * With MEND_FAKE_CHECKPOINT set, which names a file that is held open as the device. MEND_FAKE_SLOW: ms that the devices' content
 * takes; MEND_FAKE_REFUSES: the error with which it is refused. MEND_FAKE_DEVICES: a letter or digit for each device, of which
 * its number consists; a process goes on only on those that it had, or that it is told by pairs. MEND_FAKE_MOVED: a file that
 * gets a line for each device that went to another, with both letters. MEND_FAKE_FAULTS: see fake_faults.c. */
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "fake_checkpoint.h"

#ifdef FAKE_OLD /* a driver that does not have them */
#define EXPORT __attribute__((visibility("hidden")))
#else
#define EXPORT __attribute__((visibility("default")))
#endif
enum { NOT_INITIALIZED = 3, NO_DEVICE = 100, ILLEGAL_STATE = 401, NOT_SUPPORTED = 801, BITS = 22 };
enum { RUNNING, LOCKED, CHECKPOINTED }; /* a process, as cuda.h has it */
enum { STATE_IS = 1000 };               /* the answer to 's': this, and the state */

/* ---- in the process that uses the driver ----------------------------------------------------- */

static struct {
    int requests[2], answers[2], event, listening, device;
    int owner; /* the process that began */
    int state;
    unsigned char uuid[2][16];
} here = {.device = -1};

void checkpoint_uuid(unsigned char uuid[16], int device)
{
    const char *all = getenv("MEND_FAKE_DEVICES");
    memset(uuid, all && strlen(all) > (size_t)device ? all[device] : 'a' + device, 16);
}

static int number(const char *variable)
{
    const char *text = getenv(variable);
    return text ? atoi(text) : 0;
}

/* The device's number is kept by something that is none. */
static int close_device(void)
{
    usleep(1000 * (useconds_t)number("MEND_FAKE_SLOW"));
    if (number("MEND_FAKE_REFUSES"))
        return number("MEND_FAKE_REFUSES");
    if (driver_shares() && !number("MEND_FAKE_SHARES"))
        return NOT_SUPPORTED;
    int nothing = eventfd(0, 0), code = driver_take();
    if (nothing < 0 || dup2(nothing, here.device) < 0)
        return NOT_INITIALIZED;
    close(nothing);
    return code;
}

struct where { /* the devices that are there, and pairs */
    unsigned char there[2][16];
    unsigned count;
    struct {
        unsigned char from[16], to[16];
    } pair[4];
};

static void note_move(int from, int to)
{
    const char *path = getenv("MEND_FAKE_MOVED");
    FILE *f = path && from != to ? fopen(path, "a") : NULL;
    if (f) {
        fprintf(f, "%c goes to %c\n", from, to);
        fclose(f);
    }
}

/* Each device of ours is there, or goes to another that is. */
static int move_devices(void)
{
    struct where w;
    if (read(here.requests[0], &w, sizeof w) != sizeof w || w.count > 4)
        return NOT_INITIALIZED;
    for (int i = 0; i < 2; i++) {
        int found = 0;
        for (unsigned k = 0; k < w.count; k++)
            if (!memcmp(w.pair[k].from, here.uuid[i], 16)) {
                note_move(here.uuid[i][0], w.pair[k].to[0]);
                memcpy(here.uuid[i], w.pair[k].to, 16);
                break;
            }
        for (int k = 0; k < 2; k++)
            found |= !memcmp(w.there[k], here.uuid[i], 16);
        if (!found)
            return NO_DEVICE;
    }
    return 0;
}

static int open_device(void)
{
    int code = move_devices();
    if (code)
        return code;
    int device = open(getenv("MEND_FAKE_CHECKPOINT"), O_RDWR | O_CLOEXEC);
    uint64_t count;
    if (device < 0 || fcntl(here.device, F_GETFD) < 0 || read(here.device, &count, 0) == 0 ||
        dup2(device, here.device) < 0)
        return NOT_INITIALIZED; /* (no counter reads 0 bytes) */
    close(device);
    return driver_return();
}

/* Each step has a state before it and one after it. */
static int step(int before, int (*action)(void), int after)
{
    int code = here.state == before ? action() : ILLEGAL_STATE;
    if (!code)
        here.state = after;
    return code;
}

static int turn(char request)
{
    switch (request) {
    case 's': return STATE_IS + here.state;
    case 'l': return step(RUNNING, driver_lock, LOCKED);
    case 'c': return step(LOCKED, close_device, CHECKPOINTED);
    case 'r': return step(CHECKPOINTED, open_device, LOCKED);
    default: return step(LOCKED, driver_unlock, RUNNING);
    }
}

static void *answering(void *unused)
{
    char name[16];
    snprintf(name, sizeof name, "cuda%011llx",
             (unsigned long long)here.requests[1] << BITS | (unsigned)here.answers[0]);
    prctl(PR_SET_NAME, name);
    for (;;) {
        struct pollfd p[] = {
            {here.event, POLLIN, 0}, {here.requests[0], POLLIN, 0}, {here.listening, POLLIN, 0}};
        char request;
        if (poll(p, 3, -1) < 0)
            continue;
        if ((p[0].revents | p[1].revents | p[2].revents) & ~POLLIN)
            return unused;
        if (p[1].revents && read(here.requests[0], &request, 1) == 1) {
            int code = fault_before("owner", request);
            code = code ? code : turn(request);
            fault_after("owner", request);
            if (write(here.answers[1], &code, sizeof code) != sizeof code)
                return unused;
        }
    }
}

static int listen_as(int pid)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    int n = snprintf(a.sun_path + 1, sizeof a.sun_path - 1, "cuda-uvmfd-4026531836-%d", pid);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    socklen_t length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
    return bind(fd, (struct sockaddr *)&a, length) || listen(fd, 16) ? -1 : fd;
}

void checkpoint_begin(void)
{
    pthread_t thread;
    const char *device = getenv("MEND_FAKE_CHECKPOINT");
    if (!device || here.device >= 0)
        return;
    here.owner = (int)getpid();
    for (int i = 0; i < 2; i++)
        checkpoint_uuid(here.uuid[i], i);
    here.device = open(device, O_RDWR | O_CLOEXEC);
    here.event = (int)syscall(SYS_eventfd2, 0, EFD_CLOEXEC);
    here.listening = listen_as((int)getpid());
    if (here.device < 0 || here.listening < 0 || syscall(SYS_pipe2, here.requests, O_CLOEXEC) ||
        syscall(SYS_pipe2, here.answers, O_CLOEXEC) ||
        pthread_create(&thread, NULL, answering, NULL))
        abort();
}

int checkpoint_forked(void)
{
    return here.owner && here.owner != (int)getpid();
}

/* ---- in the one that asks -------------------------------------------------------------------- */

static int find_pipes(int pid, int *to, int *from)
{
    char path[300], name[40];
    unsigned long long both;
    snprintf(path, sizeof path, "/proc/%d/task", pid);
    DIR *d = opendir(path);
    int found = 0;
    for (struct dirent *e; d && !found && (e = readdir(d));) {
        snprintf(path, sizeof path, "/proc/%d/task/%s/comm", pid, e->d_name);
        FILE *f = fopen(path, "r");
        found = f && fgets(name, sizeof name, f) && strlen(name) == 16 &&
                sscanf(name, "cuda%11llx", &both) == 1;
        if (f)
            fclose(f);
    }
    if (d)
        closedir(d);
    if (!found)
        return 0;
    snprintf(path, sizeof path, "/proc/%d/fd/%llu", pid, both >> BITS);
    *to = open(path, O_WRONLY | O_CLOEXEC);
    snprintf(path, sizeof path, "/proc/%d/fd/%llu", pid, both & ((1u << BITS) - 1));
    *from = open(path, O_RDONLY | O_CLOEXEC);
    return *to >= 0 && *from >= 0;
}

static int request(int pid, char what, const struct where *where)
{
    int to = -1, from = -1, code = fault_before("asker", what);
    if (code)
        return code;
    if (!find_pipes(pid, &to, &from) || write(to, &what, 1) != 1 ||
        (where && write(to, where, sizeof *where) != sizeof *where) ||
        read(from, &code, sizeof code) != sizeof code)
        code = NOT_INITIALIZED;
    close(to);
    close(from);
    fault_after("asker", what);
    return code;
}

EXPORT int cuCheckpointProcessLock(int pid, const void *arguments)
{
    (void)arguments;
    return request(pid, 'l', NULL);
}

EXPORT int cuCheckpointProcessCheckpoint(int pid, const void *arguments)
{
    (void)arguments;
    return request(pid, 'c', NULL);
}

EXPORT int cuCheckpointProcessRestore(int pid, const void *arguments)
{
    struct { /* as cuda.h has it */
        const void *pairs;
        unsigned count;
    } a;
    struct where w = {.count = 0};
    memcpy(&a, arguments, sizeof a);
    for (int i = 0; i < 2; i++)
        checkpoint_uuid(w.there[i], i);
    w.count = a.count < 4 ? a.count : 4;
    if (w.count)
        memcpy(w.pair, a.pairs, w.count * sizeof *w.pair);
    return request(pid, 'r', &w);
}

EXPORT int cuCheckpointProcessUnlock(int pid, const void *arguments)
{
    (void)arguments;
    return request(pid, 'u', NULL);
}

EXPORT int cuCheckpointProcessGetState(int pid, int *state)
{
    int code = request(pid, 's', NULL);
    *state = code - STATE_IS;
    return code >= STATE_IS ? 0 : code;
}
