/* The main loop of md; see md.h. */
#include <mend/flow.h>

#include <stdio.h>

#include "md.h"

static void thermo(struct md *md, int step)
{
    double temperature, energy, pressure;
    md_energies(md, MPI_COMM_WORLD, &temperature, &energy, &pressure);
    if (md->rank == 0)
        printf("md: step %d temperature %.12e energy %.12e pressure %.12e\n", step, temperature,
               energy, pressure);
}

static int make_grid(void *md)
{
    md_make_grid(md, MPI_COMM_WORLD);
    return 0;
}

/* The first lists and forces. Communicates. */
static void start(struct md *md)
{
    md_rebuild(md);
    md_force(md);
}

int main(int argc, char **argv)
{
    static struct md md;
    int step = 0;
    if (md_parse(argc, argv, &md.o))
        return 2;
    MPI_Init(&argc, &argv);
    mend_rebuild(make_grid, &md);
    md_setup(&md);
    if (mend_first())
        start(&md);

    mend_view("step", &step, 1, MPI_INT, MEND_CONTROL);
    mend_view("counts", &md.local, 2, MPI_INT, 0);
    mend_view("results", &md.potential, 3, MPI_DOUBLE, 0);
    mend_view("swaps", md.swaps, sizeof md.swaps, MPI_BYTE, 0);
    mend_view_dynamic("x", &md.x, &md.room, sizeof *md.x, MEND_TRY);
    mend_view_dynamic("v", &md.v, &md.room, sizeof *md.v, MEND_TRY);
    mend_view_dynamic("f", &md.f, &md.room, sizeof *md.f, MEND_TRY);
    mend_view_dynamic("id", &md.id, &md.room, sizeof *md.id, 0);
    mend_view_dynamic("first", &md.first, &md.room, sizeof *md.first, MEND_TRY);
    mend_view_dynamic("chain", &md.chain, &md.room, sizeof *md.chain, MEND_SCRATCH);
    mend_view_dynamic("list", &md.list, &md.list_room, sizeof *md.list, MEND_TRY);
    mend_view_dynamic("cell", &md.cell, &md.cell_room, sizeof *md.cell, MEND_SCRATCH);
    mend_view_dynamic("sent", &md.sent, &md.sent_room, sizeof *md.sent, MEND_TRY);
    mend_view_dynamic("out", &md.out, &md.buffer_room, sizeof *md.out, MEND_SCRATCH);
    mend_view_dynamic("in", &md.in, &md.buffer_room, sizeof *md.in, MEND_SCRATCH);
    for (; mend_point() && step < md.o.steps; step++) {
        kill_plan_act(&md.o.kills, md.rank, step);
        if (md.o.thermo_every && step % md.o.thermo_every == 0)
            thermo(&md, step);
        md_kick_and_drift(&md);
        if ((step + 1) % md.o.neighbour_every == 0)
            md_rebuild(&md);
        else
            md_update_ghosts(&md);
        md_force(&md);
        md_kick(&md);
        md.computed++;
    }

    thermo(&md, step);
    uint64_t sum = md_checksum(&md, MPI_COMM_WORLD);
    if (md.rank == 0) {
        printf("md: ranks %d atoms %ld steps %d checksum %016llx\n", md.ranks, md.atoms, step,
               (unsigned long long)sum);
        md_times(&md);
        kill_plan_forget(&md.o.kills);
    }
    md_free(&md);
    MPI_Finalize();
    return 0;
}
