/* lives.c - threads that begin, end, are cancelled, take signals and start programs, beside a main thread that calls MPI.
 *
 *   lives HOW [rounds|FILE]    (see until.h)
 *
 * ends      threads that return, exit, are detached, are cancelled while they sleep; and one that waits all the time, and is
 *           cancelled in the end
 * signals   timers and other threads interrupt all of them; the handlers call nothing
 * children  a thread starts a program, again and again
 */
#include "../../fault/apps/until.h"

#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int over, wrong;
static char words[2];
static volatile long taken;
static pthread_mutex_t never = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t comes = PTHREAD_COND_INITIALIZER;
extern char **environ;

static void unlock(void *mutex)
{
    pthread_mutex_unlock(mutex);
}
static void *wait_for_ever(void *unused)
{
    pthread_mutex_lock(&never);
    pthread_cleanup_push(unlock, &never);
    while (1)
        pthread_cond_wait(&comes, &never);
    pthread_cleanup_pop(1);
    return unused;
}
static void *sleep_for_ever(void *unused)
{
    while (1)
        sleep(1);
    return unused;
}
static void *give_back(void *word)
{
    return word;
}
static void *exit_with(void *word)
{
    free(malloc(5000));
    pthread_exit(word);
}
static void *ends(void *unused)
{
    while (!over) {
        pthread_t sleeps, returns, exits, alone;
        void *result[3] = {NULL};
        if (pthread_create(&sleeps, NULL, sleep_for_ever, NULL) ||
            pthread_create(&returns, NULL, give_back, &words[0]) ||
            pthread_create(&exits, NULL, exit_with, &words[1]) ||
            pthread_create(&alone, NULL, give_back, NULL) || pthread_detach(alone))
            abort();
        pthread_join(returns, &result[0]);
        pthread_join(exits, &result[1]);
        pthread_cancel(sleeps);
        pthread_join(sleeps, &result[2]);
        if (result[0] != &words[0] || result[1] != &words[1] || result[2] != PTHREAD_CANCELED)
            wrong = 1;
    }
    return unused;
}

static void take(int sig)
{
    (void)sig;
    taken++;
}
static void *sends(void *to)
{
    while (!over) {
        pthread_kill(*(pthread_t *)to, SIGUSR2);
        usleep(500);
    }
    return NULL;
}

static void *children(void *unused)
{
    while (!over) {
        pid_t pid;
        int status = 0;
        char *command[] = {"true", NULL};
        if (posix_spawnp(&pid, "true", NULL, NULL, command, environ) == 0 &&
            waitpid(pid, &status, 0) == pid && status)
            wrong = 1;
        usleep(20000);
    }
    return unused;
}

int main(int argc, char **argv)
{
    int rank, size, provided;
    long sum = 1;
    const char *how = argc > 1 ? argv[1] : "ends";
    pthread_t id, waiter, self = pthread_self();
    void *result = NULL;
    struct until rounds = until(argc > 2 ? argv[2] : NULL, 1000);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    pthread_create(&waiter, NULL, wait_for_ever, NULL);
    if (!strcmp(how, "signals")) {
        struct itimerval often = {{0, 700}, {0, 700}};
        struct sigaction a = {.sa_handler = take, .sa_flags = SA_RESTART};
        sigaction(SIGUSR2, &a, NULL);
        sigaction(SIGALRM, &a, NULL);
        setitimer(ITIMER_REAL, &often, NULL);
        pthread_create(&id, NULL, sends, &self);
    } else {
        pthread_create(&id, NULL, !strcmp(how, "children") ? children : ends, NULL);
    }
    for (int r = 0; until_more(&rounds, r); r++) {
        long in = 0, out = (sum + rank) % 1000000007;
        MPI_Sendrecv(&out, 1, MPI_LONG, (rank + 1) % size, 0, &in, 1, MPI_LONG,
                     (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        sum = (sum * 31 + in) % 1000000007;
    }
    over = 1;
    pthread_join(id, NULL);
    pthread_cancel(waiter);
    pthread_join(waiter, &result);
    wrong |= result != PTHREAD_CANCELED;
    setitimer(ITIMER_REAL, &(struct itimerval){{0, 0}, {0, 0}}, NULL);
    long both[2] = {sum, wrong};
    MPI_Allreduce(MPI_IN_PLACE, both, 2, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("lives: %d rounds, %ld, %ld wrong\n", rounds.steps, both[0], both[1]);
    MPI_Finalize();
    return 0;
}
