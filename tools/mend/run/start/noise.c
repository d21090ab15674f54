/* The launcher's standard error, without what means nothing to the user: Open MPI's remarks about its own
 * modules, its counts of suppressed messages, the NUL byte that it puts behind a message. Everything else passes
 * through unchanged and at once.
 *
 * A thread reads the launcher's standard error from a pipe. It holds back what may be the start of a remark until
 * its line is complete, and a line of dashes (the start of a block) until the next line is; neither for long.
 */
#include "start.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char dashes[] =
    "--------------------------------------------------------------------------";

enum state {
    PLAIN,   /* outside a block */
    OPENED,  /* after a line of dashes: the next line tells the kind of block */
    DROPPING /* inside a useless block, up to its second line of dashes */
};

struct noise {
    int from;
    enum state state;
    bool line_start;
    int dropped;    /* lines of the block: an endless one must not swallow what follows */
    char line[512]; /* the part of a line that is not decided yet */
    size_t held;
};
enum { LONGEST_BLOCK = 16 }; /* lines; Open MPI's are of 5 to 8 */

static atomic_int running;

static void put(const char *text, size_t size)
{
    run_errors_put(text, size, true);
}

static bool has(const char *line, const char *words)
{
    return strstr(line, words) != NULL;
}

static bool is_remark(const char *line)
{
    return has(line, " more process") && has(line, " sent help message ");
}

static bool is_useless_block(const char *line)
{
    return has(line, "module") && (has(line, "is not tested for post-failure") ||
                                   has(line, "is insuficiently tested in post-failure"));
}

/* One whole line, with its end. */
static void take_line(struct noise *n, const char *line, size_t size)
{
    bool rule = strncmp(line, dashes, sizeof dashes - 1) == 0;
    switch (n->state) {
    case PLAIN:
        if (rule)
            n->state = OPENED;
        else if (!is_remark(line))
            put(line, size);
        return;
    case OPENED:
        if (is_useless_block(line)) {
            n->state = DROPPING;
            n->dropped = 0;
            return;
        }
        put(dashes, sizeof dashes - 1);
        put("\n", 1);
        n->state = rule ? OPENED : PLAIN;
        if (!rule)
            put(line, size);
        return;
    case DROPPING:
        if (rule || ++n->dropped >= LONGEST_BLOCK)
            n->state = PLAIN;
        return;
    }
}

/* The held text is not a remark, or nothing more comes for now: print it. */
static void let_go(struct noise *n)
{
    if (n->state == OPENED) {
        put(dashes, sizeof dashes - 1);
        put("\n", 1);
        n->state = PLAIN;
    }
    if (n->state == PLAIN)
        put(n->line, n->held);
    n->held = 0;
}

static void take(struct noise *n, const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (text[i] == 0 && n->line_start)
            continue;
        n->line[n->held++] = text[i];
        n->line_start = text[i] == '\n';
        if (n->line_start) {
            n->line[n->held] = 0;
            take_line(n, n->line, n->held);
            n->held = 0;
        } else if (n->held == sizeof n->line - 1) /* no remark is that long */
            let_go(n);
    }
    if (n->state == PLAIN && n->held > 0 && !strchr("[-0123456789", n->line[0]))
        let_go(n); /* remarks start otherwise */
}

static void *filter(void *argument)
{
    enum { PAUSE_MS = 100 };
    struct noise *n = argument;
    char chunk[4096];
    ssize_t got = 1;
    sigset_t
        all; /* signals are for the main thread; a closed standard error is an error of write */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    while (got > 0) {
        struct pollfd wait = {.fd = n->from, .events = POLLIN};
        bool holds = n->held > 0 || n->state == OPENED;
        if (poll(&wait, 1, holds ? PAUSE_MS : -1) == 0) {
            let_go(n);
            continue;
        }
        got = read(n->from, chunk, sizeof chunk);
        if (got > 0)
            take(n, chunk, (size_t)got);
        else if (got < 0 && errno == EINTR)
            got = 1;
    }
    let_go(n);
    close(n->from);
    free(n);
    running--;
    return NULL;
}

int run_noise_start(void)
{
    int ends[2];
    pthread_t thread;
    struct noise *n = calloc(1, sizeof *n);
    if (!n || pipe2(ends, O_CLOEXEC)) {
        free(n);
        return -1;
    }
    *n = (struct noise){.from = ends[0], .line_start = true};
    running++;
    if (pthread_create(&thread, NULL, filter, n)) {
        running--;
        close(ends[0]);
        close(ends[1]);
        free(n);
        return -1;
    }
    pthread_detach(thread);
    return ends[1];
}

void run_noise_end(void)
{
    for (int i = 0; i < 200 && running > 0; i++)
        nanosleep(&(struct timespec){0, 5000000}, NULL);
}
