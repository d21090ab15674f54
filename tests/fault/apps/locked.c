/* locked FOLDER KIND [STEPS|FILE] (see until.h): ranks that keep each other out of a file by locks of the kind flock, fcntl,
 * ofd or lockf.
 *   - Each step every rank adds one to the number in FOLDER/counter, which it reads and writes under a lock.
 *   - Each rank holds a lock of its own all the time, shared in even steps and exclusive in odd ones; the next rank tries
 *     each step whether it is held so.
 * The number at the end, and how often a lock was not held, tell whether the locks have kept their meaning. */
#define _GNU_SOURCE
#include "until.h"

#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum kind { FLOCK, FCNTL, OFD, LOCKF };
static enum kind kind;
static int me, ranks;

static void must(int ok, const char *what)
{
    if (ok)
        return;
    fprintf(stderr, "rank %d: %s: %s\n", me, what, strerror(errno));
    MPI_Abort(MPI_COMM_WORLD, 3);
}

static int opened(const char *folder, const char *name, int flags)
{
    char path[1200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    int fd = open(path, flags | O_CREAT, 0600);
    must(fd >= 0, path);
    return fd;
}

/* A lock on the byte at `at`, or on the whole file; 0: taken */
static int lock(int fd, off_t at, int type, int wait)
{
    struct flock l = {.l_type = (short)type, .l_start = at, .l_len = 1};
    int all = type == F_UNLCK ? LOCK_UN : type == F_RDLCK ? LOCK_SH : LOCK_EX;
    switch (kind) {
    case FLOCK: return flock(fd, all | (wait ? 0 : LOCK_NB));
    case FCNTL: return fcntl(fd, wait ? F_SETLKW : F_SETLK, &l);
    case OFD: return fcntl(fd, wait ? F_OFD_SETLKW : F_OFD_SETLK, &l);
    case LOCKF: break;
    }
    if (type == F_RDLCK) /* it has none: drop the other */
        type = F_UNLCK;
    lseek(fd, at, SEEK_SET);
    return lockf(fd, type == F_UNLCK ? F_ULOCK : wait ? F_LOCK : F_TLOCK, 1);
}

int main(int argc, char **argv)
{
    static const char *const kinds[] = {"flock", "fcntl", "ofd", "lockf"};
    int from_self = 0, taken = 0, misses = 0, all_misses = 0;
    long number = 0;
    char name[64];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc < 4)
        MPI_Abort(MPI_COMM_WORLD, 2);
    while (strcmp(kinds[kind], argv[2]) != 0)
        kind++;
    struct until u = until(argv[3], 100);
    /* Written to by a descriptor that cannot read; and there is another one, which closes last. */
    int out = opened(argv[1], "counter", O_WRONLY), in = opened(argv[1], "counter", O_RDONLY);
    if (me == 0)
        must(pwrite(out, &number, sizeof number, 0) == sizeof number, "counter");
    snprintf(name, sizeof name, "held.%d", kind == FLOCK ? me : 0);
    int mine = opened(argv[1], name, O_RDWR);
    if (kind == FLOCK) { /* held by a copy of the first descriptor */
        int copy = dup(mine);
        close(mine);
        mine = copy;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    int next = (me + 1) % ranks;
    snprintf(name, sizeof name, "held.%d", kind == FLOCK ? next : 0);
    int theirs = kind == FCNTL || kind == LOCKF ? mine : opened(argv[1], name, O_RDWR);
    for (int s = 0; until_more(&u, s); s++) {
        must(lock(out, 0, F_WRLCK, 1) == 0, "lock");
        must(pread(in, &number, sizeof number, 0) == sizeof number, "read");
        if (s % 7 == me) /* in the middle of it: another file is opened, and closed */
            fclose(fopen("/dev/null", "r"));
        int again = s % 5 == me ? opened(argv[1], "counter", O_RDWR) : -1;
        MPI_Sendrecv(&s, 1, MPI_INT, me, 1, &from_self, 1, MPI_INT, me, 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        usleep(1000);
        number++;
        must(pwrite(out, &number, sizeof number, 0) == sizeof number, "write");
        must(lock(out, 0, F_UNLCK, 1) == 0, "unlock");
        if (again >= 0)
            close(again);
        must(lock(mine, 10 + me, s % 2 ? F_WRLCK : F_RDLCK, 1) == 0, "own lock");
        MPI_Barrier(MPI_COMM_WORLD);
        usleep(500);
        taken = ranks > 1 && lock(theirs, 10 + next, F_RDLCK, 0) == 0;
        if (kind == LOCKF && s % 2 == 0)
            taken = 0;
        if (kind == LOCKF && s % 2) {
            lseek(theirs, 10 + next, SEEK_SET);
            taken = lockf(theirs, F_TEST, 1) == 0;
        } else if (ranks > 1 && !(s % 2)) {
            misses += kind != LOCKF && !taken; /* shared locks do not exclude each other */
            taken = taken && lock(theirs, 10 + next, F_WRLCK, 0) == 0;
        }
        misses += taken;
        if (kind != LOCKF)
            lock(theirs, 10 + next, F_UNLCK, 0);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Reduce(&misses, &all_misses, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    must(pread(in, &number, sizeof number, 0) == sizeof number, "read");
    if (me == 0)
        printf("locked: %d steps, by %s: the number is %ld, %d locks were not held\n", u.steps,
               argv[2], number, all_misses);
    MPI_Finalize();
    return 0;
}
