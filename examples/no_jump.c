/* no_jump: for programs that cannot leave functions by a jump. MPI calls return their errors; the
 * program returns to a place where it repairs the job and starts over.
 *
 *     mpirun --with-ft ulfm -n 5 example-no_jump
 */
#include <mend/process.h>

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

/* Returns an MPI error code, as careful programs do. */
static int work(const mend_repair *now, int *sum)
{
    for (int i = 0; i < 100; i++) {
        if (i == 50 && now->generation == 0 && now->rank == 0)
            kill(getpid(), SIGKILL);
        int code = MPI_Allreduce(&now->rank, sum, 1, MPI_INT, MPI_SUM, now->comm);
        if (code != MPI_SUCCESS)
            return code;
    }
    return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    mend_process *p;
    mend_process_options options = {.spares = 1}; /* MEND_RESUME_MANUAL */
    int rc = mend_process_open(MPI_COMM_WORLD, &options, &p), sum = 0;
    if (rc != 0) {
        fprintf(stderr, "%s\n", mend_error_text());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    const mend_repair *now = mend_process_state(p); /* always the current state */
    while (now->role != MEND_ROLE_RELEASED) {
        int code = work(now, &sum);
        if (code == MPI_SUCCESS) {
            int rank = now->rank, size = now->size, generation = now->generation;
            rc = mend_process_close(p);
            if (rc == MEND_ERR_PEER_FAILED)
                continue; /* a process died before all had finished: once more */
            if (rank == 0)
                printf("sum of the ranks of %d: %d after %d failures\n", size, sum, generation);
            p = NULL;
            break;
        }
        if (!mend_process_is_failure(code) || (rc = mend_process_repair(p)) != 0) {
            fprintf(stderr, "cannot continue: %s\n", mend_error_text());
            break;
        }
    }
    if (p)
        mend_process_close(p);
    fflush(stdout);
    MPI_Finalize();
    return rc != 0;
}
