/* stencil: heat in one dimension with in-place recovery. Every 50 steps each rank sends a copy of its
 * cells to its right neighbour; a recovered rank gets them back from there, and all ranks return to
 * that step. (The store layer does this better: mend/store.h. This shows what the process layer
 * needs.)
 *
 *     mpirun --with-ft ulfm -n 6 example-stencil      # 4 ranks and 2 spares; two ranks die
 */
#include <mend/process.h>

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { CELLS = 1000, STEPS = 400, KEEP_EVERY = 50 };

struct slab {
    int step; /* -1: nothing kept */
    double cell[CELLS + 2];
};
static struct slab work, mine, neighbours; /* mine and neighbours are the kept copies */

static void keep(const mend_repair *now)
{
    struct slab other;
    int left = (now->rank + now->size - 1) % now->size, right = (now->rank + 1) % now->size;
    MPI_Sendrecv(&work, sizeof work, MPI_BYTE, right, 1, &other, sizeof other, MPI_BYTE, left, 1,
                 now->comm, MPI_STATUS_IGNORE);
    MPI_Barrier(now->comm); /* all copies have arrived: only now replace the older ones */
    mine = work;
    neighbours = other;
}

/* Back to the step of the kept copies. A death between the two lines at the end of keep() leaves
 * ranks with different steps: then ranks with the newer one start over, which is still correct.
 */
static void go_back(const mend_repair *now)
{
    int left = (now->rank + now->size - 1) % now->size, right = (now->rank + 1) % now->size;
    struct slab again;
    MPI_Sendrecv(&neighbours, sizeof neighbours, MPI_BYTE, left, 2, &again, sizeof again, MPI_BYTE,
                 right, 2, now->comm, MPI_STATUS_IGNORE); /* what my neighbour kept for me */
    if (mine.step < 0)
        mine = again;
    int first, last;
    MPI_Allreduce(&mine.step, &first, 1, MPI_INT, MPI_MIN, now->comm);
    MPI_Allreduce(&mine.step, &last, 1, MPI_INT, MPI_MAX, now->comm);
    if (first != last || first < 0) {
        mine.step = 0;
        memset(mine.cell, 0, sizeof mine.cell);
    }
    work = mine;
    keep(now); /* the recovered rank must also hold its neighbour's copy */
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    mine.step = neighbours.step = -1;
    mend_process *p;
    mend_process_options options = {.spares = 2, .resume = MEND_RESUME_JUMP};
    if (mend_process_open(MPI_COMM_WORLD, &options, &p) != 0) {
        fprintf(stderr, "%s\n", mend_error_text());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    int rc = mend_process_resume_here(p);
    const mend_repair *now = mend_process_state(p);
    if (rc == 0 && now->role != MEND_ROLE_RELEASED) {
        go_back(now);
        int left = now->rank > 0 ? now->rank - 1 : MPI_PROC_NULL;
        int right = now->rank < now->size - 1 ? now->rank + 1 : MPI_PROC_NULL;
        double *c = work.cell, next[CELLS + 2];
        for (; work.step < STEPS; work.step++) {
            if (work.step % KEEP_EVERY == 0)
                keep(now);
            if ((work.step == 130 && now->generation == 0 && now->rank == 1) ||
                (work.step == 260 && now->generation == 1 && now->rank == 3))
                kill(getpid(), SIGKILL);
            if (left == MPI_PROC_NULL)
                c[0] = 100; /* the hot end */
            MPI_Sendrecv(&c[1], 1, MPI_DOUBLE, left, 3, &c[CELLS + 1], 1, MPI_DOUBLE, right, 3,
                         now->comm, MPI_STATUS_IGNORE);
            MPI_Sendrecv(&c[CELLS], 1, MPI_DOUBLE, right, 4, &c[0], 1, MPI_DOUBLE, left, 4,
                         now->comm, MPI_STATUS_IGNORE);
            for (int i = 1; i <= CELLS; i++)
                next[i] = c[i] + 0.25 * (c[i - 1] - 2 * c[i] + c[i + 1]);
            memcpy(&c[1], &next[1], CELLS * sizeof *c);
        }
        double sum = 0, all;
        for (int i = 1; i <= CELLS; i++)
            sum += c[i];
        MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, now->comm);
        if (now->rank == 0)
            printf("heat after %d steps: %.12f (%d failures survived)\n", STEPS, all,
                   now->generation);
        fflush(stdout);
    }
    mend_process_close(p);
    MPI_Finalize();
    return rc != 0;
}
