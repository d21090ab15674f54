/* mainless CASE [STEPS|FILE] (see until.h): main() ends by pthread_exit(), and other threads go on. The last of them ends the
 * program, with 0.
 *   early    before MPI_Init, which a thread of its own calls
 *   late     in the middle of the job, which has MPI_THREAD_MULTIPLE and two threads that talk
 *   serial   the same with MPI_THREAD_SERIALIZED, and one thread that talks while the other computes */
#include "until.h"

#include <mpi.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

static struct until u;
static int early, several;
static pthread_key_t key;

static void main_ends(void *text)
{
    if (text)
        printf("%s\n", (char *)text);
    fflush(stdout);
}

static void *computes(void *arg)
{
    volatile double *x = arg;
    for (int i = 0; i < 200; i++) {
        for (int k = 0; k < 10000; k++)
            *x += 1.0 / (k + 1 + i);
        usleep(1000);
    }
    return NULL;
}

static void *second(void *comm)
{
    double mine = 1, all = 0, sum = 0;
    for (int s = 0; s < 500; s++) {
        MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, *(MPI_Comm *)comm);
        sum += all;
        usleep(1000);
    }
    MPI_Barrier(*(MPI_Comm *)comm);
    return NULL;
}

static void *first(void *arg)
{
    static double x;
    double sum = 0;
    int provided, me;
    pthread_t other;
    MPI_Comm comm = MPI_COMM_NULL;
    if (early)
        MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    (void)arg;
    if (several)
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    pthread_create(&other, NULL, several ? second : computes, several ? (void *)&comm : (void *)&x);
    for (int s = 0; until_more(&u, s); s++) {
        double mine = me + s, all;
        MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        sum += all;
        usleep(2000);
    }
    pthread_join(other, NULL);
    if (several)
        MPI_Comm_free(&comm);
    if (me == 0)
        printf("mainless: %d steps, %.0f\n", u.steps, sum);
    MPI_Finalize();
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    int provided, me = 0;
    if (argc < 3)
        return 2;
    early = strcmp(argv[1], "early") == 0;
    several = strcmp(argv[1], "late") == 0;
    u = until(argv[2], 100);
    if (!early) {
        MPI_Init_thread(&argc, &argv, several ? MPI_THREAD_MULTIPLE : MPI_THREAD_SERIALIZED,
                        &provided);
        MPI_Comm_rank(MPI_COMM_WORLD, &me);
    }
    pthread_key_create(&key, main_ends);
    pthread_setspecific(key, me == 0 && !early ? "main() has ended" : NULL);
    pthread_create(&thread, NULL, first, NULL);
    pthread_detach(thread);
    pthread_exit(NULL);
}
