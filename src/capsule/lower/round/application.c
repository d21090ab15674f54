/* round/application.c - what the application's thread calls while a checkpoint is made: at the door of a
 * collective, where it stops, while it drains messages, and to write the image. See the round in agent.c. */
#include "ground/settings.h"
#include "images/image.h"
#include "round/counts.h"
#include "round/inside.h"
#include "versions/versions.h"

#include <base/fault.h>
#include <sched.h>
#include <time.h>

enum { BUSY_POLLS = 500 };

static void wait_for_change(long microseconds)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += microseconds * 1000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&agent.changed, &agent.lock, &until);
}

/* Others may be inside calls that need this rank's library, and nobody else calls it. The coordinator may be on a node
 * that has lost its power: then nobody ends the round. May not come back. */
static void look_around(void)
{
    struct status s;
    int flag;
    pthread_mutex_unlock(&agent.lock);
    recover_look(); /* in a job that recovers from deaths, this drives the library as well */
    if (!ground.recovering)
        lower.Iprobe(NEUTRAL_ANY_SOURCE, NEUTRAL_ANY_TAG, lower.predef[PRE_MPI_COMM_WORLD], &flag,
                     &s);
    pthread_mutex_lock(&agent.lock);
}

/* For tests: request a checkpoint, and wait until the round has begun, so that a short program does not run
 * away from it. */
void agent_request(void)
{
    pthread_mutex_lock(&agent.lock);
    agent.requested = 1;
    agent_wake();
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

/* With several threads nobody waits here. A thread whose own communicator is not behind waits for a while
 * before it goes in for the sake of another one: perhaps only this thread can get there, or another thread
 * does. */
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
    look_around();
    card->begun--;
    __atomic_fetch_add(&card->at_door, 1, __ATOMIC_SEQ_CST);
    agent_wake();
    return DOOR_WAIT;
}

/* At the door of a collective, which card->begun already counts. Unless the answer is DOOR_IN, it is
 * uncounted again. */
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
            agent_wake();
            wait_for_change(1000);
            look_around();
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
        agent.stop_round = agent.round;
        agent.polls = 0;
        agent.command = STOP_COMMAND_NONE;
        agent_wake();
    }
    pthread_mutex_unlock(&agent.lock);
    return role;
}

/* quiet: nothing that this rank sent is in flight any more.
 *
 * After a while a waiting thread leaves the core to others: threads that only ever yield can keep the threads
 * they wait for off the core for seconds (seen with Linux 6.18, four ranks on two cores).
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
            agent_wake();
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
    if (ground.recovering)
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
        report_take_result(&result);
    agent_wake();
    pthread_mutex_unlock(&agent.lock);
    return result.code;
}

void agent_stop_end(void)
{
    MEND_FAULT_POINT(capsule_go_on);
    pthread_mutex_lock(&agent.lock);
    agent.stopped = 0;
    pthread_mutex_unlock(&agent.lock);
}

/* Unlinks the cards of communicators that this rank has freed; the caller owns them then. */
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
