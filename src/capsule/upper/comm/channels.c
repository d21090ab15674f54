/* comm/channels.c - communicators for persistent collectives. Each rank may start these in an order of its own, but a start
 * begins a non-blocking collective, and all ranks must begin those in the same order. So each persistent collective has its
 * own communicator, a channel, from its MPI_*_init, where all ranks meet, until its request is freed.
 *
 * A free channel is reused. Each rank frees its requests when it likes, so the ranks agree at the next MPI_*_init on which
 * channels are free. Channels live as long as their communicator.
 */
#include "comm/comm.h"
#include <stdlib.h>

enum { WORD = 64 };
struct channels {
    int n; /* the same on all ranks */
    object **at;
    uint64_t *busy; /* one bit per channel */
};

static int words_of(int channels)
{
    return (channels + WORD - 1) / WORD;
}

static int make_channel(object *comm, struct channels *k, object **channel)
{
    int rc = core_Comm_split(comm, 0, comm->comm.rank, channel);
    if (rc)
        return rc;
    (*channel)->comm.of = comm;
    k->at = need(realloc(k->at, (size_t)(k->n + 1) * sizeof *k->at));
    if (k->n % WORD == 0) {
        k->busy = need(realloc(k->busy, (size_t)words_of(k->n + 1) * sizeof *k->busy));
        k->busy[k->n / WORD] = 0;
    }
    k->at[k->n++] = *channel;
    return 0;
}

/* *at: index of a channel that no rank uses, or k->n if there is none. */
static int find_free(object *comm, const struct channels *k, int *at)
{
    int words = words_of(k->n), rc;
    *at = k->n;
    if (!k->n || comm->comm.remote_size) /* an Allreduce there gives the other side's bits */
        return 0;
    uint64_t *used = need(malloc((size_t)words * sizeof *used));
    rc = core_Allreduce(k->busy, used, words, predef[PRE_MPI_UINT64_T], predef[PRE_MPI_BOR], comm);
    for (int i = 0; !rc && i < k->n && *at == k->n; i++)
        if (!(used[i / WORD] >> i % WORD & 1))
            *at = i;
    free(used);
    return rc;
}

/* Collective over `comm`. */
int channel_take(object *comm, object **channel)
{
    int at;
    *channel = comm;
    if (comm->comm.size + comm->comm.remote_size == 1) /* one rank has only one order */
        return 0;
    struct extra *e = extra_of(comm);
    struct channels *k = e->channels ? e->channels : (e->channels = need(calloc(1, sizeof *k)));
    int rc = find_free(comm, k, &at);
    if (!rc && at < k->n)
        *channel = k->at[at];
    else if (!rc)
        rc = make_channel(comm, k, channel);
    if (!rc)
        k->busy[at / WORD] |= 1ull << at % WORD;
    return rc;
}

void channel_give(object *comm, object *channel)
{
    struct channels *k = comm->extra ? comm->extra->channels : NULL;
    for (int i = 0; k && i < k->n; i++)
        if (k->at[i] == channel)
            k->busy[i / WORD] &= ~(1ull << i % WORD);
}

void channels_free(struct channels *k)
{
    if (!k)
        return;
    for (int i = 0; i < k->n; i++)
        core_Comm_free(&k->at[i]);
    free(k->at);
    free(k->busy);
    free(k);
}
