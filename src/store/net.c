#include <mpi.h>
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

#include "net.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <base/event.h>
#include <base/fail.h>

#ifdef MPIX_ERR_PROC_FAILED
#define ULFM 1
#else
#define ULFM 0
#endif

#define MESSAGE_MAX ((size_t)64 << 20) /* longer posts are cut into messages of this */
enum { TAG_COLLECTIVE = 1, TAG_NEVER = 2 };

#define NEWS_SECONDS  1.0

#define DRAIN_SECONDS 5.0 /* after a revoke, how long requests may take to end */

struct requests {
    MPI_Request *list;
    int count, room;
};

struct net {
    bool alone, threads;
    int rank, size;
    MPI_Comm comm[2];
    atomic_bool broken, urgent;
    struct requests posted[2];
};

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

int net_alone(int rank, struct net **out)
{
    struct net *net = calloc(1, sizeof *net);
    if (!net)
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for a store");
    net->alone = net->threads = true;
    net->rank = rank;
    net->size = 1;
    *out = net;
    return 0;
}

void net_break(struct net *net)
{
    if (atomic_exchange(&net->broken, true) || net->alone)
        return;
#if ULFM
    MPIX_Comm_revoke(net->comm[CALL]);
    MPIX_Comm_revoke(net->comm[WORK]);
#endif
}

/* Does MPI know by now that a member is dead? */
static bool member_dead(struct net *net, enum lane lane)
{
#if ULFM
    MPI_Group dead;
    int count = 0, revoked = 0;

    if (MPIX_Comm_is_revoked(net->comm[lane], &revoked) == MPI_SUCCESS && revoked)
        return true;
    if (MPIX_Comm_get_failed(net->comm[lane], &dead) != MPI_SUCCESS)
        return false;
    MPI_Group_size(dead, &count);
    MPI_Group_free(&dead);
    return count > 0;
#else
    (void)net;
    (void)lane;
    return false;
#endif
}

static int mpi_failed(struct net *net, int mpi_code)
{
    char text[MPI_MAX_ERROR_STRING];
    int class = MPI_ERR_OTHER, length = 0;

    MPI_Error_class(mpi_code, &class);
#if ULFM
    if (class == MPIX_ERR_PROC_FAILED || class == MPIX_ERR_REVOKED ||
        class == MPIX_ERR_PROC_FAILED_PENDING) {
        net_break(net);
        return mend_fail(MEND_ERR_PEER_FAILED, "a process of the store's communicator died");
    }
#endif
    /* a dead peer may first show as some other error: give the news of it a moment to arrive */
    double end = mend_now() + NEWS_SECONDS;
    while (mend_now() < end) {
        int flag;
        if (member_dead(net, CALL) || member_dead(net, WORK)) {
            net_break(net);
            return mend_fail(MEND_ERR_PEER_FAILED, "a process of the store's communicator died");
        }
        MPI_Iprobe(MPI_ANY_SOURCE, TAG_NEVER, net->comm[CALL], &flag, MPI_STATUS_IGNORE);
        sched_yield();
    }
    MPI_Error_string(mpi_code, text, &length);
    net_break(net);
    return mend_fail(MEND_ERR_MPI, "a message of the store failed: %.*s", length, text);
}

/* Between two tests: the caller's thread yields; the background thread sleeps longer and longer,
 * unless it is urgent. */
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

/* After a revoke every request ends with an error, soon. False: it did not; its buffer is not ours
 * any more. */
static bool drain(MPI_Request *list, int count)
{
    double begin = mend_now();
    for (;;) {
        int open = 0;
        for (int i = 0; i < count; i++) {
            int flag = 0;
            if (list[i] == MPI_REQUEST_NULL)
                continue;
            int rc = MPI_Test(&list[i], &flag, MPI_STATUS_IGNORE);
            if (rc == MPI_SUCCESS && !flag)
                open++;
            else
                list[i] = MPI_REQUEST_NULL; /* a failed request is not to be freed again */
        }
        if (open == 0 || !ULFM)
            return open == 0;
        if (mend_now() > begin + DRAIN_SECONDS) { /* seconds that a recovery then lacks */
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
            rc = MPI_Test(&list[i], &flag, MPI_STATUS_IGNORE);
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
               ? mpi_failed(net, rc)
               : mend_fail(MEND_ERR_PEER_FAILED, "a process of the store's communicator died");
}

static int check(struct net *net)
{
    return net_broken(net) ? mend_fail(MEND_ERR_PEER_FAILED,
                                       "a process of the store's communicator died before")
                           : 0;
}

/* ---- collectives, from messages: MPI's own nonblocking ones report a death late, or as some other
 * error ---- */

/* One step: to one rank, from another, complete. */
static int shift(struct net *net, enum lane lane, int to, const void *out, int from, void *in,
                 size_t bytes, bool *poisoned)
{
    int rc = net_receive(net, lane, from, TAG_COLLECTIVE, in, bytes);
    if (rc == 0)
        rc = net_send(net, lane, to, TAG_COLLECTIVE, out, bytes);
    int ended = net_complete(net, lane, poisoned);
    return rc ? rc : ended;
}

/* Dissemination: in round d everybody hears from the rank 2^d below. As a minimum may be taken
 * twice, it works for any number of ranks. Buffers are on the heap: if a message cannot be ended,
 * they are left to it. */
struct net_min {
    struct net *net;
    enum lane lane;
    int count, distance, rc;
    bool poisoned;
    int64_t *out, *in;
};

/* Post the messages of this round. */
static void min_round(struct net_min *m)
{
    struct net *net = m->net;
    int d = m->distance, n = net->size;
    if (m->rc || d >= n)
        return;
    size_t bytes = (size_t)m->count * sizeof *m->in;
    m->rc = net_receive(net, m->lane, (net->rank - d + n) % n, TAG_COLLECTIVE, m->in, bytes);
    if (m->rc == 0)
        m->rc = net_send(net, m->lane, (net->rank + d) % n, TAG_COLLECTIVE, m->out, bytes);
}

/* The messages of this round are complete. */
static void min_take(struct net_min *m)
{
    for (int i = 0; m->rc == 0 && i < m->count; i++)
        if (m->in[i] < m->out[i])
            m->out[i] = m->in[i];
    m->distance *= 2;
    min_round(m);
}

int net_min_begin(struct net *net, enum lane lane, const int64_t *values, int count,
                  struct net_min **out)
{
    size_t bytes = (size_t)count * sizeof *values;
    struct net_min *m = calloc(1, sizeof *m);
    int64_t *buffers = malloc(2 * bytes);
    if (!m || !buffers) { /* cannot be agreed any more: leave, so that the others do not wait */
        free(m);
        free(buffers);
        net_break(net);
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for %zu bytes", bytes);
    }
    *m = (struct net_min){.net = net,
                          .lane = lane,
                          .count = count,
                          .distance = net->alone ? net->size : 1,
                          .rc = net->alone ? 0 : check(net),
                          .out = buffers,
                          .in = buffers + count};
    memcpy(m->out, values, bytes);
    min_round(m);
    *out = m;
    return 0;
}

void net_min_push(struct net_min *m)
{
    struct requests *r = &m->net->posted[m->lane];
    int open = 0;
    if (m->rc || m->distance >= m->net->size)
        return;
    for (int i = 0; i < r->count; i++) {
        int flag = 1;
        if (r->list[i] == MPI_REQUEST_NULL)
            continue;
        int rc = MPI_Test(&r->list[i], &flag, MPI_STATUS_IGNORE);
        if (rc != MPI_SUCCESS) {
            r->list[i] = MPI_REQUEST_NULL;
            m->rc = mpi_failed(m->net, rc);
            return;
        }
        open += !flag;
    }
    if (!open) {
        r->count = 0;
        min_take(m);
    }
}

int net_min_end(struct net_min *m, int64_t *values)
{
    while (m->rc == 0 && m->distance < m->net->size) {
        m->rc = net_complete(m->net, m->lane, &m->poisoned);
        min_take(m);
    }
    int rc = m->rc;
    if (rc && m->net->posted[m->lane].count)
        net_complete(m->net, m->lane, &m->poisoned); /* broken: these end, too */
    if (rc == 0)
        memcpy(values, m->out, (size_t)m->count * sizeof *values);
    if (!m->poisoned)
        free(m->out);
    free(m);
    return rc;
}

int net_all_min(struct net *net, enum lane lane, int64_t *values, int count)
{
    struct net_min *m = NULL;
    if (net->alone)
        return 0;
    int rc = net_min_begin(net, lane, values, count, &m);
    return rc ? rc : net_min_end(m, values);
}

/* Bruck's algorithm: block i of the buffer is that of rank (me + i); the known blocks double each
 * round. */
int net_gather(struct net *net, enum lane lane, const void *mine, size_t bytes, void *all)
{
    if (net->alone) {
        memcpy(all, mine, bytes);
        return 0;
    }
    int rc = check(net), n = net->size;
    if (rc)
        return rc;
    uint8_t *buffer = malloc((size_t)n * bytes + 1);
    bool poisoned = false;
    if (!buffer) {
        net_break(net);
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for %zu bytes", (size_t)n * bytes);
    }
    memcpy(buffer, mine, bytes);
    for (int d = 1; rc == 0 && d < n; d *= 2) {
        size_t blocks = (size_t)(d < n - d ? d : n - d);
        rc = shift(net, lane, (net->rank - d + n) % n, buffer, (net->rank + d) % n,
                   buffer + (size_t)d * bytes, blocks * bytes, &poisoned);
    }
    for (int i = 0; rc == 0 && i < n; i++)
        memcpy((uint8_t *)all + (size_t)((net->rank + i) % n) * bytes, buffer + (size_t)i * bytes,
               bytes);
    if (!poisoned)
        free(buffer);
    return rc;
}

int net_gather_var(struct net *net, enum lane lane, const void *mine, size_t bytes, uint8_t **all,
                   size_t *sizes)
{
    size_t longest = 0, at = 0, n = (size_t)net->size;
    int rc = net_gather(net, lane, &bytes, sizeof bytes, sizes);
    if (rc)
        return rc;
    for (size_t r = 0; r < n; r++)
        longest = sizes[r] > longest ? sizes[r] : longest;
    uint8_t *padded = calloc(1, longest + 1), *buffer = malloc(n * longest + 1);
    if (!padded || !buffer) {
        net_break(net);
        free(padded);
        free(buffer);
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for %zu bytes", n * longest);
    }
    if (bytes)
        memcpy(padded, mine, bytes);
    rc = net_gather(net, lane, padded, longest, buffer);
    for (size_t r = 0; rc == 0 && r < n; r++) {
        memmove(buffer + at, buffer + r * longest, sizes[r]);
        at += sizes[r];
    }
    free(padded);
    if (rc)
        free(buffer);
    else
        *all = buffer;
    return rc;
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
    int rc = check(net);
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
            rc = mpi_failed(net, started);
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
    return rc ? rc : check(net);
}

/* ---- opening --------------------------------------------------------------------------------- */

/* Both lanes from comm, in order of the logical ranks. A failed split leaves a handle that must not
 * be touched. */
static int make_lanes(struct net *net, MPI_Comm comm, int logical_rank)
{
    int rc = MPI_Comm_split(comm, 0, logical_rank, &net->comm[CALL]);
    if (rc != MPI_SUCCESS)
        net->comm[CALL] = net->comm[WORK] = MPI_COMM_NULL;
    if (rc == MPI_SUCCESS) {
        MPI_Comm_set_errhandler(net->comm[CALL], MPI_ERRORS_RETURN);
        rc = MPI_Comm_split(comm, 0, logical_rank, &net->comm[WORK]);
        if (rc != MPI_SUCCESS)
            net->comm[WORK] = MPI_COMM_NULL;
        else
            MPI_Comm_set_errhandler(net->comm[WORK], MPI_ERRORS_RETURN);
    }
    return rc;
}

/* Protocol of opening on comm:
 *   1. split comm twice. A death may make this fail on some ranks and succeed on others.
 *   2. whoever saw an error revokes comm; the others meet them in a reduction on comm, which then
 * fails for all.
 *   3. all reduced: both lanes exist everywhere. A death from now on is seen on the lanes.
 * comm's error handler is set aside for that time: it may be one that jumps. */
static int agree_on_lanes(struct net *net, MPI_Comm comm, int rc)
{
    int mine = -1, ok[2] = {rc == MPI_SUCCESS, 0}, all[2] = {0, 0};
    if (ok[0])
        MPI_Comm_rank(net->comm[CALL], &mine);
    ok[1] = mine == net->rank; /* the logical ranks are 0 to size-1, each once */
#if ULFM
    if (!ok[0])
        MPIX_Comm_revoke(comm);
#endif
    int reduced = MPI_Allreduce(ok, all, 2, MPI_INT, MPI_MIN, comm);
#if ULFM
    if (reduced != MPI_SUCCESS)
        MPIX_Comm_revoke(comm);
#endif
    if (rc != MPI_SUCCESS || reduced != MPI_SUCCESS || !all[0]) {
        if (net->comm[CALL] != MPI_COMM_NULL && net->comm[WORK] != MPI_COMM_NULL)
            net_break(net);
        int class = MPI_SUCCESS, code = rc != MPI_SUCCESS ? rc : reduced;
        MPI_Error_class(code, &class);
#if ULFM
        int revoked =
            0; /* a death inside a split may show as some other error: by now comm is revoked for it */
        MPIX_Comm_is_revoked(comm, &revoked);
        if (class == MPIX_ERR_PROC_FAILED || class == MPIX_ERR_REVOKED || revoked ||
            code == MPI_SUCCESS)
            return mend_fail(MEND_ERR_PEER_FAILED,
                             "a process died while the store was being opened");
#endif
        return mend_fail(MEND_ERR_MPI,
                         "the store's communicator could not be made (MPI error class %d)", class);
    }
    if (!all[1])
        return mend_fail(MEND_ERR_ARGUMENT, "the logical ranks are not 0 to %d, each once",
                         net->size - 1);
    return 0;
}

int net_open(MPI_Comm comm, int logical_rank, struct net **out)
{
    MPI_Errhandler handler;
    int level = MPI_THREAD_SINGLE, initialised = 0, finalised = 0, mine = -1;

    MPI_Initialized(&initialised);
    MPI_Finalized(&finalised);
    if (!initialised || finalised)
        return mend_fail(MEND_ERR_STATE, "MPI is not initialised, or has been finalised");
    struct net *net = calloc(1, sizeof *net);
    if (!net)
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for a store");
    MPI_Query_thread(&level);
    net->threads = level == MPI_THREAD_MULTIPLE;
    MPI_Comm_rank(comm, &mine);
    MPI_Comm_size(comm, &net->size);
    net->rank = logical_rank < 0 ? mine : logical_rank;

    MPI_Comm_get_errhandler(comm, &handler);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    int rc = agree_on_lanes(net, comm, make_lanes(net, comm, net->rank));
    MPI_Comm_set_errhandler(comm, handler);
    MPI_Errhandler_free(&handler);
    if (rc == MEND_ERR_ARGUMENT) {
        net_close(net);
        return rc;
    }
    if (rc) {
        free(net);
        return rc;
    }
    *out = net;
    return 0;
}

void net_close(struct net *net)
{
    int finalised = 0;
    if (!net)
        return;
    if (!net->alone) {
        MPI_Finalized(&finalised);
        /* a broken communicator is left alone: its context id must not be used again */
        if (!finalised && !net_broken(net)) {
            MPI_Comm_free(&net->comm[CALL]);
            MPI_Comm_free(&net->comm[WORK]);
        }
    }
    free(net->posted[CALL].list);
    free(net->posted[WORK].list);
    free(net);
}
