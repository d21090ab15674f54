/* timers.c - a POSIX timer that goes on after a restart. usage: timers STEPS */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static volatile long ticks, wrong;
static void tick(int sig, siginfo_t *info, void *context)
{
    (void)sig;
    (void)context;
    ticks++;
    wrong += info->si_value.sival_int != 4711;
}

int main(int argc, char **argv)
{
    int rank, steps = argc > 1 ? atoi(argv[1]) : 60;
    long sum = 0, late = 0, all;
    struct sigaction sa = {.sa_sigaction = tick, .sa_flags = SA_SIGINFO | SA_RESTART};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN + 3};
    struct itimerspec every = {{0, 3000000}, {0, 3000000}}, now;
    timer_t timer, idle;
    event.sigev_value.sival_int = 4711;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    sigaction(SIGRTMIN + 3, &sa, NULL);
    int bad = timer_create(CLOCK_MONOTONIC, &event, &timer) ||
              timer_create(CLOCK_REALTIME, NULL, &idle) || timer_settime(timer, 0, &every, NULL);
    for (int s = 0; s < steps; s++) {
        MPI_Allreduce(&(long){s}, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
        sum += all;
        if (s == steps - 10)
            late = ticks;
        for (int i = 0; i < 10; i++) /* a signal ends a sleep */
            usleep(1000);
    }
    bad |= timer_gettime(timer, &now) || now.it_interval.tv_nsec != 3000000 ||
           timer_gettime(idle, &now) || now.it_value.tv_nsec;
    bad |= timer_delete(timer) || timer_delete(idle) || !timer_delete(idle);
    int fine = !bad && !wrong && ticks > late + 3, everywhere;
    MPI_Allreduce(&fine, &everywhere, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (rank == 0)
        printf("timers: sum %ld, %s\n", sum, everywhere ? "they tick" : "they do NOT tick");
    MPI_Finalize();
    return 0;
}
