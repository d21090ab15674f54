/* Neighbour lists from cells, forces, integration, sums. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../common/checksum.h"
#include "md.h"

struct grid {
    int n[3];
    double low[3], width[3];
};

/* Cells at least as wide as the reach, over a rank's part and its ghosts. */
static struct grid make_cells(const struct md *md)
{
    struct grid g;
    for (int d = 0; d < 3; d++) {
        double length = md->high[d] - md->low[d] + 2 * md->reach;
        g.n[d] = (int)(length / md->reach);
        g.low[d] = md->low[d] - md->reach;
        g.width[d] = length / g.n[d];
    }
    return g;
}

static int clamp(int i, int n)
{
    return i < 0 ? 0 : i >= n ? n - 1 : i;
}

static void cell_of(const struct grid *g, const double *x, int *c)
{
    for (int d = 0; d < 3; d++)
        c[d] = clamp((int)floor((x[d] - g->low[d]) / g->width[d]), g->n[d]);
}

static void fill_cells(struct md *md, const struct grid *g)
{
    size_t cells = (size_t)g->n[0] * g->n[1] * g->n[2];
    md->cell = md_grow(md->cell, &md->cell_room, cells, sizeof *md->cell);
    for (size_t i = 0; i < cells; i++)
        md->cell[i] = -1;
    for (int i = md->local + md->ghosts - 1; i >= 0; i--) {
        int c[3];
        cell_of(g, md->x[i], c);
        int *head = &md->cell[(c[0] * g->n[1] + c[1]) * g->n[2] + c[2]];
        md->chain[i] = *head;
        *head = i;
    }
}

/* Pairs of own atoms once, pairs with a ghost always: the ghost's owner counts its side. */
static int scan_cell(struct md *md, int i, int head, int n)
{
    double limit = md->reach * md->reach;
    for (int j = head; j >= 0; j = md->chain[j]) {
        if (j <= i)
            continue;
        double dx = md->x[i][0] - md->x[j][0], dy = md->x[i][1] - md->x[j][1];
        double dz = md->x[i][2] - md->x[j][2];
        if (dx * dx + dy * dy + dz * dz >= limit)
            continue;
        md->list = md_grow(md->list, &md->list_room, (size_t)n + 1, sizeof *md->list);
        md->list[n++] = j;
    }
    return n;
}

void md_build_lists(struct md *md)
{
    double start = MPI_Wtime();
    struct grid g = make_cells(md);
    fill_cells(md, &g);
    int n = 0;
    for (int i = 0; i < md->local; i++) {
        int c[3];
        md->first[i] = n;
        cell_of(&g, md->x[i], c);
        for (int a = clamp(c[0] - 1, g.n[0]); a <= clamp(c[0] + 1, g.n[0]); a++)
            for (int b = clamp(c[1] - 1, g.n[1]); b <= clamp(c[1] + 1, g.n[1]); b++)
                for (int e = clamp(c[2] - 1, g.n[2]); e <= clamp(c[2] + 1, g.n[2]); e++)
                    n = scan_cell(md, i, md->cell[(a * g.n[1] + b) * g.n[2] + e], n);
    }
    md->first[md->local] = n;
    md->seconds_neighbour += MPI_Wtime() - start;
}

void md_force(struct md *md)
{
    double start = MPI_Wtime(), limit = md->o.cutoff * md->o.cutoff, energy = 0, virial = 0;
    memset(md->f, 0, (size_t)md->local * sizeof *md->f);
    for (int i = 0; i < md->local; i++) {
        double fi[3] = {0}, xi[3] = {md->x[i][0], md->x[i][1], md->x[i][2]};
        for (int k = md->first[i]; k < md->first[i + 1]; k++) {
            int j = md->list[k];
            double d[3] = {xi[0] - md->x[j][0], xi[1] - md->x[j][1], xi[2] - md->x[j][2]};
            double r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
            if (r2 >= limit)
                continue;
            double s2 = 1.0 / r2, s6 = s2 * s2 * s2, force = 48.0 * s6 * (s6 - 0.5) * s2;
            double weight = j < md->local ? 1.0 : 0.5;
            for (int c = 0; c < 3; c++)
                fi[c] += d[c] * force;
            if (j < md->local)
                for (int c = 0; c < 3; c++)
                    md->f[j][c] -= d[c] * force;
            energy += weight * 4.0 * s6 * (s6 - 1.0);
            virial += weight * r2 * force;
        }
        for (int c = 0; c < 3; c++)
            md->f[i][c] += fi[c];
    }
    md->potential = energy;
    md->virial = virial;
    md->seconds_force += MPI_Wtime() - start;
}

void md_kick(struct md *md)
{
    double half = 0.5 * md->o.dt;
    for (int i = 0; i < md->local; i++)
        for (int d = 0; d < 3; d++)
            md->v[i][d] += half * md->f[i][d];
}

void md_kick_and_drift(struct md *md)
{
    md_kick(md);
    for (int i = 0; i < md->local; i++)
        for (int d = 0; d < 3; d++)
            md->x[i][d] += md->o.dt * md->v[i][d];
}

void md_energies(struct md *md, MPI_Comm world, double *temperature, double *energy,
                 double *pressure)
{
    double mine[3] = {0, md->potential, md->virial}, sum[3] = {0};
    for (int i = 0; i < md->local; i++)
        for (int d = 0; d < 3; d++)
            mine[0] += 0.5 * md->v[i][d] * md->v[i][d];
    md->kinetic = mine[0];
    double *all = calloc((size_t)md->ranks, sizeof mine);
    if (!all)
        MPI_Abort(world, 1);
    MPI_Allgather(mine, 3, MPI_DOUBLE, all, 3, MPI_DOUBLE, world);
    for (int r = 0; r < md->ranks; r++)
        for (int k = 0; k < 3; k++)
            sum[k] += all[3 * r + k];
    free(all);
    double volume = md->box[0] * md->box[1] * md->box[2], n = (double)md->atoms;
    *temperature = 2.0 * sum[0] / (3.0 * (n - 1.0));
    *energy = (sum[0] + sum[1]) / n;
    *pressure = (n * *temperature + sum[2] / 3.0) / volume;
}

uint64_t md_checksum(const struct md *md, MPI_Comm world)
{
    uint64_t mine = 0, all = 0;
    for (int i = 0; i < md->local; i++)
        for (int d = 0; d < 3; d++) {
            mine += checksum_of(md->x[i][d], (uint64_t)md->id[i] * 6 + (uint64_t)d);
            mine += checksum_of(md->v[i][d], (uint64_t)md->id[i] * 6 + (uint64_t)d + 3);
        }
    MPI_Allreduce(&mine, &all, 1, MPI_UINT64_T, MPI_SUM, world);
    return all;
}
