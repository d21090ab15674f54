/* Resident memory of the survivors over many recoveries: 100 without a death (a meeting that nobody
 * asked for costs the same communicators) and, before and between them, as many real deaths as there
 * are spares. After a warm-up it must not grow by more than 5 %. */
#include "process_test.h"

static long resident_kib(void)
{
    long pages = 0, ignored;
    FILE *f = fopen("/proc/self/statm", "r");
    EXPECT(f && fscanf(f, "%ld %ld", &ignored, &pages) == 2);
    fclose(f);
    return pages * sysconf(_SC_PAGESIZE) / 1024;
}

static int build_half(MPI_Comm comm, MPI_Comm *made, void *arg)
{
    int rank;
    (void)arg;
    MPI_Comm_rank(comm, &rank);
    return MPI_Comm_split(comm, rank % 2, rank, made);
}

int main(int argc, char **argv)
{
    enum { WARM_UP = 20, RECOVERIES = 120 };
    MPI_Init(&argc, &argv);
    mend_process *p;
    MPI_Comm half;
    mend_process_builder builder = {build_half, NULL, &half};
    mend_process_options options = {.spares = test_spares(), .builders = &builder, .n_builders = 1};
    EXPECT(mend_process_open(MPI_COMM_WORLD, &options, &p) == 0);
    const mend_repair *now = mend_process_state(p);
    long before = 0;
    while (now->role != MEND_ROLE_RELEASED && now->generation < RECOVERIES) {
        if (now->generation == WARM_UP)
            before = resident_kib();
        int sum, one = 1, last = now->generation;
        if (last % (RECOVERIES / (options.spares + 1)) == 10 && now->spares > 0 && now->rank == 1)
            test_die();
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, now->comm);
        MPI_Barrier(now->comm);
        if (half != MPI_COMM_NULL)
            MPI_Barrier(half);
        EXPECT(mend_process_repair(p) == 0);
        EXPECT(now->generation > last);
    }
    int rank = now->rank, deaths = options.spares - now->spares;
    long after = resident_kib();
    EXPECT(mend_process_close(p) == 0);
    if (rank == 0) {
        printf("%d recoveries, %d of them with a death: %ld KiB, then %ld KiB (%+.2f %%)\n",
               RECOVERIES, deaths, before, after,
               100.0 * (double)(after - before) / (double)before);
        fflush(stdout);
        EXPECT(before > 0 && (double)after <= 1.05 * (double)before);
        test_pass();
    }
    MPI_Finalize();
    return 0;
}
