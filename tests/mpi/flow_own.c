/* The flow layer over a user's own store, under a user's own repair of the communicator: nothing of
 * Mend's store or process layer is used. Rank 1 dies twice; the sums at the end are bitwise those
 * of an undisturbed run. */
#define MEND_FLOW_NO_WORLD
#include <mpi.h>

#include <mpi-ext.h>
#include <signal.h>
#include <unistd.h>

#include "flow_file_store.h"

enum { CELLS = 1000, STEPS = 60, WORKERS = 3 };

/* One step of one rank; returns what the ranks reduce. */
static double advance(double *cells, int rank, int step)
{
    double most = 0;
    for (int i = 0; i < CELLS; i++) {
        cells[i] = 0.5 * cells[i] + rank + i % 7 + step;
        most = cells[i] > most ? cells[i] : most;
    }
    return most;
}

static double add_up(const double *cells)
{
    double sum = 0;
    for (int i = 0; i < CELLS; i++)
        sum += cells[i];
    return sum;
}

/* All ranks in one, undisturbed: the sum of every rank. */
static void expected(double *sums)
{
    static double cells[WORKERS][CELLS];
    for (int step = 0; step < STEPS; step++) {
        double most = 0;
        for (int r = 0; r < WORKERS; r++) {
            double mine = advance(cells[r], r, step);
            most = mine > most ? mine : most;
        }
        for (int r = 0; r < WORKERS; r++)
            cells[r][step] += most;
    }
    for (int r = 0; r < WORKERS; r++)
        sums[r] = add_up(cells[r]);
}

/* All processes, spares included. Seats are handed out by order: the lowest living processes work.
 * A survivor keeps its seat because it says which one it has. */
struct team {
    MPI_Comm all;
    int seat; /* -1: a spare */
};

static int is_failure(void *arg, int code)
{
    int class;
    (void)arg;
    MPI_Error_class(code, &class);
    return class == MPIX_ERR_PROC_FAILED || class == MPIX_ERR_REVOKED ||
           class == MPIX_ERR_PROC_FAILED_PENDING;
}

/* Fill empty seats by spares, in order. */
static int take_seats(struct team *t, int size)
{
    int seats[64], taken[WORKERS] = {0}, rank;
    MPI_Comm_rank(t->all, &rank);
    if (MPI_Allgather(&t->seat, 1, MPI_INT, seats, 1, MPI_INT, t->all) != MPI_SUCCESS)
        return -1;
    for (int i = 0; i < size; i++)
        if (seats[i] >= 0)
            taken[seats[i]] = 1;
    for (int i = 0; i < size; i++)
        for (int s = 0; s < WORKERS && seats[i] < 0; s++)
            if (!taken[s]) {
                seats[i] = s;
                taken[s] = 1;
            }
    t->seat = seats[rank];
    return 0;
}

static int meet(struct team *t, MPI_Comm *work)
{
    for (;;) {
        MPI_Comm all;
        int size, before = t->seat;
        MPIX_Comm_revoke(t->all);
        if (MPIX_Comm_shrink(t->all, &all) != MPI_SUCCESS)
            continue;
        t->all = all;
        MPI_Comm_set_errhandler(t->all, MPI_ERRORS_RETURN);
        MPI_Comm_size(t->all, &size);
        int ok =
            take_seats(t, size) == 0 &&
            MPI_Comm_split(t->all, t->seat < 0, t->seat < 0 ? 0 : t->seat, work) == MPI_SUCCESS;
        if (MPIX_Comm_agree(t->all, &ok) == MPI_SUCCESS && ok)
            return 0;
        t->seat = before;
    }
}

static int repair(void *arg, MPI_Comm broken, MPI_Comm *repaired)
{
    MPIX_Comm_revoke(broken);
    return meet(arg, repaired);
}

/* Spares wait in a broadcast: an error means that somebody is needed, its end that nobody is. */
static int wait_as_spare(struct team *t, MPI_Comm *work)
{
    int done;
    while (MPI_Bcast(&done, 1, MPI_INT, 0, t->all) != MPI_SUCCESS) {
        meet(t, work);
        if (t->seat >= 0)
            return 1;
    }
    return 0;
}

static void work_on(struct team *t, MPI_Comm comm, int joining)
{
    struct file_store files = {0};
    mend_flow_store store;
    mend_flow_repair mender = {t, repair, is_failure};
    mend_flow_options o;
    mend_flow *flow;
    static double cells[CELLS];
    char folder[500];
    int step = 0, rank = t->seat;
    snprintf(folder, sizeof folder, "%s/own", getenv("MEND_TEST_DIR"));
    store = file_store_table(&files, folder);
    mend_flow_defaults(&o);
    o.every = 7;
    o.automatic = 0;
    o.store = &store;
    o.repair = &mender;
    o.joining = joining;
    if (mend_flow_open(comm, &o, &flow)) {
        fprintf(stderr, "open: %s\n", mend_error_text());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    mend_flow_view(flow, "cells", cells, CELLS, MPI_DOUBLE, 0);
    mend_flow_view(flow, "step", &step, 1, MPI_INT, MEND_CONTROL);
    for (; mend_flow_point(flow) && step < STEPS; step++) {
        char mark[640];
        snprintf(mark, sizeof mark, "%s/died.%d", getenv("MEND_TEST_DIR"), step);
        if (rank == 1 && (step == 20 || step == 45) && access(mark, F_OK) != 0) {
            fclose(fopen(mark, "w"));
            raise(SIGKILL);
        }
        double most, mine = advance(cells, rank, step);
        MPI_Allreduce(&mine, &most, 1, MPI_DOUBLE, MPI_MAX, mend_flow_world(flow));
        cells[step] += most;
    }
    if (mend_flow_status(flow))
        fprintf(stderr, "status: %s\n", mend_error_text());
    double sum = add_up(cells), sums[WORKERS], want[WORKERS];
    MPI_Gather(&sum, 1, MPI_DOUBLE, sums, 1, MPI_DOUBLE, 0, mend_flow_world(flow));
    expected(want);
    if (rank == 0 && memcmp(sums, want, sizeof want) == 0 && mend_flow_repairs(flow) == 2) {
        FILE *marker = fopen(getenv("MEND_TEST_MARKER"), "w");
        fputs("PASS\n", marker);
        fclose(marker);
    }
    mend_flow_close(flow);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, done = 1, joining = 0;
    struct team t;
    MPI_Comm work;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &t.all);
    MPI_Comm_set_errhandler(t.all, MPI_ERRORS_RETURN);
    t.seat = rank < WORKERS ? rank : -1;
    MPI_Comm_split(t.all, t.seat < 0, rank, &work);
    if (t.seat < 0)
        joining = wait_as_spare(&t, &work);
    if (t.seat >= 0) {
        work_on(&t, work, joining);
        MPI_Bcast(&done, 1, MPI_INT, 0, t.all);
    }
    MPI_Finalize();
    return 0;
}
