/* hello: a rank dies, a spare takes its place, everybody says hello.
 *
 *     mpirun --with-ft ulfm -n 5 example-hello        # 4 ranks and 1 spare
 */
#include <mend/process.h>

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    mend_process *p;
    mend_process_options options = {.spares = 1, .resume = MEND_RESUME_JUMP};
    if (mend_process_open(MPI_COMM_WORLD, &options, &p) != 0) {
        fprintf(stderr, "%s\n", mend_error_text());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    int rc = mend_process_resume_here(p); /* survivors come back to this line */
    const mend_repair *now = mend_process_state(p);
    if (rc == 0 && now->role != MEND_ROLE_RELEASED) {
        if (now->generation == 0 && now->rank == 1)
            kill(getpid(), SIGKILL); /* no warning, no clean-up: like a crash */
        MPI_Barrier(now->comm);
        static const char *const roles[] = {"initial", "recovered", "survivor"};
        printf("hello from rank %d of %d: %s, generation %d, %d failed\n", now->rank, now->size,
               roles[now->role], now->generation, now->n_failed);
        fflush(stdout);
    }
    mend_process_close(p);
    MPI_Finalize();
    return rc != 0;
}
