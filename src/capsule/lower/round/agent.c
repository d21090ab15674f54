/* agent.c - a thread of the lower half that speaks for its rank while a checkpoint is made.
 *
 * It answers for a rank that is blocked inside MPI, and interrupts one that computes outside it.
 * All it knows of the upper half is struct upper. A round:
 *
 *   1. COLLECT comes: stop_phase = STOP_COLLECTING; membarrier(): from here on each collective
 *      either is in the counts that we read, or comes to agent_door(). Report the counts whenever
 *      they change.
 *   2. TARGETS come: ranks that wait at a door and are behind may pass.
 *   3. STOP comes: stop_phase = STOP_HERE. The application's thread comes to agent_stop_begin():
 *      from an MPI call, from a loop that waits, or from a signal that we send. Report what it has
 *      sent. A thread inside a blocking send cannot come; its counts are final, too: report them.
 *   4. EXPECT comes: what was sent to us. The application's thread drains until that has arrived.
 *   5. SAVE comes: the application's thread writes the image. GO_ON comes: the round is over.
 *
 * A GO_ON may come at any point: the round was given up. If the coordinator dies, we give it up
 * ourselves.
 */
#include "round/agent.h"
#include "ground/settings.h"
#include "images/image.h"
#include "versions/versions.h"

#include "round/control.h"
#include "round/counts.h"
#include "round/door.h"

#include <arpa/inet.h>
#include <base/fault.h>
#include <errno.h>
#include <fcntl.h>
#include <image/folder.h>
#include <linux/membarrier.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { BUSY_POLLS = 500 };

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t thread;
    int running, socket, wake;
    struct upper *upper;
    uint32_t round;
    enum stop_phase phase;
    int stopped; /* it is in stop_now(), in this round */
    int polls;   /* since then */
    int counts_sent, drained, drained_sent, saved, saved_sent, captured, captured_sent;
    int64_t save_code;
    uint64_t save_bytes, save_microseconds;
    mend_version_t save_version;
    struct control_save save;
    enum stop_command command;
    int64_t expected; /* messages sent to this rank; -1: not known yet */
    int64_t *told;    /* of those that it has sent, to each */
    struct control_clocks *last;
    size_t last_bytes;
    int leaving;
    volatile int requested, ending;
} agent = {.lock = PTHREAD_MUTEX_INITIALIZER,
           .changed = PTHREAD_COND_INITIALIZER,
           .socket = -1,
           .wake = -1,
           .expected = -1};

static void wake_agent(void)
{
    uint64_t one = 1;
    if (agent.wake < 0)
        return;
    raw_syscall(SYS_write, agent.wake, (long)&one, sizeof one, 0, 0, 0);
}

static void set_phase(enum stop_phase phase)
{
    agent.phase = phase;
    if (phase == STOP_NONE && agent.upper->request_at > 0)
        phase = STOP_WATCH;
    agent.upper->stop_phase = phase;
    syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
    pthread_cond_broadcast(&agent.changed);
}

/* --- reports
 * ---------------------------------------------------------------------------------------- */
static void report_clocks(void)
{
    struct upper *u = agent.upper;
    size_t n = 0, doors = 0;
    for (struct comm_card *c = __atomic_load_n(&u->cards, __ATOMIC_ACQUIRE); c; c = c->next)
        n++;
    size_t bytes = sizeof(struct control_clocks) + n * sizeof(struct control_clock);
    struct control_clocks *now = calloc(1, bytes);
    if (!now)
        return;
    static unsigned turns;
    unsigned creating = __atomic_load_n(&u->creating, __ATOMIC_ACQUIRE);
    now->activity = u->turns != turns ? ACTIVITY_WAITING : (uint64_t)u->activity;
    now->waiting_for = u->turns != turns ? (uint64_t)(u->waiting_for + 1) : 0;
    turns = u->turns;
    if (u->several) { /* any of them may wait for anybody */
        now->activity = ACTIVITY_WAITING;
        now->waiting_for = 0;
    }
    now->count = n;
    size_t i = 0;
    for (struct comm_card *c = u->cards; c && i < n; c = c->next, i++) {
        c->reported = __atomic_load_n(&c->begun, __ATOMIC_RELAXED);
        uint64_t at_door = __atomic_load_n(&c->at_door, __ATOMIC_RELAXED) != 0;
        now->clock[i] = (struct control_clock){c->id, c->reported, at_door};
        doors += at_door;
    }
    /* was a communicator in the making at any time since we began to read? */
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if ((!doors || u->several) &&
        (creating % 2 || creating != __atomic_load_n(&u->creating, __ATOMIC_RELAXED)))
        now->activity = ACTIVITY_CREATING;
    if (!agent.last || agent.last_bytes != bytes || memcmp(agent.last, now, bytes)) {
        control_send(agent.socket, CONTROL_CLOCKS, agent.round, now, bytes);
        free(agent.last);
        agent.last = now;
        agent.last_bytes = bytes;
    } else {
        free(now);
    }
}

static void interrupt_application(void)
{
    struct upper *u = agent.upper;
    syscall(SYS_tgkill, getpid(), u->threads[0].tid, SIGNAL_PARK);
}

static void report_counts(void)
{
    struct upper *u = agent.upper;
    struct control_count *list = need(calloc((size_t)u->size, sizeof *list));
    size_t n = counts_to_tell(u->sent_to, agent.told, u->size, list);
    control_send(agent.socket, CONTROL_STOPPED, agent.round, list, n * sizeof *list);
    free(list);
}

static void report_stop(void)
{
    struct upper *u = agent.upper;
    int sending = __atomic_load_n(&u->activity, __ATOMIC_ACQUIRE) == ACTIVITY_SENDING;
    if (!agent.counts_sent) {
        if (agent.stopped || sending) {
            /* a send is counted before it is marked; the marks were seen, so the counts will be */
            syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
            report_counts();
            agent.counts_sent = 1;
        }
    }
    if (!agent.stopped && !sending)
        interrupt_application();
    if (agent.drained && !agent.drained_sent) {
        control_send(agent.socket, CONTROL_DRAINED, agent.round, NULL, 0);
        agent.drained_sent = 1;
    }
    if (agent.captured && !agent.captured_sent) {
        control_send(agent.socket, CONTROL_CAPTURED, agent.round, NULL, 0);
        agent.captured_sent = 1;
    }
}

static void take_result(const struct snapshot_result *r)
{
    agent.save_code = r->code;
    agent.save_bytes = r->bytes;
    agent.save_version = r->version;
    agent.save_microseconds = (uint64_t)(1e6 * r->seconds);
    agent.saved = 1;
}

static void report_save(void)
{
    struct snapshot_result r;
    if (snapshot_end(0, &r))
        take_result(&r);
    if (agent.saved && !agent.saved_sent) {
        int64_t words[4] = {agent.save_code, (int64_t)agent.save_bytes,
                            (int64_t)agent.save_microseconds, agent.save_version};
        control_send(agent.socket, CONTROL_SAVED, agent.round, words, sizeof words);
        agent.saved_sent = 1;
    }
}

static void tick(void)
{
    if (agent.requested) {
        uint64_t leave = agent.requested == 2;
        agent.requested = 0;
        control_send(agent.socket, CONTROL_REQUEST, 0, &leave, sizeof leave);
    }
    if (agent.phase == STOP_COLLECTING)
        report_clocks();
    if (agent.phase == STOP_HERE)
        report_stop();
    report_save();
}

/* --- orders
 * ----------------------------------------------------------------------------------------- */
static void begin_round(uint32_t round)
{
    MEND_FAULT_POINT(capsule_round);
    agent.round = round;
    agent.counts_sent = agent.drained = agent.drained_sent = 0;
    agent.saved = agent.saved_sent = agent.captured = agent.captured_sent = 0;
    agent.expected = -1;
    free(agent.last);
    agent.last = NULL;
    for (struct comm_card *c = agent.upper->cards; c; c = c->next)
        c->target = c->reported = 0;
    set_phase(STOP_COLLECTING);
}

static void take_targets(const uint64_t *pairs, size_t count)
{
    for (size_t i = 0; i + 1 < count; i += 2)
        for (struct comm_card *c = agent.upper->cards; c; c = c->next)
            if (c->id == pairs[i] && c->target < pairs[i + 1])
                c->target = pairs[i + 1];
    pthread_cond_broadcast(&agent.changed);
}

static void obey(const struct control_head *head, void *payload)
{
    uint64_t *words = payload;
    if (head->type == CONTROL_ASK) {
        control_send(agent.socket, CONTROL_HERE, agent.round, NULL, 0);
        return;
    }
    if (agent.leaving)
        return; /* nothing comes after that */
    if (head->type == CONTROL_COLLECT) {
        begin_round(head->round);
        return;
    }
    if (head->round != agent.round)
        return;
    switch (head->type) {
    case CONTROL_FLUSH: flush_offer((int64_t)words[0], words[1], (int64_t)words[2]); break;
    case CONTROL_PRUNE: flush_prune((int64_t)words[0]); break;
    case CONTROL_TARGETS: take_targets(words, head->bytes / sizeof *words); break;
    case CONTROL_STOP: set_phase(STOP_HERE); break;
    case CONTROL_EXPECT:
        if (head->bytes == sizeof agent.expected) {
            agent.expected = (int64_t)words[0];
            pthread_cond_broadcast(&agent.changed);
        }
        break;
    case CONTROL_SAVE:
        if (head->bytes == sizeof agent.save) {
            memcpy(&agent.save, payload, sizeof agent.save);
            agent.command = STOP_COMMAND_SAVE;
            pthread_cond_broadcast(&agent.changed);
        }
        break;
    case CONTROL_GO_ON:
        agent.leaving = head->bytes && words[0];
        agent.command = head->bytes && words[0] ? STOP_COMMAND_LEAVE : STOP_COMMAND_GO_ON;
        set_phase(STOP_NONE);
        if (head->bytes == 3 * sizeof *words) {
            relaunch_complete((int64_t)words[1]);
            relaunch_forget((int64_t)words[2]);
        }
        break;
    }
}

static void *agent_main(void *unused)
{
    (void)unused;
    while (!agent.ending) {
        struct pollfd p[3] = {
            {agent.wake, POLLIN, 0}, {agent.socket, POLLIN, 0}, {snapshot_child(), POLLIN, 0}};
        poll(p, 3, agent.phase == STOP_NONE ? -1 : 1);
        if (p[0].revents) {
            uint64_t count;
            if (read(agent.wake, &count, sizeof count) < 0 && errno != EAGAIN)
                break;
        }
        if (agent.socket >= 0 && p[1].revents) {
            struct control_head head;
            void *payload;
            int rc = control_receive(agent.socket, &head, &payload);
            pthread_mutex_lock(&agent.lock);
            if (rc == 1) {
                obey(&head, payload);
            } else {
                close(agent.socket);
                agent.socket = -1;
                if (agent.phase != STOP_NONE) /* in the middle of a round: give it up */
                    agent.command = STOP_COMMAND_GO_ON;
                set_phase(STOP_NONE);
            }
            free(payload);
            pthread_mutex_unlock(&agent.lock);
        }
        pthread_mutex_lock(&agent.lock);
        tick();
        pthread_mutex_unlock(&agent.lock);
    }
    return NULL;
}

/* --- what the application's thread calls
 * ------------------------------------------------------------- */

static void wait_for_change(long microseconds)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += microseconds * 1000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&agent.changed, &agent.lock, &until);
}

/* Tests: ask, and wait until the round has begun, so that a short program does not run away from
 * it. */
void agent_request(void)
{
    pthread_mutex_lock(&agent.lock);
    agent.requested = 1;
    wake_agent();
    for (int i = 0; i < 1000 && agent.running && agent.phase == STOP_NONE; i++)
        wait_for_change(10000);
    pthread_mutex_unlock(&agent.lock);
}

/* Is some communicator of ours behind its target? `card` was counted already, but not yet begun. */
static int is_behind(const struct comm_card *card)
{
    for (struct comm_card *c = agent.upper->cards; c; c = c->next)
        if (c->begun - (c == card) < c->target)
            return 1;
    return 0;
}

/* Several threads: nobody waits here. One whose own communicator is not behind waits for a while before it goes in for the
 * sake of another one: it may be that only it can get there, or that another thread does.
 */
enum { TURNS_AT_DOOR = 100 };
static int door_of_several(struct comm_card *card)
{
    if (!card->id || agent.phase <= STOP_WATCH || card->begun <= card->reported)
        return card->door_turns = 0, DOOR_IN;
    if (agent.phase == STOP_HERE) {
        card->begun--;
        return DOOR_STOP;
    }
    if (card->begun - 1 < card->target || (is_behind(card) && ++card->door_turns > TURNS_AT_DOOR))
        return card->door_turns = 0, DOOR_IN;
    card->begun--;
    __atomic_fetch_add(&card->at_door, 1, __ATOMIC_SEQ_CST);
    wake_agent();
    return DOOR_WAIT;
}

/* At the door of a collective; card->begun counts it. Unless the answer is DOOR_IN, it is not counted any more. */
int agent_door(struct comm_card *card)
{
    int in = DOOR_IN;
    pthread_mutex_lock(&agent.lock);
    if (agent.upper->several)
        in = door_of_several(card);
    else
        while (card->id && agent.phase > STOP_WATCH) {
            if (card->begun <= card->reported)
                break; /* others count on us */
            if (agent.phase == STOP_HERE) {
                card->begun--;
                in = DOOR_STOP;
                break;
            }
            if (is_behind(card))
                break;
            card->begun--;
            card->at_door = 1;
            wake_agent();
            wait_for_change(10000);
            card->at_door = 0;
            card->begun++;
        }
    pthread_mutex_unlock(&agent.lock);
    return in;
}

int agent_stop_begin(void)
{
    pthread_mutex_lock(&agent.lock);
    int role = agent.phase != STOP_HERE ? STOP_ROLE_NONE
               : agent.stopped          ? STOP_ROLE_LISTENER
                                        : STOP_ROLE_SPEAKER;
    if (role == STOP_ROLE_SPEAKER) {
        agent.stopped = 1;
        agent.polls = 0;
        agent.command = STOP_COMMAND_NONE;
        wake_agent();
    }
    pthread_mutex_unlock(&agent.lock);
    return role;
}

/* quiet: nothing that this rank sent is under way any more.
 *
 * Whoever has waited for a while leaves the core to others: threads that only ever yield can keep those from it
 * for seconds that they are waiting for (seen with Linux 6.18, four ranks on two cores).
 */
int agent_stop_poll(int quiet)
{
    int busy = 0;
    pthread_mutex_lock(&agent.lock);
    enum stop_command command = agent.command;
    agent.command = STOP_COMMAND_NONE;
    if (command == STOP_COMMAND_NONE) {
        if (quiet && !agent.drained && agent.expected >= 0 &&
            counts_sum(agent.upper->received_from, agent.upper->size) == agent.expected) {
            agent.drained = 1;
            wake_agent();
        }
        if (agent.drained)
            wait_for_change(1000);
        else if (agent.polls++ >= BUSY_POLLS)
            wait_for_change(100);
        else
            busy = 1;
    }
    pthread_mutex_unlock(&agent.lock);
    if (busy)
        sched_yield();
    return command;
}

int agent_save(struct upper *upper)
{
    struct snapshot_result result = {0};
    survey_store_all(settings.full || agent.save.full);
    if (recovering)
        recover_checkpoint(upper, &agent.save, &result);
    else {
        result.code = relaunch_capture(upper, agent.save.version);
        result.version = agent.save.version;
        if (!result.code)
            snapshot_begin(upper, &agent.save, &result);
    }
    pthread_mutex_lock(&agent.lock);
    if (snapshot_child() >= 0)
        agent.captured = 1;
    else
        take_result(&result);
    wake_agent();
    pthread_mutex_unlock(&agent.lock);
    return result.code;
}

void agent_stop_end(void)
{
    pthread_mutex_lock(&agent.lock);
    agent.stopped = 0;
    pthread_mutex_unlock(&agent.lock);
}

/* Unlink the cards of communicators that this rank has freed; they are the caller's then. */
struct comm_card *agent_take_freed_cards(struct upper *upper)
{
    struct comm_card *taken = NULL;
    pthread_mutex_lock(&agent.lock);
    if (agent.phase != STOP_COLLECTING)
        for (struct comm_card **p = &upper->cards, *c; (c = *p);) {
            if (!c->freed) {
                p = &c->next;
                continue;
            }
            *p = c->next;
            c->next = taken;
            taken = c;
        }
    pthread_mutex_unlock(&agent.lock);
    return taken;
}

/* --- start and end
 * ----------------------------------------------------------------------------------- */
static int connect_to(uint32_t address, uint32_t port)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    to.sin_addr.s_addr = address;
    if (fd < 0)
        return -1;
    int error = connect(fd, (struct sockaddr *)&to, sizeof to) ? errno : 0;
    if (error == EINPROGRESS) {
        struct pollfd p = {fd, POLLOUT, 0};
        socklen_t n = sizeof error;
        if (poll(&p, 1, 3000) != 1 || getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &n))
            error = ETIMEDOUT;
    }
    if (error) {
        close(fd);
        return -1;
    }
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    return fd;
}

static int connect_any(const struct control_address *a)
{
    char host[64] = "";
    gethostname(host, sizeof host - 1);
    int fd = -1;
    if (a->name[0])
        return door_connect_here(a->name);
    if (!strcmp(host, a->host))
        fd = connect_to(htonl(INADDR_LOOPBACK), a->port);
    for (uint32_t i = 0; fd < 0 && i < a->count; i++)
        fd = connect_to(a->address[i], a->port);
    return fd;
}

static void on_request_signal(int sig)
{
    (void)sig; /* on any thread, with either half's thread pointer: no errno */
    agent.requested = 1;
    wake_agent();
}

static void watch_request_signal(void)
{
    struct sigaction old, new = {.sa_handler = on_request_signal, .sa_flags = SA_RESTART};
    sigfillset(&new.sa_mask);
    sigdelset(&new.sa_mask, SIGSYS);
    if (settings.request_signal && !sigaction(settings.request_signal, NULL, &old) &&
        (old.sa_handler == SIG_DFL || old.sa_handler == SIG_IGN))
        sigaction(settings.request_signal, &new, NULL);
}

static void on_flushed(mend_version_t version, uint64_t save_id, mend_version_t root, int code)
{
    int64_t words[4] = {version, (int64_t)save_id, root, code};
    pthread_mutex_lock(&agent.lock);
    control_send(agent.socket, CONTROL_FLUSHED, 0, words, sizeof words);
    pthread_mutex_unlock(&agent.lock);
}

/* At rank 0: can all ranks reach each other without a network? */
static int all_here(const struct upper *upper, handle_t world)
{
    uint64_t place = door_place(), *places = NULL;
    handle_t byte = lower.predef[PRE_MPI_BYTE];
    int here = 1;
    if (upper->rank == 0)
        places = need(calloc((size_t)upper->size, sizeof *places));
    lower.Gather(&place, sizeof place, byte, places, sizeof place, byte, 0, world);
    for (int i = 0; places && i < upper->size; i++)
        here &= places[i] == place;
    free(places);
    return here;
}

/* Collective over all ranks. Without a folder for images there is nothing to do. */
int agent_start(struct upper *upper)
{
    struct control_address address;
    handle_t world = lower.predef[PRE_MPI_COMM_WORLD];
    agent_abandon();
    if (!settings.dir[0] && !recovering)
        return 0;
    memset(&address, 0, sizeof address);
    int here = all_here(upper, world);
    if (upper->rank == 0 && coordinator_start(upper->size, here, &address))
        memset(&address, 0, sizeof address);
    lower.Bcast(&address, sizeof address, lower.predef[PRE_MPI_BYTE], 0, world);
    agent.upper = upper;
    agent.round = 0;
    free(agent.told);
    agent.told = need(calloc((size_t)upper->size, sizeof *agent.told));
    agent.stopped = agent.saved = agent.saved_sent = 0;
    agent.command = STOP_COMMAND_NONE;
    agent.ending = 0;
    upper->request_at = upper->rank == 0 ? settings.request_at : 0;
    upper->request_again = settings.request_again;
    syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
    MEND_FAULT_POINT(capsule_hello);
    agent.socket = address.cookie ? connect_any(&address) : -1;
    if (agent.socket < 0 &&
        recovering) /* its process may have died: a barrier would tell, and repair */
        lower.Barrier(world);
    if (agent.socket < 0)
        die("rank %d cannot reach the coordinator of checkpoints on %s", upper->rank, address.host);
    uint64_t hello[2] = {address.cookie, (uint64_t)upper->rank};
    control_send(agent.socket, CONTROL_HELLO, 0, hello, sizeof hello);
    if (!recovering) /* rank 0 may be about to end, and its coordinator with it */
        lower.Barrier(world);
    agent.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    set_phase(STOP_NONE);

    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    agent.running = !pthread_create(&agent.thread, NULL, agent_main, NULL);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    watch_request_signal();
    if (!recovering) {
        char folder[4300];
        snprintf(folder, sizeof folder, "%s/versions", settings.dir);
        mend_folder_sweep(folder, upper->rank);
        if (settings.local[0]) {
            mend_folder_sweep(settings.local, upper->rank);
            flush_start(upper->rank, on_flushed);
        }
    }
    return 0;
}

static void stop_thread(void)
{
    agent.ending = 1;
    wake_agent();
    pthread_join(agent.thread, NULL);
    agent.running = 0;
    if (agent.socket >= 0)
        close(agent.socket);
    int wake = agent.wake;
    agent.wake = -1; /* a signal may still come */
    close(wake);
    agent.socket = -1;
}

void agent_abandon(void)
{
    if (agent.running)
        stop_thread();
    coordinator_end();
}

void agent_end(void)
{
    if (!agent.running)
        return;
    pthread_mutex_lock(&agent.lock);
    struct snapshot_result result;
    if (snapshot_end(1, &result)) { /* written in the background: it counts */
        take_result(&result);
        report_save();
    }
    pthread_mutex_unlock(&agent.lock);
    if (agent.upper->rank == 0)
        coordinator_finish();
    flush_end(agent.leaving); /* a job that is over needs no copies of its images */
    pthread_mutex_lock(&agent.lock);
    control_send(agent.socket, CONTROL_BYE, 0, NULL, 0);
    pthread_mutex_unlock(&agent.lock);
    stop_thread();
    agent.upper->stop_phase = STOP_NONE;
    if (!recovering ||
        agent.leaving) /* else a rank may not have come to it yet: see lower_Finalize */
        coordinator_end();
}
