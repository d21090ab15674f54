/* overwrite: files that all ranks change by MPI-IO in every round, in place, each time other ranks the same bytes; what
 * is written comes from what is read, so that a byte that was not put back is seen in the end. By offset, by view
 * (strided), by the individual and the shared pointer, collective, non-blocking; a file that is cut and grows again, one
 * that is removed when it is closed, one that takes the place of another. usage: overwrite FOLDER [rounds|FILE] (see
 * until.h) */
#include "until.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { CELLS = 500 };
static char folder[1000];
static int rank, size;

static char *named(const char *what)
{
    static char path[4][1200];
    static int turn;
    char *p = path[turn++ % 4];
    snprintf(p, sizeof path[0], "%s/%s", folder, what);
    return p;
}

static void must(int rc, const char *what)
{
    if (rc) {
        fprintf(stderr, "rank %d: %s failed\n", rank, what);
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
}

static MPI_File opened(MPI_Comm comm, const char *path, int mode)
{
    MPI_File f;
    must(MPI_File_open(comm, path, mode, MPI_INFO_NULL, &f), path);
    return f;
}

static void change(double *cell, int n, double x)
{
    for (int i = 0; i < n; i++)
        cell[i] = 0.75 * cell[i] + 0.001 * i + x;
}

/* Blocks, another rank's in every round. */
static double blocks(MPI_File f, int r, double x)
{
    double cell[CELLS];
    MPI_Request q;
    MPI_Offset at = (MPI_Offset)((rank + r) % size) * (MPI_Offset)sizeof cell;
    must(MPI_File_read_at(f, at, cell, CELLS, MPI_DOUBLE, MPI_STATUS_IGNORE), "read_at");
    change(cell, CELLS, x);
    if (r % 3 == 0) {
        must(MPI_File_write_at(f, at, cell, CELLS, MPI_DOUBLE, MPI_STATUS_IGNORE), "write_at");
    } else if (r % 3 == 1) {
        must(MPI_File_write_at_all(f, at, cell, CELLS, MPI_DOUBLE, MPI_STATUS_IGNORE),
             "write_at_all");
    } else {
        must(MPI_File_iwrite_at(f, at, cell, CELLS, MPI_DOUBLE, &q), "iwrite_at");
        MPI_Wait(&q, MPI_STATUS_IGNORE);
    }
    return cell[r % CELLS];
}

/* Cells that lie between those of the others, by a view. */
static double strided(MPI_File f, int r, double x)
{
    double cell[CELLS];
    MPI_Datatype type;
    int mine = (rank + r) % size;
    MPI_Type_vector(CELLS, 1, size, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    MPI_File_set_view(f, (MPI_Offset)mine * 8, MPI_DOUBLE, type, "native", MPI_INFO_NULL);
    must(MPI_File_read_all(f, cell, CELLS, MPI_DOUBLE, MPI_STATUS_IGNORE), "read_all");
    change(cell, CELLS, x);
    MPI_File_seek(f, 0, MPI_SEEK_SET);
    if (r % 2)
        must(MPI_File_write_all(f, cell, CELLS, MPI_DOUBLE, MPI_STATUS_IGNORE), "write_all");
    else
        must(MPI_File_write(f, cell, CELLS, MPI_DOUBLE, MPI_STATUS_IGNORE), "write");
    MPI_Type_free(&type);
    return cell[r % CELLS];
}

/* In the order of the ranks, from the start of the file. */
static void ordered(MPI_File f, double x)
{
    double cell[8] = {x, x + 1, x + 2, x + 3, x, x, x, rank};
    must(MPI_File_seek_shared(f, 0, MPI_SEEK_SET), "seek_shared");
    must(MPI_File_write_ordered(f, cell, 8, MPI_DOUBLE, MPI_STATUS_IGNORE), "write_ordered");
}

static void cut_and_grown(MPI_File f, int r, double x)
{
    must(MPI_File_set_size(f, 8L * (100 + r % 7 * 50)), "set_size");
    must(MPI_File_write_at_all(f, 8L * (rank + 300), &x, 1, MPI_DOUBLE, MPI_STATUS_IGNORE),
         "write_at_all");
}

static void passing(int r, double x)
{
    double back = 0;
    MPI_File f = opened(MPI_COMM_WORLD, named("passing"),
                        MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    must(MPI_File_write_at(f, 8 * rank, &x, 1, MPI_DOUBLE, MPI_STATUS_IGNORE), "write_at");
    must(MPI_File_read_at(f, 8 * rank, &back, 1, MPI_DOUBLE, MPI_STATUS_IGNORE), "read_at");
    must(back != x, "what was written");
    must(MPI_File_close(&f), "close");
    f = opened(MPI_COMM_WORLD, named("next"), MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_WRONLY);
    x += r;
    must(MPI_File_write_at_all(f, 8 * rank, &x, 1, MPI_DOUBLE, MPI_STATUS_IGNORE), "write_at_all");
    MPI_File_close(&f);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        must(rename(named("next"), named("kept")), "rename");
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    struct until rounds = until(argc > 2 ? argv[2] : NULL, 1000);
    double x, y, zeros[CELLS] = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    snprintf(folder, sizeof folder, "%s", argv[1]);
    x = rank + 1;
    int mode = MPI_MODE_CREATE | MPI_MODE_RDWR;
    MPI_File a = opened(MPI_COMM_WORLD, named("blocks"), mode),
             b = opened(MPI_COMM_WORLD, named("strided"), mode),
             c = opened(MPI_COMM_WORLD, named("ordered"), mode),
             d = opened(MPI_COMM_WORLD, named("cut"), mode);
    MPI_File_write_at_all(a, rank * (MPI_Offset)sizeof zeros, zeros, CELLS, MPI_DOUBLE,
                          MPI_STATUS_IGNORE);
    MPI_File_write_at_all(b, rank * (MPI_Offset)sizeof zeros, zeros, CELLS, MPI_DOUBLE,
                          MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int r = 0; until_more(&rounds, r); r++) {
        x = blocks(a, r, x) + strided(b, r, x);
        MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        x = y / size / 16 + rank * 0.125;
        ordered(c, x);
        cut_and_grown(d, r, x);
        if (r % 8 == 0)
            passing(r, x);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_File_close(&a);
    MPI_File_close(&b);
    MPI_File_close(&c);
    MPI_File_close(&d);
    MPI_Reduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("overwrite: %d rounds, %.17g\n", rounds.steps, y);
    MPI_Finalize();
    return 0;
}
