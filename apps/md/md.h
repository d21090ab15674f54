/* md: a small molecular dynamics program in the manner of MiniMD: Lennard-Jones atoms in a periodic
 * box, velocity Verlet, spatial decomposition over the ranks, ghost atoms, neighbour lists from
 * cells.
 *
 * One struct holds everything. The atoms of a rank come first in the per-atom arrays, its ghosts
 * (copies of atoms of other ranks near the border) follow.
 */
#ifndef MEND_APPS_MD_H
#define MEND_APPS_MD_H

#include <stddef.h>
#include <stdint.h>

#include "../common/kill.h"
#include "../common/times.h"

#ifndef MPI_VERSION
#include <mpi.h>
#endif

enum { SWAPS = 6 }; /* two directions in three dimensions */

struct options {
    int cells[3]; /* unit cells of the fcc lattice, four atoms each */
    int steps, neighbour_every, thermo_every, times;
    double dt, density, temperature, cutoff, skin;
    struct kill_plan kills;
    char events[512];
};

/* What one of the six ghost exchanges does; set by md_borders, repeated by md_update_ghosts. */
struct swap {
    int to, from;       /* ranks in `grid` */
    int first_sent;     /* where its part of `sent` begins */
    int count;          /* atoms sent */
    int first, arrived; /* ghosts received */
    int dim, spare;
    double shift; /* added to the coordinate when the border of the box is crossed */
};

struct md {
    /* never change */
    struct options o;
    MPI_Comm grid;
    int rank, ranks, dims[3], at[3];
    double box[3], low[3], high[3], reach; /* reach: cutoff + skin */
    long atoms;                            /* in the whole box */
    /* atoms */
    int local, ghosts;
    size_t room; /* atoms that the per-atom arrays can hold */
    double (*x)[3], (*v)[3], (*f)[3];
    int64_t *id;
    int *first; /* neighbours of atom i: list[first[i]] to list[first[i + 1] - 1] */
    int *chain; /* next atom in the same cell */
    /* neighbours */
    size_t list_room, cell_room, sent_room, buffer_room;
    int *list, *cell;
    struct swap swaps[SWAPS];
    int *sent; /* atoms that travel with each swap */
    double *out, *in;
    /* results */
    double potential, kinetic, virial;
    /* where the time went, counting steps that were computed twice */
    double started, seconds_force, seconds_neighbour, seconds_exchange;
    int computed;
};

int md_parse(int argc, char **argv, struct options *o);

/* Set-up without communication: the lattice, the velocities, the memory. */
void md_setup(struct md *md);
void md_free(struct md *md);

/* The grid of ranks; called again when the communicator changed. */
void md_make_grid(struct md *md, MPI_Comm world);

/* Atoms that left go to their new ranks; ghosts are made anew; lists are built. Communicates. */
void md_rebuild(struct md *md);
void md_update_ghosts(struct md *md);

void md_kick_and_drift(struct md *md);
void md_kick(struct md *md);
void md_force(struct md *md);

/* Sums over all ranks, added in the order of the ranks: the same bits whatever the MPI library
 * does. */
void md_energies(struct md *md, MPI_Comm world, double *temperature, double *energy,
                 double *pressure);
uint64_t md_checksum(const struct md *md, MPI_Comm world);

void md_times(const struct md *md); /* where the time went, if that was asked for */

/* exchange.c, cells.c */
void md_reserve_atoms(struct md *md, size_t atoms);
void md_exchange(struct md *md);
void md_borders(struct md *md);
void md_build_lists(struct md *md);
void *md_grow(void *memory, size_t *room, size_t need, size_t element);

#endif
