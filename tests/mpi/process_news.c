/* Two ranks die one after the other, the second one when the first death is being repaired already, and several threads
 * may call MPI. Nobody may enter the shrink before it knows both deaths: news that comes inside crashes Open MPI now and
 * then. process_news_known.c writes down what each process knows there. */
#include "process_test.h"

enum { FIRST = 1, SECOND = 2, LATE = 3, ALIVE = 4 };

static int lines_of(const char *start)
{
    char path[4200], line[64];
    int count = 0;
    snprintf(path, sizeof path, "%s/known", getenv("MEND_TEST_DIR"));
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file))
        count += strncmp(line, start, strlen(start)) == 0;
    if (file)
        fclose(file);
    return count;
}

static void await_file(const char *name)
{
    while (!test_file_exists(name))
        usleep(1000);
}

static int body(mend_process *process, const mend_repair *now, void *arg)
{
    (void)process;
    (void)arg;
    if (now->generation == 0) {
        int pids[8], pid = getpid();
        MPI_Allgather(&pid, 1, MPI_INT, pids, 1, MPI_INT, now->comm);
        char past[16];
        snprintf(past, sizeof past, "past%d", now->rank);
        test_file(past, "x");
        if (now->rank == FIRST) {
            for (int k = 0; k < now->size; k++) { /* a death in the gather would be another test */
                snprintf(past, sizeof past, "past%d", k);
                await_file(past);
            }
            test_file("dead", "x");
            test_die();
        }
        if (now->rank == SECOND) {
            await_file("revoked"); /* see process_news_known.c */
            test_die();
        }
        if (now->rank == LATE)
            while (kill(pids[SECOND], 0) == 0)
                usleep(1000);
    }
    MPI_Barrier(now->comm);
    EXPECT(now->generation > 0);
    return now->rank == 0;
}

int main(int argc, char **argv)
{
    int level = MPI_THREAD_SINGLE, first = 0;
    mend_process_options options = {.spares = test_spares()};
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    EXPECT(level == MPI_THREAD_MULTIPLE);
    EXPECT(mend_process_run(MPI_COMM_WORLD, &options, body, NULL, &first) == 0);
    if (first) {
        EXPECT(lines_of("repair ") == ALIVE);
        EXPECT(lines_of("repair 2") == ALIVE);
        test_pass();
    }
    MPI_Finalize();
    return 0;
}
