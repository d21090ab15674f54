/* harness_shrink DEATHS [SECONDS]: allreduce in a loop; whenever a rank dies, shrink and go on.
 * After DEATHS ranks have died, and some more rounds with right sums, the new rank 0 writes PASS.
 * Gives up after SECONDS. */
#include <mpi.h>
#include <mpi-ext.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int fail(const char *what)
{
    fprintf(stderr, "harness_shrink: %s\n", what);
    return 1;
}

static MPI_Comm shrink(MPI_Comm world)
{
    MPI_Comm smaller;
    MPIX_Comm_revoke(world);
    if (MPIX_Comm_shrink(world, &smaller) != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 3);
    MPI_Comm_set_errhandler(smaller, MPI_ERRORS_RETURN);
    return smaller;
}

/* One round; 1 = more to do, 0 = all have done enough, negative = the communicator is broken. */
static int round_of(MPI_Comm world, int still, int *sum_is_right)
{
    int size, in[2] = {1, still}, out[2];
    MPI_Comm_size(world, &size);
    if (MPI_Allreduce(in, out, 2, MPI_INT, MPI_SUM, world) != MPI_SUCCESS)
        return -1;
    *sum_is_right = *sum_is_right && out[0] == size;
    return out[1] > 0;
}

static int say_ready(const char *folder)
{
    char path[512];
    snprintf(path, sizeof path, "%s/ready", folder);
    FILE *f = fopen(path, "w");
    return f ? fclose(f) : -1;
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return fail("how many deaths?");
    signal(SIGPIPE, SIG_IGN);
    MPI_Init(&argc, &argv);
    int expected = atoi(argv[1]), first_size, size, rank, sum_is_right = 1, rounds_after = 0, more;
    double end = MPI_Wtime() + (argc > 2 ? atof(argv[2]) : 60);
    MPI_Comm world;
    MPI_Comm_dup(MPI_COMM_WORLD, &world);
    MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
    MPI_Comm_size(world, &first_size);
    for (int i = 0;; i++) {
        MPI_Comm_size(world, &size);
        MPI_Comm_rank(world, &rank);
        int still = first_size - size < expected || rounds_after < 20;
        if (MPI_Wtime() > end && still)
            MPI_Abort(MPI_COMM_WORLD, 4);
        more = round_of(world, still, &sum_is_right);
        if (more == 0)
            break;
        if (more < 0) {
            world = shrink(world);
            continue;
        }
        rounds_after += first_size - size >= expected;
        if (i == 5 && rank == 0 && say_ready(getenv("MEND_TEST_DIR")))
            return fail("cannot write");
        usleep(10000);
    }
    if (!sum_is_right)
        return fail("a sum was wrong");
    if (rank == 0) {
        FILE *marker = fopen(getenv("MEND_TEST_MARKER"), "w");
        if (!marker)
            return fail("cannot write the marker");
        fprintf(marker, first_size - size == expected ? "PASS\n" : "%d of %d left\n", size,
                first_size);
        fclose(marker);
    }
    MPI_Barrier(world);
    _exit(0); /* MPI_Finalize needs the launcher's daemons, one of which may be gone */
}
