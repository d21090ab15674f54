/* The head: one process beside `mend run`, with a connection to each node. protocol.h has the protocol. */
#include "head/head.h"
#include "node.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

static const double end_time = END_LIMIT + 1; /* seconds that nodes have to end */

void head_fail(struct head *h, int code)
{
    if (!h->failed)
        h->code = code;
    h->failed = true;
}

/* Another machine that is silent runs its ranks until its lease is over, and nobody may launch the job again before. */
static double time_to_end(const struct head *h)
{
    double limit = silence_limit(h);
    for (uint32_t r = 0; r < h->job.processes && limit > end_time; r++) {
        const struct head_node *n = &h->nodes[h->job.node_of[r]];
        if (h->ranks[r] < RANK_DONE && n->state == NODE_UP && !n->here)
            return limit;
    }
    return end_time;
}

void head_end(struct head *h)
{
    if (h->ending)
        return;
    h->ending = true;
    h->end_limit = launcher_clock() + time_to_end(h);
    for (uint32_t i = 0; i < h->hosts.count; i++) {
        if (h->nodes[i].state == NODE_UP)
            link_send(&h->nodes[i].link, SAY_END, NULL);
        else if (h->nodes[i].state == NODE_STARTING)
            head_lose(h, i, "not up yet");
    }
}

void head_wait_longer(struct head *h)
{
    double limit = launcher_clock() + end_time;
    if (h->end_limit > 0 && h->end_limit < limit)
        h->end_limit = limit;
}

void head_orphan(struct head *h)
{
    h->report = -1;
    h->hurried = true;
    head_fail(h, 1);
    head_end(h);
}

/* ---- nodes ----------------------------------------------------------------------------------- */

void head_close(struct head *h, struct head_node *n)
{
    h->sent += n->link.sent;
    h->received += n->link.received;
    link_close(&n->link);
}

void head_tell(struct head *h, uint32_t except, const struct wire *dead)
{
    for (uint32_t i = 0; i < h->hosts.count; i++)
        if (i != except && h->nodes[i].state == NODE_UP)
            link_send(&h->nodes[i].link, SAY_DEAD, dead);
}

/* 5. Report all ranks of the node in one message. From now on the head ignores whatever comes from the node. */
void head_lose(struct head *h, uint32_t node, const char *how)
{
    struct head_node *n = &h->nodes[node];
    bool was_up = n->state == NODE_UP, awaited = !was_up && !n->late;
    uint32_t count = 0;
    struct wire list = {0}, dead = {0};
    if (n->state > NODE_UP)
        return;
    n->state = NODE_LOST;
    head_close(h, n);
    if (n->agent > 0)
        kill(n->here ? n->agent : -n->agent, SIGKILL);
    for (uint32_t r = 0; r < h->job.processes; r++)
        if (h->job.node_of[r] == node && h->ranks[r] < RANK_DONE) {
            h->ranks[r] = RANK_DEAD;
            h->left -= fill_is_member(h, r);
            if (!fill_ended(h, r))
                continue;
            wire_put_u32(&list, r);
            count++;
        }
    if (was_up || (awaited && !h->ending)) /* else the launch failed because of another node */
        head_report(h, "lost %s %u %s", h->hosts.name[node], count, how);
    else if (!awaited && !h->ending)
        head_report(h, "unadded %s %s", h->hosts.name[node], how);
    wire_put_u32(&dead, count);
    wire_put_bare(&dead, list.bytes, list.size);
    if (count && !h->ending) {
        head_tell(h, node, &dead);
        fill_died(h);
    }
    wire_free(&list);
    wire_free(&dead);
    gather_lost(h, node);
    if (h->ending)
        return;
    later_lost(h, node);
    if (awaited || (count && !h->tell)) {
        head_say(h, "node %s is lost: %s", h->hosts.name[node], how);
        head_fail(h, 1);
        head_end(h);
    }
}

static bool is_carried(const char *variable)
{
    static const char *const stay[] = {"HOSTNAME=",        "HOST=",    "SSH_",     "XDG_",
                                       "DBUS_SESSION_BUS", "SHLVL=",   "DISPLAY=", "SLURM_",
                                       "SLURMD_",          "WINDOWID="};
    for (size_t i = 0; i < sizeof stay / sizeof *stay; i++)
        if (strncmp(variable, stay[i], strlen(stay[i])) == 0)
            return false;
    return true;
}

static void send_job(struct head *h, uint32_t node)
{
    struct wire w = {0};
    struct job job = h->job;
    char **kept = NULL;
    if (!h->nodes[node].here) {
        size_t n = 0, count = 0;
        while (job.environment[count])
            count++;
        kept = launcher_memory(NULL, (count + 1) * sizeof *kept);
        for (size_t i = 0; i < count; i++)
            if (is_carried(job.environment[i]))
                kept[n++] = job.environment[i];
        kept[n] = NULL;
        job.environment = kept;
    }
    job_put(&w, &job);
    link_send(&h->nodes[node].link, SAY_JOB, &w);
    wire_free(&w);
    free(kept);
    h->nodes[node].state = NODE_UP;
    h->nodes[node].heard = launcher_clock();
    if (h->nodes[node].late)
        later_up(h, node);
}

/* ---- the loop -------------------------------------------------------------------------------- */

enum { FROM_SIGNALS, FROM_LISTENER, FROM_SCOUT, FROM_INPUT, TO_OUT, TO_ERR, TO_REPORT, FROM_NEW };
enum { FROM_NODES = FROM_NEW + NEWCOMERS };

static void collect(struct head *h, struct pollfd *fd, int signals)
{
    fd[FROM_SIGNALS] = (struct pollfd){signals, POLLIN, 0};
    fd[FROM_LISTENER] = (struct pollfd){h->listener, POLLIN, 0};
    fd[FROM_SCOUT] = (struct pollfd){h->scout.answer, POLLIN, 0};
    fd[FROM_INPUT] = (struct pollfd){streams_wanted(h) ? 0 : -1, POLLIN, 0};
    for (int i = 0; i < 2; i++)
        fd[TO_OUT + i] =
            (struct pollfd){h->out[i].at < h->out[i].bytes.size ? i + 1 : -1, POLLOUT, 0};
    fd[TO_REPORT] = (struct pollfd){h->report, streams_reports(h) ? POLLOUT : 0, 0};
    for (int i = 0; i < NEWCOMERS; i++)
        fd[FROM_NEW + i] = (struct pollfd){h->newcomers[i].link.fd, POLLIN, 0};
    for (uint32_t i = 0; i < h->hosts.count; i++)
        fd[FROM_NODES + i] =
            (struct pollfd){h->nodes[i].link.fd,
                            (short)(POLLIN | (link_pending(&h->nodes[i].link) ? POLLOUT : 0)), 0};
}

/* poll() refuses a list that is longer than the limit of open files, even if most of it is empty. */
static bool wait_for_some(struct pollfd *fd, size_t count, struct pollfd *used, int milliseconds)
{
    nfds_t n = 0;
    for (size_t i = 0; i < count; i++)
        if (fd[i].fd >= 0)
            used[n++] = fd[i];
    int rc = poll(used, n, milliseconds);
    if (rc < 0 && errno != EINTR)
        return false;
    n = 0;
    for (size_t i = 0; i < count && rc > 0; i++)
        if (fd[i].fd >= 0)
            fd[i].revents = used[n++].revents;
    return true;
}

static void reap(struct head *h)
{
    int status;
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;)
        for (uint32_t i = 0; i < h->hosts.count; i++)
            if (h->nodes[i].agent == pid) {
                h->nodes[i].agent = 0;
                if (h->nodes[i].state == NODE_STARTING && !h->nodes[i].here)
                    head_lose(h, i, "its daemon could not be started");
            }
}

static void take_signal(struct head *h, int signals)
{
    struct signalfd_siginfo s;
    while (read(signals, &s, sizeof s) == sizeof s) {
        if (s.ssi_signo == SIGCHLD)
            reap(h);
        else if (s.ssi_signo == SIGHUP)
            h->reread = true;
        else if (s.ssi_signo == SIGUSR1 || s.ssi_signo == SIGUSR2) {
            struct wire w = {0};
            wire_put_u32(&w, s.ssi_signo);
            for (uint32_t i = 0; i < h->hosts.count; i++)
                if (h->nodes[i].state == NODE_UP)
                    link_send(&h->nodes[i].link, SAY_SIGNAL, &w);
            wire_free(&w);
        } else if (s.ssi_signo == SIGTERM && s.ssi_pid != (uint32_t)getppid() &&
                   getenv("SLURM_JOB_ID")) {
            head_report(h, "warned here"); /* from Slurm, not `mend run`: the job ends soon */
        } else {
            h->hurried = true;
            head_fail(h, 128 + (int)s.ssi_signo);
            head_end(h);
        }
    }
}

static void send_all(struct head *h)
{
    for (uint32_t i = 0; i < h->hosts.count; i++) {
        if (h->nodes[i].state == NODE_STARTING && h->nodes[i].link.fd >= 0 && !h->ending)
            send_job(h, i);
        link_flush(&h->nodes[i].link); /* if it is closed, hear_node reads first what there is */
    }
}

/* Of our reports: `mend run`. */
static void hear_reader(struct head *h, short events)
{
    if (events & (POLLERR | POLLHUP))
        head_orphan(h);
    else if (events)
        streams_report(h);
}

/* Without poll() we hear nobody: end at once. */
static void cannot_wait(struct head *h, uint32_t descriptors)
{
    if (!h->ending)
        head_say(h, "cannot wait for the nodes: %s (%u descriptors; ulimit -n is %llu)",
                 strerror(errno), descriptors, (unsigned long long)h->files.rlim_max);
    head_fail(h, 1);
    head_end(h);
    h->end_limit = 0;
}

/* We stood still: the machine was stopped or overloaded, or something that we called has blocked. Nodes that hear nothing
 * from us for so long end their ranks, and this explains why. */
static void note_stall(struct head *h, const char *doing, double seconds)
{
    if (seconds > 1)
        head_report(h, "stalled %s %.3f", doing, seconds);
}

static void one_turn(struct head *h, struct pollfd *fd, int signals)
{
    uint32_t nodes = h->hosts.count;
    int wait = h->ending ? 20 : h->job.timeout_ms < 1000 ? 50 : 200;
    double asked = launcher_clock();
    if (!wait_for_some(fd, FROM_NODES + nodes, fd + FROM_NODES + nodes, wait)) {
        cannot_wait(h, FROM_NODES + nodes);
        return;
    }
    double woken = launcher_clock();
    note_stall(h, "waiting", woken - asked - 1e-3 * wait);
    for (uint32_t i = 0; i < nodes; i++)
        if (h->nodes[i].link.fd >= 0 && fd[FROM_NODES + i].fd == h->nodes[i].link.fd &&
            fd[FROM_NODES + i].revents & (POLLIN | POLLHUP | POLLERR))
            hear_node(h, i);
    for (int i = 0; i < NEWCOMERS; i++)
        if (fd[FROM_NEW + i].revents && h->newcomers[i].link.fd >= 0)
            start_hear(h, &h->newcomers[i]);
    if (fd[FROM_LISTENER].revents)
        start_accept(h);
    if (fd[FROM_SCOUT].revents)
        start_hear_scout(h);
    if (fd[FROM_SIGNALS].revents)
        take_signal(h, signals);
    if (fd[FROM_INPUT].revents && streams_wanted(h))
        streams_input(h);
    for (int i = 0; i < 2; i++)
        if (fd[TO_OUT + i].revents)
            streams_write(h, i);
    hear_reader(h, fd[TO_REPORT].revents);
    double now = launcher_clock();
    start_tick(h, now);
    silence_check(h, asked);
    later_tick(h, now);
    fill_tick(h, now);
    note_stall(h, "working", launcher_clock() - woken);
    if (h->left == 0)
        head_end(h);
}

static bool all_gone(const struct head *h)
{
    for (uint32_t i = 0; i < h->hosts.count; i++)
        if (h->nodes[i].state <= NODE_UP)
            return false;
    return true;
}

/* The readers of our output and reports may be slow. They have all the time they need, unless somebody wants us to end.
 * `mend run` hears of it, because it takes a launcher that stays without ranks for one that hangs. */
static void finish_output(struct head *h, int signals)
{
    double limit = launcher_clock() + 2;
    bool left = h->out[0].pieces || h->out[1].pieces;
    if (left)
        head_report(h, "printing");
    for (left |= streams_reports(h); left && (!h->hurried || launcher_clock() < limit);) {
        struct pollfd fd[] = {{h->out[0].pieces ? 1 : -1, POLLOUT, 0},
                              {h->out[1].pieces ? 2 : -1, POLLOUT, 0},
                              {signals, POLLIN, 0},
                              {h->report, streams_reports(h) ? POLLOUT : 0, 0}};
        poll(fd, 4, 200);
        for (int i = 0; i < 2; i++)
            streams_write(h, i);
        if (fd[2].revents)
            take_signal(h, signals);
        hear_reader(h, fd[3].revents);
        left = h->out[0].pieces || h->out[1].pieces || streams_reports(h);
    }
}

/* Those on this machine that did not end in order. SIGKILL takes a while on a machine that is busy, and until a daemon is
 * gone nobody else can remove its folders. */
static void clear_lost(struct head *h)
{
    bool any = false;
    double limit = launcher_clock() + 5;
    for (uint32_t i = 0; i < h->hosts.count; i++) {
        struct head_node *n = &h->nodes[i];
        any |= n->here && n->state == NODE_LOST;
        while (n->here && n->state == NODE_LOST && n->agent > 0 && launcher_clock() < limit) {
            reap(h);
            if (n->agent > 0)
                usleep(2000);
        }
    }
    if (any)
        folders_sweep();
}

/* poll() takes as many entries as we may have descriptors. Our children get the limit that we had. */
static void raise_limit(struct head *h)
{
    getrlimit(RLIMIT_NOFILE, &h->files);
    struct rlimit more = {.rlim_cur = h->files.rlim_max, .rlim_max = h->files.rlim_max};
    setrlimit(RLIMIT_NOFILE, &more);
}

int head_serve(struct head *h)
{
    sigset_t caught;
    sigemptyset(&caught);
    for (int i = 0; i < 7; i++)
        sigaddset(&caught, (int[]){SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2}[i]);
    sigprocmask(SIG_BLOCK, &caught, NULL);
    signal(SIGPIPE, SIG_IGN);
    raise_limit(h);
    int signals = signalfd(-1, &caught, SFD_CLOEXEC | SFD_NONBLOCK);
    struct pollfd *fd = NULL;
    if (!start_all(h)) {
        head_fail(h, 1);
        head_end(h);
    }
    while (!all_gone(h) && (!h->ending || launcher_clock() < h->end_limit)) {
        send_all(h);
        fd = launcher_memory(fd, 2 * (FROM_NODES + h->hosts.count) * sizeof *fd);
        collect(h, fd, signals);
        one_turn(h, fd, signals);
    }
    for (uint32_t i = 0; i < h->hosts.count; i++) /* these did not end in time */
        head_lose(h, i, "did not end");
    clear_lost(h);
    head_report(h, "messages %" PRIu64 " %" PRIu64 " fences %" PRIu64 " %" PRIu64,
                h->sent - h->beats, h->received - h->beats, h->fence_count, h->fence_messages);
    finish_output(h, signals);
    free(fd);
    return h->code;
}
