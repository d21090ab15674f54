/* rewrite: every rank changes files in all the ways that a rollback must undo, and computes with what
 * it reads back: overwritten in place, reopened with truncation, appended and closed, replaced by
 * rename, removed and created anew, one file shared by all. usage: rewrite FOLDER [rounds|FILE] (see until.h) */
#include "until.h"

#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[1000];
static int rank;

static char *named(const char *what)
{
    static char path[4][1200];
    static int turn;
    char *p = path[turn++ % 4];
    snprintf(p, sizeof path[0], "%s/%s.%d", folder, what, rank);
    return p;
}

static double number_in(const char *path)
{
    double x = 0;
    FILE *f = fopen(path, "r");
    if (!f || fscanf(f, "%lf", &x) != 1) {
        fprintf(stderr, "rank %d: nothing to read in %s\n", rank, path);
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    fclose(f);
    return x;
}

static void number_to(const char *path, const char *mode, double x)
{
    FILE *f = fopen(path, mode);
    if (!f || fprintf(f, "%.17g\n", x) < 0 || fclose(f)) {
        perror(path);
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
}

/* In the middle of a table of 64 KiB: read, changed, written back. */
static double in_place(int fd, int r, double x)
{
    double old = 0;
    off_t at = (off_t)(r * 37 % 8192) * 8;
    if (pread(fd, &old, 8, at) != 8)
        MPI_Abort(MPI_COMM_WORLD, 4);
    old = 0.5 * old + x;
    if (pwrite(fd, &old, 8, at) != 8)
        MPI_Abort(MPI_COMM_WORLD, 4);
    return old;
}

int main(int argc, char **argv)
{
    int size;
    struct until rounds = until(argc > 2 ? argv[2] : NULL, 2000);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    snprintf(folder, sizeof folder, "%s", argv[1]);
    char shared[1200];
    snprintf(shared, sizeof shared, "%s/shared", folder);
    int table = open(named("table"), O_CREAT | O_TRUNC | O_RDWR, 0666);
    double zeros[8192] = {0}, x = rank + 1, y;
    if (write(table, zeros, sizeof zeros) != sizeof zeros)
        return 1;
    int all = open(shared, O_CREAT | O_RDWR, 0666);
    number_to(named("state"), "w", x);
    number_to(named("replaced"), "w", x);
    for (int r = 0; until_more(&rounds, r); r++) {
        x = 0.25 * in_place(table, r, x) + 0.5 * number_in(named("state"));
        if (r % 3 == 0)
            number_to(named("state"), "w", x);
        if (r % 5 == 0)
            number_to(named("log"), "a", x);
        if (r % 7 == 0) {
            x += 0.125 * number_in(named("replaced"));
            number_to(named("new"), "w", x);
            if (rename(named("new"), named("replaced")))
                MPI_Abort(MPI_COMM_WORLD, 5);
        }
        if (r % 11 == 0) { /* must not be there */
            int fd = open(named("fresh"), O_CREAT | O_EXCL | O_WRONLY, 0666);
            if (fd < 0 || write(fd, &x, 8) != 8 || close(fd)) {
                perror(named("fresh"));
                MPI_Abort(MPI_COMM_WORLD, 6);
            }
        }
        if (r % 11 == 5 && unlink(named("fresh")))
            MPI_Abort(MPI_COMM_WORLD, 7);
        MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        x = y / size / 2 + rank * 0.125;
        if (pwrite(all, &x, 8, (off_t)(r / 4 * size + rank) * 8) != 8)
            MPI_Abort(MPI_COMM_WORLD, 8);
        usleep(300);
    }
    close(table);
    close(all);
    MPI_Reduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("rewrite: %d rounds, %.17g\n", rounds.steps, y);
    MPI_Finalize();
    return 0;
}
