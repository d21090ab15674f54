/* The head: one process beside `mend run`, with a connection to each node. See protocol.h for what is said. */
#include "head/head.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

static const double end_time = 4; /* seconds that the nodes have to end */

/* A short line is written whole or not at all. */
void head_report(struct head *h, const char *format, ...)
{
    char line[1024]; /* less than PIPE_BUF */
    va_list list;
    va_start(list, format);
    int n = vsnprintf(line, sizeof line - 1, format, list);
    va_end(list);
    n = n < (int)sizeof line - 1 ? n : (int)sizeof line - 2;
    line[n++] = '\n';
    if (h->report >= 0 && write(h->report, line, (size_t)n) < 0 && errno == EPIPE)
        head_end(h);
}

static void fail_with(struct head *h, int code)
{
    if (!h->failed)
        h->code = code;
    h->failed = true;
}

void head_end(struct head *h)
{
    if (h->ending)
        return;
    h->ending = true;
    h->end_limit = launcher_clock() + end_time;
    for (uint32_t i = 0; i < h->hosts.count; i++) {
        if (h->nodes[i].state == NODE_UP)
            link_send(&h->nodes[i].link, SAY_END, NULL);
        else if (h->nodes[i].state == NODE_STARTING)
            head_lose(h, i, "not up yet");
    }
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static void close_node(struct head *h, struct head_node *n)
{
    h->sent += n->link.sent;
    h->received += n->link.received;
    link_close(&n->link);
}

static void tell_others(struct head *h, uint32_t except, const struct wire *dead)
{
    for (uint32_t i = 0; i < h->hosts.count; i++)
        if (i != except && h->nodes[i].state == NODE_UP)
            link_send(&h->nodes[i].link, SAY_DEAD, dead);
}

/* 5. All its ranks in one message. From now on nothing that comes from it is heard. */
void head_lose(struct head *h, uint32_t node, const char *how)
{
    struct head_node *n = &h->nodes[node];
    bool was_up = n->state == NODE_UP, awaited = !was_up && !n->late;
    uint32_t count = 0;
    struct wire list = {0}, dead = {0};
    if (n->state > NODE_UP)
        return;
    n->state = NODE_LOST;
    close_node(h, n);
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
    if (was_up || (awaited && !h->ending)) /* else the launch has failed by another's fault */
        head_report(h, "lost %s %u %s", h->hosts.name[node], count, how);
    else if (!awaited && !h->ending)
        head_report(h, "unadded %s %s", h->hosts.name[node], how);
    wire_put_u32(&dead, count);
    wire_put_bare(&dead, list.bytes, list.size);
    if (count && !h->ending)
        tell_others(h, node, &dead);
    wire_free(&list);
    wire_free(&dead);
    gather_lost(h, node);
    if (h->ending)
        return;
    later_lost(h, node);
    if (awaited || (count && !h->tell)) {
        fprintf(stderr, "mend-node: node %s is lost: %s\n", h->hosts.name[node], how);
        fail_with(h, 1);
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

/* ---- what nodes say -------------------------------------------------------------------------- */

/* 4. */
static void note_ended(struct head *h, uint32_t node, struct wire_reader *r)
{
    uint32_t rank = wire_get_u32(r), signal = wire_get_u32(r), code = wire_get_u32(r);
    bool goodbye = wire_get_u32(r);
    if (r->bad || rank >= h->job.processes || h->job.node_of[rank] != node ||
        h->ranks[rank] >= RANK_DONE)
        return;
    bool badly = signal || code, member = fill_is_member(h, rank);
    h->ranks[rank] = badly ? RANK_DEAD : RANK_DONE;
    h->left -= member;
    head_report(h, "ended %u %s %u", rank, signal ? "signal" : "exit", signal ? signal : code);
    bool known = badly ? fill_ended(h, rank) : member;
    if ((badly || !goodbye) && known && !h->ending) {
        struct wire dead = {0};
        wire_put_u32(&dead, 1);
        wire_put_u32(&dead, rank);
        tell_others(h, rank < h->job.ranks ? node : UINT32_MAX, &dead);
        wire_free(&dead);
    }
    if (badly && member && !h->ending) {
        if (!h->tell || code)
            fail_with(h, signal ? 128 + (int)signal : (int)code);
        if (!h->tell)
            head_end(h);
    }
    gather_check(h);
}

static void note_abort(struct head *h, struct wire_reader *r)
{
    uint32_t rank = wire_get_u32(r), code = wire_get_u32(r);
    head_report(h, "aborted %u %d", rank, (int)code);
    fail_with(h, (int)code & 255 ? (int)code & 255 : 1);
    head_end(h);
}

static void hear(struct head *h, uint32_t node, uint32_t kind, struct wire_reader *r)
{
    struct wire w = {0};
    switch (kind) {
    case SAY_BEAT:
        wire_put_u64(&w, wire_get_u64(r));
        link_send(&h->nodes[node].link, SAY_ECHO, &w);
        h->beats++;
        wire_free(&w);
        break;
    case SAY_STARTED: {
        uint32_t rank = wire_get_u32(r), pid = wire_get_u32(r);
        if (rank < h->job.processes && h->ranks[rank] == RANK_WAITS)
            h->ranks[rank] = RANK_RUNS;
        head_report(h, "started %u %u %s", rank, pid, h->hosts.name[node]);
        break;
    }
    case SAY_REFUSED:
        fprintf(stderr, "mend-node: on %s: %s\n", h->hosts.name[node], wire_get_text(r));
        fail_with(h, 1);
        head_lose(h, node, "refused");
        head_end(h);
        break;
    case SAY_ENDED: note_ended(h, node, r); break;
    case SAY_ABORT: note_abort(h, r); break;
    case SAY_WARNED: head_report(h, "warned %s", h->hosts.name[node]); break;
    case SAY_FENCE: gather_fence(h, node, r); break;
    case SAY_MODEX: gather_modex(h, node, r); break;
    case SAY_MODEX_GIVE: gather_give(h, node, r); break;
    case SAY_PUT:
    case SAY_GET: gather_name(h, node, kind, r); break;
    case SAY_ADDED: fill_added(h, node, r); break;
    case SAY_OUTPUT: streams_output(h, node, r); break;
    case SAY_INPUT_TAKEN: {
        uint32_t taken = wire_get_u32(r);
        h->input_ahead -= taken < h->input_ahead ? taken : h->input_ahead;
        break;
    }
    case SAY_BYE:
        if (h->ending) {
            h->nodes[node].state = NODE_BYE;
            close_node(h, &h->nodes[node]);
        } else
            head_lose(h, node, "its daemon was ended");
        break;
    default: head_lose(h, node, "it sent a message that nodes do not send"); break;
    }
}

static void listen_to_node(struct head *h, uint32_t i)
{
    struct head_node *n = &h->nodes[i];
    uint32_t kind;
    struct wire_reader fields;
    int rc = 0;
    bool open = link_receive(&n->link);
    n->heard = launcher_clock();
    while (n->state == NODE_UP && (rc = link_next(&n->link, &kind, &fields)) > 0)
        hear(h, i, kind, &fields);
    if (n->state <= NODE_UP && (!open || rc < 0))
        head_lose(h, i, rc < 0 ? "a garbled message" : "its connection was closed");
}

/* ---- the loop -------------------------------------------------------------------------------- */

enum { FROM_SIGNALS, FROM_LISTENER, FROM_INPUT, TO_OUT, TO_ERR, TO_REPORT, FROM_NEW };
enum { FROM_NODES = FROM_NEW + NEWCOMERS };

static void collect(struct head *h, struct pollfd *fd, int signals)
{
    fd[FROM_SIGNALS] = (struct pollfd){signals, POLLIN, 0};
    fd[FROM_LISTENER] = (struct pollfd){h->listener, POLLIN, 0};
    fd[FROM_INPUT] = (struct pollfd){streams_wanted(h) ? 0 : -1, POLLIN, 0};
    for (int i = 0; i < 2; i++)
        fd[TO_OUT + i] =
            (struct pollfd){h->out[i].at < h->out[i].bytes.size ? i + 1 : -1, POLLOUT, 0};
    fd[TO_REPORT] = (struct pollfd){h->report, 0, 0};
    for (int i = 0; i < NEWCOMERS; i++)
        fd[FROM_NEW + i] = (struct pollfd){h->newcomers[i].link.fd, POLLIN, 0};
    for (uint32_t i = 0; i < h->hosts.count; i++)
        fd[FROM_NODES + i] =
            (struct pollfd){h->nodes[i].link.fd,
                            (short)(POLLIN | (link_pending(&h->nodes[i].link) ? POLLOUT : 0)), 0};
}

static void reap(struct head *h)
{
    int status;
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;)
        for (uint32_t i = 0; i < h->hosts.count; i++)
            if (h->nodes[i].agent == pid) {
                h->nodes[i].agent = 0;
                if (h->nodes[i].state == NODE_STARTING && !h->nodes[i].here)
                    head_lose(h, i, "it could not be started there");
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
            head_report(h, "warned here"); /* not by mend run: by Slurm, of the job's end */
        } else {
            fail_with(h, 128 + (int)s.ssi_signo);
            head_end(h);
        }
    }
}

/* 6. A node whose lease is over has ended its ranks by then; the moment is for doing it. */
static void check_silence(struct head *h, double now)
{
    double limit = 1e-3 * h->job.timeout_ms + 0.2;
    for (uint32_t i = 0; i < h->hosts.count; i++)
        if (h->nodes[i].state == NODE_UP && now - h->nodes[i].heard > limit)
            head_lose(h, i, "silence");
}

static void send_all(struct head *h)
{
    for (uint32_t i = 0; i < h->hosts.count; i++) {
        if (h->nodes[i].state == NODE_STARTING && h->nodes[i].link.fd >= 0 && !h->ending)
            send_job(h, i);
        if (link_pending(&h->nodes[i].link) && !link_flush(&h->nodes[i].link))
            head_lose(h, i, "its connection was closed");
    }
}

static void one_turn(struct head *h, struct pollfd *fd, int signals)
{
    uint32_t nodes = h->hosts.count;
    int wait = h->ending ? 20 : h->job.timeout_ms < 1000 ? 50 : 200;
    if (poll(fd, FROM_NODES + nodes, wait) < 0 && errno != EINTR)
        return;
    for (uint32_t i = 0; i < nodes; i++)
        if (h->nodes[i].link.fd >= 0 && fd[FROM_NODES + i].fd == h->nodes[i].link.fd &&
            fd[FROM_NODES + i].revents & (POLLIN | POLLHUP | POLLERR))
            listen_to_node(h, i);
    for (int i = 0; i < NEWCOMERS; i++)
        if (fd[FROM_NEW + i].revents && h->newcomers[i].link.fd >= 0)
            start_hear(h, &h->newcomers[i]);
    if (fd[FROM_LISTENER].revents)
        start_accept(h);
    if (fd[FROM_SIGNALS].revents)
        take_signal(h, signals);
    if (fd[FROM_INPUT].revents && streams_wanted(h))
        streams_input(h);
    for (int i = 0; i < 2; i++)
        if (fd[TO_OUT + i].revents)
            streams_write(h, i);
    if (fd[TO_REPORT].revents & (POLLERR | POLLHUP)) { /* `mend run` is gone */
        h->report = -1;
        fail_with(h, 1);
        head_end(h);
    }
    double now = launcher_clock();
    start_tick(h, now);
    check_silence(h, now);
    later_tick(h, now);
    fill_tick(h, now);
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

int head_serve(struct head *h)
{
    sigset_t caught;
    sigemptyset(&caught);
    for (int i = 0; i < 7; i++)
        sigaddset(&caught, (int[]){SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2}[i]);
    sigprocmask(SIG_BLOCK, &caught, NULL);
    signal(SIGPIPE, SIG_IGN);
    int signals = signalfd(-1, &caught, SFD_CLOEXEC | SFD_NONBLOCK);
    struct pollfd *fd = NULL;
    if (!start_all(h)) {
        fail_with(h, 1);
        head_end(h);
    }
    while (!all_gone(h) && (!h->ending || launcher_clock() < h->end_limit)) {
        send_all(h);
        fd = launcher_memory(fd, (FROM_NODES + h->hosts.count) * sizeof *fd);
        collect(h, fd, signals);
        one_turn(h, fd, signals);
    }
    for (uint32_t i = 0; i < h->hosts.count; i++) /* those that have not ended in time */
        head_lose(h, i, "did not end");
    double limit = launcher_clock() + 2; /* a slow reader of our output */
    while ((h->out[0].pieces || h->out[1].pieces) && launcher_clock() < limit)
        for (int i = 0; i < 2; i++) {
            poll(&(struct pollfd){h->out[i].pieces ? i + 1 : -1, POLLOUT, 0}, 1, 50);
            streams_write(h, i);
        }
    head_report(h, "messages %" PRIu64 " %" PRIu64 " fences %" PRIu64 " %" PRIu64,
                h->sent - h->beats, h->received - h->beats, h->fence_count, h->fence_messages);
    free(fd);
    return h->code;
}
