/* Standard error of mend run, which nobody may read for hours: a pager, a terminal that was stopped, a pipe that is full.
 * The job must be kept alive all the same, so nobody here waits for a reader but one thread:
 *
 *   1. whatever is to be said goes into a queue: by stderr, and from the launcher (noise.c);
 *   2. the thread writes the queue to the descriptor;
 *   3. at the end we wait until all is written, unless a signal has come that ends the job.
 *
 * If the queue is full, the launcher waits, and our own words are dropped: once there is room, we say how many bytes.
 */
#include "start.h"

#include "run/outcome.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { ROOM = 1 << 20 };

static struct {
    pthread_mutex_t lock;
    pthread_cond_t more, less;
    pthread_t thread;
    bool running, ending, idle;
    size_t count, dropped;
    FILE *before;
    char bytes[ROOM];
} errors = {.lock = PTHREAD_MUTEX_INITIALIZER,
            .more = PTHREAD_COND_INITIALIZER,
            .less = PTHREAD_COND_INITIALIZER};

static void write_all(const char *bytes, size_t count)
{
    while (count > 0) {
        ssize_t n = write(STDERR_FILENO, bytes, count);
        if (n < 0 && errno == EAGAIN)
            poll(&(struct pollfd){STDERR_FILENO, POLLOUT, 0}, 1, -1);
        else if (n <= 0 && errno != EINTR)
            return; /* nobody will ever read it */
        bytes += n > 0 ? n : 0;
        count -= n > 0 ? (size_t)n : 0;
    }
}

static void *writer(void *unused)
{
    char piece[4096];
    sigset_t all;
    (void)unused;
    sigfillset(
        &all); /* signals are for the main thread; a closed standard error is an error of write */
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    pthread_mutex_lock(&errors.lock);
    for (;;) {
        if (errors.count == 0 && errors.dropped > 0) {
            errors.count = (size_t)snprintf(
                errors.bytes, ROOM,
                "mend run: %zu bytes of its messages are lost, because nobody read them\n",
                errors.dropped);
            errors.dropped = 0;
        }
        errors.idle = errors.count == 0;
        pthread_cond_broadcast(&errors.less);
        if (errors.idle && errors.ending)
            break;
        if (errors.idle) {
            pthread_cond_wait(&errors.more, &errors.lock);
            continue;
        }
        size_t n = errors.count < sizeof piece ? errors.count : sizeof piece;
        memcpy(piece, errors.bytes, n);
        errors.count -= n;
        memmove(errors.bytes, errors.bytes + n, errors.count);
        pthread_mutex_unlock(&errors.lock);
        write_all(piece, n);
        pthread_mutex_lock(&errors.lock);
    }
    pthread_mutex_unlock(&errors.lock);
    return NULL;
}

void run_errors_put(const char *bytes, size_t count, bool waits)
{
    pthread_mutex_lock(&errors.lock);
    while (waits && errors.running && errors.count + count > ROOM && errors.count > 0)
        pthread_cond_wait(&errors.less, &errors.lock);
    bool queued = errors.running && errors.count + count <= ROOM;
    if (queued) {
        memcpy(errors.bytes + errors.count, bytes, count);
        errors.count += count;
        errors.idle = false;
        pthread_cond_signal(&errors.more);
    }
    bool direct = !errors.running;
    if (!queued && !direct)
        errors.dropped += count;
    pthread_mutex_unlock(&errors.lock);
    if (direct)
        write_all(bytes, count);
}

bool run_errors_wait(void)
{
    pthread_mutex_lock(&errors.lock);
    bool waits = errors.running && !errors.idle;
    pthread_mutex_unlock(&errors.lock);
    return waits;
}

static ssize_t say(void *unused, const char *bytes, size_t count)
{
    (void)unused;
    run_errors_put(bytes, count, false);
    return (ssize_t)count;
}

void run_errors_begin(void)
{
    FILE *queue = fopencookie(NULL, "w", (cookie_io_functions_t){.write = say});
    if (!queue)
        return; /* words are written as ever */
    setvbuf(queue, NULL, _IONBF, 0);
    errors.idle = true;
    if (pthread_create(&errors.thread, NULL, writer, NULL)) {
        fclose(queue);
        return;
    }
    errors.running = true;
    errors.before = stderr;
    stderr = queue;
}

void run_errors_end(void)
{
    enum { A_MOMENT = 200, NAP = 5 }; /* ms */
    if (!errors.running)
        return;
    FILE *queue = stderr;
    fflush(queue);
    stderr = errors.before;
    for (int after_signal = 0; run_errors_wait() && after_signal < A_MOMENT;) {
        nanosleep(&(struct timespec){0, NAP * 1000000}, NULL);
        after_signal += run_stop_signal() ? NAP : 0;
    }
    pthread_mutex_lock(&errors.lock);
    errors.running = false;
    errors.ending = true;
    bool idle = errors.idle;
    pthread_cond_broadcast(&errors.more);
    pthread_cond_broadcast(&errors.less);
    pthread_mutex_unlock(&errors.lock);
    if (idle)
        pthread_join(errors.thread, NULL);
    else
        pthread_detach(errors.thread); /* it waits for a reader, and ends with the process */
    fclose(queue);
}
