/* odd: a program as users have them.
 * usage: odd exit|abort|crash|nompi|input|much|wait|orphan|counter|elsewhere|late|clock|become|brief|forked|closed|rights [argument] */
#define _GNU_SOURCE
#include <errno.h>
#include <grp.h>
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Started twice from its beginning, it would count twice. */
static int count_on(const char *folder, int rank)
{
    char path[1000];
    int n = 0;
    snprintf(path, sizeof path, "%s/count.%d", folder, rank);
    FILE *f = fopen(path, "r+");
    if (!f)
        f = fopen(path, "w+");
    if (!f || (fscanf(f, "%d", &n) == 1 && fseek(f, 0, SEEK_SET)))
        exit(1);
    fprintf(f, "%d\n", n + 1);
    fclose(f);
    return n + 1;
}

static void *end_here(void *none)
{
    (void)none;
    printf("odd: ended by another thread\n");
    exit(0);
}

/* Calls that Mend does not follow. Those that change nothing, and those of a child, are as without it. */
static void change_rights(int rank)
{
    printf("rank %d: setuid(own) %d, setgid(own) %d\n", rank, setuid(getuid()), setgid(getgid()));
    int own = unshare(CLONE_NEWUSER) ? errno : 0, other = setns(0, 0) ? errno : 0;
    int user = setuid(65534) ? errno : 0, group = setresgid(65534, 65534, 65534) ? errno : 0;
    int groups = setgroups(0, NULL) ? errno : 0, root = chroot("/tmp") ? errno : 0;
    printf("rank %d: %d %d %d %d %d %d, and EPERM is %d\n", rank, own, other, user, group, groups,
           root, EPERM);
    fflush(stdout);
    int status = -1;
    if (fork() == 0)
        _exit((chroot("/") ? errno : 0) != (getuid() ? EPERM : 0));
    wait(&status);
    printf("rank %d: a child %d\n", rank, status);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int rank, size, n = argc > 2 ? atoi(argv[2]) : 0;
    if (!strcmp(what, "nompi")) {
        printf("no MPI here\n");
        return n;
    }
    if (!strcmp(what, "become"))
        return execl(argv[0], argv[0], "wait", (char *)NULL);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (!strcmp(what, "closed"))
        for (int fd = 0; fd < 3; fd++)
            close(fd);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (!strcmp(what, "brief")) { /* nobody waits for anybody */
        printf("odd: rank %d was here\n", rank);
        return MPI_Finalize();
    }
    double x = rank, y;
    if (!strcmp(what, "counter"))
        x += count_on(argv[2], rank);
    if (!strcmp(what, "rights"))
        change_rights(rank);
    int rounds = !strcmp(what, "wait") ? 1000000 : !strcmp(what, "counter") ? 1200 : 400;
    if (!strcmp(what, "much") && n > 0)
        rounds = n;
    for (int r = 0; r < rounds; r++) {
        MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        x = y / size + rank * 0.125;
        char line[200];
        if (!strcmp(what, "input") && rank == 0 && fgets(line, sizeof line, stdin))
            printf("%d: %s", r, line);
        if (!strcmp(what, "clock")) { /* no two runs print the same */
            printf("rank %d round %d %.*s.\n", rank, r, (int)(1e6 * MPI_Wtime()) % 40,
                   "a text that depends on the time of the day");
            fflush(stdout);
        }
        if (!strcmp(what, "much"))
            for (int i = 0; i < 100; i++)
                printf("rank %d round %d line %d %.17g\n", rank, r, i, x);
        usleep(1000);
    }
    if (!strcmp(what, "orphan")) /* it has no children, whatever works beside it */
        printf("odd: wait() gives %d\n", wait(NULL));
    if (!strcmp(what, "forked")) {
        if (fork() == 0) {
            printf("odd: printed by a child\n");
            fflush(stdout);
            _exit(0);
        }
        wait(NULL);
    }
    if (!strcmp(what, "exit")) {
        fprintf(stderr, "odd: rank %d does not like this\n", rank);
        exit(n);
    }
    if (!strcmp(what, "abort") && rank == 1)
        MPI_Abort(MPI_COMM_WORLD, n);
    if (!strcmp(what, "crash")) { /* words of the one that crashes, and of one that does not */
        printf("odd: rank %d came to the place\n", rank);
        fflush(stdout);
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 1)
            *(volatile int *)8 = 1;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("odd: %.17g\n", x);
    MPI_Finalize();
    if (!strcmp(what, "late") && !sleep(2))
        printf("odd: rank %d had more to say\n", rank);
    pthread_t thread;
    if (!strcmp(what, "elsewhere") && !pthread_create(&thread, NULL, end_here, NULL))
        pause();
    return 0;
}
