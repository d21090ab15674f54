/* md once more, with the process layer and the store used by hand: what md_flow.c does by twenty
 * lines. */
#include <mend/process.h>
#include <mend/store.h>

#include <stdio.h>
#include <stdlib.h>

#include "md.h"

static struct md md;
static int step;
static mend_store *store;
static double restoring; /* seconds */

/* Arrays that grow: where, how many elements, of which size. */
static struct array {
    void **memory;
    size_t *count, element;
} arrays[] = {
    {(void **)&md.x, &md.room, sizeof *md.x},
    {(void **)&md.v, &md.room, sizeof *md.v},
    {(void **)&md.f, &md.room, sizeof *md.f},
    {(void **)&md.id, &md.room, sizeof *md.id},
    {(void **)&md.first, &md.room, sizeof *md.first},
    {(void **)&md.chain, &md.room, sizeof *md.chain},
    {(void **)&md.list, &md.list_room, sizeof *md.list},
    {(void **)&md.sent, &md.sent_room, sizeof *md.sent},
};
enum { ARRAYS = sizeof arrays / sizeof *arrays, STEP = ARRAYS, COUNTS, RESULTS, SWAPPED };

static void must(int code)
{
    if (code == 0)
        return;
    fprintf(stderr, "md: %s\n", mend_error_text());
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void name_regions(void)
{
    for (int i = 0; i < ARRAYS; i++)
        must(mend_store_region(store, i, "array", *arrays[i].memory,
                               *arrays[i].count * arrays[i].element));
    must(mend_store_region(store, STEP, "step", &step, sizeof step));
    must(mend_store_region(store, COUNTS, "counts", &md.local, 2 * sizeof md.local));
    must(mend_store_region(store, RESULTS, "results", &md.potential, 3 * sizeof md.potential));
    must(mend_store_region(store, SWAPPED, "swaps", md.swaps, sizeof md.swaps));
}

static int read_array(int i)
{
    size_t bytes;
    int rc = mend_store_saved_size(store, i, &bytes);
    if (rc)
        return rc;
    void *moved = realloc(*arrays[i].memory, bytes);
    if (!moved)
        MPI_Abort(MPI_COMM_WORLD, 1);
    *arrays[i].memory = moved;
    *arrays[i].count = bytes / arrays[i].element;
    return mend_store_read(store, i, 0, moved, bytes);
}

static int read_version(long version)
{
    int rc = mend_store_begin_restore(store, version, -1);
    for (int i = 0; i < ARRAYS && !rc; i++)
        rc = read_array(i);
    if (!rc)
        rc = mend_store_read(store, STEP, 0, &step, sizeof step);
    if (!rc)
        rc = mend_store_read(store, COUNTS, 0, &md.local, 2 * sizeof md.local);
    if (!rc)
        rc = mend_store_read(store, RESULTS, 0, &md.potential, 3 * sizeof md.potential);
    if (!rc)
        rc = mend_store_read(store, SWAPPED, 0, md.swaps, sizeof md.swaps);
    int end = mend_store_end_restore(store);
    return rc ? rc : end;
}

/* The newest version that all have; none: from the beginning. */
static int restore(const mend_repair *now)
{
    long version = -1;
    int rc = store ? mend_store_rebind(store, now->comm, now->rank)
                   : mend_store_open(now->comm, now->rank, "hand", NULL, &store);
    if (!rc)
        rc = mend_store_newest(store, &version);
    if (rc && rc != MEND_ERR_NO_VERSION)
        return rc;
    md_make_grid(&md, now->comm);
    md_setup(&md);
    if (rc != MEND_ERR_NO_VERSION)
        return read_version(version);
    step = 0;
    md_rebuild(&md);
    md_force(&md);
    return 0;
}

static void finish(const mend_repair *now)
{
    double temperature, energy, pressure;
    md_energies(&md, now->comm, &temperature, &energy, &pressure);
    uint64_t sum = md_checksum(&md, now->comm);
    if (md.rank != 0)
        return;
    printf("md: step %d temperature %.12e energy %.12e pressure %.12e\n", step, temperature, energy,
           pressure);
    printf("md: ranks %d atoms %ld steps %d checksum %016llx\n", md.ranks, md.atoms, step,
           (unsigned long long)sum);
    md_times(&md);
    kill_plan_forget(&md.o.kills);
}

static int work(mend_process *p, const mend_repair *now, void *arg)
{
    double begin = MPI_Wtime();
    int every = *(int *)arg, rc = restore(now);
    restoring += step ? MPI_Wtime() - begin : 0;
    if (rc == MEND_ERR_PEER_FAILED)
        mend_process_check(p, 1);
    must(rc);
    for (int first = step; step < md.o.steps; step++) {
        if (step % every == 0 && step > first) {
            name_regions();
            rc = mend_store_save(store, step);
            if (rc == MEND_ERR_PEER_FAILED)
                mend_process_check(p, 1);
        }
        kill_plan_act(&md.o.kills, md.rank, step);
        md_kick_and_drift(&md);
        if ((step + 1) % md.o.neighbour_every == 0)
            md_rebuild(&md);
        else
            md_update_ghosts(&md);
        md_force(&md);
        md_kick(&md);
        md.computed++;
    }
    finish(now);
    return 0;
}

int main(int argc, char **argv)
{
    int provided, rank, result, every = getenv("HAND_EVERY") ? atoi(getenv("HAND_EVERY")) : 100;
    const char *spares = getenv("MEND_FLOW_SPARES");
    mend_process_options options = {.spares = spares ? atoi(spares) : 0};
    if (md_parse(argc, argv, &md.o))
        return 2;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    must(mend_process_run(MPI_COMM_WORLD, &options, work, &every, &result));
    mend_store_stats stats;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0 && store && mend_store_statistics(store, &stats) == 0)
        times_event(md.o.events, "app.hand", "\"saving\":%.6f,\"restoring\":%.6f",
                    stats.seconds_blocked, restoring);
    mend_store_close(store);
    MPI_Finalize();
    return 0;
}
