/* A waiting spare costs less than one percent of a core: its CPU time against the time that it
 * waited, while the active ranks compute and talk. */
#include "process_test.h"

#include <time.h>

static double clock_now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
    const double seconds = 6;
    MPI_Init(&argc, &argv);
    mend_process *p;
    mend_process_options options = {.spares = test_spares(), .spares_return = 1};
    EXPECT(mend_process_open(MPI_COMM_WORLD, &options, &p) == 0);
    const mend_repair *now = mend_process_state(p);
    if (now->role == MEND_ROLE_SPARE) {
        double cpu = clock_now(CLOCK_PROCESS_CPUTIME_ID), wall = clock_now(CLOCK_MONOTONIC);
        EXPECT(mend_process_wait(p) == 0 && now->role == MEND_ROLE_RELEASED);
        cpu = clock_now(CLOCK_PROCESS_CPUTIME_ID) - cpu;
        wall = clock_now(CLOCK_MONOTONIC) - wall;
        printf("a spare used %.3f %% of a core in %.1f s\n", 100 * cpu / wall, wall);
        fflush(stdout);
        EXPECT(wall > seconds / 2 && cpu / wall < 0.01);
        test_file("thrifty", "x");
        EXPECT(mend_process_close(p) == 0);
    } else {
        int more = 1, rank = now->rank;
        for (double end = clock_now(CLOCK_MONOTONIC) + seconds; more;) {
            more = clock_now(CLOCK_MONOTONIC) < end;
            MPI_Bcast(&more, 1, MPI_INT, 0, now->comm);
            usleep(1000);
        }
        EXPECT(mend_process_close(p) == 0);
        for (int i = 0; rank == 0 && i < 6000; i++) { /* every spare has said so */
            char path[4096];
            struct stat st;
            snprintf(path, sizeof path, "%s/thrifty", getenv("MEND_TEST_DIR"));
            if (stat(path, &st) == 0 && st.st_size == options.spares) {
                test_pass();
                break;
            }
            usleep(10000);
        }
    }
    MPI_Finalize();
    return 0;
}
