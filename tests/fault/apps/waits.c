/* waits main FIFO: rank 0 opens FIFO for writing and writes a lot to it, while rank 1 waits for its message.
 * waits STEPS KIND…: every rank has a thread for each KIND that waits in a call of the kernel all the time, until the
 * main thread has done its steps and lets it go on. What each call returned is printed: the same as without Mend,
 * whatever checkpoints and deaths came while it waited. "all" for KIND: all kinds.
 *
 * A kind is a function that waits and one that ends the wait. Both get a number of their own, for names of files. */
#define _GNU_SOURCE
#include "until.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <mpi.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

enum { MUCH = 300000 }; /* more than a pipe or a socket holds */
static int me;

struct wait {
    const char *name;
    long (*begin)(struct wait *w);
    void (*end)(struct wait *w);
    void (*prepare)(struct wait *w);
    pthread_t thread;
    char path[64];
    int fd[2];
    volatile int going;
    volatile int word;
    long result;
    int error;
};

/* --- open() of a named pipe, whose other end nobody has --- */
static void make_fifo(struct wait *w)
{
    snprintf(w->path, sizeof w->path, "fifo.%s.%d", w->name, me);
    unlink(w->path);
    if (mkfifo(w->path, 0600))
        MPI_Abort(MPI_COMM_WORLD, 3);
}
static long from(int fd)
{
    char got[8] = "";
    long n = fd < 0 ? -1 : read(fd, got, sizeof got);
    if (fd >= 0)
        close(fd);
    return n == 2 && memcmp(got, "go", 2) == 0 ? 2 : -2;
}
static long to(int fd)
{
    long n = fd < 0 ? -1 : write(fd, "go", 2);
    if (fd >= 0)
        close(fd);
    return n;
}
static void write_to_it(struct wait *w)
{
    to(open(w->path, O_WRONLY));
    unlink(w->path);
}
static void read_from_it(struct wait *w)
{
    w->word = from(open(w->path, O_RDONLY)) == 2;
    unlink(w->path);
}
static long open_read(struct wait *w)
{
    return from(open(w->path, O_RDONLY));
}
static long open_write(struct wait *w)
{
    return to(open(w->path, O_WRONLY));
}
static long open_create(struct wait *w)
{
    return to(open(w->path, O_WRONLY | O_CREAT | O_TRUNC, 0600));
}
static long open_raw(struct wait *w)
{
    return to((int)syscall(SYS_openat, AT_FDCWD, w->path, O_WRONLY | O_CREAT | O_TRUNC, 0600));
}
/* It gives up after a while, as programs do that ask for a limit of time. */
static sigjmp_buf given_up;
static void give_up(int sig)
{
    (void)sig;
    siglongjmp(given_up, 1);
}
static long open_gives_up(struct wait *w)
{
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, SIGURG);
    signal(SIGURG, give_up);
    if (sigsetjmp(given_up, 1) == 0) {
        pthread_sigmask(SIG_UNBLOCK, &one, NULL);
        w->going = 2;
        open(w->path, O_RDONLY);
        return -1;
    }
    while (!w->word)
        usleep(1000);
    return 0;
}
static void word_set_open(struct wait *w)
{
    w->word = 1;
    unlink(w->path);
}
static long stream_read(struct wait *w)
{
    char got[8] = "";
    FILE *f = fopen(w->path, "r");
    long n = f && fgets(got, sizeof got, f) ? (long)strlen(got) : -1;
    if (f)
        fclose(f);
    return n;
}
static long stream_write(struct wait *w)
{
    FILE *f = fopen(w->path, "w");
    long n = f ? fputs("go", f) >= 0 : -1;
    return f && fclose(f) == 0 ? n : -1;
}
static long stream_again(struct wait *w)
{
    char got[8] = "";
    FILE *f = fopen("/dev/null", "r");
    f = f ? freopen(w->path, "r", f) : NULL;
    long n = f && fgets(got, sizeof got, f) ? (long)strlen(got) : -1;
    if (f)
        fclose(f);
    return n;
}

/* --- reading from an empty pipe, writing to a full one --- */
static char much[MUCH];
static void make_pipe(struct wait *w)
{
    if (pipe(w->fd))
        MPI_Abort(MPI_COMM_WORLD, 3);
}
static void make_pair(struct wait *w)
{
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, w->fd))
        MPI_Abort(MPI_COMM_WORLD, 3);
}
static long read_pipe(struct wait *w)
{
    char got[8];
    return read(w->fd[0], got, sizeof got);
}
static void write_a_word(struct wait *w)
{
    (void)!write(w->fd[1], "go", 2);
}
static long write_pipe(struct wait *w)
{
    return write(w->fd[1], much, sizeof much);
}
static long write_pipe_parts(struct wait *w)
{
    struct iovec part[3] = {{much, 1000}, {much, MUCH / 2}, {much, MUCH / 2}};
    return writev(w->fd[1], part, 3);
}
static void read_it_all(struct wait *w)
{
    char piece[4096];
    long rest = strcmp(w->name, "write_pipe_parts") == 0 ? 1000 + MUCH / 2 * 2 : MUCH;
    while (rest > 0) {
        long n = read(w->fd[0], piece, sizeof piece);
        if (n <= 0)
            break;
        rest -= n;
    }
}
static long stream_pipe(struct wait *w)
{
    FILE *f = fdopen(w->fd[1], "w");
    long n = (long)fwrite(much, 1, sizeof much, f);
    return fclose(f) ? -1 : n;
}

/* --- locks --- */
static void make_file(struct wait *w)
{
    snprintf(w->path, sizeof w->path, "lock.%s.%d", w->name, me);
    w->fd[0] = open(w->path, O_RDWR | O_CREAT, 0600);
    flock(w->fd[0], LOCK_EX);
}
static long lock_file(struct wait *w)
{
    int fd = open(w->path, O_RDWR);
    long r = flock(fd, LOCK_EX);
    close(fd);
    return r;
}
static void unlock_file(struct wait *w)
{
    flock(w->fd[0], LOCK_UN);
}
static void make_lock(struct wait *w)
{
    struct flock all = {.l_type = F_WRLCK};
    snprintf(w->path, sizeof w->path, "lock.%s.%d", w->name, me);
    w->fd[0] = open(w->path, O_RDWR | O_CREAT, 0600);
    fcntl(w->fd[0], F_OFD_SETLK, &all);
}
static long lock_range(struct wait *w)
{
    struct flock all = {.l_type = F_WRLCK};
    int fd = open(w->path, O_RDWR);
    long r = fcntl(fd, F_OFD_SETLKW, &all);
    close(fd);
    return r;
}
static void unlock_range(struct wait *w)
{
    struct flock all = {.l_type = F_UNLCK};
    fcntl(w->fd[0], F_OFD_SETLK, &all);
}

/* --- queues, semaphores, futexes --- */
static void make_queue(struct wait *w)
{
    w->fd[0] = msgget(IPC_PRIVATE, 0600);
}
struct message {
    long type;
    char text[8];
};
static long queue_read(struct wait *w)
{
    struct message m;
    return msgrcv(w->fd[0], &m, sizeof m.text, 0, 0);
}
static void queue_write(struct wait *w)
{
    struct message m = {1, "go"};
    msgsnd(w->fd[0], &m, 2, 0);
}
static void queue_gone(struct wait *w)
{
    msgctl(w->fd[0], IPC_RMID, NULL);
}
static void make_semaphore(struct wait *w)
{
    w->fd[0] = semget(IPC_PRIVATE, 1, 0600);
}
static long semaphore_down(struct wait *w)
{
    struct sembuf one = {0, -1, 0};
    return semop(w->fd[0], &one, 1);
}
static void semaphore_gone(struct wait *w)
{
    struct sembuf one = {0, 1, 0};
    semop(w->fd[0], &one, 1);
    pthread_join(w->thread, NULL);
    w->thread = 0;
    semctl(w->fd[0], 0, IPC_RMID);
}
static long word_wait(struct wait *w)
{
    while (syscall(SYS_futex, &w->word, FUTEX_WAIT, 0, NULL, NULL, 0) < 0 && errno != EAGAIN)
        if (errno == EINTR)
            return -1;
    return w->word;
}
static void word_wake(struct wait *w)
{
    w->word = 1;
    syscall(SYS_futex, &w->word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* --- several files, signals, children, time --- */
static long many_select(struct wait *w)
{
    fd_set in;
    FD_ZERO(&in);
    FD_SET(w->fd[0], &in);
    return pselect(w->fd[0] + 1, &in, NULL, NULL, NULL, NULL);
}
static long many_epoll(struct wait *w)
{
    struct epoll_event e = {.events = EPOLLIN}, got;
    sigset_t none;
    sigemptyset(&none);
    int fd = epoll_create1(EPOLL_CLOEXEC);
    epoll_ctl(fd, EPOLL_CTL_ADD, w->fd[0], &e);
    long n = epoll_pwait(fd, &got, 1, -1, &none);
    close(fd);
    return n;
}
static long signal_wait(struct wait *w)
{
    sigset_t one;
    int sig = 0;
    (void)w;
    sigemptyset(&one);
    sigaddset(&one, SIGUSR2);
    return sigwait(&one, &sig) == 0 ? sig : -1;
}
static void signal_send(struct wait *w)
{
    pthread_kill(w->thread, SIGUSR2);
}
static long signal_any(struct wait *w) /* as a thread does that handles all signals */
{
    sigset_t all;
    int sig = 0;
    (void)w;
    sigfillset(&all);
    return sigwait(&all, &sig) == 0 ? sig : -1;
}
static long signal_file(struct wait *w)
{
    sigset_t all;
    struct signalfd_siginfo got;
    (void)w;
    sigfillset(&all);
    int fd = signalfd(-1, &all, 0);
    long n = read(fd, &got, sizeof got);
    close(fd);
    return n == sizeof got ? (long)got.ssi_signo : -1;
}
static long many_masked(struct wait *w)
{
    struct pollfd p = {w->fd[0], POLLIN, 0};
    sigset_t all;
    sigfillset(&all);
    return ppoll(&p, 1, NULL, &all);
}
static long signal_timed(struct wait *w)
{
    sigset_t one;
    struct timespec long_time = {3600, 0};
    (void)w;
    sigemptyset(&one);
    sigaddset(&one, SIGUSR1);
    return sigtimedwait(&one, NULL, &long_time);
}
static void signal_send_timed(struct wait *w)
{
    pthread_kill(w->thread, SIGUSR1);
}
static long sleep_short(struct wait *w) /* again and again: no sleep may end early */
{
    long early = 0;
    while (!w->word) {
        struct timespec then, now, t = {0, 200000000};
        clock_gettime(CLOCK_MONOTONIC, &then);
        if (thrd_sleep(&t, NULL))
            early++;
        clock_gettime(CLOCK_MONOTONIC, &now);
        early +=
            (double)(now.tv_sec - then.tv_sec) + 1e-9 * (double)(now.tv_nsec - then.tv_nsec) < 0.2;
    }
    return early;
}
static void word_set(struct wait *w)
{
    w->word = 1;
}

/* --- sockets --- */
static void make_listener(struct wait *w)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "waits-%s-%d-%d", w->name, me,
             (int)getpid());
    memcpy(w->path, name.sun_path, sizeof w->path);
    w->fd[0] = socket(AF_UNIX, SOCK_STREAM, 0);
    if (bind(w->fd[0], (struct sockaddr *)&name, sizeof name) || listen(w->fd[0], 4))
        MPI_Abort(MPI_COMM_WORLD, 3);
}
static long socket_accept(struct wait *w)
{
    int fd = accept(w->fd[0], NULL, NULL);
    long n = fd < 0 ? -1 : 0;
    if (fd >= 0)
        close(fd);
    return n;
}
static void socket_connect(struct wait *w)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    memcpy(name.sun_path, w->path, sizeof w->path);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (connect(fd, (struct sockaddr *)&name, sizeof name))
        perror("connect");
    close(fd);
}

static struct wait waits[] = {
    {.name = "open_read", .begin = open_read, .end = write_to_it, .prepare = make_fifo},
    {.name = "open_write", .begin = open_write, .end = read_from_it, .prepare = make_fifo},
    {.name = "open_create", .begin = open_create, .end = read_from_it, .prepare = make_fifo},
    {.name = "open_raw", .begin = open_raw, .end = read_from_it, .prepare = make_fifo},
    {.name = "open_gives_up", .begin = open_gives_up, .end = word_set_open, .prepare = make_fifo},
    {.name = "stream_read", .begin = stream_read, .end = write_to_it, .prepare = make_fifo},
    {.name = "stream_write", .begin = stream_write, .end = read_from_it, .prepare = make_fifo},
    {.name = "stream_again", .begin = stream_again, .end = write_to_it, .prepare = make_fifo},
    {.name = "read_pipe", .begin = read_pipe, .end = write_a_word, .prepare = make_pipe},
    {.name = "write_pipe", .begin = write_pipe, .end = read_it_all, .prepare = make_pipe},
    {.name = "write_pipe_parts",
     .begin = write_pipe_parts,
     .end = read_it_all,
     .prepare = make_pipe},
    {.name = "stream_pipe", .begin = stream_pipe, .end = read_it_all, .prepare = make_pipe},
    {.name = "write_socket", .begin = write_pipe, .end = read_it_all, .prepare = make_pair},
    {.name = "lock_file", .begin = lock_file, .end = unlock_file, .prepare = make_file},
    {.name = "lock_range", .begin = lock_range, .end = unlock_range, .prepare = make_lock},
    {.name = "queue_read", .begin = queue_read, .end = queue_write, .prepare = make_queue},
    {.name = "semaphore_down",
     .begin = semaphore_down,
     .end = semaphore_gone,
     .prepare = make_semaphore},
    {.name = "word_wait", .begin = word_wait, .end = word_wake},
    {.name = "many_select", .begin = many_select, .end = write_a_word, .prepare = make_pipe},
    {.name = "many_epoll", .begin = many_epoll, .end = write_a_word, .prepare = make_pipe},
    {.name = "signal_wait", .begin = signal_wait, .end = signal_send},
    {.name = "signal_any", .begin = signal_any, .end = signal_send},
    {.name = "signal_file", .begin = signal_file, .end = signal_send},
    {.name = "many_masked", .begin = many_masked, .end = write_a_word, .prepare = make_pipe},
    {.name = "signal_timed", .begin = signal_timed, .end = signal_send_timed},
    {.name = "sleep_short", .begin = sleep_short, .end = word_set},
    {.name = "socket_accept",
     .begin = socket_accept,
     .end = socket_connect,
     .prepare = make_listener},
};
enum { WAITS = sizeof waits / sizeof *waits };

static void *thread_main(void *p)
{
    struct wait *w = p;
    w->going = 1;
    errno = 0;
    w->result = w->begin(w);
    w->error = errno;
    return NULL;
}

/* No thread: whoever waits is the one that MPI knows. */
static int main_waits(const char *fifo)
{
    long n = 0;
    for (int s = 0; s < 10; s++)
        MPI_Barrier(MPI_COMM_WORLD);
    if (me == 0) {
        int fd = open(fifo, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        n = write(fd, much, sizeof much);
        if (close(fd))
            n = -1;
    }
    if (me == 0) /* no collective call: in one that has begun, a checkpoint waits for all ranks */
        MPI_Send(&n, 1, MPI_LONG, 1, 0, MPI_COMM_WORLD);
    else
        MPI_Recv(&n, 1, MPI_LONG, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    printf("rank %d: %ld bytes\n", me, n);
    MPI_Finalize();
    return 0;
}

static int chosen(const struct wait *w, char **names)
{
    for (; *names; names++)
        if (strcmp(*names, w->name) == 0 || strcmp(*names, "all") == 0)
            return 1;
    return 0;
}

int main(int argc, char **argv)
{
    int provided;
    double sum = 0;
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGUSR1);
    sigaddset(&signals, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    if (argc < 3)
        MPI_Abort(MPI_COMM_WORLD, 2);
    if (strcmp(argv[1], "main") == 0)
        return main_waits(argv[2]);
    for (int i = 0; i < WAITS; i++)
        if (chosen(&waits[i], argv + 2)) {
            if (waits[i].prepare)
                waits[i].prepare(&waits[i]);
            pthread_create(&waits[i].thread, NULL, thread_main, &waits[i]);
            while (!waits[i].going)
                usleep(1000);
            if (waits[i].begin == open_gives_up) {
                while (waits[i].going < 2)
                    usleep(1000);
                usleep(100000);
                pthread_kill(waits[i].thread, SIGURG);
            }
        }
    struct until u = until(argv[1], 100);
    for (int s = 0; until_more(&u, s); s++) {
        double mine = me + s, all;
        MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        sum += all;
        usleep(2000);
    }
    for (int i = 0; i < WAITS; i++)
        if (chosen(&waits[i], argv + 2)) {
            struct wait *w = &waits[i];
            w->end(w);
            if (w->thread)
                pthread_join(w->thread, NULL);
            if (w->begin == queue_read)
                queue_gone(w);
            printf("rank %d: %s: %ld, error %d\n", me, w->name, w->result,
                   w->result < 0 ? w->error : 0);
        }
    if (me == 0)
        printf("waits: %d steps, %.0f\n", u.steps, sum);
    MPI_Finalize();
    return 0;
}
