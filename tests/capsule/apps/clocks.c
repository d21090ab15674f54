/* clocks.c - asks for the time, and handles signals, as often as it can: whatever moment a checkpoint
 * finds, it is likely one at the border of the halves. usage: clocks SECONDS */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

static volatile long alarms;
static void on_alarm(int sig)
{
    (void)sig;
    alarms++;
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? atof(argv[1]) : 1, spent = 0, least;
    struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
    struct itimerval often = {{0, 300}, {0, 300}}, never = {{0, 0}, {0, 0}};
    struct timespec t;
    struct timeval v;
    int rank, wrong = 0, all_wrong;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    for (double last = MPI_Wtime(), now; spent < seconds; last = now) {
        for (int i = 0; i < 200; i++) {
            clock_gettime(CLOCK_REALTIME, &t);
            gettimeofday(&v, NULL);
            wrong += v.tv_sec < t.tv_sec || v.tv_sec > t.tv_sec + 60;
        }
        now = MPI_Wtime();
        wrong += now < last;
        spent += now - last;
    }
    setitimer(ITIMER_REAL, &never, NULL);
    wrong += alarms == 0;
    MPI_Reduce(&spent, &least, 1, MPI_DOUBLE, MPI_MIN, 0, MPI_COMM_WORLD);
    MPI_Reduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("clocks: %s\n", all_wrong || least < seconds ? "WRONG" : "they go on");
    MPI_Finalize();
    return 0;
}
