/* Everything that moves atoms between ranks. */
#include <stdlib.h>
#include <string.h>

#include "md.h"

enum { TRAVELLER = 7 }; /* doubles of an atom that changes its rank: x, v, id */

void md_make_grid(struct md *md, MPI_Comm world)
{
    MPI_Comm_dup(world, &md->grid);
    MPI_Comm_size(world, &md->ranks);
    MPI_Comm_rank(world, &md->rank);
    memset(md->dims, 0, sizeof md->dims);
    MPI_Dims_create(md->ranks, 3, md->dims);
    md->at[0] = md->rank / (md->dims[1] * md->dims[2]);
    md->at[1] = md->rank / md->dims[2] % md->dims[1];
    md->at[2] = md->rank % md->dims[2];
}

/* The neighbour in one dimension; the box is periodic. */
static int neighbour(const struct md *md, int dim, int step)
{
    int at[3] = {md->at[0], md->at[1], md->at[2]};
    at[dim] = (at[dim] + step + md->dims[dim]) % md->dims[dim];
    return (at[0] * md->dims[1] + at[1]) * md->dims[2] + at[2];
}

/* Sends `count` doubles of `out`, receives into `in`; returns how many arrived. */
static int trade(struct md *md, int to, int from, int count)
{
    int arriving = 0;
    MPI_Sendrecv(&count, 1, MPI_INT, to, 1, &arriving, 1, MPI_INT, from, 1, md->grid,
                 MPI_STATUS_IGNORE);
    size_t room = md->buffer_room;
    md->in = md_grow(md->in, &room, (size_t)arriving, sizeof *md->in);
    md->out = md_grow(md->out, &md->buffer_room, room, sizeof *md->out);
    md->in = md_grow(md->in, &room, md->buffer_room, sizeof *md->in);
    MPI_Sendrecv(md->out, count, MPI_DOUBLE, to, 2, md->in, arriving, MPI_DOUBLE, from, 2, md->grid,
                 MPI_STATUS_IGNORE);
    return arriving;
}

static void reserve_buffers(struct md *md, size_t doubles)
{
    size_t room = md->buffer_room;
    md->in = md_grow(md->in, &room, doubles, sizeof *md->in);
    md->out = md_grow(md->out, &md->buffer_room, doubles, sizeof *md->out);
}

static void pack_traveller(struct md *md, int i, int dim, double shift, double *out)
{
    memcpy(out, md->x[i], sizeof md->x[i]);
    memcpy(out + 3, md->v[i], sizeof md->v[i]);
    memcpy(out + 6, &md->id[i], sizeof md->id[i]);
    out[dim] += shift;
    int last = --md->local;
    memcpy(md->x[i], md->x[last], sizeof md->x[i]);
    memcpy(md->v[i], md->v[last], sizeof md->v[i]);
    md->id[i] = md->id[last];
}

static void unpack_travellers(struct md *md, int doubles)
{
    for (const double *in = md->in; in < md->in + doubles; in += TRAVELLER) {
        int n = md->local++;
        md_reserve_atoms(md, (size_t)md->local);
        memcpy(md->x[n], in, sizeof md->x[n]);
        memcpy(md->v[n], in + 3, sizeof md->v[n]);
        memcpy(&md->id[n], in + 6, sizeof md->id[n]);
    }
}

/* Atoms that left on one side of one dimension. Between two re-buildings an atom moves by less than
 * the width of a rank's part, so the neighbour is always the right one. */
static void send_leavers(struct md *md, int dim, int up)
{
    int to = neighbour(md, dim, up ? 1 : -1), from = neighbour(md, dim, up ? -1 : 1), n = 0;
    int at_border = up ? md->at[dim] == md->dims[dim] - 1 : md->at[dim] == 0;
    double shift = !at_border ? 0 : up ? -md->box[dim] : md->box[dim];
    reserve_buffers(md, (size_t)md->local * TRAVELLER);
    for (int i = 0; i < md->local;) {
        int left = up ? md->x[i][dim] >= md->high[dim] : md->x[i][dim] < md->low[dim];
        if (!left) {
            i++;
            continue;
        }
        pack_traveller(md, i, dim, shift, md->out + n);
        n += TRAVELLER;
    }
    unpack_travellers(md, trade(md, to, from, n));
}

/* With one rank in a dimension atoms only wrap around. */
static void wrap(struct md *md, int dim)
{
    for (int i = 0; i < md->local; i++) {
        if (md->x[i][dim] < 0)
            md->x[i][dim] += md->box[dim];
        else if (md->x[i][dim] >= md->box[dim])
            md->x[i][dim] -= md->box[dim];
    }
}

void md_exchange(struct md *md)
{
    md->ghosts = 0;
    for (int dim = 0; dim < 3; dim++) {
        if (md->dims[dim] == 1) {
            wrap(md, dim);
            continue;
        }
        send_leavers(md, dim, 0);
        send_leavers(md, dim, 1);
    }
}

static void pack_ghosts(struct md *md, const struct swap *s)
{
    reserve_buffers(md, (size_t)s->count * 3);
    for (int k = 0; k < s->count; k++) {
        const double *x = md->x[md->sent[s->first_sent + k]];
        for (int d = 0; d < 3; d++)
            md->out[3 * k + d] = x[d] + (d == s->dim ? s->shift : 0);
    }
}

static void plan_swap(struct md *md, struct swap *s, int candidates, int *sent)
{
    int up = (int)(s - md->swaps) % 2, dim = s->dim;
    double near = up ? md->high[dim] - md->reach : md->low[dim] + md->reach;
    s->first_sent = *sent;
    for (int i = 0; i < candidates; i++) {
        if (up ? md->x[i][dim] < near : md->x[i][dim] >= near)
            continue;
        md->sent = md_grow(md->sent, &md->sent_room, (size_t)*sent + 1, sizeof *md->sent);
        md->sent[(*sent)++] = i;
    }
    s->count = *sent - s->first_sent;
}

/* Ghosts travel dimension by dimension, those of the earlier dimensions too, so that edges and
 * corners arrive without messages of their own. */
void md_borders(struct md *md)
{
    int sent = 0;
    md->ghosts = 0;
    for (int k = 0, candidates = 0; k < SWAPS; k++) {
        struct swap *s = &md->swaps[k];
        int up = k % 2, dim = k / 2;
        if (!up)
            candidates = md->local + md->ghosts;
        int at_border = up ? md->at[dim] == md->dims[dim] - 1 : md->at[dim] == 0;
        *s = (struct swap){.to = neighbour(md, dim, up ? 1 : -1),
                           .from = neighbour(md, dim, up ? -1 : 1),
                           .dim = dim,
                           .shift = !at_border ? 0
                                    : up       ? -md->box[dim]
                                               : md->box[dim]};
        plan_swap(md, s, candidates, &sent);
        pack_ghosts(md, s);
        s->arrived = trade(md, s->to, s->from, 3 * s->count) / 3;
        s->first = md->local + md->ghosts;
        md->ghosts += s->arrived;
        md_reserve_atoms(md, (size_t)(md->local + md->ghosts));
        memcpy(md->x[s->first], md->in, (size_t)s->arrived * sizeof *md->x);
    }
}

void md_update_ghosts(struct md *md)
{
    double start = MPI_Wtime();
    for (int k = 0; k < SWAPS; k++) {
        struct swap *s = &md->swaps[k];
        pack_ghosts(md, s);
        MPI_Sendrecv(md->out, 3 * s->count, MPI_DOUBLE, s->to, 3, md->x[s->first], 3 * s->arrived,
                     MPI_DOUBLE, s->from, 3, md->grid, MPI_STATUS_IGNORE);
    }
    md->seconds_exchange += MPI_Wtime() - start;
}

void md_rebuild(struct md *md)
{
    double start = MPI_Wtime();
    md_exchange(md);
    md_borders(md);
    md->seconds_exchange += MPI_Wtime() - start;
    md_build_lists(md);
}
