/* A node's daemon.
 *
 *  1. Connect to the head (node_connect.c) and wait for the job, but not forever: until it arrives there is no lease,
 *     and nothing closes the connection of a head whose machine has lost its power.
 *  2. When the job arrives, open a PMIx server for the local ranks, then start the ranks.
 *  3. Serve messages from the head and from the PMIx server, ends of ranks, output, input and beats.
 *  4. When the head says END or is gone, or when the lease is over: end the ranks, remove what they leave behind, and
 *     say good-bye. Only after END do the ranks get a moment for last words.
 * The ranks never outlive this process: the kernel kills them with it (PR_SET_PDEATHSIG).
 */
#include "node.h"

#include "pmi/pmi.h"
#include "server.h"

#include <mend/error.h>

#include <errno.h>
#include <linux/sockios.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static const double last_words = 0.5; /* seconds from SIGTERM to SIGKILL */
static const double job_limit = 30;   /* seconds for the job to come */

/* ---- messages of the head -------------------------------------------------------------------- */

/* Use the user's environment, as it is where `mend run` was called. The MPI libraries read it before we start them. */
static void take_environment(char **list)
{
    clearenv();
    for (char **e = list; *e; e++)
        putenv(*e);
}

/* A daemon that hangs or was stopped cannot end its ranks when its lease is over. So the kernel kills the daemon
 * then, and its ranks with it (PR_SET_PDEATHSIG), before the head gives the node up. */
void node_fence_at(struct node *n, double until)
{
    struct itimerspec at = {.it_value = {(time_t)until, (long)(1e9 * (until - (time_t)until))}};
    if (n->job.name)
        timer_settime(n->fence, TIMER_ABSTIME, &at, NULL);
}

static void extend_lease(struct node *n, double since)
{
    static const double a_moment = 0.1; /* to do it ourselves; the head waits longer */
    double until = since + 1e-3 * n->job.timeout_ms;
    if (until <= n->lease)
        return;
    n->lease = until;
    if (!n->ending)
        node_fence_at(n, until + a_moment);
}

static void refuse(struct node *n, const char *why, int error)
{
    struct wire w = {0};
    wire_put_text(&w, why);
    wire_put_u32(&w, error == EAGAIN || error == ENOMEM); /* others may end, or give memory back */
    link_send(&n->head, SAY_REFUSED, &w);
    wire_free(&w);
    n->ending = true;
    node_fence_at(n, launcher_clock() + END_LIMIT);
    n->kill_at = 0;
}

static void begin_job(struct node *n, struct wire_reader *r)
{
    char why[512] = "";
    if (n->job.name || !job_get(r, &n->job) || n->index >= n->job.nodes) {
        refuse(n, "the job description is malformed", 0);
        return;
    }
    take_environment(n->job.environment);
    n->lease = 0; /* so far it was the time for the job to come */
    struct sigevent kill_us = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL};
    if (timer_create(CLOCK_BOOTTIME, &kill_us, &n->fence)) {
        int error = errno;
        snprintf(why, sizeof why, "cannot make a timer: %s", strerror(error));
        n->lease = launcher_clock() + END_LIMIT; /* without one we would hang up before we say so */
        refuse(n, why, error);
        return;
    }
    extend_lease(n, launcher_clock());
    if (!folders_make(n)) {
        int error = errno;
        snprintf(why, sizeof why, "%s", mend_error_text());
        refuse(n, why, error);
    } else if ((!n->job.pmi && !server_open(&n->job, n->index, n->folder, why, sizeof why)) ||
               !ranks_start(n, why, sizeof why))
        refuse(n, why, errno);
}

static void tell_dead(struct wire_reader *r)
{
    uint32_t count = wire_get_u32(r);
    if (r->bad || count == 0 || count > r->left / 4)
        return;
    uint32_t *ranks = launcher_memory(NULL, count * sizeof *ranks);
    for (uint32_t i = 0; i < count; i++)
        ranks[i] = wire_get_u32(r);
    server_tell_dead(ranks, count);
    free(ranks);
}

static void hear_of_node(struct node *n, struct wire_reader *r)
{
    uint32_t number = wire_get_u32(r);
    const char *name = wire_get_text(r);
    if (wire_ended(r) && number == n->job.nodes)
        job_add_node(&n->job, name);
}

static void take_input(struct node *n, struct wire_reader *r)
{
    size_t size;
    const void *bytes = wire_get_bytes(r, &size);
    if (size)
        wire_put_bare(&n->waiting_input, bytes, size);
    else
        n->input_ended = true;
    ranks_feed(n);
}

static void begin_end(struct node *n, bool at_once)
{
    if (n->ending && !at_once)
        return;
    if (!n->ending && !at_once) {
        ranks_signal(n, SIGTERM);
        ranks_signal(n, SIGCONT);
    }
    if (at_once) /* before the fence moves: from now on nobody else would end them in time */
        ranks_signal(n, SIGKILL);
    n->ending = true;
    node_fence_at(n, launcher_clock() + END_LIMIT);
    n->kill_at = launcher_clock() + (at_once ? 0 : last_words);
}

static void hear(struct node *n, uint32_t kind, struct wire_reader *r)
{
    if (kind == SAY_JOB) {
        begin_job(n, r);
        return;
    }
    if (!n->job.name && kind != SAY_END)
        return;
    switch (kind) {
    case SAY_ECHO: extend_lease(n, 1e-6 * (double)wire_get_u64(r)); break;
    case SAY_DEAD:
        if (!n->pmi)
            tell_dead(r);
        break;
    case SAY_FENCED:
    case SAY_MODEX_ASK:
    case SAY_MODEX_DONE:
    case SAY_GOT:
        if (n->pmi)
            pmi_answer(n, kind, r);
        else
            server_answer(kind, r);
        break;
    case SAY_TAKEN: {
        uint32_t taken = wire_get_u32(r);
        n->ahead -= taken < n->ahead ? taken : n->ahead;
        break;
    }
    case SAY_INPUT: take_input(n, r); break;
    case SAY_SIGNAL: ranks_signal(n, (int)wire_get_u32(r)); break;
    case SAY_NODE: hear_of_node(n, r); break;
    case SAY_ADD: ranks_add(n, r); break;
    case SAY_KILL: ranks_kill(n, wire_get_u32(r)); break;
    case SAY_END: begin_end(n, false); break;
    default: break; /* from a newer head */
    }
}

static void listen_to_head(struct node *n)
{
    uint32_t kind;
    struct wire_reader fields;
    int rc = 0;
    bool open = link_receive(&n->head);
    while ((rc = link_next(&n->head, &kind, &fields)) > 0)
        hear(n, kind, &fields);
    if (!open || rc < 0) {
        link_close(&n->head);
        begin_end(n, true);
    }
}

/* ---- the loop -------------------------------------------------------------------------------- */

void node_beat(struct node *n, double now)
{
    if (!n->job.name || now < n->next_beat)
        return;
    double period = 1e-3 * n->job.timeout_ms / 5;
    n->next_beat = now + (period < 1 ? period : 1);
    struct wire w = {0};
    wire_put_u64(&w, (uint64_t)(1e6 * now));
    link_send(&n->head, SAY_BEAT, &w);
    wire_free(&w);
}

static void note_leaving(struct node *n, const struct wire *fields)
{
    struct wire_reader r = {fields->bytes, fields->size, false};
    uint32_t rank = wire_get_u32(&r);
    for (uint32_t i = 0; i < n->count; i++)
        n->ranks[i].leaves |= n->ranks[i].rank == rank;
}

static void pass_on_server(struct node *n)
{
    uint32_t kind;
    struct wire fields;
    while (server_take(&kind, &fields)) {
        if (kind == SAY_ABORT)
            note_leaving(n, &fields);
        link_send(&n->head, kind, &fields);
        wire_free(&fields);
    }
}

struct sources {
    struct pollfd *fd;
    struct node_rank **rank;
    int *stream;
    int count;
};
enum { OF_PMI = 2 }; /* not a stream: the rank's PMI requests */
enum { FROM_HEAD, FROM_SIGNALS, FROM_SERVER, TO_INPUT, FROM_RANKS };

static void add_source(struct sources *s, struct node_rank *rank, int stream, int fd)
{
    if (fd < 0)
        return;
    s->rank[s->count] = rank;
    s->stream[s->count] = stream;
    s->fd[s->count++] = (struct pollfd){fd, POLLIN, 0};
}

static void collect(struct node *n, struct sources *s, int signals)
{
    size_t most = FROM_RANKS + 3 * (size_t)n->count;
    s->fd = launcher_memory(s->fd, most * sizeof *s->fd);
    s->rank = launcher_memory(s->rank, most * sizeof *s->rank);
    s->stream = launcher_memory(s->stream, most * sizeof *s->stream);
    s->fd[FROM_HEAD] =
        (struct pollfd){n->head.fd, (short)(POLLIN | (link_pending(&n->head) ? POLLOUT : 0)), 0};
    s->fd[FROM_SIGNALS] = (struct pollfd){signals, POLLIN, 0};
    s->fd[FROM_SERVER] = (struct pollfd){n->job.name ? server_wake() : -1, POLLIN, 0};
    s->fd[TO_INPUT] =
        (struct pollfd){n->input_at < n->waiting_input.size ? n->input : -1, POLLOUT, 0};
    s->count = FROM_RANKS;
    for (uint32_t i = 0; i < n->count && n->ahead < STREAM_WINDOW; i++)
        for (int stream = 0; stream < 2; stream++)
            add_source(s, &n->ranks[i], stream, n->ranks[i].streams[stream]);
    for (uint32_t i = 0; i < n->count && n->pmi; i++)
        add_source(s, &n->ranks[i], OF_PMI, pmi_source(n, i));
}

static int time_left(const struct node *n, double now)
{
    double until = now + 1;
    if (n->ending)
        until = now + 0.005;
    else if (n->job.name) {
        until = n->next_beat < until ? n->next_beat : until;
        until = n->lease < until ? n->lease : until;
    }
    return until <= now ? 0 : (int)(1000 * (until - now)) + 1;
}

static void hear_rank(struct node *n, struct node_rank *rank, int stream, int fd)
{
    uint32_t local = (uint32_t)(rank - n->ranks);
    if (stream != OF_PMI)
        ranks_read(n, rank, stream, false);
    else if (pmi_source(n, local) == fd) /* the rank may have ended just now */
        pmi_hear(n, local);
}

/* We stood still: the machine was stopped or overloaded, or something that we called has blocked. */
static void note_stall(struct node *n, double now, double seconds)
{
    if (seconds < n->stalled && now - n->stalled_at < 1e-3 * n->job.timeout_ms)
        return;
    n->stalled = seconds;
    n->stalled_at = now;
}

/* The head gives us up, now or soon. It does not hear us: say here whether that is our own fault. */
static void lose_lease(struct node *n, double now)
{
    int unsent = 0;
    bool known = ioctl(n->head.fd, SIOCOUTQ, &unsent) == 0;
    link_close(&n->head);
    begin_end(n, true);
    if (n->stalled > 1 && now - n->stalled_at < 1e-3 * n->job.timeout_ms)
        fprintf(stderr, "mend-node: ends its ranks, for it stood still for %.1f s\n", n->stalled);
    else if (known)
        fprintf(stderr,
                "mend-node: ends its ranks, for mend run's machine has not answered for %.1f s (%d "
                "bytes not acknowledged)\n",
                1e-3 * n->job.timeout_ms, unsent);
}

static void one_turn(struct node *n, struct sources *s, int signals)
{
    struct signalfd_siginfo signal;
    collect(n, s, signals);
    double asked = launcher_clock();
    int wait = time_left(n, asked);
    if (poll(s->fd, (nfds_t)s->count, wait) < 0 && errno != EINTR)
        return;
    double woken = launcher_clock();
    note_stall(n, woken, woken - asked - 1e-3 * wait);
    if (s->fd[FROM_SIGNALS].revents && read(signals, &signal, sizeof signal) > 0 &&
        signal.ssi_signo != SIGCHLD) {
        if (n->lent && signal.ssi_signo == SIGTERM && n->job.name && !n->ending)
            link_send(&n->head, SAY_WARNED, NULL);
        else
            begin_end(n, false);
    }
    ranks_reap(n);
    if (n->job.name)
        pass_on_server(n);
    for (int i = FROM_RANKS; i < s->count; i++)
        if (s->fd[i].revents)
            hear_rank(n, s->rank[i], s->stream[i], s->fd[i].fd);
    if (s->fd[TO_INPUT].revents)
        ranks_feed(n);
    if (n->head.fd >= 0 && s->fd[FROM_HEAD].revents & (POLLIN | POLLHUP | POLLERR))
        listen_to_head(n);
    double now = launcher_clock();
    node_beat(n, now);
    note_stall(n, now, now - woken);
    if (now > n->lease && n->head.fd >= 0)
        lose_lease(n, now);
    if (n->head.fd >= 0 && !link_flush(&n->head)) {
        link_close(&n->head);
        begin_end(n, true);
    }
}

int node_serve(int fd, uint32_t index)
{
    struct node n = {.index = index, .input = -1, .lent = getenv("SLURM_JOB_ID") != NULL};
    struct sources s = {0};
    sigset_t caught;
    sigemptyset(&caught);
    for (int i = 0; i < 5; i++)
        sigaddset(&caught, (int[]){SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGQUIT}[i]);
    sigprocmask(SIG_BLOCK, &caught, NULL);
    signal(SIGPIPE, SIG_IGN);
    int signals = signalfd(-1, &caught, SFD_CLOEXEC | SFD_NONBLOCK);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    prctl(PR_SET_NAME, "mend-node");
    link_open(&n.head, fd, LINK_LIMIT);
    getrlimit(RLIMIT_NOFILE, &n.files);
    setrlimit(RLIMIT_NOFILE, &(struct rlimit){n.files.rlim_max, n.files.rlim_max});
    n.lease = launcher_clock() + job_limit;
    while (!n.ending || (n.left > 0 && launcher_clock() < n.kill_at))
        one_turn(&n, &s, signals);
    while (!ranks_end(&n))
        node_talk(&n, 1);
    node_say_bye(&n);
    link_close(&n.head);
    _exit(0);
}
