/* shrink: no spares. Work is distributed by rank; when a rank dies, the others share its work. Mend
 * calls a function again after every repair.
 *
 *     mpirun --with-ft ulfm -n 4 example-shrink
 */
#include <mend/process.h>

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

enum { TASKS = 1000 };

static int body(mend_process *p, const mend_repair *now, void *arg)
{
    (void)p;
    (void)arg;
    long mine = 0, all;
    for (int task = now->rank; task < TASKS; task += now->size) {
        if (task > TASKS / 2 && now->generation == 0 && now->rank == now->size - 1)
            kill(getpid(), SIGKILL);
        mine += task;
    }
    MPI_Allreduce(&mine, &all, 1, MPI_LONG, MPI_SUM, now->comm);
    if (now->rank == 0) {
        printf("%d ranks, sum of all tasks: %ld\n", now->size, all);
        fflush(stdout);
    }
    return 0;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    mend_process_options options = {.order = {MEND_POLICY_SHRINK}};
    int result = 1, rc = mend_process_run(MPI_COMM_WORLD, &options, body, NULL, &result);
    if (rc != 0)
        fprintf(stderr, "%s\n", mend_error_text());
    MPI_Finalize();
    return rc != 0 || result != 0;
}
