/* leak.c - makes and frees objects of every kind between checkpoints; says whether the process grew.
 * usage: leak STEPS
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static long resident(void)
{
    long pages = 0, r = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f || fscanf(f, "%ld %ld", &pages, &r) != 2)
        r = 0;
    if (f)
        fclose(f);
    return r * (sysconf(_SC_PAGESIZE) / 1024);
}

int main(int argc, char **argv)
{
    int rank, size, steps = argc > 1 ? atoi(argv[1]) : 1000;
    long early = 0, sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int s = 0; s < steps; s++) {
        MPI_Comm c;
        MPI_Datatype t;
        MPI_Request q[3];
        long out = s + rank, in = 0, all = 0;
        MPI_Comm_dup(MPI_COMM_WORLD, &c);
        MPI_Type_vector(1, 1, 1, MPI_LONG, &t);
        MPI_Type_commit(&t);
        MPI_Irecv(&in, 1, t, (rank + size - 1) % size, 1, c, &q[0]);
        MPI_Isend(&out, 1, t, (rank + 1) % size, 1, c, &q[1]);
        MPI_Iallreduce(&out, &all, 1, MPI_LONG, MPI_SUM, c, &q[2]);
        MPI_Barrier(MPI_COMM_WORLD); /* a checkpoint may find all three open */
        MPI_Waitall(3, q, MPI_STATUSES_IGNORE);
        sum += in + all;
        MPI_Type_free(&t);
        MPI_Comm_free(&c);
        if (s == steps / 5)
            early = resident();
    }
    long grew = resident() - early, most;
    MPI_Reduce(&grew, &most, 1, MPI_LONG, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("leak: sum %ld, grew by %s\n", sum,
               most < 4096 ? "less than 4 MiB" : "MORE than 4 MiB");
    if (rank == 0)
        fprintf(stderr, "grew by %ld KiB of %ld\n", most, early);
    MPI_Finalize();
    return 0;
}
