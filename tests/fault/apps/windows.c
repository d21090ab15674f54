/* windows STEPS: what cannot be repaired in place: windows of all sorts in use all the time; with a file
 * written by all ranks, an intercommunicator, and a scratch file on another file system that comes and
 * goes. Prints and writes the same in every run. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { WORK = 1 << 16, PASSES = 12 };

/* Made, filled, read and removed within a step: a rollback must not miss it. */
static double by_scratch_file(double value, int rank)
{
    char name[64];
    double back = 0;
    snprintf(name, sizeof name, "/dev/shm/windows-%d-%d", (int)getpid(), rank);
    FILE *f = fopen(name, "w+");
    if (!f || fwrite(&value, sizeof value, 1, f) != 1 || fseek(f, 0, SEEK_SET) ||
        fread(&back, sizeof back, 1, f) != 1)
        MPI_Abort(MPI_COMM_WORLD, 3);
    fclose(f);
    unlink(name);
    return back;
}

int main(int argc, char **argv)
{
    int rank, size, half_rank, half_size, steps = argc > 1 ? atoi(argv[1]) : 100;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm half, inter;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 7, &inter);
    MPI_Comm_rank(half, &half_rank);
    MPI_Comm_size(half, &half_size);
    MPI_Win sums, shared;
    double *mine, acc = 0;
    long *common;
    MPI_Win_allocate(size * (MPI_Aint)sizeof *mine, sizeof *mine, MPI_INFO_NULL, MPI_COMM_WORLD,
                     &mine, &sums);
    MPI_Win_allocate_shared(sizeof *common, sizeof *common, MPI_INFO_NULL, MPI_COMM_WORLD, &common,
                            &shared);
    for (int i = 0; i < size; i++)
        mine[i] = 0;
    *common = 0;
    MPI_File file;
    MPI_File_open(MPI_COMM_WORLD, "windows.bin", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                  &file);
    double *work = malloc(WORK * sizeof *work);
    for (int i = 0; i < WORK; i++)
        work[i] = rank;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int s = 0; s < steps; s++) {
        for (int k = 0; k < PASSES; k++)
            for (int i = 0; i < WORK; i++)
                work[i] = work[i] * 0.999 + sin(s + k) * 1e-3;
        double value = by_scratch_file(work[s % WORK] + rank, rank), sent = acc + s, got[2] = {0};
        MPI_Win_fence(0, sums);
        for (int p = 0; p < size; p++)
            MPI_Accumulate(&value, 1, MPI_DOUBLE, p, rank, 1, MPI_DOUBLE, MPI_SUM, sums);
        MPI_Win_fence(0, sums);
        MPI_Aint bytes;
        int unit, next = (rank + 1) % size;
        long *theirs;
        MPI_Win_shared_query(shared, next, &bytes, &unit, &theirs);
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, shared);
        *theirs += s + rank;
        MPI_Win_unlock(next, shared);
        MPI_Allgather(&sent, 1, MPI_DOUBLE, got, 1, MPI_DOUBLE, inter);
        acc =
            fmod(acc + 1e-3 * (got[0] + got[half_size - 1]) + 1e-6 * mine[(s + rank) % size], 1e6);
        if (s % 10 == 0)
            MPI_File_write_at_all(file, (MPI_Offset)(s / 10 * size + rank) * (MPI_Offset)sizeof acc,
                                  &acc, 1, MPI_DOUBLE, MPI_STATUS_IGNORE);
        if (rank == 0 && s % 20 == 0)
            printf("step %d: %.17g\n", s, acc);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    printf("rank %d: %.17g %ld %.17g\n", rank, acc, *common, mine[rank]);
    MPI_File_close(&file);
    MPI_Win_free(&sums);
    MPI_Win_free(&shared);
    MPI_Finalize();
    return 0;
}
