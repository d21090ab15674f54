/* deep.c STEPS [LEVELS]: a program with megabytes on its stack (100 KiB a level), in frames of all sizes, while it
 * communicates. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static long fold(const unsigned char *bytes, size_t count, long sum)
{
    for (size_t i = 0; i < count; i++)
        sum = sum * 31 + bytes[i];
    return sum;
}

/* Each level leaves its bytes on the stack, talks, and looks at them again. */
static long descend(int level, int step, int rank)
{
    unsigned char here[8192 * (1 + level % 24)];
    for (size_t i = 0; i < sizeof here; i++)
        here[i] = (unsigned char)(i * 7 + (size_t)level + (size_t)step + (size_t)rank);
    long below = level ? descend(level - 1, step, rank) : 0, sum;
    MPI_Allreduce(&below, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    return fold(here, sizeof here, sum);
}

int main(int argc, char **argv)
{
    int rank, steps = argc > 1 ? atoi(argv[1]) : 4, levels = argc > 2 ? atoi(argv[2]) : 40;
    long all = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int step = 0; step < steps; step++) {
        long mine = descend(levels, step, rank), sum;
        MPI_Reduce(&mine, &sum, 1, MPI_LONG, MPI_BXOR, 0, MPI_COMM_WORLD);
        if (rank == 0)
            printf("step %d: %lx\n", step, all = all * 17 + sum);
        fflush(stdout);
    }
    MPI_Finalize();
    return 0;
}
