/* system.c - what a program may hold of the system when an image is taken: recursive locks, files with and without a name,
 * copies of standard output, open folders, threads that sleep, alternate stacks, timers, mapped files, broken pipes, children (also static
 * ones, which no loader prepares: child.c; SYSTEM_CHILDREN names them). Each is used before and
 * after; every word printed must be the same whether or not the program was stopped in between.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static int rank, size, bad;
static char folder[256];
#define CHECK(what, condition)                                              \
    do {                                                                    \
        if (!(condition)) {                                                 \
            printf("rank %d: %s is wrong (errno %d)\n", rank, what, errno); \
            bad++;                                                          \
        }                                                                   \
    } while (0)

static pthread_mutex_t recursive, checking;
static void make_locks(void)
{
    pthread_mutexattr_t a;
    pthread_mutexattr_init(&a);
    pthread_mutexattr_settype(&a, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&recursive, &a);
    pthread_mutexattr_settype(&a, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&checking, &a);
}

/* a thread that holds a recursive lock all the time, and one that only sleeps and polls */
static sem_t begin, done;
static pthread_mutex_t theirs;
static volatile int stop, kicked;
static void on_kick(int sig)
{
    (void)sig;
    kicked++;
}
static void *holder(void *unused)
{
    (void)unused;
    for (;;) {
        pthread_mutex_lock(&theirs);
        sem_post(&done);
        sem_wait(&begin);
        CHECK("a lock held by another thread", pthread_mutex_lock(&theirs) == 0);
        pthread_mutex_unlock(&theirs);
        CHECK("its release", pthread_mutex_unlock(&theirs) == 0);
        if (stop)
            return NULL;
    }
}
static void *sleeper(void *unused)
{
    sigset_t others;
    (void)unused;
    sigemptyset(&others); /* a signal of the program itself would end a sleep */
    sigaddset(&others, SIGALRM);
    sigaddset(&others, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &others, NULL);
    while (!stop) {
        struct pollfd none = {.fd = -1};
        struct timespec t = {0, 3000000};
        CHECK("nanosleep", nanosleep(&t, NULL) == 0);
        CHECK("poll", poll(&none, 1, 2) == 0);
        CHECK("usleep", usleep(1000) == 0);
    }
    return NULL;
}

static void *volatile handled_on;
static void on_alternate(int sig)
{
    (void)sig;
    int here;
    handled_on = &here;
}
static volatile int ticks;
static void on_tick(int sig)
{
    (void)sig;
    ticks++;
}

/* Who writes to a pipe that nobody reads dies of it, unless he handles it. */
static volatile int broken;
static void on_broken(int sig)
{
    (void)sig;
    broken++;
}
static void break_a_pipe(void)
{
    struct sigaction handled = {.sa_handler = on_broken}, before;
    int end[2], status = 0, had = broken;
    CHECK("pipe", pipe(end) == 0 && close(end[0]) == 0);
    pid_t child = fork();
    if (child == 0)
        _exit(write(end[1], "x", 1) == 1);
    CHECK("a child's broken pipe", waitpid(child, &status, 0) == child && WIFSIGNALED(status) &&
                                       WTERMSIG(status) == SIGPIPE);
    CHECK("the default for a broken pipe",
          sigaction(SIGPIPE, &handled, &before) == 0 && before.sa_handler == SIG_DFL);
    CHECK("a broken pipe", write(end[1], "x", 1) == -1 && errno == EPIPE && broken == had + 1);
    CHECK("sigaction", sigaction(SIGPIPE, &before, NULL) == 0);
    close(end[1]);
}

/* Programs that live for a moment: most images are asked for while one of them does. */
static void run_programs(void)
{
    char line[64] = "";
    CHECK("system", system("sleep 0.03; exit 3") == 3 << 8);
    FILE *from = popen("echo one; sleep 0.01; echo two", "r");
    CHECK("popen", from && fgets(line, sizeof line, from) && !strcmp(line, "one\n"));
    CHECK("popen", from && fgets(line, sizeof line, from) && !strcmp(line, "two\n") &&
                       !fgets(line, sizeof line, from));
    CHECK("pclose", from && pclose(from) == 0);
    FILE *to = popen("read a && exit ${#a}", "w");
    CHECK("popen", to && fputs("four\n", to) >= 0);
    CHECK("pclose", to && pclose(to) == 4 << 8);
    pid_t child = fork();
    int status;
    if (child == 0) {
        usleep(10000);
        _exit(5);
    }
    CHECK("waitpid", waitpid(child, &status, 0) == child && status == 5 << 8);
}

/* Programs without a loader. */
static void run_static(void)
{
    char names[1024], *rest = names, line[64], command[1200];
    snprintf(names, sizeof names, "%s", getenv("SYSTEM_CHILDREN") ? getenv("SYSTEM_CHILDREN") : "");
    for (char *name; (name = strtok_r(rest, ":", &rest));) {
        snprintf(command, sizeof command, "echo words | exec '%s' some", name);
        memset(line, 0, sizeof line);
        FILE *from = popen(command, "r");
        CHECK("a static child",
              from && fgets(line, sizeof line, from) && !strcmp(line, "some words\n"));
        CHECK("its end", from && pclose(from) == 6 << 8);
        pid_t child = fork();
        int status, end[2];
        if (child == 0) {
            if (pipe(end) == 0 && write(end[1], "x\n", 2) == 2 && dup2(end[0], 0) == 0 &&
                dup2(open("/dev/null", O_WRONLY), 1) == 1)
                execl(name, name, "more", (char *)NULL);
            _exit(127);
        }
        CHECK("a static child by exec", waitpid(child, &status, 0) == child && status == 6 << 8);
    }
}

/* More at a time than fit into the first table of them. */
static void run_many(void)
{
    enum { MANY = 150 };
    pid_t child[MANY];
    int status;
    for (int i = 0; i < MANY; i++) {
        child[i] = fork();
        if (child[i] == 0) {
            usleep(50000);
            _exit(i % 100);
        }
    }
    for (int i = 0; i < MANY; i++)
        CHECK("one of many children",
              waitpid(child[i], &status, 0) == child[i] && status == i % 100 << 8);
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 20, provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const char *base = getenv("SYSTEM_DIR");
    snprintf(folder, sizeof folder, "%s/system.%d", base ? base : "/tmp", rank);
    mkdir(folder, 0700);
    CHECK("chdir", chdir(folder) == 0);

    make_locks();
    pthread_mutexattr_t a;
    pthread_mutexattr_init(&a);
    pthread_mutexattr_settype(&a, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&theirs, &a);
    sem_init(&begin, 0, 0);
    sem_init(&done, 0, 0);
    pthread_t t[2];
    struct sigaction kick = {.sa_handler = on_kick, .sa_flags = SA_RESTART};
    sigaction(SIGUSR2, &kick, NULL);
    pthread_create(&t[0], NULL, holder, NULL);
    pthread_create(&t[1], NULL, sleeper, NULL);

    /* a log that two numbers share, a scratch file without a name, tmpfile(), a saved standard output, an open folder */
    int log = open("log", O_RDWR | O_CREAT | O_TRUNC, 0600), log2 = dup(log);
    char scratch_name[] = "scratch-XXXXXX";
    int scratch = mkstemp(scratch_name);
    unlink(scratch_name);
    FILE *temporary = tmpfile();
    int saved = dup(1);
    int nowhere =
        open("/dev/null", O_WRONLY); /* standard input is /dev/null, too, but for reading */
    mkdir("d", 0700);
    close(open("d/one", O_CREAT | O_WRONLY, 0600));
    DIR *dir = opendir("d");
    int pipe_end[2];
    CHECK("pipe", pipe(pipe_end) == 0);
    int nudge[2], waits = eventfd(5, EFD_NONBLOCK); /* a pipe that is never empty, and a counter */
    CHECK("pipe2", pipe2(nudge, O_NONBLOCK | O_CLOEXEC) == 0 && write(nudge[1], "ab", 2) == 2);

    /* a file of which a part is mapped and shared */
    int map_fd = open("mapped", O_RDWR | O_CREAT | O_TRUNC, 0600);
    CHECK("ftruncate", ftruncate(map_fd, 3 * 65536) == 0);
    long *mapped = mmap(NULL, 2 * 65536, PROT_READ | PROT_WRITE, MAP_SHARED, map_fd, 65536);
    CHECK("mmap", mapped != MAP_FAILED);

    /* a handler on a stack of its own, and a timer */
    stack_t alternate = {.ss_sp = malloc(1 << 16), .ss_size = 1 << 16};
    sigaltstack(&alternate, NULL);
    struct sigaction on = {.sa_handler = on_alternate, .sa_flags = SA_ONSTACK};
    sigaction(SIGVTALRM, &on, NULL);
    struct sigaction tick = {.sa_handler = on_tick, .sa_flags = SA_RESTART};
    sigaction(SIGALRM, &tick, NULL);
    setitimer(ITIMER_REAL, &(struct itimerval){{0, 20000}, {0, 20000}}, NULL);

    FILE *lasting = popen("cat", "w"); /* a child that no image brings back */
    CHECK("popen", lasting);

    pthread_mutex_lock(&recursive);
    pthread_mutex_lock(&checking);
    long sum = 0;
    for (int i = 0; i < rounds; i++) {
        sem_wait(&done); /* the holder holds */
        char line[64];
        int n = snprintf(line, sizeof line, "%d first\n", i);
        CHECK("write", write(log, line, n) == n);
        n = snprintf(line, sizeof line, "%d second\n", i);
        CHECK("write", write(log2, line, n) == n);
        CHECK("scratch", write(scratch, &i, sizeof i) == sizeof i);
        fprintf(temporary, "%d ", i);
        mapped[i] = i + 1;

        MPI_Barrier(MPI_COMM_WORLD); /* here an image may be taken */

        CHECK("/dev/null", write(nowhere, "x", 1) == 1);
        char letters[8];
        uint64_t count = 3;
        CHECK("own pipe", write(nudge[1], "cd", 2) == 2 && read(nudge[0], letters, 2) == 2 &&
                              !memcmp(letters, i ? "cd" : "ab", 2));
        CHECK("own pipe's flags",
              fcntl(nudge[0], F_GETFL) & O_NONBLOCK && fcntl(nudge[1], F_GETFD) & FD_CLOEXEC);
        CHECK("counter", write(waits, &count, sizeof count) == sizeof count &&
                             read(waits, &count, sizeof count) == sizeof count &&
                             count == (i ? 4 : 8));
        count = 1;
        CHECK("counter", write(waits, &count, sizeof count) == sizeof count);

        CHECK("a recursive lock", pthread_mutex_lock(&recursive) == 0);
        CHECK("a recursive unlock", pthread_mutex_unlock(&recursive) == 0);
        CHECK("an error-checking lock", pthread_mutex_lock(&checking) == EDEADLK);
        CHECK("its unlock",
              pthread_mutex_unlock(&checking) == 0 && pthread_mutex_lock(&checking) == 0);
        handled_on = NULL;
        raise(SIGVTALRM);
        CHECK("the alternate stack",
              (char *)handled_on >= (char *)alternate.ss_sp &&
                  (char *)handled_on < (char *)alternate.ss_sp + alternate.ss_size);
        int before = kicked;
        CHECK("pthread_kill", pthread_kill(t[0], SIGUSR2) == 0);
        for (int k = 0; k < 2000 && kicked == before; k++)
            usleep(1000);
        CHECK("a signal to a thread", kicked > before);
        break_a_pipe();
        run_programs();
        run_static();
        if (i % 10 == 1)
            run_many();
        int next = open("log", O_RDONLY);
        CHECK("the number of a pipe to a child", next >= 0 && next != fileno(lasting));
        close(next);
        sem_post(&begin);
        int one = i, all;
        MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        sum += all;
    }
    pthread_mutex_unlock(&checking);
    pthread_mutex_unlock(&recursive);
    int before = ticks;
    for (int k = 0; k < 2000 && ticks == before; k++)
        usleep(1000);
    CHECK("the timer", ticks > before);
    setitimer(ITIMER_REAL, &(struct itimerval){{0, 0}, {0, 0}}, NULL);
    sem_wait(&done);
    stop = 1;
    sem_post(&begin);
    pthread_join(t[0], NULL);
    pthread_join(t[1], NULL);

    /* what is in the files */
    char text[1 << 16] = "", want[1 << 16] = "";
    for (int i = 0; i < rounds; i++)
        sprintf(want + strlen(want), "%d first\n%d second\n", i, i);
    CHECK("the log", pread(log, text, sizeof text, 0) == (ssize_t)strlen(want) &&
                         !memcmp(text, want, strlen(want)));
    lseek(scratch, 0, SEEK_SET);
    for (int i = 0, v; i < rounds; i++)
        CHECK("the scratch file", read(scratch, &v, sizeof v) == sizeof v && v == i);
    rewind(temporary);
    for (int i = 0, v; i < rounds; i++)
        CHECK("tmpfile", fscanf(temporary, "%d", &v) == 1 && v == i);
    int entries = 0;
    while (readdir(dir))
        entries++;
    CHECK("the folder", entries == 3);
    long *again = malloc(2 * 65536);
    CHECK("the mapped file",
          pread(map_fd, again, 2 * 65536, 65536) == 2 * 65536 && !memcmp(again, mapped, 2 * 65536));
    for (int i = 0; i < rounds; i++)
        CHECK("the mapped file", again[i] == i + 1);
    fflush(stdout);
    int null = open("/dev/null", O_WRONLY);
    dup2(null, 1);
    printf("this goes nowhere\n");
    fflush(stdout);
    dup2(saved, 1);
    int all_bad;
    MPI_Allreduce(&bad, &all_bad, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("system: %d rounds, sum %ld, %d wrong\n", rounds, sum, all_bad);
    fflush(stdout);
    MPI_Finalize();
    return all_bad != 0;
}
