/* agent.c - a thread of the lower half that speaks for its rank while a checkpoint is made.
 *
 * It answers for a rank that is blocked inside MPI, and interrupts one that computes outside it.
 * It knows the upper half only through struct upper. A round:
 *
 *   1. COLLECT arrives: stop_phase = STOP_COLLECTING; membarrier(): from here on each collective
 *      either is in the counts that we read, or comes to agent_door(). Report the counts whenever
 *      they change.
 *   2. TARGETS arrives: ranks that wait at a door and are behind may pass.
 *   3. STOP arrives: take the GPU, if any (gpu/gpu.h); stop_phase = STOP_HERE. The application's thread comes
 *      to agent_stop_begin(): from an MPI call, from a loop that waits, or from a signal that we send.
 *      Report what it has sent. A thread inside a blocking send cannot come; its counts are final, too: report them.
 *   4. EXPECT arrives: how much was sent to us. The application's thread drains until all of it has arrived.
 *   5. SAVE arrives: the application's thread writes the image. GO_ON arrives: the round is over; give the GPU
 *      back.
 *
 * This file has the thread: the orders that it follows, its start and end. report.c has its answers,
 * application.c what the application's thread calls, connect.c its way to the coordinator.
 *
 * A GO_ON may arrive at any point: the round was given up. If the coordinator dies, we give it up
 * ourselves.
 */
#include "round/inside.h"
#include "gpu/gpu.h"
#include "ground/settings.h"
#include "round/control.h"
#include "round/door.h"
#include "versions/versions.h"

#include <base/fault.h>
#include <errno.h>
#include <image/folder.h>
#include <linux/membarrier.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

struct agent agent = {.lock = PTHREAD_MUTEX_INITIALIZER,
                      .changed = PTHREAD_COND_INITIALIZER,
                      .hanging_up = PTHREAD_MUTEX_INITIALIZER,
                      .socket = -1,
                      .wake = -1,
                      .expected = -1};

void agent_wake(void)
{
    uint64_t one = 1;
    if (agent.wake < 0)
        return;
    raw_syscall(SYS_write, agent.wake, (long)&one, sizeof one, 0, 0, 0);
}

void agent_set_phase(enum stop_phase phase)
{
    agent.phase = phase;
    agent.stop_wanted = agent.gpu_asked = 0;
    if (phase == STOP_NONE && agent.upper->request_at > 0)
        phase = STOP_WATCH;
    agent.upper->stop_phase = phase;
    syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
    pthread_cond_broadcast(&agent.changed);
}

/* --- orders --- */
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
    agent_set_phase(STOP_COLLECTING);
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
    case CONTROL_STOP: agent.stop_wanted = 1; break;
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
        agent_set_phase(STOP_NONE);
        if (head->bytes == 3 * sizeof *words) {
            relaunch_complete((int64_t)words[1]);
            relaunch_forget((int64_t)words[2]);
        }
        break;
    }
}

/* Gigabytes take the driver seconds, and the coordinator's patience may be shorter. */
static void ask_for_patience(void)
{
    double now = seconds_now();
    pthread_mutex_lock(&agent.lock);
    if (agent.stop_wanted && agent.socket >= 0 && now - agent.gpu_told > 0.25) {
        agent.gpu_told = now;
        control_send(agent.socket, CONTROL_BUSY, agent.round, NULL, 0);
    }
    pthread_mutex_unlock(&agent.lock);
}

/* Take the GPU before anybody stops, and give it back whenever nobody is to stop. Called without the lock. */
static void mind_gpu(void)
{
    if (gpu_is_busy()) {
        ask_for_patience(); /* its end wakes us */
        return;
    }
    if (agent.stop_wanted && !agent.gpu_asked) {
        agent.gpu_asked = 1;
        gpu_take(agent_wake);
    }
    if (gpu_is_busy())
        return;
    pthread_mutex_lock(&agent.lock);
    if (agent.stop_wanted)
        agent_set_phase(STOP_HERE);
    else if (gpu_held() && agent.phase != STOP_HERE && !agent.leaving)
        gpu_give_back();
    pthread_mutex_unlock(&agent.lock);
}

static void tell_no_image(const char *device, const char *why)
{
    fprintf(stderr,
            "mend: note: no checkpoint will hold the state of this program on a GPU (%s): %s\n",
            device, why);
}

/* The user should not take for granted what nobody has seen. */
static void tell_untried(void)
{
    struct utsname machine;
    if (!uname(&machine) && strcmp(machine.machine, "x86_64"))
        fprintf(stderr,
                "mend: note: this program uses a GPU; checkpoints of such programs were never "
                "tried on %s\n",
                machine.machine);
}

/* Some obstacles, such as memory that processes share, show only when the driver saves the program. The user should
 * not learn of them at the first checkpoint, if that is an hour away: it is made early. */
static int try_early(void)
{
    static const double early = 10;
    if (agent.gpu_tried || agent.round || settings.every <= early)
        return -1;
    double left = agent.gpu_since + early - seconds_now();
    if (left > 0)
        return (int)(1e3 * left) + 1;
    agent.gpu_tried = agent.requested = 1;
    return 0;
}

/* The user should learn at the start that a job cannot be checkpointed: rank 0 looks for some minutes, less
 * and less often. Returns the ms until the next look; -1: there is none. */
static int look_for_gpu(void)
{
    static const double first = 0.5, last = 100;
    if (!agent.gpu_since) {
        agent.gpu_since = seconds_now();
        agent.gpu_wait = first;
    }
    double left = agent.gpu_since + agent.gpu_wait - seconds_now();
    if (agent.upper->rank || agent.gpu_wait > last)
        return agent.gpu_known ? try_early() : -1;
    if (left > 0 || gpu_is_busy())
        return left > 0 ? (int)(1e3 * left) + 1 : 100;
    int seen = gpu_look(tell_no_image);
    agent.gpu_known = seen > 0;
    if (seen > 0)
        tell_untried();
    agent.gpu_wait = seen ? 2 * last : 2 * agent.gpu_wait;
    return 0;
}

static void *agent_main(void *unused)
{
    (void)unused;
    while (!agent.ending) {
        struct pollfd p[3] = {
            {agent.wake, POLLIN, 0}, {agent.socket, POLLIN, 0}, {snapshot_child(), POLLIN, 0}};
        poll(p, 3, agent.phase == STOP_NONE ? look_for_gpu() : 1);
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
                pthread_mutex_lock(&agent.hanging_up);
                close(agent.socket);
                agent.socket = -1;
                pthread_mutex_unlock(&agent.hanging_up);
                if (agent.phase != STOP_NONE) /* in the middle of a round: give it up */
                    agent.command = STOP_COMMAND_GO_ON;
                agent_set_phase(STOP_NONE);
            }
            free(payload);
            pthread_mutex_unlock(&agent.lock);
        }
        mind_gpu();
        pthread_mutex_lock(&agent.lock);
        report_all();
        pthread_mutex_unlock(&agent.lock);
    }
    return NULL;
}

/* --- start and end --- */
static void on_request_signal(int sig)
{
    (void)sig; /* on any thread, with either thread pointer: no errno */
    agent.requested = 1;
    agent_wake();
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

/* Collective over all ranks. Does nothing without a folder for images. */
int agent_start(struct upper *upper)
{
    struct control_address address;
    handle_t world = lower.predef[PRE_MPI_COMM_WORLD];
    agent_abandon();
    if (!settings.dir[0] && !ground.recovering)
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
    agent.socket = address.cookie ? connect_to_coordinator(&address) : -1;
    if (agent.socket < 0 &&
        ground.recovering) /* its process may have died: a barrier would notice, and repair */
        lower.Barrier(world);
    if (agent.socket < 0)
        die("rank %d cannot reach the coordinator of checkpoints on %s", upper->rank, address.host);
    uint64_t hello[2] = {address.cookie, (uint64_t)upper->rank};
    control_send(agent.socket, CONTROL_HELLO, 0, hello, sizeof hello);
    if (!ground.recovering) /* rank 0 may be about to end, and its coordinator with it */
        lower.Barrier(world);
    agent.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (agent.wake < 0)
        die("rank %d cannot make an eventfd: %s", upper->rank, strerror(errno));
    agent_set_phase(STOP_NONE);

    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    agent.running = !pthread_create(&agent.thread, NULL, agent_main, NULL);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (!agent.running) /* nobody would answer for this rank, and all others wait for it */
        die("rank %d cannot start the thread for checkpoints", upper->rank);
    watch_request_signal();
    if (!ground.recovering) {
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
    agent_wake();
    pthread_join(agent.thread, NULL);
    agent.running = 0;
    if (agent.socket >= 0)
        close(agent.socket);
    int wake = agent.wake;
    agent.wake = -1; /* a signal may still arrive */
    close(wake);
    agent.socket = -1;
}

/* The threads may wait in the middle of a message, for the rest of it from a machine that has fallen silent. */
void agent_abandon(void)
{
    pthread_mutex_lock(&agent.hanging_up);
    if (agent.running && agent.socket >= 0)
        shutdown(agent.socket, SHUT_RDWR);
    pthread_mutex_unlock(&agent.hanging_up);
    if (agent.running)
        stop_thread();
    coordinator_abandon();
}

void agent_end(void)
{
    if (!agent.running)
        return;
    pthread_mutex_lock(&agent.lock);
    struct snapshot_result result;
    if (snapshot_end(1, &result)) { /* written in the background: it counts */
        report_take_result(&result);
        report_save();
    }
    pthread_mutex_unlock(&agent.lock);
    if (agent.upper->rank == 0)
        coordinator_finish();
    flush_end(agent.leaving); /* a finished job needs no copies of its images */
    pthread_mutex_lock(&agent.lock);
    control_send(agent.socket, CONTROL_BYE, 0, NULL, 0);
    pthread_mutex_unlock(&agent.lock);
    stop_thread();
    agent.upper->stop_phase = STOP_NONE;
    if (!ground.recovering ||
        agent.leaving) /* else a rank may not have come to it yet: see lower_Finalize */
        coordinator_end();
}
