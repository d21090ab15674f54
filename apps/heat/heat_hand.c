/* heat once more, with the process layer and the store used by hand: what heat_flow.c does by five
 * lines. */
#include <mend/process.h>
#include <mend/store.h>

#include "plate.h"

enum { PLATE, STEP, ERROR };

static struct options o;
static double *plate, *old, error = 1;
static int step;
static mend_store *store;
static double restoring; /* seconds */

static void must(int code)
{
    if (code == 0)
        return;
    fprintf(stderr, "heat: %s\n", mend_error_text());
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* The newest version that all have; none: from the beginning. */
static int restore(const mend_repair *now)
{
    long version;
    int rc = store ? mend_store_rebind(store, now->comm, now->rank)
                   : mend_store_open(now->comm, now->rank, "hand", NULL, &store);
    size_t points = (size_t)(side_of(o.mib) + 2) * side_of(o.mib);
    if (rc == 0) {
        mend_store_region(store, PLATE, "plate", plate, points * sizeof *plate);
        mend_store_region(store, STEP, "step", &step, sizeof step);
        mend_store_region(store, ERROR, "error", &error, sizeof error);
        rc = mend_store_restore_newest(store, &version);
    }
    if (rc != MEND_ERR_NO_VERSION)
        return rc;
    memset(plate, 0, points * sizeof *plate);
    if (now->rank == 0)
        heat_edge(plate, side_of(o.mib));
    step = 0;
    error = 1;
    return 0;
}

static int work(mend_process *p, const mend_repair *now, void *arg)
{
    int rows = side_of(o.mib), columns = rows, every = *(int *)arg;
    double begin = MPI_Wtime();
    int rc = restore(now);
    restoring += step ? MPI_Wtime() - begin : 0;
    if (rc == MEND_ERR_PEER_FAILED)
        mend_process_check(p, 1);
    must(rc);
    spent.start = spent.start ? spent.start : MPI_Wtime();
    for (int first = step; step < o.steps && error > o.until; step++) {
        if (step % every == 0 && step > first) {
            rc = mend_store_save(store, step);
            if (rc == MEND_ERR_PEER_FAILED)
                mend_process_check(p, 1);
        }
        kill_plan_act(&o.kills, now->rank, step);
        double mine = iterate(plate, old, rows, columns, now->rank, now->size, now->comm);
        MPI_Allreduce(&mine, &error, 1, MPI_DOUBLE, MPI_MAX, now->comm);
    }
    print_result(&o, plate, rows, columns, step, error, now->comm);
    return 0;
}

int main(int argc, char **argv)
{
    int provided, rank, result, every = getenv("HAND_EVERY") ? atoi(getenv("HAND_EVERY")) : 100;
    const char *spares = getenv("MEND_FLOW_SPARES");
    mend_process_options options = {.spares = spares ? atoi(spares) : 0};
    if (parse(argc, argv, &o)) {
        fputs(usage, stderr);
        return 2;
    }
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    size_t points = (size_t)(side_of(o.mib) + 2) * side_of(o.mib);
    plate = calloc(points, sizeof *plate);
    old = calloc(points, sizeof *old);
    must(mend_process_run(MPI_COMM_WORLD, &options, work, &every, &result));
    mend_store_stats stats;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0 && store && mend_store_statistics(store, &stats) == 0)
        times_event(o.events, "app.hand", "\"saving\":%.6f,\"restoring\":%.6f",
                    stats.seconds_blocked, restoring);
    mend_store_close(store);
    MPI_Finalize();
    return 0;
}
