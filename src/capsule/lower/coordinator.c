/* coordinator.c - decides when a checkpoint is made and leads all ranks through it.
 *
 * A thread in the process of rank 0; the agents of all ranks (agent.c) are connected to it. One
 * round:
 *
 * 1. COLLECTING  Every agent reports how many collectives its rank has begun on each communicator.
 * The target of a communicator is the largest number reported. Ranks behind a target run on and may
 * pass through further collectives, which raises further targets; ranks that are even wait at the
 * door of their next collective. The targets never run away: a rank begins a collective only if it
 * is behind somewhere, so only the causal past of collectives that had begun is completed. An even
 * rank may be waited for by one that is behind (a message it would send after its door): when
 * nothing moves, such doors are opened by raising their target (open_doors).
 * 2. STOPPING    All are even, nobody is inside a collective for long. Ranks stop at once; each
 * reports how many messages it has sent to each other; they drain until all these have arrived.
 * 3. SAVING      All drained: nothing of the application is in flight. Images are written, one file
 * per rank, under a save id of this round.
 *    In the background: all go on as soon as each has its copy, and no new round begins before the
 *    files are there.
 * 4. The version counts as soon as the files of all ranks are there (image/folder.h): the last
 * rename commits it. Then older versions are removed, and all go on.
 *
 * A rank that cannot be stopped in time (it is inside a call that waits for ranks which were
 * stopped) makes the coordinator give up the round: all go on, and a new round begins a little
 * later. A death of any rank, at any point: the files of this round stay incomplete and are never
 * used.
 */
#include "agent.h"

#include "control.h"
#include "generations.h"

#include <arpa/inet.h>
#include <base/event.h>
#include <base/io.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <image/folder.h>
#include <mend/error.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MAX_BACKLOG = 3 }; /* local versions that may wait for their copies, by time */
enum state { IDLE, COLLECTING, STOPPING, SAVING };

struct member {
    int fd, bye, reported, stopped, drained, captured, saved;
    struct control_clocks *clocks;
    int64_t *sent;
    uint64_t targets_sum; /* of the targets it was sent last */
    int64_t flushed;      /* newest version that is in the job's folder */
};

struct target {
    uint64_t id, count;
    int even;
};

static struct {
    pthread_t thread;
    int running, listener, wake[2], ranks, present, leaving;
    uint64_t cookie;
    struct member *member;
    enum state state;
    uint32_t round;
    struct control_save save, complete; /* this round's, the last complete version's */
    int chain;                          /* incremental images since the last full one */
    int64_t root, flushed;
    struct generations global, local;
    int leave;      /* stop the job when this round is done */
    int wanted;     /* a checkpoint was asked for: 1, and stop: 2 */
    char token[64]; /* by whom (request file), "" */
    double started, round_began, stop_began, drained_at, went_on, last_change, not_before,
        last_done;
    int attempts;
    struct target *target;
    size_t targets, target_room;
    int64_t code;
    uint64_t bytes, slowest;
} the = {.listener = -1};

/* --- sending
 * ------------------------------------------------------------------------------------------ */
static void tell(int rank, uint32_t type, const void *bytes, size_t count)
{
    control_send(the.member[rank].fd, type, the.round, bytes, count);
}

static void tell_all(uint32_t type, const void *bytes, size_t count)
{
    for (int i = 0; i < the.ranks; i++)
        tell(i, type, bytes, count);
}

/* --- answers to `mend checkpoint`
 * ----------------------------------------------------------------------- */
static void answer(const char *format, long long number)
{
    char path[4300], text[200];
    if (!the.token[0])
        return;
    snprintf(path, sizeof path, "%s/answer.%s", settings.dir, the.token);
    int n = snprintf(text, sizeof text, format, number);
    mend_io_replace_file(path, text, (size_t)n);
    the.token[0] = 0;
}

static void look_for_request_file(void)
{
    char path[4300], taken[4300], *text = NULL;
    size_t size = 0;
    snprintf(path, sizeof path, "%s/request", settings.dir);
    snprintf(taken, sizeof taken, "%s/request.taken", settings.dir);
    if (!settings.dir[0] || access(path, F_OK) || the.token[0] || rename(path, taken))
        return;
    if (mend_io_read_file(taken, 4096, &text, &size) == 0) {
        char what[16] = "";
        if (sscanf(text, "%15s %63[0-9a-zA-Z-]", what, the.token) >= 1)
            the.wanted = !strcmp(what, "stop") ? 2 : 1;
        the.not_before = 0;
    }
    free(text);
    mend_io_remove(taken);
}

/* ---- rounds ---------------------------------------------------------------------------------- */
static int on_disk(void) /* else images are in memory (recover.c) */
{
    return settings.dir[0] && !recovering;
}

static void begin_round(void)
{
    the.leave = the.wanted == 2 || settings.leave;
    the.wanted = 0;
    the.state = COLLECTING;
    the.round++;
    the.targets = 0;
    if (the.target)
        memset(the.target, 0, the.target_room * sizeof *the.target);
    the.code = 0;
    the.bytes = the.slowest = 0;
    the.round_began = the.last_change = seconds_now();
    the.went_on = 0; /* else a rank that ends during this round would be taken for one after it */
    for (int i = 0; i < the.ranks; i++) {
        struct member *m = &the.member[i];
        m->reported = m->stopped = m->drained = m->captured = m->saved = 0;
        m->targets_sum = 0;
    }
    mend_event("checkpoint.begin", ev_int("round", the.round));
    tell_all(CONTROL_COLLECT, NULL, 0);
}

static void give_up(const char *why)
{
    uint64_t leave = 0;
    mend_event("checkpoint.given_up", ev_int("round", the.round), ev_str("why", why));
    tell_all(CONTROL_GO_ON, &leave, sizeof leave);
    the.state = IDLE;
    the.wanted = the.leave ? 2 : 1;
    double pause = 0.05 * (double)(1 << (the.attempts < 7 ? the.attempts : 7));
    the.attempts++;
    the.not_before = seconds_now() + pause;
}

/* --- 1. collecting
 * ------------------------------------------------------------------------------------------ */
static struct target *target_of(uint64_t id)
{
    /* open addressing in a table that is rebuilt for each round */
    if (2 * the.targets >= the.target_room) {
        size_t old_room = the.target_room;
        struct target *old = the.target;
        the.target_room = old_room ? 2 * old_room : 64;
        the.target = calloc(the.target_room, sizeof *the.target);
        if (!the.target)
            die("no memory for the table of communicators");
        the.targets = 0;
        for (size_t i = 0; i < old_room; i++)
            if (old[i].id)
                *target_of(old[i].id) = old[i];
        free(old);
    }
    size_t at = id & (the.target_room - 1);
    while (the.target[at].id && the.target[at].id != id)
        at = (at + 1) & (the.target_room - 1);
    if (!the.target[at].id) {
        the.target[at].id = id;
        the.target[at].count = 0;
        the.targets++;
    }
    return &the.target[at];
}

static int is_behind(const struct member *m)
{
    for (uint64_t i = 0; i < m->clocks->count; i++)
        if (m->clocks->clock[i].begun < target_of(m->clocks->clock[i].id)->count)
            return 1;
    return 0;
}

static void send_targets(int rank)
{
    struct member *m = &the.member[rank];
    uint64_t *pairs = malloc((2 * m->clocks->count + 1) * sizeof *pairs), n = 0, sum = 1;
    if (!pairs)
        return;
    for (uint64_t i = 0; i < m->clocks->count; i++) {
        const struct control_clock *c = &m->clocks->clock[i];
        uint64_t count = target_of(c->id)->count;
        if (c->begun < count) {
            pairs[n++] = c->id;
            pairs[n++] = count;
            sum = sum * 0x100000001b3ull ^ c->id ^ count * 0x9e3779b97f4a7c15ull;
        }
    }
    if (n && sum != m->targets_sum) {
        m->targets_sum = sum;
        tell(rank, CONTROL_TARGETS, pairs, n * sizeof *pairs);
    }
    free(pairs);
}

static void evaluate(void)
{
    int behind = 0;
    for (int i = 0; i < the.ranks; i++)
        if (!the.member[i].reported)
            return;
    for (int i = 0; i < the.ranks; i++)
        for (uint64_t k = 0; k < the.member[i].clocks->count; k++) {
            const struct control_clock *c = &the.member[i].clocks->clock[k];
            struct target *t = target_of(c->id);
            if (t->count < c->begun)
                t->count = c->begun;
        }
    for (int i = 0; i < the.ranks; i++)
        if (is_behind(&the.member[i])) {
            behind = 1;
            send_targets(i);
        }
    if (!behind) {
        the.state = STOPPING;
        the.stop_began = seconds_now();
        tell_all(CONTROL_STOP, NULL, 0);
    }
}

/* Nothing has moved for a while. Who is waited for by a rank that is behind, directly or through
 * others that wait for a message? Where such a rank stands at a door, the door is opened.
 */
static void open_doors(void)
{
    char *needed = calloc((size_t)(unsigned)the.ranks, 1);
    int opened = 0, grew = 1;
    if (!needed)
        return;
    for (int i = 0; i < the.ranks; i++)
        needed[i] = the.member[i].reported && is_behind(&the.member[i]);
    while (grew) {
        grew = 0;
        for (int i = 0; i < the.ranks; i++) {
            const struct control_clocks *c = the.member[i].clocks;
            if (!needed[i] || !c || c->activity != ACTIVITY_WAITING)
                continue;
            for (int j = 0; j < the.ranks; j++)
                if (!needed[j] && (c->waiting_for == 0 || c->waiting_for == (uint64_t)j + 1))
                    needed[j] = 1, grew = 1;
        }
    }
    for (int i = 0; i < the.ranks; i++) {
        const struct control_clocks *c = the.member[i].clocks;
        if (!needed[i] || !c || !c->door || is_behind(&the.member[i]))
            continue;
        for (uint64_t k = 0; k < c->count; k++)
            if (c->clock[k].id == c->door) {
                struct target *t = target_of(c->door);
                if (t->count <= c->clock[k].begun) {
                    t->count = c->clock[k].begun + 1;
                    opened = 1;
                }
            }
    }
    free(needed);
    if (opened)
        evaluate();
}

static void take_clocks(struct member *m, void *payload, size_t bytes)
{
    struct control_clocks *c = payload;
    if (bytes < sizeof *c || bytes != sizeof *c + c->count * sizeof c->clock[0])
        return;
    free(m->clocks);
    m->clocks = malloc(bytes);
    if (!m->clocks)
        die("no memory for a report of %zu bytes", bytes);
    memcpy(m->clocks, payload, bytes);
    m->reported = 1;
    the.last_change = seconds_now();
    if (the.state == COLLECTING)
        evaluate();
}

/* --- 2. stopping
 * --------------------------------------------------------------------------------------------- */
static int all(size_t field)
{
    for (int i = 0; i < the.ranks; i++)
        if (!*(int *)((char *)&the.member[i] + field))
            return 0;
    return 1;
}
#define ALL(field) all(offsetof(struct member, field))

static void take_counts(struct member *m, const void *payload, size_t bytes)
{
    if (bytes != (size_t)the.ranks * sizeof(int64_t))
        return;
    memcpy(m->sent, payload, bytes);
    m->stopped = 1;
    if (!ALL(stopped))
        return;
    int64_t *expected = calloc((size_t)(unsigned)the.ranks, sizeof *expected);
    if (!expected)
        die("no memory for %d counts", the.ranks);
    for (int to = 0; to < the.ranks; to++) {
        for (int from = 0; from < the.ranks; from++)
            expected[from] = the.member[from].sent[to];
        tell(to, CONTROL_EXPECT, expected, bytes);
    }
    free(expected);
}

/* A chain of incremental images has a bounded length, and goes on only from a version that is
 * complete.
 */
static void choose_base(void)
{
    int delta = the.complete.version >= 0 && the.chain < settings.chain;
    the.save.base_version = delta ? the.complete.version : -1;
    the.save.base_id = delta ? the.complete.save_id : 0;
}

static void begin_saving(void)
{
    the.state = SAVING;
    the.drained_at = seconds_now();
    the.save.version = generations_newest(&the.global) + 1;
    if (settings.local[0] && generations_newest(&the.local) >= the.save.version)
        the.save.version = generations_newest(&the.local) + 1;
    if (the.save.version <= the.complete.version)
        the.save.version = the.complete.version + 1;
    if (getrandom(&the.save.save_id, sizeof the.save.save_id, 0) != sizeof the.save.save_id)
        the.save.save_id = (uint64_t)(1e9 * seconds_now());
    the.save.save_id &= 0x7fffffffffffffffull;
    the.save.background = settings.background && !the.leave;
    the.went_on = 0;
    choose_base();
    tell_all(CONTROL_SAVE, &the.save, sizeof the.save);
}

/* --- 3. and 4. saving, commit
 * ---------------------------------------------------------------------------------- */
/* The version is complete. What is needed no more is removed; with a local level it also goes on to
 * the job's folder.
 */
static void commit(void)
{
    if (!on_disk())
        return;
    struct generations *g = settings.local[0] ? &the.local : &the.global;
    the.root = generations_root(g, the.save.version, the.save.base_version);
    int64_t below = generations_add(g, the.save.version, the.save.save_id, the.root);
    if (settings.local[0]) {
        uint64_t version[3] = {(uint64_t)the.save.version, the.save.save_id, (uint64_t)the.root};
        uint64_t prune = (uint64_t)below;
        tell_all(CONTROL_FLUSH, version, sizeof version);
        tell_all(CONTROL_PRUNE, &prune, sizeof prune);
    } else {
        generations_remove_below(g, below);
    }
}

/* A rank has copied its file to the job's folder, or could not. */
static void take_flushed(struct member *m, const int64_t *words, size_t bytes)
{
    if (bytes != 4 * sizeof *words)
        return;
    if (words[3]) {
        mend_event("checkpoint.failed", ev_int("version", words[0]), ev_str("level", "global"),
                   ev_str("error", mend_error_sentence((int)words[3])));
        return;
    }
    m->flushed = words[0];
    for (int i = 0; i < the.ranks; i++)
        if (the.member[i].flushed != words[0])
            return;
    int64_t below = generations_add(&the.global, words[0], (uint64_t)words[1], words[2]);
    generations_remove_below(&the.global, below);
    the.flushed = words[0];
    mend_event("checkpoint.commit", ev_int("version", words[0]), ev_str("level", "global"),
               ev_int("ranks", the.ranks));
}

static void finish_round(void)
{
    double now = seconds_now();
    uint64_t leave = (uint64_t)(the.leave && the.code == 0);
    the.complete = the.save;
    if (the.code)
        the.complete.version = -1;
    the.chain = the.code || the.save.base_version < 0 ? 0 : the.chain + 1;
    if (the.code == 0) {
        if (!recovering) /* else told by the ranks themselves */
            mend_event("checkpoint.commit", ev_int("version", the.save.version),
                       ev_int("bytes", (long long)the.bytes), ev_int("ranks", the.ranks),
                       ev_real("collect", the.stop_began - the.round_began),
                       ev_real("stop", the.drained_at - the.stop_began),
                       ev_real("write", 1e-6 * (double)the.slowest),
                       ev_real("pause", (the.went_on > 0 ? the.went_on : now) - the.stop_began),
                       ev_int("base", the.save.base_version),
                       ev_real("seconds", now - the.round_began));
        commit();
        answer("ok %lld\n", (long long)the.save.version);
    } else {
        mend_event("checkpoint.failed", ev_int("version", the.save.version),
                   ev_str("error", mend_error_sentence((int)the.code)));
        if (on_disk()) /* a rank's local file is removed with the next version's */
            generations_remove_one(&the.global, the.save.version, the.save.save_id);
        answer("failed %lld\n", (long long)the.code);
    }
    the.attempts = 0;
    the.last_done = now;
    the.state = IDLE;
    if (!(the.went_on > 0))
        tell_all(CONTROL_GO_ON, &leave, sizeof leave);
}

/* In the background: a rank has its copy, or (where no child could be made) its file. */
static void take_captured(struct member *m)
{
    uint64_t leave = 0;
    m->captured = 1;
    if (!the.save.background || the.went_on > 0 || !ALL(captured))
        return;
    the.went_on = seconds_now();
    tell_all(CONTROL_GO_ON, &leave, sizeof leave);
}

static void take_saved(struct member *m, const int64_t *words, size_t bytes)
{
    if (bytes != 3 * sizeof *words || m->saved)
        return;
    m->saved = 1;
    if (words[0])
        the.code = words[0];
    the.bytes += (uint64_t)words[1];
    if ((uint64_t)words[2] > the.slowest)
        the.slowest = (uint64_t)words[2];
    take_captured(m);
    if (ALL(saved))
        finish_round();
}

/* --- messages and time
 * ------------------------------------------------------------------------------------------ */
static void gone(int rank, const char *why)
{
    struct member *m = &the.member[rank];
    close(m->fd);
    m->fd = -1;
    the.leaving = 1;
    if (the.state != IDLE)
        give_up(why);
    the.wanted = 0;
    answer("ended %lld\n", rank);
}

static void hear(int rank, const struct control_head *head, void *payload)
{
    struct member *m = &the.member[rank];
    uint64_t *words = payload;
    if (head->type == CONTROL_REQUEST) {
        the.wanted = head->bytes && words[0] ? 2 : 1;
        return;
    }
    if (head->type == CONTROL_BYE) {
        m->bye = 1;
        the.leaving = 1;
        if (the.state != IDLE && !(the.went_on > 0))
            give_up("the job is ending");
        the.wanted = 0;
        answer("ended %lld\n", rank);
        return;
    }
    if (head->type == CONTROL_FLUSHED) {
        take_flushed(m, payload, head->bytes);
        return;
    }
    if (head->round != the.round)
        return;
    switch (head->type) {
    case CONTROL_CLOCKS: take_clocks(m, payload, head->bytes); break;
    case CONTROL_STOPPED: take_counts(m, payload, head->bytes); break;
    case CONTROL_DRAINED:
        m->drained = 1;
        if (the.state == STOPPING && ALL(drained))
            begin_saving();
        break;
    case CONTROL_CAPTURED:
        if (the.state == SAVING)
            take_captured(m);
        break;
    case CONTROL_SAVED:
        if (the.state == SAVING)
            take_saved(m, payload, head->bytes);
        break;
    }
}

/* DIR/every: seconds between checkpoints, as the planner of `mend run --every auto` has it by now. */
static void follow_plan(double now)
{
    static double looked;
    char path[4300], text[64];
    if (!settings.dir[0] || now - looked < 1)
        return;
    looked = now;
    snprintf(path, sizeof path, "%s/every", settings.dir);
    FILE *f = fopen(path, "re");
    if (!f)
        return;
    double every = fgets(text, sizeof text, f) ? atof(text) : 0;
    if (every > 0)
        settings.every = every;
    fclose(f);
}

static void pass_time(void)
{
    double now = seconds_now();
    if (the.state == COLLECTING && now - the.last_change > 0.05) {
        the.last_change = now;
        if (ALL(reported))
            open_doors();
    }
    if (the.state == STOPPING && now - the.stop_began > settings.patience)
        give_up("a rank could not be stopped");
    if (the.state != IDLE || the.present < the.ranks)
        return;
    look_for_request_file();
    if (the.leaving) {
        the.wanted = 0;
        answer("ended %lld\n", 0);
        return;
    }
    follow_plan(now);
    int backlog = settings.local[0] && the.complete.version > the.flushed + MAX_BACKLOG;
    if (settings.every > 0 && now - the.last_done >= settings.every && !backlog)
        the.wanted = the.wanted ? the.wanted : 1;
    if (settings.limit > 0 && now - the.started >= settings.limit) {
        the.wanted = 2;
        settings.limit = 0;
    }
    if (the.wanted && now >= the.not_before)
        begin_round();
}

static void welcome(void)
{
    struct control_head head;
    void *payload;
    int fd = accept4(the.listener, NULL, NULL, SOCK_CLOEXEC);
    if (fd < 0)
        return;
    struct timeval limit = {5, 0};
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    int rc = control_receive(fd, &head, &payload);
    uint64_t *words = payload;
    if (rc == 1 && head.type == CONTROL_HELLO && head.bytes == 16 && words[0] == the.cookie &&
        words[1] < (uint64_t)the.ranks && the.member[words[1]].fd < 0) {
        limit.tv_sec = 0;
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
        the.member[words[1]].fd = fd;
        the.present++;
    } else {
        close(fd);
    }
    free(payload);
}

static void *coordinator_main(void *unused)
{
    (void)unused;
    struct pollfd *p = calloc((size_t)the.ranks + 2, sizeof *p);
    if (!p)
        die("no memory for the coordinator");
    for (;;) {
        for (int i = 0; i < the.ranks; i++)
            p[i] = (struct pollfd){the.member[i].fd, POLLIN, 0};
        p[the.ranks] = (struct pollfd){the.present < the.ranks ? the.listener : -1, POLLIN, 0};
        p[the.ranks + 1] = (struct pollfd){the.wake[0], POLLIN, 0};
        poll(p, (nfds_t)the.ranks + 2, the.state == IDLE ? 50 : 10);
        if (p[the.ranks + 1].revents)
            break;
        if (p[the.ranks].revents)
            welcome();
        for (int i = 0; i < the.ranks; i++) {
            if (!p[i].revents || the.member[i].fd < 0)
                continue;
            struct control_head head;
            void *payload;
            if (control_receive(the.member[i].fd, &head, &payload) == 1)
                hear(i, &head, payload);
            else
                gone(i, "a rank is gone");
            free(payload);
        }
        pass_time();
    }
    free(p);
    return NULL;
}

/* --- start and end
 * -------------------------------------------------------------------------------------------- */
static void own_addresses(struct control_address *a)
{
    struct ifaddrs *list;
    gethostname(a->host, sizeof a->host - 1);
    if (getifaddrs(&list))
        return;
    for (struct ifaddrs *i = list; i && a->count < 16; i = i->ifa_next)
        if (i->ifa_addr && i->ifa_addr->sa_family == AF_INET) {
            uint32_t v = ((struct sockaddr_in *)i->ifa_addr)->sin_addr.s_addr;
            if (v != htonl(INADDR_LOOPBACK))
                a->address[a->count++] = v;
        }
    freeifaddrs(list);
}

int coordinator_start(int ranks, struct control_address *address)
{
    struct sockaddr_in at = {.sin_family = AF_INET};
    socklen_t n = sizeof at;
    the.listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (the.listener < 0 || bind(the.listener, (struct sockaddr *)&at, sizeof at) ||
        listen(the.listener, ranks + 16) || getsockname(the.listener, (struct sockaddr *)&at, &n) ||
        pipe2(the.wake, O_CLOEXEC))
        return -1;
    if (getrandom(&the.cookie, sizeof the.cookie, 0) != sizeof the.cookie)
        return -1;
    the.cookie |= 1;
    address->cookie = the.cookie;
    address->port = ntohs(at.sin_port);
    own_addresses(address);

    the.ranks = ranks;
    the.present = the.leaving = the.wanted = the.attempts = 0;
    the.state = IDLE;
    the.round = 0;
    the.complete.version = -1;
    the.chain = 0;
    the.flushed = 0;
    if (on_disk()) {
        char folder[4300];
        snprintf(folder, sizeof folder, "%s/versions", settings.dir);
        generations_look(&the.global, folder, MEND_FILE_GLOBAL, settings.keep, -1);
        if (settings.local[0])
            generations_look(&the.local, settings.local, MEND_FILE_OWN, settings.keep, 0);
        the.flushed = generations_newest(&the.global);
    }
    the.started = the.last_done = seconds_now();
    the.member = calloc((size_t)ranks, sizeof *the.member);
    if (!the.member)
        return -1;
    for (int i = 0; i < ranks; i++) {
        the.member[i].fd = -1;
        the.member[i].sent = calloc((size_t)ranks, sizeof(int64_t));
        if (!the.member[i].sent)
            return -1;
    }
    sigset_t every, old;
    sigfillset(&every);
    pthread_sigmask(SIG_SETMASK, &every, &old);
    the.running = !pthread_create(&the.thread, NULL, coordinator_main, NULL);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return the.running ? 0 : -1;
}

/* Images in the background: their ranks are ending as we do, and report them first. */
void coordinator_finish(void)
{
    while (the.running && __atomic_load_n(&the.state, __ATOMIC_ACQUIRE) == SAVING)
        usleep(1000);
}

void coordinator_end(void)
{
    if (!the.running)
        return;
    if (write(the.wake[1], "", 1) < 0)
        return;
    pthread_join(the.thread, NULL);
    the.running = 0;
    for (int i = 0; i < the.ranks; i++) {
        if (the.member[i].fd >= 0)
            close(the.member[i].fd);
        free(the.member[i].clocks);
        free(the.member[i].sent);
    }
    free(the.member);
    free(the.target);
    the.target = NULL;
    the.target_room = 0;
    close(the.listener);
    close(the.wake[0]);
    close(the.wake[1]);
}
