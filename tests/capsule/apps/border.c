/* border.c - crosses the border of the halves as often as it can, one kind of call for a few milliseconds
 * after the other: whatever moment a checkpoint finds, it is likely one between the two.
 * usage: border [KIND]: only this kind of call. It ends when there is a file named "enough". */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static int rank, ranks;
static volatile long alarms;
static void on_alarm(int sig)
{
    (void)sig;
    __atomic_add_fetch(&alarms, 1, __ATOMIC_SEQ_CST); /* two threads take them */
}

/* Each returns the number of things that were wrong. */
static int clocks(void)
{
    struct timespec t;
    struct timeval v;
    clock_gettime(CLOCK_REALTIME, &t);
    gettimeofday(&v, NULL);
    double now = MPI_Wtime();
    return v.tv_sec < t.tv_sec || v.tv_sec > t.tv_sec + 60 || MPI_Wtime() < now;
}

static int to_oneself(void)
{
    static int next;
    int out[2] = {++next, -next}, in[2] = {0, 0}, flag = 0;
    MPI_Request r[2];
    MPI_Status s[2];
    MPI_Irecv(in, 2, MPI_INT, 0, 7, MPI_COMM_SELF, &r[0]);
    MPI_Isend(out, 2, MPI_INT, 0, 7, MPI_COMM_SELF, &r[1]);
    MPI_Test(&r[0], &flag, &s[0]);
    MPI_Waitall(2, r, s);
    return in[0] != next || in[1] != -next;
}

static int probes(void)
{
    int flag = 1, out = 5, in = 0;
    MPI_Status s;
    MPI_Request r;
    MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    MPI_Isend(&out, 1, MPI_INT, 0, 8, MPI_COMM_SELF, &r);
    MPI_Probe(0, 8, MPI_COMM_SELF, &s);
    MPI_Recv(&in, 1, MPI_INT, 0, 8, MPI_COMM_SELF, &s);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    return flag || in != 5;
}

static int objects(void)
{
    MPI_Datatype type;
    MPI_Comm comm;
    MPI_Group group;
    int size, result;
    MPI_Type_vector(3, 1, 2, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Type_size(type, &size);
    MPI_Type_free(&type);
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Comm_group(comm, &group);
    MPI_Comm_compare(comm, MPI_COMM_SELF, &result);
    MPI_Group_free(&group);
    MPI_Comm_free(&comm);
    return size != 3 * (int)sizeof(int) || result != MPI_CONGRUENT;
}

static int persistent(void)
{
    static MPI_Request r[2];
    static int out, in;
    if (!out) {
        MPI_Recv_init(&in, 1, MPI_INT, 0, 9, MPI_COMM_SELF, &r[0]);
        MPI_Send_init(&out, 1, MPI_INT, 0, 9, MPI_COMM_SELF, &r[1]);
    }
    out++;
    MPI_Startall(2, r);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    return in != out;
}

static int files(void)
{
    char byte = 1;
    const char *what = NULL;
    int fd = open("/dev/zero", O_RDONLY), p[2] = {-1, -1};
    if (fd < 0)
        what = "open";
    else if (read(fd, &byte, 1) != 1 || byte)
        what = "read";
    else if (close(fd))
        what = "close";
    else if (pipe(p))
        what = "pipe";
    else if (write(p[1], "x", 1) != 1)
        what = "write to a pipe";
    else if (read(p[0], &byte, 1) != 1 || byte != 'x')
        what = "read from a pipe";
    else if (close(p[0]) || close(p[1]))
        what = "close of a pipe";
    if (what)
        fprintf(stderr, "border: %s (files %d, %d, %d): %s\n", what, fd, p[0], p[1],
                strerror(errno));
    return what != NULL;
}

static int memory(void)
{
    size_t size = 3 << 16;
    char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *q = malloc(200000);
    if (p == MAP_FAILED || !q)
        return 1;
    p[70000] = 3;
    memset(q, 4, 200000);
    int wrong = p[70000] != 3 || p[1] || q[199999] != 4;
    free(q);
    return wrong + (munmap(p, size) != 0);
}

static void *one_more(void *p)
{
    ++*(int *)p;
    return p;
}
static int threads(void)
{
    pthread_t t;
    int n = 0;
    void *back = NULL;
    return pthread_create(&t, NULL, one_more, &n) || pthread_join(t, &back) || back != &n || n != 1;
}

/* libc opens files for itself */
static int by_libc(void)
{
    struct dirent **names = NULL;
    const struct passwd *root = getpwuid(0);
    int n = scandir("/", &names, NULL, alphasort),
        wrong = n < 3 || !root || strcmp(root->pw_name, "root");
    for (int i = 0; i < n; i++)
        free(names[i]);
    free(names);
    void *library = dlopen("libcrypt.so.1", RTLD_NOW);
    if (library)
        dlclose(library);
    endpwent();
    if (wrong)
        fprintf(stderr, "border: %d names, user %s: %s\n", n, root ? root->pw_name : "none",
                strerror(errno));
    return wrong;
}

static int signals(void)
{
    long before = alarms;
    raise(SIGALRM);
    return alarms == before;
}

static int together(void) /* as often on all ranks: only with a number of calls, not a time */
{
    int sum = 0, left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks, in = -1;
    MPI_Allreduce(&(int){1}, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Sendrecv(&rank, 1, MPI_INT, right, 3, &in, 1, MPI_INT, left, 3, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    return sum != ranks || in != left;
}

static int (*const kinds[])(void) = {clocks, to_oneself, probes,  objects, persistent,
                                     files,  memory,     threads, signals, by_libc};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* On every other rank a second thread does the same things beside the first. */
static volatile int helper_ends;
static void *helper(void *none)
{
    static int (*const mine[])(void) = {clocks, files, memory};
    static int wrong;
    (void)none;
    for (int i = 0; !helper_ends; i++)
        wrong += mine[i / 100 % 3]();
    return &wrong;
}

static int for_a_while(int (*kind)(void), double seconds)
{
    int wrong = 0;
    for (double end = MPI_Wtime() + seconds; MPI_Wtime() < end;)
        for (int i = 0; i < 20; i++)
            wrong += kind();
    return wrong;
}

int main(int argc, char **argv)
{
    int only = argc > 1 ? atoi(argv[1]) : -1, enough = 0, wrong[KINDS + 1] = {0};
    int all_wrong[KINDS + 1];
    struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
    struct itimerval often = {{0, 700}, {0, 700}}, never = {{0, 0}, {0, 0}};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    pthread_t thread;
    int *helpers_wrong = NULL;
    if (rank % 2 == 1 && pthread_create(&thread, NULL, helper, NULL))
        wrong[KINDS]++;
    for (int i = 0; !enough; i++) {
        int k = only >= 0 && only < KINDS ? only : (i + rank) % KINDS;
        wrong[k] += for_a_while(kinds[k], 0.007);
        for (int j = 0; j < 4; j++)
            wrong[KINDS] += together();
        enough = rank == 0 && access("enough", F_OK) == 0;
        MPI_Bcast(&enough, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    setitimer(ITIMER_REAL, &never, NULL);
    helper_ends = 1;
    if (rank % 2 == 1 && !pthread_join(thread, (void **)&helpers_wrong))
        wrong[KINDS] += *helpers_wrong;
    MPI_Reduce(wrong, all_wrong, KINDS + 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    for (int k = 0; rank == 0 && k <= KINDS; k++)
        if (all_wrong[k])
            printf("border: kind %d WRONG %d times\n", k, all_wrong[k]);
    if (rank == 0)
        printf("border: enough\n");
    MPI_Finalize();
    return 0;
}
