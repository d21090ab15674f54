/* comm/channels.c - communicators for persistent collectives. These may be started in any order, and on each rank in another
 * one, while non-blocking collectives, which a start begins, must be in the same order everywhere. So each has a communicator
 * of its own, a channel, from its MPI_*_init, where all ranks meet, to its end.
 *
 * A channel that is free again is used again. The requests are freed by each rank when it likes: which channels are free is
 * agreed upon at the next MPI_*_init. They live as long as their communicator.
 */
#include "comm/comm.h"
#include <stdlib.h>

struct channels {
    int n;
    object **at;
    uint64_t busy; /* of the first 64; later ones are used once */
};
enum { TRACKED = 64 };

static int make_channel(object *comm, struct channels *k, object **channel)
{
    int rc = core_Comm_split(comm, 0, comm->comm.rank, channel);
    if (rc)
        return rc;
    (*channel)->comm.of = comm;
    k->at = need(realloc(k->at, (size_t)(k->n + 1) * sizeof *k->at));
    k->at[k->n++] = *channel;
    return 0;
}

/* Collective over `comm`. */
int channel_take(object *comm, object **channel)
{
    *channel = comm;
    if (comm->comm.size + comm->comm.remote_size == 1) /* there is one order only */
        return 0;
    struct extra *e = extra_of(comm);
    struct channels *k = e->channels ? e->channels : (e->channels = need(calloc(1, sizeof *k)));
    uint64_t made = k->n < TRACKED ? (1ull << k->n) - 1 : ~0ull, free_here = made & ~k->busy,
             free_everywhere = 0;
    int at = k->n, rc = 0;
    if (k->n && !comm->comm.remote_size) /* what the other side agreed on would not be ours */
        rc = core_Allreduce(&free_here, &free_everywhere, 1, predef[PRE_MPI_UINT64_T],
                            predef[PRE_MPI_BAND], comm);
    if (!rc && free_everywhere) {
        at = __builtin_ctzll(free_everywhere);
        *channel = k->at[at];
    } else if (!rc)
        rc = make_channel(comm, k, channel);
    if (!rc && at < TRACKED)
        k->busy |= 1ull << at;
    return rc;
}

void channel_give(object *comm, object *channel)
{
    struct channels *k = comm->extra ? comm->extra->channels : NULL;
    for (int i = 0; k && i < k->n && i < TRACKED; i++)
        if (k->at[i] == channel)
            k->busy &= ~(1ull << i);
}

void channels_free(struct channels *k)
{
    if (!k)
        return;
    for (int i = 0; i < k->n; i++)
        core_Comm_free(&k->at[i]);
    free(k->at);
    free(k);
}
