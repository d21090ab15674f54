/* standard CASE FOLDER [STEPS|FILE] (see until.h): what a program may do with its standard streams.
 *   redirect  standard output goes to FOLDER/log.RANK; a copy made before still goes where it went; at the end it goes there again
 *   closed    standard input is closed, and a file opened in its place; standard output is closed, and each step another
 *             file gets its number
 *   stream    the same, by fclose()
 * Rank 0 prints the steps, so that output can be missed or doubled. */
#define _GNU_SOURCE
#include "until.h"

#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int me, copy;
static char path[1200];

static char *named(const char *folder, const char *name)
{
    snprintf(path, sizeof path, "%s/%s.%d", folder, name, me);
    return path;
}

/* How many calls do not answer that number 1 is closed. */
static int not_closed(void)
{
    struct stat st;
    char byte = 'x';
    int wrong = 0;
#define CLOSED(call) wrong += !(errno = 0, (call) < 0 && errno == EBADF)
    CLOSED(write(1, &byte, 1));
    CLOSED(read(1, &byte, 1));
    CLOSED(fcntl(1, F_GETFD));
    CLOSED(fcntl(1, F_GETFL));
    CLOSED(fstat(1, &st));
    CLOSED(dup(1));
    CLOSED(dup2(1, 0));
    CLOSED(lseek(1, 0, SEEK_CUR));
    CLOSED(close(1));
    return wrong;
}

/* A file gets the free number; returns what is not as it should be. */
static int opened_again(const char *folder, int step, double sum)
{
    int fd = open(named(folder, "often"), O_WRONLY | O_CREAT | O_APPEND, 0600);
    int wrong = fd != 1;
    dprintf(fd, "step %d: %.0f\n", step, sum);
    MPI_Barrier(MPI_COMM_WORLD);
    wrong += close(fd) != 0;
    fd = dup(0);
    wrong += fd != 1;
    wrong += close(fd) != 0;
    return wrong;
}

int main(int argc, char **argv)
{
    double sum = 0;
    int wrong = 0, all_wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    if (argc < 4)
        MPI_Abort(MPI_COMM_WORLD, 2);
    const char *folder = argv[2];
    int redirect = strcmp(argv[1], "redirect") == 0, stream = strcmp(argv[1], "stream") == 0;
    struct until u = until(argv[3], 100);
    MPI_Barrier(MPI_COMM_WORLD);
    copy = dup(1);
    if (redirect) {
        if (!freopen(named(folder, "log"), "w", stdout))
            MPI_Abort(MPI_COMM_WORLD, 3);
    } else {
        wrong += (stream ? fclose(stdin) : close(0)) != 0;
        wrong += open(named(folder, "kept"), O_RDWR | O_CREAT | O_APPEND, 0600) != 0;
        wrong += (stream ? fclose(stdout) : close(1)) != 0;
    }
    for (int s = 0; until_more(&u, s); s++) {
        double mine = me + s, all;
        MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        sum += all;
        if (redirect) {
            printf("step %d: %.0f\n", s, sum);
            if (s % 10 == me)
                fflush(stdout);
        } else {
            dprintf(0, "step %d: %.0f\n", s, sum);
            wrong += not_closed();
            wrong += opened_again(folder, s, sum);
            wrong += not_closed();
        }
        if (me == 0)
            dprintf(copy, "standard: step %d is %.0f\n", s, sum);
        usleep(2000);
    }
    MPI_Reduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (redirect)
        fflush(stdout);
    dup2(copy, 1);
    if (me == 0)
        dprintf(1, "standard: %d steps, %.0f, %d answers were wrong\n", u.steps, sum, all_wrong);
    MPI_Finalize();
    return 0;
}
