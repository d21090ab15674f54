/* harness_cases MODE: programs that misbehave, to prove that the harness notices.
 *   pass    PASS, as it should          wrong   another word in the marker
 *   hang    rank 1 stays away           silent  ends well without a marker
 *   linger  a rank outlives the launcher, after PASS
 *   place   every rank replaces a file: a place for KILL; survivors report who is left */
#include <base/io.h>
#include <mpi.h>
#include <mpi-ext.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void mark(const char *word)
{
    FILE *marker = fopen(getenv("MEND_TEST_MARKER"), "w");
    if (!marker || fprintf(marker, "%s\n", word) < 0 || fclose(marker))
        MPI_Abort(MPI_COMM_WORLD, 5);
}

__attribute__((noinline)) static void wait_for_nobody(void)
{
    for (;;)
        pause();
}

__attribute__((noinline)) static void wait_in_barrier(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    puts("left the barrier"); /* and so this is no tail call: the name stays on the stack */
}

static void linger(void)
{
    if (fork())
        return;
    setsid();
    closefrom(0); /* or the launcher would wait for the end of our output */
    wait_for_nobody();
}

/* Write a file each; whoever dies there is missed by the others. */
static void at_a_place(int rank)
{
    char path[512], word[64];
    int size, old_size;
    snprintf(path, sizeof path, "%s/file%d", getenv("MEND_TEST_DIR"), rank);
    mend_io_replace_file(path, "content", 7);
    while (MPI_Barrier(MPI_COMM_WORLD) == MPI_SUCCESS)
        usleep(1000);
    MPI_Comm survivors;
    MPIX_Comm_revoke(MPI_COMM_WORLD);
    MPIX_Comm_shrink(MPI_COMM_WORLD, &survivors);
    MPI_Comm_size(survivors, &size);
    MPI_Comm_size(MPI_COMM_WORLD, &old_size);
    int rank_sum = 0;
    MPI_Allreduce(&rank, &rank_sum, 1, MPI_INT, MPI_SUM, survivors);
    int missing = old_size * (old_size - 1) / 2 - rank_sum;
    snprintf(word, sizeof word, size == old_size - 1 && missing == 2 ? "PASS" : "lost %d", missing);
    if (rank == 0)
        mark(word);
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "pass";
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (strcmp(mode, "hang") == 0) {
        if (rank == 1)
            wait_for_nobody();
        wait_in_barrier();
    } else if (strcmp(mode, "place") == 0) {
        at_a_place(rank);
    } else if (strcmp(mode, "silent") != 0 && rank == 0) {
        mark(strcmp(mode, "wrong") == 0 ? "the sum is 41" : "PASS");
        if (strcmp(mode, "linger") == 0)
            linger();
    }
    MPI_Finalize();
    return 0;
}
