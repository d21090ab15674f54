/* capped FOLDER: more than the documented limits allow. What is too much is refused by the call, or left out of the
 * image, with a sentence; what was there before works on. Meant for the capsule, on one rank. */
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { OPS = 1024, THREADS = 4096, TIMERS = 4096, ROUNDS = 2000 };

static void must(int ok, const char *what)
{
    if (ok)
        return;
    printf("WRONG: %s\n", what);
    fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void add(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *n; i++)
        ((int *)inout)[i] += ((int *)in)[i];
}

static MPI_Op op[OPS + 1];
static int make_ops(void)
{
    int n = 0;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    while (n <= OPS && MPI_Op_create(add, 1, &op[n]) == MPI_SUCCESS)
        n++;
    MPI_Op_free(&op[0]);
    must(MPI_Op_create(add, 1, &op[0]) == MPI_SUCCESS, "room is used again");
    return n;
}

static sem_t end;
static void *wait_for_the_end(void *p)
{
    while (sem_wait(&end) && errno == EINTR)
        ;
    return p;
}

static pthread_t thread[THREADS + 1];
static int start_threads(void)
{
    int n = 0;
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 64 << 10);
    sem_init(&end, 0, 0);
    while (n <= THREADS && !pthread_create(&thread[n], &small, wait_for_the_end, &thread[n]))
        n++;
    return n;
}

static void end_threads(int n)
{
    for (int i = 0; i < n; i++)
        sem_post(&end);
    for (int i = 0; i < n; i++) {
        void *back;
        must(!pthread_join(thread[i], &back) && back == &thread[i], "a thread");
    }
}

static int make_timers(void)
{
    int n = 0;
    timer_t timer;
    struct sigevent quiet = {.sigev_notify = SIGEV_NONE};
    while (n <= TIMERS && !timer_create(CLOCK_MONOTONIC, &quiet, &timer))
        n++;
    return n;
}

/* Longer than any path that the kernel takes: made step by step. */
static int open_deep(const char *folder)
{
    char name[201] = "";
    memset(name, 'y', 200);
    must(!chdir(folder), "the folder");
    for (int i = 0; i < 25; i++)
        must((!mkdir(name, 0700) || errno == EEXIST) && !chdir(name), "a folder in a folder");
    int fd = open("deep", O_RDWR | O_CREAT, 0600);
    must(fd >= 0 && !chdir(folder), "a file with a path that is too long");
    return fd;
}

/* There is room for 8 TiB. What does not fit must not reach into memory that no image holds. */
static void map_too_much(void)
{
    void *at = mmap(NULL, 9ul << 40, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    must(at == MAP_FAILED && errno == ENOMEM, "a mapping of 9 TiB");
    at = mmap(NULL, 1ul << 40, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    must(at != MAP_FAILED && !munmap(at, 1ul << 40), "a mapping of 1 TiB");
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    map_too_much();
    int threads = start_threads(), ops = make_ops(), timers = make_timers();
    int deep = open_deep(argv[1]), sum = 0, one = 1;
    printf("capped: %d operations, %d threads, %d timers\n", ops, threads, timers);
    fflush(stdout);
    for (int i = 0; i < ROUNDS; i++) /* the checkpoint comes here */
        MPI_Barrier(MPI_COMM_WORLD);
    must(MPI_Allreduce(&one, &sum, 1, MPI_INT, op[OPS - 1], MPI_COMM_WORLD) == MPI_SUCCESS &&
             sum == 1,
         "the last operation");
    end_threads(threads);
    must(write(deep, "x", 1) == 1, "the file goes on while the program does");
    printf("capped: done\n");
    MPI_Finalize();
    return 0;
}
