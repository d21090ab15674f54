/* Collectives made of messages: MPI's own nonblocking ones report a death late, or as another error. */
#include "net/inside.h"

#include <stdlib.h>
#include <string.h>

#include <base/fail.h>

/* One step: send to one rank, receive from another, and complete both. */
static int shift(struct net *net, enum lane lane, int to, const void *out, int from, void *in,
                 size_t bytes, bool *poisoned)
{
    int rc = net_receive(net, lane, from, TAG_COLLECTIVE, in, bytes);
    if (rc == 0)
        rc = net_send(net, lane, to, TAG_COLLECTIVE, out, bytes);
    int ended = net_complete(net, lane, poisoned);
    return rc ? rc : ended;
}

/* Dissemination: in round d each rank hears from the rank 2^d below. A minimum may count a value twice, so this works
 * for any number of ranks. The buffers are on the heap: if a message cannot be ended, we leave them to it. */
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
    if (!m || !buffers) { /* no agreement is possible: leave, so that the others do not wait */
        free(m);
        free(buffers);
        net_break(net);
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for %zu bytes", bytes);
    }
    *m = (struct net_min){.net = net,
                          .lane = lane,
                          .count = count,
                          .distance = net->alone ? net->size : 1,
                          .rc = net->alone ? 0 : net_check(net),
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
        int rc = net_test(&r->list[i], &flag);
        if (rc != MPI_SUCCESS) {
            r->list[i] = MPI_REQUEST_NULL;
            m->rc = net_failed(m->net, rc);
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
    net_free(m->out, m->poisoned);
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

/* Bruck's algorithm: block i of the buffer is that of rank (me + i). Each round doubles the known blocks. */
int net_gather(struct net *net, enum lane lane, const void *mine, size_t bytes, void *all)
{
    if (net->alone) {
        memcpy(all, mine, bytes);
        return 0;
    }
    int rc = net_check(net), n = net->size;
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
    net_free(buffer, poisoned);
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
