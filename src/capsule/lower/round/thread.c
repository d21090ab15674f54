/* round/thread.c - the coordinator's thread: connections, messages, time; its start and end. */
#include "round/coordinator.h"
#include "gpu/gpu.h"
#include "ground/settings.h"
#include "round/agent.h"
#include "round/due.h"

#include <base/io.h>
#include <errno.h>
#include <fcntl.h>
#include <image/folder.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MAX_BACKLOG = 3 }; /* local versions that may wait for their copies, by time */

static void take_request(const char *path)
{
    char *text = NULL, what[16] = "", how[16] = "";
    size_t size = 0;
    if (mend_io_read_file(path, 4096, &text, &size) == 0 &&
        sscanf(text, "%15s %63[0-9a-zA-Z-] %15s", what, the.token, how) >= 1)
        the.wanted = !strcmp(what, "stop") ? ASKED_TO_STOP : ASKED;
    the.full = !strcmp(how, "full");
    the.not_before = 0;
    free(text);
}

/* `mend checkpoint` waits for an answer. If ranks die before that, the next coordinator of the job finds the request that
 * this one has taken. */
static void look_for_request_file(void)
{
    char path[4300], taken[4300];
    snprintf(path, sizeof path, "%s/request", settings.dir);
    request_taken(taken, sizeof taken);
    if (settings.dir[0] && !access(path, F_OK) && !the.token[0] && !rename(path, taken))
        take_request(taken);
}

static void take_over_request(void)
{
    char taken[4300];
    request_taken(taken, sizeof taken);
    the.token[0] = 0;
    if (!settings.dir[0] || access(taken, F_OK))
        return;
    if (ground.recovering || relaunch_active())
        take_request(taken);
    else /* it belongs to another job */
        mend_io_remove(taken);
}

static void gone(int rank, const char *why)
{
    struct member *m = &the.member[rank];
    pthread_mutex_lock(&the.hanging_up);
    close(m->fd);
    m->fd = -1;
    pthread_mutex_unlock(&the.hanging_up);
    int comes_back = ground.recovering || relaunch_active();
    the.leaving |= !comes_back;
    if (the.state != IDLE)
        give_up(why);
    the.wanted = NOT_WANTED;
    if (comes_back) /* the next coordinator serves the request */
        the.present--;
    else
        answer("ended %lld\n", rank);
}

static void hear(int rank, const struct control_head *head, void *payload)
{
    struct member *m = &the.member[rank];
    uint64_t *words = payload;
    if (head->type == CONTROL_REQUEST) {
        the.wanted = head->bytes && words[0] ? ASKED_TO_STOP : ASKED;
        return;
    }
    if (head->type == CONTROL_BYE) {
        m->bye = 1;
        the.leaving = 1;
        if (the.state != IDLE && !(the.went_on > 0))
            give_up("the job is ending");
        the.wanted = NOT_WANTED;
        answer("ended %lld\n", rank);
        return;
    }
    if (head->type == CONTROL_HERE) {
        silence_broken(rank);
        return;
    }
    the.traffic.received++;
    the.traffic.bytes += sizeof *head + head->bytes;
    if (head->type == CONTROL_FLUSHED) {
        take_flushed(m, payload, head->bytes);
        return;
    }
    if (head->type == CONTROL_STOPPED) /* of any round: it is reported once */
        add_counts(payload, head->bytes);
    if (head->round != the.round)
        return;
    switch (head->type) {
    case CONTROL_CLOCKS: take_clocks(m, payload, head->bytes); break;
    case CONTROL_STOPPED: take_stopped(m); break;
    case CONTROL_BUSY: the.patient_since = seconds_now(); break;
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

/* Says which rank it was: one that did not stop or, if all did, one that waits for messages that were sent to
 * it. */
static void give_up_stopping(void)
{
    char why[80];
    for (int draining = 0; draining < 2; draining++)
        for (int i = 0; i < the.ranks; i++)
            if (draining ? !the.member[i].drained : !the.member[i].stopped) {
                snprintf(why, sizeof why, "rank %d %s", i,
                         draining ? "has not received all messages" : "could not be stopped");
                give_up(why);
                return;
            }
    give_up("a rank could not be stopped");
}

static void pass_time(void)
{
    double now = seconds_now();
    silence_pass(now);
    if (the.state == COLLECTING && now - the.last_change > 0.05) {
        the.last_change = now;
        if (ALL(reported))
            open_doors();
    }
    if (the.state == COLLECTING)
        open_all_doors();
    if (the.state == STOPPING && now - the.patient_since > settings.patience)
        give_up_stopping();
    if (the.state != IDLE || the.present < the.ranks)
        return;
    look_for_request_file();
    if (the.leaving) {
        the.wanted = NOT_WANTED;
        answer("ended %lld\n", 0);
        return;
    }
    due_follow_plan(now);
    if (gpu_held() || gpu_is_busy()) /* the program goes on when it has its GPU back */
        the.last_done = now;
    int backlog = settings.local[0] && the.complete.version > the.flushed + MAX_BACKLOG;
    if (settings.every > 0 && now - the.last_done >= settings.every && !backlog)
        the.wanted = the.wanted ? the.wanted : BY_TIME;
    if (settings.limit > 0 && now - the.started >= settings.limit) {
        the.wanted = ASKED_TO_STOP;
        settings.limit = 0;
    }
    if (the.wanted && now >= the.not_before)
        begin_round();
}

static int welcome(int rank, int fd)
{
    struct epoll_event what = {.events = EPOLLIN, .data.u32 = (uint32_t)rank};
    pthread_mutex_lock(&the.hanging_up);
    int ok = !the.hung_up && the.member[rank].fd < 0 &&
             !epoll_ctl(the.members, EPOLL_CTL_ADD, fd, &what);
    if (ok) {
        the.member[rank].fd = fd;
        the.present++;
    }
    pthread_mutex_unlock(&the.hanging_up);
    return ok;
}

static void hear_members(void)
{
    struct epoll_event ready[64];
    int n = epoll_wait(the.members, ready, 64, 0);
    for (int k = 0; k < n; k++) {
        int rank = (int)ready[k].data.u32;
        struct control_head head;
        void *payload;
        if (the.member[rank].fd < 0)
            continue;
        if (control_receive(the.member[rank].fd, &head, &payload) == 1)
            hear(rank, &head, payload);
        else
            gone(rank, "a rank is gone");
        free(payload);
    }
}

/* A turn costs as much as what has arrived, however many ranks there are: the door lists guests only until
 * all are in. */
static void *coordinator_main(void *unused)
{
    (void)unused;
    struct pollfd *p = calloc(3 + (size_t)the.door.slots, sizeof *p);
    if (!p)
        die("no memory for the coordinator");
    for (;;) {
        p[0] = (struct pollfd){the.wake[0], POLLIN, 0};
        p[1] = (struct pollfd){the.members, POLLIN, 0};
        int guests = door_list(&the.door, p + 2);
        poll(p, 2 + (nfds_t)guests, the.state == IDLE ? 50 : 10);
        if (p[0].revents)
            break;
        door_answer(&the.door, p + 2, welcome);
        if (the.present == the.ranks) /* nobody else may come; an agent never comes twice */
            door_close(&the.door);
        hear_members();
        pass_time();
    }
    free(p);
    return NULL;
}

/* --- start and end --- */
static int open_door(int ranks, int here, struct control_address *a)
{
    uint64_t cookie;
    if (getrandom(&cookie, sizeof cookie, 0) != sizeof cookie)
        return -1;
    a->cookie = cookie |= 1;
    gethostname(a->host, sizeof a->host - 1);
    if (here)
        return door_open_here(&the.door, ranks, cookie, a->name);
    int rc = door_open_outside(&the.door, ranks, cookie, settings.interface, a->address, &a->count,
                               &a->port);
    if (rc && settings.interface[0])
        fprintf(stderr, "mend: the coordinator of checkpoints cannot listen on %s: %s\n",
                settings.interface, strerror(errno));
    return rc;
}

int coordinator_start(int ranks, int here, struct control_address *address)
{
    if (pipe2(the.wake, O_CLOEXEC))
        return -1;
    the.members = epoll_create1(EPOLL_CLOEXEC);
    if (the.members < 0 || open_door(ranks, here, address))
        return -1;
    the.ranks = ranks;
    the.missing = the.laggard = 0;
    the.present = the.leaving = the.leaves = the.attempts = the.hung_up = 0;
    the.wanted = NOT_WANTED;
    take_over_request();
    the.state = IDLE;
    the.round = 0;
    the.complete.version = -1;
    the.chain = 0;
    the.flushed = the.local_below = the.global_below = 0;
    if (on_disk()) {
        char folder[4300];
        snprintf(folder, sizeof folder, "%s/versions", settings.dir);
        retention_look(&the.global, folder, MEND_FILE_GLOBAL, settings.keep, -1);
        if (settings.local[0])
            retention_look(&the.local, settings.local, MEND_FILE_OWN, settings.keep, 0);
        the.flushed = retention_newest(&the.global);
    }
    the.started = the.last_done = seconds_now();
    the.member = calloc((size_t)ranks, sizeof *the.member);
    if (!the.member)
        return -1;
    for (int i = 0; i < ranks; i++)
        the.member[i].fd = -1;
    sigset_t every, old;
    sigfillset(&every);
    pthread_sigmask(SIG_SETMASK, &every, &old);
    silence_begin();
    the.running = !pthread_create(&the.thread, NULL, coordinator_main, NULL);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return the.running ? 0 : -1;
}

/* For images in the background: their ranks are ending as we do, and report them first. */
void coordinator_finish(void)
{
    while (the.running && __atomic_load_n(&the.state, __ATOMIC_ACQUIRE) == SAVING)
        usleep(1000);
}

/* The thread may be about to close a descriptor, whose number the next file gets: MPI's own connection, perhaps. */
void coordinator_abandon(void)
{
    pthread_mutex_lock(&the.hanging_up);
    the.hung_up = the.running;
    for (int i = 0; the.running && i < the.ranks; i++)
        if (the.member[i].fd >= 0)
            shutdown(the.member[i].fd, SHUT_RDWR);
    pthread_mutex_unlock(&the.hanging_up);
    coordinator_end();
}

void coordinator_end(void)
{
    if (!the.running)
        return;
    if (write(the.wake[1], "", 1) < 0)
        return;
    pthread_join(the.thread, NULL);
    the.running = 0;
    silence_end();
    for (int i = 0; i < the.ranks; i++) {
        if (the.member[i].fd >= 0)
            close(the.member[i].fd);
        free(the.member[i].clocks);
    }
    free(the.member);
    free(the.target);
    the.target = NULL;
    the.target_room = 0;
    door_close(&the.door);
    close(the.members);
    close(the.wake[0]);
    close(the.wake[1]);
}
