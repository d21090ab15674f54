/* output.c - holds back what the application prints until it cannot be rolled back any more.
 *
 * We number the bytes that a rank writes to its standard output (and error) from its start. We keep them in
 * memory, and in the image, until a version is complete; then they go to the file DIR/output/RANK.out
 * (RANK.err), each at the place of its number. Whichever process plays the rank next may write the same bytes
 * to the same places again: nothing is doubled, and nothing is lost.
 * `mend run` prints the files as they grow. When the rank ends, bytes that are still held back go to
 * DIR/output/RANK.out.last: the number of the first byte (8 bytes), then the bytes. `mend run` prints
 * that if the job does not come back.
 * In a job that is launched again (relaunch.c) the image does not hold them: at every capture they are put aside
 * to RANK.out.CAPTURE in the same form, and follow when its version is complete, or resumed.
 *
 * output_write runs in the trap handler, with the upper half's thread pointer: no libc but memcpy.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "output/output.h"

#define HELD_MAX (256ul << 20) /* bytes beyond that are not held back, but written at once */

struct stream {
    char *held; /* bytes from..to-1 */
    uint64_t from, to;
    int file;
    char last[4224]; /* the path of RANK.out.last */
    int settled;     /* that file does not exist */
};

static struct {
    int held; /* this job holds output back */
    int direct, playing;
    volatile int lock;
    int trouble; /* errno of the last write that failed */
    char folder[4096];
    struct stream stream[2];
} output = {.stream = {{.file = -1}, {.file = -1}}};

int output_is_held(void)
{
    return output.held;
}

void output_open(const char *dir)
{
    if (snprintf(output.folder, sizeof output.folder, "%s/output", dir) >=
        (int)sizeof output.folder)
        die("the path of the job's folder %s is too long", dir);
    if (mkdir(output.folder, 0700) && errno != EEXIST)
        die("cannot make %s: %s", output.folder, strerror(errno));
    for (int i = 0; i < 2; i++) {
        output.stream[i].held = mmap(NULL, HELD_MAX, PROT_READ | PROT_WRITE,
                                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (output.stream[i].held == MAP_FAILED)
            die("no memory to hold back output: %s", strerror(errno));
    }
    output.held = 1;
}

void output_play(int rank)
{
    char path[4200];
    if (!output.held)
        return;
    output.playing = rank;
    for (int i = 0; i < 2; i++) {
        if (output.stream[i].file >= 0)
            close(output.stream[i].file);
        snprintf(path, sizeof path, "%s/%d.%s", output.folder, rank, i ? "err" : "out");
        output.stream[i].file = open(path, O_CREAT | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (output.stream[i].file < 0)
            die("cannot open %s: %s", path, strerror(errno));
        snprintf(output.stream[i].last, sizeof output.stream[i].last, "%s.last", path);
        output.stream[i].settled = 0;
    }
    output.direct = 0;
}

void output_resume(const uint64_t printed[2])
{
    for (int i = 0; i < 2; i++)
        output.stream[i].from = output.stream[i].to = printed[i];
}

void output_start(void)
{
    for (int i = 0; i < 2; i++)
        output.stream[i].from = output.stream[i].to = 0;
    output.lock = 0;
}

/* For threads of either half, or their copies in a child. The lock is the number of the thread that holds it:
 * that thread may have been ended meanwhile. */
static void take(void)
{
    int me = (int)raw_syscall(SYS_gettid, 0, 0, 0, 0, 0, 0), holder = 0;
    for (unsigned i = 1; !__atomic_compare_exchange_n(&output.lock, &holder, me, 0,
                                                      __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
         i++, holder = 0) {
        long pid = i % 1000 ? 0 : raw_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0);
        if (pid && raw_syscall(SYS_tgkill, pid, holder, 0, 0, 0, 0) == -ESRCH)
            __atomic_compare_exchange_n(&output.lock, &holder, 0, 0, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED);
        raw_syscall(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
    }
}

static void give(void)
{
    __atomic_store_n(&output.lock, 0, __ATOMIC_RELEASE);
}

static void flush_to(struct stream *s, uint64_t end)
{
    uint64_t at = s->from;
    while (at < end) {
        long n = raw_syscall(SYS_pwrite64, s->file, (long)(s->held + (at - s->from)),
                             (long)(end - at), (long)at, 0, 0);
        if (n == -EINTR || n == -EAGAIN)
            continue;
        if (n <= 0) { /* disk full: keep the bytes and try again at the next commit */
            output.trouble = n < 0 ? (int)-n : ENOSPC;
            break;
        }
        at += (uint64_t)n;
    }
    memmove(s->held, s->held + (at - s->from), s->to - at);
    if (at > s->from && !s->settled) { /* the last words of a previous life are outdated */
        raw_syscall(SYS_unlinkat, AT_FDCWD, (long)s->last, 0, 0, 0, 0);
        s->settled = 1;
    }
    s->from = at;
}

static void flush(struct stream *s)
{
    flush_to(s, s->to);
}

void output_commit(void)
{
    if (!output.held)
        return;
    take();
    for (int i = 0; i < 2; i++)
        flush(&output.stream[i]);
    give();
}

int output_direct(void)
{
    output_commit();
    output.direct = 1;
    errno = output.trouble;
    return !output.held || (output.stream[0].from == output.stream[0].to &&
                            output.stream[1].from == output.stream[1].to);
}

static int write_held(const struct stream *s, const char *path)
{
    struct iovec part[2] = {{(void *)&s->from, sizeof s->from}, {s->held, s->to - s->from}};
    long fd = raw_syscall(SYS_openat, AT_FDCWD, (long)path,
                          O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0600, 0, 0);
    if (fd < 0) {
        output.trouble = (int)-fd;
        return 0;
    }
    long n = raw_syscall(SYS_writev, fd, (long)part, 2, 0, 0, 0);
    raw_syscall(SYS_close, fd, 0, 0, 0, 0, 0);
    if (n != (long)(part[0].iov_len + part[1].iov_len))
        output.trouble = n < 0 ? (int)-n : ENOSPC;
    return n == (long)(part[0].iov_len + part[1].iov_len);
}

/* In a signal handler, with the thread pointer of either half. */
int output_last(void)
{
    int ok = 1;
    for (int i = 0; output.held && i < 2; i++)
        if (output.stream[i].to > output.stream[i].from && output.stream[i].last[0]) {
            output.stream[i].settled = 0;
            ok &= write_held(&output.stream[i], output.stream[i].last);
        }
    return ok;
}

int output_end(void)
{
    for (int i = 0; output.held && i < 2; i++)
        unlink(output.stream[i].last); /* from a previous launch */
    int ok = output_last();
    errno = output.trouble;
    return ok;
}

static void aside_path(char *path, size_t size, int stream, int capture)
{
    snprintf(path, size, "%s/%d.%s.%d", output.folder, output.playing, stream ? "err" : "out",
             capture);
}

int output_aside(int capture, uint64_t mark[2])
{
    int ok = 1;
    char path[4200];
    for (int i = 0; i < 2; i++) {
        mark[i] = output.stream[i].to;
        if (!output.held || output.stream[i].to == output.stream[i].from)
            continue;
        aside_path(path, sizeof path, i, capture);
        ok &= write_held(&output.stream[i], path);
    }
    return ok;
}

void output_settle(int capture, const uint64_t mark[2])
{
    char path[4200];
    if (!output.held)
        return;
    take();
    for (int i = 0; i < 2; i++) {
        if (mark[i] > output.stream[i].from)
            flush_to(&output.stream[i], mark[i]);
        aside_path(path, sizeof path, i, capture);
        if (output.stream[i].from >= mark[i])
            unlink(path);
    }
    give();
}

static void aside_remove(void)
{
    DIR *d = opendir(output.folder);
    for (struct dirent *e; d && (e = readdir(d));) {
        int rank, capture;
        char name[8], rest;
        if (sscanf(e->d_name, "%d.%3[a-z].%d%c", &rank, name, &capture, &rest) == 3 &&
            rank == output.playing)
            unlinkat(dirfd(d), e->d_name, 0);
    }
    if (d)
        closedir(d);
}

void output_take_back(int capture)
{
    char path[4200], bytes[1 << 16];
    uint64_t at;
    if (!output.held)
        return;
    for (int i = 0; i < 2; i++) {
        aside_path(path, sizeof path, i, capture);
        int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
        if (fd < 0 && errno != ENOENT)
            die("cannot open %s: %s", path, strerror(errno));
        if (fd < 0)
            continue;
        ssize_t n = read(fd, &at, sizeof at);
        while (n > 0 && (n = read(fd, bytes, sizeof bytes)) > 0) {
            if (pwrite(output.stream[i].file, bytes, (size_t)n, (off_t)at) != n)
                die("cannot write to %s: %s", output.folder, strerror(errno));
            at += (uint64_t)n;
        }
        if (n < 0)
            die("cannot read %s: %s", path, strerror(errno));
        close(fd);
    }
    aside_remove();
}

long output_write(int fd, const char *bytes, size_t count)
{
    struct stream *s = &output.stream[fd == 2];
    take();
    if (count > HELD_MAX)
        count = HELD_MAX;
    if (s->to - s->from + count > HELD_MAX)
        flush(s);
    long result = -ENOSPC;
    if (s->to - s->from + count <= HELD_MAX) {
        memcpy(s->held + (s->to - s->from), bytes, count);
        s->to += count;
        if (lower.upper)
            lower.upper->printed[fd == 2] = s->to;
        result = (long)count;
    }
    if (output.direct)
        flush(s);
    give();
    return result;
}

struct output_state output_state(void)
{
    struct output_state state;
    for (int i = 0; i < 2; i++) {
        state.from[i] = output.stream[i].from;
        state.to[i] = output.stream[i].to;
    }
    return state;
}

const char *output_bytes(int stream)
{
    return output.stream[stream].held;
}

void output_restore(const struct output_state *state, const char *out, const char *err)
{
    output_start();
    for (int i = 0; i < 2; i++) {
        output.stream[i].from = state->from[i];
        output.stream[i].to = state->to[i];
        memcpy(output.stream[i].held, i ? err : out, state->to[i] - state->from[i]);
    }
}
