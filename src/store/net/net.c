/* Messages: start them, test them until they are complete, and give them up when a member is dead. */
#include "net/inside.h"

#include <sched.h>
#include <stdlib.h>
#include <time.h>

#include <base/event.h>
#include <base/fail.h>

#define MESSAGE_MAX   ((size_t)64 << 20) /* longer posts become several messages of this size */
#define DRAIN_SECONDS 5.0                /* how long requests may take to end after a revoke */

bool net_broken(const struct net *net)
{
    return atomic_load(&net->broken);
}

void net_set_urgent(struct net *net, bool urgent)
{
    atomic_store(&net->urgent, urgent);
}

int net_rank(const struct net *net)
{
    return net->rank;
}

int net_size(const struct net *net)
{
    return net->size;
}

bool net_threads(const struct net *net)
{
    return net->threads;
}

void net_break(struct net *net)
{
    if (atomic_exchange(&net->broken, true) || net->alone)
        return;
    mend_ulfm_revoke(net->comm[CALL]);
    mend_ulfm_revoke(net->comm[WORK]);
}

int net_test(MPI_Request *request, int *flag)
{
    int rc = MPI_Test(request, flag, MPI_STATUS_IGNORE);
    return rc;
}

/* Does MPI know that a member is dead? */
static bool member_dead(struct net *net, enum lane lane)
{
    return mend_ulfm_is_revoked(net->comm[lane]) || mend_ulfm_failed(net->comm[lane], NULL) > 0;
}

static enum mend_news news(void *arg)
{
    struct net *net = arg;
    if (member_dead(net, CALL) || member_dead(net, WORK))
        return NEWS_DEATH;
    mend_ulfm_progress(net->comm[CALL]);
    sched_yield();
    return NEWS_UNKNOWN;
}

int net_failed(struct net *net, int mpi_code)
{
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;

    bool death = mend_ulfm_caused_by_death(mpi_code, news, net);
    net_break(net);
    if (death)
        return mend_fail(MEND_ERR_PEER_FAILED, "a process of the store's communicator died");
    MPI_Error_string(mpi_code, text, &length);
    return mend_fail(MEND_ERR_MPI, "a message of the store failed: %.*s", length, text);
}

/* Between two tests the caller's thread yields. The background thread sleeps longer and longer, unless it is urgent. */
static void pause_between(const struct net *net, enum lane lane, unsigned turn)
{
    if (turn < 64)
        return;
    if (lane == CALL || atomic_load(&net->urgent) || turn < 128) {
        sched_yield();
        return;
    }
    unsigned step = (turn - 128) / 8;
    struct timespec nap = {.tv_nsec = step < 20 ? 20000 + 50000 * (long)step : 1000000};
    nanosleep(&nap, NULL);
}

/* After a revoke every request soon ends with an error. False: one did not, and its buffer is no longer ours. */
static bool drain(MPI_Request *list, int count)
{
    double begin = mend_now();
    for (;;) {
        int open = 0;
        for (int i = 0; i < count; i++) {
            int flag = 0;
            if (list[i] == MPI_REQUEST_NULL)
                continue;
            int rc = net_test(&list[i], &flag);
            if (rc == MPI_SUCCESS && !flag)
                open++;
            else
                list[i] = MPI_REQUEST_NULL; /* do not free a failed request again */
        }
        if (open == 0 || !mend_ulfm_built())
            return open == 0;
        if (mend_now() > begin + DRAIN_SECONDS) { /* this delays a recovery by seconds */
            mend_event("store.undrained", ev_int("requests", open),
                       ev_real("seconds", mend_now() - begin));
            return false;
        }
        sched_yield();
    }
}

/* Test until all requests are complete. */
static int finish(struct net *net, enum lane lane, MPI_Request *list, int count, bool *poisoned)
{
    int rc = 0;
    double look = mend_now() + 0.002;

    for (unsigned turn = 0;; turn++) {
        int open = 0;
        for (int i = 0; i < count && rc == MPI_SUCCESS; i++) {
            int flag = 1;
            if (list[i] == MPI_REQUEST_NULL)
                continue;
            rc = net_test(&list[i], &flag);
            open += !flag;
            if (rc != MPI_SUCCESS)
                list[i] = MPI_REQUEST_NULL;
        }
        if (rc != MPI_SUCCESS || open == 0 || net_broken(net))
            break;
        if (turn % 16 == 15 && mend_now() > look) {
            if (member_dead(net, lane))
                break;
            look = mend_now() + 0.002;
        }
        pause_between(net, lane, turn);
    }
    bool all = true;
    for (int i = 0; i < count; i++)
        all = all && list[i] == MPI_REQUEST_NULL;
    if (rc == MPI_SUCCESS && all)
        return 0;
    net_break(net);
    if (!drain(list, count) && poisoned)
        *poisoned = true;
    return rc != MPI_SUCCESS
               ? net_failed(net, rc)
               : mend_fail(MEND_ERR_PEER_FAILED, "a process of the store's communicator died");
}

int net_check(struct net *net)
{
    return net_broken(net) ? mend_fail(MEND_ERR_PEER_FAILED,
                                       "a process of the store's communicator died before")
                           : 0;
}

static int add_request(struct net *net, enum lane lane, MPI_Request **slot)
{
    struct requests *r = &net->posted[lane];
    if (r->count == r->room) {
        int room = r->room ? 2 * r->room : 64;
        MPI_Request *bigger = realloc(r->list, (size_t)room * sizeof *bigger);
        if (!bigger)
            return net_break(net), mend_fail(MEND_ERR_NO_MEMORY, "no memory for %d messages", room);
        r->list = bigger;
        r->room = room;
    }
    *slot = &r->list[r->count++];
    **slot = MPI_REQUEST_NULL;
    return 0;
}

static int post(struct net *net, enum lane lane, bool sending, int peer, int tag, void *bytes,
                size_t count)
{
    int rc = net_check(net);
    for (size_t at = 0; rc == 0 && at < count; at += MESSAGE_MAX) {
        MPI_Request *request = NULL;
        int n = (int)(count - at < MESSAGE_MAX ? count - at : MESSAGE_MAX);
        rc = add_request(net, lane, &request);
        if (rc)
            break;
        uint8_t *p = (uint8_t *)bytes + at;
        int started = sending ? MPI_Isend(p, n, MPI_BYTE, peer, tag, net->comm[lane], request)
                              : MPI_Irecv(p, n, MPI_BYTE, peer, tag, net->comm[lane], request);
        if (started != MPI_SUCCESS) {
            *request = MPI_REQUEST_NULL;
            rc = net_failed(net, started);
        }
    }
    return rc;
}

int net_send(struct net *net, enum lane lane, int to, int tag, const void *bytes, size_t count)
{
    return post(net, lane, true, to, tag, (void *)bytes, count);
}

int net_receive(struct net *net, enum lane lane, int from, int tag, void *bytes, size_t count)
{
    return post(net, lane, false, from, tag, bytes, count);
}

int net_complete(struct net *net, enum lane lane, bool *poisoned)
{
    struct requests *r = &net->posted[lane];
    int rc = r->count ? finish(net, lane, r->list, r->count, poisoned) : 0;
    r->count = 0;
    return rc ? rc : net_check(net);
}

void net_free(void *memory, bool poisoned)
{
    if (!poisoned)
        free(memory);
}
