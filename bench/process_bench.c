/* process_bench calls|repair|bare|spare: the parts of the process benchmark; process.sh runs them
 * and makes the rows. One result per run, on stdout, from one rank. */
#include <mend/process.h>

#include <fcntl.h>
#include <mpi-ext.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static double wall(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* ---- without failures: ping-pong and allreduce, the two communicators in turns --------------- */

static double ping_pong(MPI_Comm comm, int rank, int n)
{
    char byte[8] = {0};
    double begin = MPI_Wtime();
    for (int i = 0; i < n; i++) {
        if (rank == 0) {
            MPI_Send(byte, 8, MPI_BYTE, 1, 0, comm);
            MPI_Recv(byte, 8, MPI_BYTE, 1, 0, comm, MPI_STATUS_IGNORE);
        } else if (rank == 1) {
            MPI_Recv(byte, 8, MPI_BYTE, 0, 0, comm, MPI_STATUS_IGNORE);
            MPI_Send(byte, 8, MPI_BYTE, 0, 0, comm);
        }
    }
    return MPI_Wtime() - begin;
}

static double allreduce(MPI_Comm comm, int rank, int n)
{
    double x = rank, sum, begin = MPI_Wtime();
    for (int i = 0; i < n; i++)
        MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, comm);
    return MPI_Wtime() - begin;
}

/* Rounds are short and the two communicators take turns within each (ours, plain, plain, ours), so
 * that other load and drift hit both alike; the figure is the median of the rounds' ratios. */
static void compare_calls(const char *name, MPI_Comm resilient, int rank,
                          double (*run)(MPI_Comm, int, int))
{
    enum { ROUNDS = 301, N = 1500 };
    static double plain[ROUNDS], ratio[ROUNDS];
    run(MPI_COMM_WORLD, rank, N);
    run(resilient, rank, N);
    for (int i = 0; i < ROUNDS; i++) {
        double ours = run(resilient, rank, N);
        plain[i] = run(MPI_COMM_WORLD, rank, N) + run(MPI_COMM_WORLD, rank, N);
        ratio[i] = (ours + run(resilient, rank, N)) / plain[i];
    }
    qsort(plain, ROUNDS, sizeof *plain, compare);
    qsort(ratio, ROUNDS, sizeof *ratio, compare);
    double base = plain[ROUNDS / 2] / 2 / N * 1e6;
    if (rank == 0)
        printf("%s %.5f %.5f\n", name, base * ratio[ROUNDS / 2], base);
}

static void calls(void)
{
    mend_process *p;
    mend_process_options options = {.resume = MEND_RESUME_JUMP};
    if (mend_process_open(MPI_COMM_WORLD, &options, &p) != 0 || mend_process_resume_here(p) != 0)
        exit(1);
    const mend_repair *now = mend_process_state(p);
    compare_calls("pingpong", now->comm, now->rank, ping_pong);
    compare_calls("allreduce", now->comm, now->rank, allreduce);
    mend_process_close(p);
}

/* ---- one failure: from the kill to everybody at work again ----------------------------------- */

/* Shared memory that outlives the victim: it writes down when it dies. */
static double *death_note(void)
{
    int fd = open(getenv("BENCH_NOTE"), O_RDWR | O_CREAT, 0600);
    if (fd < 0 || ftruncate(fd, 4096) != 0)
        exit(1);
    return mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
}

static void die(double *note)
{
    *note = wall();
    kill(getpid(), SIGKILL);
}

static void report(MPI_Comm comm, double detected, double *note)
{
    double first, last, now = wall();
    int rank;
    MPI_Comm_rank(comm, &rank);
    MPI_Allreduce(&detected, &first, 1, MPI_DOUBLE, MPI_MIN, comm);
    MPI_Allreduce(&now, &last, 1, MPI_DOUBLE, MPI_MAX, comm);
    if (rank == 0)
        printf("%.3f %.3f\n", (first - *note) * 1e3, (last - first) * 1e3);
}

static void repair(int spares)
{
    mend_process *p;
    mend_process_options options = {.spares = spares, .resume = MEND_RESUME_JUMP};
    static double *note;
    note = death_note();
    if (mend_process_open(MPI_COMM_WORLD, &options, &p) != 0 || mend_process_resume_here(p) != 0)
        exit(1);
    const mend_repair *now = mend_process_state(p);
    if (now->role != MEND_ROLE_RELEASED) {
        if (now->generation == 0) {
            double end = MPI_Wtime() + 0.2;
            for (int more = 1; more;) {
                more = MPI_Wtime() < end;
                MPI_Bcast(&more, 1, MPI_INT, 0, now->comm);
            }
            if (now->rank == 1)
                die(note);
            for (;;)
                MPI_Barrier(now->comm);
        }
        /* a recovered rank has noticed nothing by itself */
        report(now->comm, now->role == MEND_ROLE_RECOVERED ? 1e18 : now->detected, note);
    }
    mend_process_close(p);
}

/* The same job with nothing but MPIX_Comm_shrink. */
static void bare(void)
{
    int rank;
    double *note = death_note(), end = MPI_Wtime() + 0.2;
    MPI_Comm survivors;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int more = 1; more;) {
        more = MPI_Wtime() < end;
        MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    if (rank == 1)
        die(note);
    while (MPI_Barrier(MPI_COMM_WORLD) == MPI_SUCCESS)
        ;
    double detected = wall();
    MPIX_Comm_revoke(MPI_COMM_WORLD);
    MPIX_Comm_shrink(MPI_COMM_WORLD, &survivors);
    report(survivors, detected, note);
}

/* ---- what a waiting spare costs -------------------------------------------------------------- */

static void spare(int spares)
{
    mend_process *p;
    mend_process_options options = {.spares = spares};
    struct rusage before, after;
    getrusage(RUSAGE_SELF, &before);
    double begin = wall();
    if (mend_process_open(MPI_COMM_WORLD, &options, &p) != 0)
        exit(1);
    if (mend_process_state(p)->role != MEND_ROLE_RELEASED)
        sleep(5);
    mend_process_close(p);
    getrusage(RUSAGE_SELF, &after);
    double cpu = (double)(after.ru_utime.tv_sec - before.ru_utime.tv_sec) +
                 1e-6 * (double)(after.ru_utime.tv_usec - before.ru_utime.tv_usec) +
                 (double)(after.ru_stime.tv_sec - before.ru_stime.tv_sec) +
                 1e-6 * (double)(after.ru_stime.tv_usec - before.ru_stime.tv_usec);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 1)
        printf("%.4f\n", 100 * cpu / (wall() - begin));
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    const char *what = argc > 1 ? argv[1] : "";
    int spares = argc > 2 ? atoi(argv[2]) : 0;
    if (strcmp(what, "calls") == 0)
        calls();
    else if (strcmp(what, "repair") == 0)
        repair(spares);
    else if (strcmp(what, "bare") == 0)
        bare();
    else if (strcmp(what, "spare") == 0)
        spare(spares);
    fflush(stdout);
    MPI_Finalize();
    return 0;
}
