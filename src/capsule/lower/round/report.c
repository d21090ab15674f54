/* round/report.c - what the agent reports to the coordinator: how far the rank has come, what it has sent,
 * that its messages are drained, that its image is written. Each as soon as possible, and once. */
#include "round/control.h"
#include "round/counts.h"
#include "round/inside.h"

#include <linux/membarrier.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

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
    unsigned creating = __atomic_load_n(&u->creating, __ATOMIC_ACQUIRE);
    now->activity = u->turns != agent.turns ? ACTIVITY_WAITING : (uint64_t)u->activity;
    now->waiting_for = u->turns != agent.turns ? (uint64_t)(u->waiting_for + 1) : 0;
    agent.turns = u->turns;
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

/* The phase is STOP_HERE. A thread that gets no core for a while may still be on its way out of stop_now(), where it was for
 * the last round; the call in which it stopped may be one that sends. What can happen after GO_ON of round n:
 *
 *   1. The thread takes it and leaves (agent_stop_end) before round n + 1 stops the ranks: `stopped` is 0.
 *   2. Round n + 1 comes to STOP_HERE before the thread takes GO_ON, which still waits in `command`: `stopped` is 1, but
 *      stop_round is n. The thread's next poll takes GO_ON before it looks at anything else. Nothing overwrites it: SAVE
 *      follows our STOPPED, and a new stop begins after the end of this one.
 *   3. The same after the thread has taken GO_ON and before agent_stop_end(): stop_round is n. Another thread that comes to
 *      agent_stop_begin() listens.
 *   4. In each case the thread counts what it sends, and stops in its next call (or we interrupt it): agent_stop_begin()
 *      sets stop_round to n + 1, and the counts are final.
 *   5. After a restart the rounds begin at 1 again, and agent_start() has cleared `stopped`.
 */
static int has_stopped(void)
{
    return agent.stopped && agent.stop_round == agent.round;
}

static void report_stop(void)
{
    struct upper *u = agent.upper;
    int sending = __atomic_load_n(&u->activity, __ATOMIC_ACQUIRE) == ACTIVITY_SENDING;
    if (!agent.counts_sent) {
        if (has_stopped() || sending) {
            /* a send is counted before it is marked; we saw the mark, so we will see the count */
            syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
            report_counts();
            agent.counts_sent = 1;
        }
    }
    if (!has_stopped() && !sending)
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

void report_take_result(const struct snapshot_result *r)
{
    agent.save_code = r->code;
    agent.save_bytes = r->bytes;
    agent.save_version = r->version;
    agent.save_microseconds = (uint64_t)(1e6 * r->seconds);
    agent.saved = 1;
}

void report_save(void)
{
    struct snapshot_result r;
    if (snapshot_end(0, &r))
        report_take_result(&r);
    if (agent.saved && !agent.saved_sent) {
        int64_t words[4] = {agent.save_code, (int64_t)agent.save_bytes,
                            (int64_t)agent.save_microseconds, agent.save_version};
        control_send(agent.socket, CONTROL_SAVED, agent.round, words, sizeof words);
        agent.saved_sent = 1;
    }
}

void report_all(void)
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
