/* Parts on their own: flow_own STORE REPAIR
 *   STORE   own: a table of functions of this test (flow_file_store.h); mend: Mend's store
 *   REPAIR  own: revoke, shrink and split by this test; mend: Mend's process layer behind the
 *           table; none: a death ends the job, which is started again by the same command
 * With "own own" nothing of Mend's store or process layer is used. Rank 1 dies twice; the sums at
 * the end are bitwise those of an undisturbed run. */
#define MEND_FLOW_NO_WORLD
#include <mpi.h>

#include <mend/process.h>
#include <mpi-ext.h>
#include <signal.h>
#include <stdbool.h>
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

static int own_repair(void *arg, MPI_Comm broken, MPI_Comm *repaired)
{
    MPIX_Comm_revoke(broken);
    return meet(arg, repaired);
}

static int mends_repair(void *arg, MPI_Comm broken, MPI_Comm *repaired)
{
    (void)broken;
    int rc = mend_process_repair(arg);
    *repaired = mend_process_state(arg)->comm;
    return rc;
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

/* Which parts are used, and what this process is in them. */
struct parts {
    bool own_store;
    const mend_flow_repair *repair;
    MPI_Comm comm;
    int rank, joining;
};

static void die_once(int rank, int step)
{
    char mark[640];
    snprintf(mark, sizeof mark, "%s/died.%d", getenv("MEND_TEST_DIR"), step);
    if (rank == 1 && (step == 20 || step == 45) && access(mark, F_OK) != 0) {
        fclose(fopen(mark, "w"));
        raise(SIGKILL);
    }
}

/* The deaths must have been what they should: repairs in this job, or a version of the job before. */
static bool came_back(const struct parts *parts, mend_flow *flow, long first)
{
    return parts->repair ? mend_flow_repairs(flow) == 2 : first >= 42;
}

static void work_on(const struct parts *parts)
{
    struct file_store files = {0};
    mend_flow_store store;
    mend_flow_options o;
    mend_flow *flow;
    static double cells[CELLS];
    static long first = -1; /* the version that this job began with */
    char folder[500];
    int step = 0, rank = parts->rank;
    snprintf(folder, sizeof folder, "%s/own", getenv("MEND_TEST_DIR"));
    store = file_store_table(&files, folder);
    mend_flow_defaults(&o);
    o.every = 7;
    o.automatic = 0;
    o.store = parts->own_store ? &store : NULL;
    o.repair = parts->repair;
    o.joining = parts->joining;
    if (mend_flow_open(parts->comm, &o, &flow)) {
        fprintf(stderr, "open: %s\n", mend_error_text());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    mend_flow_view(flow, "cells", cells, CELLS, MPI_DOUBLE, 0);
    mend_flow_view(flow, "step", &step, 1, MPI_INT, MEND_CONTROL);
    for (; mend_flow_point(flow) && step < STEPS; step++) {
        first = first < 0 ? mend_flow_version(flow) : first;
        die_once(rank, step);
        double most, mine = advance(cells, rank, step);
        MPI_Allreduce(&mine, &most, 1, MPI_DOUBLE, MPI_MAX, mend_flow_world(flow));
        cells[step] += most;
    }
    if (mend_flow_status(flow))
        fprintf(stderr, "status: %s\n", mend_error_text());
    double sum = add_up(cells), sums[WORKERS], want[WORKERS];
    MPI_Gather(&sum, 1, MPI_DOUBLE, sums, 1, MPI_DOUBLE, 0, mend_flow_world(flow));
    expected(want);
    bool used = files.calls > 0;
    if (rank == 0 && memcmp(sums, want, sizeof want) == 0 && came_back(parts, flow, first) &&
        used == parts->own_store) {
        FILE *marker = fopen(getenv("MEND_TEST_MARKER"), "w");
        fputs("PASS\n", marker);
        fclose(marker);
    }
    mend_flow_close(flow);
}

static void with_own_repair(struct parts *parts, int rank)
{
    struct team t;
    mend_flow_repair table = {sizeof table, &t, own_repair, is_failure};
    int done = 1;
    MPI_Comm_dup(MPI_COMM_WORLD, &t.all);
    MPI_Comm_set_errhandler(t.all, MPI_ERRORS_RETURN);
    t.seat = rank < WORKERS ? rank : -1;
    MPI_Comm_split(t.all, t.seat < 0, rank, &parts->comm);
    if (t.seat < 0)
        parts->joining = wait_as_spare(&t, &parts->comm);
    if (t.seat < 0)
        return;
    parts->repair = &table;
    parts->rank = t.seat;
    work_on(parts);
    MPI_Bcast(&done, 1, MPI_INT, 0, t.all);
}

static void with_mends_repair(struct parts *parts)
{
    mend_process_options o = {.spares = atoi(getenv("MEND_TEST_SPARES")),
                              .resume = MEND_RESUME_MANUAL};
    mend_process *p = NULL;
    if (mend_process_open(MPI_COMM_WORLD, &o, &p)) { /* spares wait in here */
        fprintf(stderr, "process: %s\n", mend_error_text());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    const mend_repair *now = mend_process_state(p);
    mend_flow_repair table = {sizeof table, p, mends_repair, is_failure};
    if (now->role != MEND_ROLE_RELEASED) {
        parts->comm = now->comm;
        parts->joining = now->role == MEND_ROLE_RECOVERED;
        parts->repair = &table;
        MPI_Comm_rank(now->comm, &parts->rank);
        work_on(parts);
    }
    mend_process_close(p);
}

int main(int argc, char **argv)
{
    int provided;
    struct parts parts = {.comm = MPI_COMM_WORLD};
    if (argc != 3)
        return 2;
    parts.own_store = strcmp(argv[1], "own") == 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &parts.rank);
    if (strcmp(argv[2], "own") == 0)
        with_own_repair(&parts, parts.rank);
    else if (strcmp(argv[2], "mend") == 0)
        with_mends_repair(&parts);
    else
        work_on(&parts);
    MPI_Finalize();
    return 0;
}
