/* Every rank has a thread that drives MPI, so that news of a failure may be taken in by it while the
 * main thread is on its way into a blocking call (process_late_waits.c holds it up there). Then
 * nobody wakes the main thread, unless the layer does: see src/process/nudge.c. */
#include "process_test.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

enum { ROUNDS = 40, FATAL_ROUND = 20, VICTIM = 1 };

static atomic_bool over;

static void *drive(void *arg)
{
    (void)arg;
    while (!atomic_load(&over)) {
        int flag;
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
        usleep(100);
    }
    return NULL;
}

/* Numbers go around the ring. */
static int body(mend_process *process, const mend_repair *now, void *arg)
{
    int next = (now->rank + 1) % now->size, before = (now->rank + now->size - 1) % now->size;
    long mine = now->rank, other = 0, expected = now->rank;
    (void)process;
    (void)arg;
    for (int round = 0; round < ROUNDS; round++) {
        if (now->generation == 0 && now->rank == VICTIM && round == FATAL_ROUND) {
            test_file("dead", "x");
            test_die();
        }
        MPI_Sendrecv(&mine, 1, MPI_LONG, next, 1, &other, 1, MPI_LONG, before, 1, now->comm,
                     MPI_STATUS_IGNORE);
        mine = other;
        expected = (expected + now->size - 1) % now->size;
        EXPECT(mine == expected);
    }
    EXPECT(now->generation > 0);
    return now->rank == 0;
}

int main(int argc, char **argv)
{
    int level = MPI_THREAD_SINGLE, first = 0;
    pthread_t thread;
    mend_process_options options = {.spares = test_spares()};
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    EXPECT(level == MPI_THREAD_MULTIPLE);
    EXPECT(pthread_create(&thread, NULL, drive, NULL) == 0);
    EXPECT(mend_process_run(MPI_COMM_WORLD, &options, body, NULL, &first) == 0);
    atomic_store(&over, true);
    pthread_join(thread, NULL);
    if (first)
        test_pass();
    MPI_Finalize();
    return 0;
}
