/* What the ranks print. The files in DIR/output grow when a version is complete; we print each byte once. */
#include "follow.h"
#include "run/outcome.h"
#include "run/start/start.h"

#include <base/event.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* How much of it could be written. The reader may be slow, and signals that are not for us may come meanwhile. Nobody waits
 * for a reader once the job is to end by a signal, nor while it runs: it has to be kept alive. Then *blocked. */
static size_t put(const struct run_follower *f, int fd, const char *bytes, size_t count,
                  bool *blocked)
{
    enum { A_MOMENT = 200 }; /* ms */
    size_t done = 0;
    while (fd == STDERR_FILENO && run_errors_wait()) { /* what mend run has said comes first */
        if (run_stop_signal() || !f->ending) {
            *blocked = true;
            return 0;
        }
        nanosleep(&(struct timespec){0, 5000000}, NULL);
    }
    while (done < count) {
        int ready = poll(&(struct pollfd){fd, POLLOUT, 0}, 1, A_MOMENT);
        size_t left = count - done;
        if (ready == 0 && (run_stop_signal() || !f->ending)) {
            *blocked = true;
            break;
        }
        if (ready < 0 && errno != EINTR)
            break;
        if (ready <= 0)
            continue;
        ssize_t n = write(fd, bytes + done, left < PIPE_BUF ? left : PIPE_BUF);
        if (n < 0 && errno != EINTR && errno != EAGAIN)
            break;
        done += n > 0 ? (size_t)n : 0;
    }
    return done;
}

/* Standard output may be a full disk, or closed. Warn at once, and remember it. The job continues: its whole output is
 * in DIR/output. Returns the bytes that count as printed: fewer, if nobody reads. */
static size_t print(struct run_follower *f, const char *bytes, size_t count, int stream)
{
    size_t done = put(f, stream ? STDERR_FILENO : STDOUT_FILENO, bytes, count, &f->blocked[stream]);
    if (done < count && run_stop_signal())
        f->unread = f->unprinted = true;
    if (done == count || f->unread || f->blocked[stream])
        return done;
    if (!stream && !f->unprinted)
        fprintf(stderr,
                "mend: WARNING: standard output cannot be written: %s; what the program prints is "
                "in %s/output\n",
                strerror(errno), f->job->dir);
    f->unprinted |= !stream;
    return count; /* the rest may succeed: the warning stays true */
}

/* Print whole lines only, so that lines of two ranks do not mix. We print an unfinished line after a while. */
static void print_new(struct run_follower *f, int rank, int stream)
{
    static const double a_while =
        2; /* seconds: versions, and with them the rest of a line, may be late */
    char path[4400], bytes[1 << 16];
    long long *at = &f->printed[2 * rank + stream];
    double *since = &f->unfinished_since[2 * rank + stream];
    snprintf(path, sizeof path, "%s/output/%d.%s", f->job->dir, rank, stream ? "err" : "out");
    bool printed = false;
    int fd = f->unread || f->blocked[stream] ? -1 : open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return;
    for (ssize_t n;
         !f->unread && !f->blocked[stream] && (n = pread(fd, bytes, sizeof bytes, *at)) > 0;
         *at += n) {
        const char *end = memrchr(bytes, '\n', (size_t)n);
        if (!end && *since == 0)
            *since = mend_now();
        if (!end && n < (ssize_t)sizeof bytes && mend_now() - *since < a_while && !f->ending)
            break;
        if (end)
            n = end - bytes + 1;
        *since = 0;
        follow_wipe_line(f);
        n = (ssize_t)print(f, bytes, (size_t)n, stream);
        printed = true;
    }
    close(fd);
    if (printed)
        printed_note(f, rank, stream);
}

void follow_output(struct run_follower *f)
{
    /* A rank of whose line the reader has taken a part comes first the next time. */
    f->blocked[0] = f->blocked[1] = false;
    for (int stream = 0; stream < 2; stream++)
        for (int i = 0, first = f->turn[stream]; !f->job->raw && i < f->job->ranks; i++) {
            int r = (first + i) % f->job->ranks;
            print_new(f, r, stream);
            if (!f->blocked[stream])
                continue;
            f->turn[stream] = r;
            break;
        }
}

/* RANK.out.last: the position of its first byte, then the bytes (src/capsule/lower/output/output.c). Bytes that were
 * printed before are skipped. */
static void print_last(struct run_follower *f, int rank, int stream)
{
    char path[4400], bytes[1 << 16];
    uint64_t first, at = (uint64_t)f->printed[2 * rank + stream];
    snprintf(path, sizeof path, "%s/output/%d.%s.last", f->job->dir, rank, stream ? "err" : "out");
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd >= 0 && pread(fd, &first, sizeof first, 0) == sizeof first && first <= at)
        for (ssize_t n;
             (n = pread(fd, bytes, sizeof bytes, (off_t)(sizeof first + at - first))) > 0;
             at += (uint64_t)n)
            print(f, bytes, (size_t)n, stream);
    if (fd >= 0)
        close(fd);
}

void follow_last_words(struct run_follower *f)
{
    f->ending = true;
    follow(f);
    follow_wipe_line(f);
    for (int r = 0; !f->job->raw && r < f->job->ranks; r++)
        for (int stream = 0; stream < 2; stream++)
            print_last(f, r, stream);
}
