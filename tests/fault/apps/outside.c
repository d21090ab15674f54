/* outside: files that are changed by MPI-IO, by shared mappings and by a child, in the ways that a rollback must undo or
 * may leave to the repetition: made (must not be there), removed, grown (appended to the end that is found), written at
 * places; a mapped table is read, changed and written back. usage: outside FOLDER [rounds|FILE] (see until.h) */
#include "until.h"

#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { CELLS = 4096 };
static char folder[1000];
static int rank, size;

static char *named(const char *what, int of)
{
    static char path[4][1200];
    static int turn;
    char *p = path[turn++ % 4];
    snprintf(p, sizeof path[0], of < 0 ? "%s/%s" : "%s/%s.%d", folder, what, of);
    return p;
}

static MPI_File open_or_end(const char *path, int mode)
{
    MPI_File f;
    int rc = MPI_File_open(MPI_COMM_WORLD, path, mode, MPI_INFO_NULL, &f);
    if (rc) {
        fprintf(stderr, "rank %d: cannot open %s\n", rank, path);
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    return f;
}

static double mapped(int r, double x)
{
    int fd = open(named("table", rank), O_RDWR);
    double *cell = mmap(NULL, CELLS * sizeof *cell, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (cell == MAP_FAILED)
        MPI_Abort(MPI_COMM_WORLD, 4);
    double *c = &cell[r * 37 % 97];
    x = *c = 0.5 * *c + x;
    munmap(cell, CELLS * sizeof *cell);
    close(fd);
    return x;
}

int main(int argc, char **argv)
{
    struct until rounds = until(argc > 2 ? argv[2] : NULL, 2000);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    snprintf(folder, sizeof folder, "%s", argv[1]);
    double zeros[CELLS] = {0}, x = rank + 1, y;
    int table = open(named("table", rank), O_CREAT | O_TRUNC | O_RDWR, 0666);
    if (write(table, zeros, sizeof zeros) != sizeof zeros || close(table))
        return 1;
    if (rank == 0 && system("true"))
        return 1;
    MPI_File all = open_or_end(named("all", -1), MPI_MODE_CREATE | MPI_MODE_RDWR);
    for (int r = 0; until_more(&rounds, r); r++) {
        x = mapped(r, x);
        MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        x = y / size / 2 + rank * 0.125;
        MPI_File_write_at(all, (MPI_Offset)(r / 4 * size + rank) * 8, &x, 1, MPI_DOUBLE,
                          MPI_STATUS_IGNORE);
        if (r % 10 == 0) { /* to the end that is found */
            MPI_Offset end;
            MPI_File log = open_or_end(named("log", -1), MPI_MODE_CREATE | MPI_MODE_WRONLY);
            MPI_File_get_size(log, &end);
            MPI_Barrier(MPI_COMM_WORLD); /* all have found the same one */
            MPI_File_write_at_all(log, end + 8 * rank, &x, 1, MPI_DOUBLE, MPI_STATUS_IGNORE);
            MPI_File_close(&log);
        }
        if (r % 16 == 0) { /* must not be there */
            MPI_File fresh =
                open_or_end(named("fresh", -1), MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_WRONLY);
            MPI_File_write_at(fresh, 8 * rank, &x, 1, MPI_DOUBLE, MPI_STATUS_IGNORE);
            MPI_File_close(&fresh);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        if (r % 16 == 9 && rank == 0 && MPI_File_delete(named("fresh", -1), MPI_INFO_NULL))
            MPI_Abort(MPI_COMM_WORLD, 5);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_File_close(&all);
    MPI_Reduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("outside: %d rounds, %.17g\n", rounds.steps, y);
    MPI_Finalize();
    return 0;
}
