/* append: every rank appends lines to a file of its own, by stdio and by write(), and reads them
 * back at the end. usage: append FOLDER [rounds|FILE] (see until.h) */
#include "until.h"

#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int rank, size;
    struct until rounds = until(argc > 2 ? argv[2] : NULL, 2000);
    char path[2][1000];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int k = 0; k < 2; k++)
        snprintf(path[k], sizeof path[k], "%s/%c.%d", argv[1], "ab"[k], rank);
    FILE *f = fopen(path[0], "w");
    int fd = open(path[1], O_CREAT | O_TRUNC | O_WRONLY | O_APPEND, 0666);
    double x = rank, y;
    for (int r = 0; until_more(&rounds, r); r++) {
        MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        x = y / size + rank * 0.125;
        fprintf(f, "%d %.17g\n", r, x);
        if (r % 3 == 0)
            fflush(f);
        dprintf(fd, "%d %.17g\n", r, y);
        usleep(500);
    }
    fclose(f);
    close(fd);
    unsigned long sum = 0, all;
    for (int k = 0; k < 2; k++) {
        FILE *g = fopen(path[k], "r");
        for (int c; (c = getc(g)) != EOF;)
            sum = sum * 31 + (unsigned long)c;
        fclose(g);
    }
    MPI_Reduce(&sum, &all, 1, MPI_UNSIGNED_LONG, MPI_BXOR, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("append: %d rounds, %016lx\n", rounds.steps, all);
    MPI_Finalize();
    return 0;
}
