/* ring: a token goes around and counts its steps; a rank dies with it. All ranks run the
 * interrupted lap again, from the last lap that every rank knows of.
 *
 *     mpirun --with-ft ulfm -n 5 example-ring
 */
#include <mend/process.h>

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

enum { LAPS = 10 };

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    static int lap, token; /* static: they keep their value when survivors jump */
    mend_process *p;
    mend_process_options options = {.spares = 1, .resume = MEND_RESUME_JUMP};
    if (mend_process_open(MPI_COMM_WORLD, &options, &p) != 0) {
        fprintf(stderr, "%s\n", mend_error_text());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    int rc = mend_process_resume_here(p);
    const mend_repair *now = mend_process_state(p);
    if (rc == 0 && now->role != MEND_ROLE_RELEASED) {
        /* Which lap? A recovered rank does not know; survivors may differ by one. After a complete
         * lap the token is lap * size, so the ranks need to agree only on the lap. */
        int known = now->role == MEND_ROLE_RECOVERED ? LAPS : lap;
        MPI_Allreduce(&known, &lap, 1, MPI_INT, MPI_MIN, now->comm);
        int left = (now->rank + now->size - 1) % now->size, right = (now->rank + 1) % now->size;
        for (; lap < LAPS; lap++) {
            if (lap == 5 && now->generation == 0 && now->rank == 2)
                kill(getpid(), SIGKILL);
            token = lap * now->size;
            if (now->rank > 0)
                MPI_Recv(&token, 1, MPI_INT, left, lap, now->comm, MPI_STATUS_IGNORE);
            token++;
            MPI_Send(&token, 1, MPI_INT, right, lap, now->comm);
            if (now->rank == 0)
                MPI_Recv(&token, 1, MPI_INT, left, lap, now->comm, MPI_STATUS_IGNORE);
        }
        if (now->rank == 0)
            printf("%d laps of %d ranks, token %d: %s\n", LAPS, now->size, token,
                   token == LAPS * now->size ? "right" : "WRONG");
        fflush(stdout);
    }
    mend_process_close(p);
    MPI_Finalize();
    return rc != 0;
}
