/* step3: set-up that communicates, your own communicators, data that grows. A replacement runs the set-up alone: code
 * in it that communicates must run only the first time (mend_first), and communicators come from a builder, which
 * survivors also run again. Mend reads the pointer of a dynamic view whenever it needs the data. */
#include <mend/flow.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static MPI_Comm half;

static int make_half(void *arg)
{
    int rank;
    (void)arg;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half) != MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, step = 0, seed = 0;
    size_t count = 100;
    long *list = calloc(count, sizeof *list), sum = 0, all = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    mend_rebuild(make_half, NULL);
    if (mend_first()) {
        seed = 17;
        MPI_Bcast(&seed, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    mend_view("seed", &seed, 1, MPI_INT, 0);
    mend_view("step", &step, 1, MPI_INT, MEND_CONTROL);
    mend_view_dynamic("list", &list, &count, sizeof *list, 0);
    for (; mend_point() && step < 60; step++) {
        if (step == 33 && atoi(getenv("OMPI_COMM_WORLD_RANK")) == 0 && !getenv("CALM"))
            raise(SIGKILL);
        list = realloc(list, (count + 10) * sizeof *list);
        for (size_t i = 0; i < 10; i++)
            list[count++] = seed * (long)i + rank + step;
        MPI_Allreduce(&list[count - 1], &sum, 1, MPI_LONG, MPI_SUM, half);
        list[step] += sum;
    }
    sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += list[i];
    MPI_Reduce(&sum, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("step3: %zu numbers a rank, sum %ld, %d repairs\n", count, all, mend_repairs());
    MPI_Finalize();
    free(list);
    return 0;
}
