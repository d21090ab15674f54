/* tools.c - reads control variables of the MPI library, nearly all the time, by handles that a restart makes invalid: then by
 * new ones.
 *
 *   tools HOW [rounds|FILE]    HOW: any word; see until.h
 */
#include "../../fault/apps/until.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static MPI_T_cvar_handle handle;
static int wrong;

/* The first variable that is one integer. */
static void find(void)
{
    int n = 0, count = 0;
    MPI_T_cvar_get_num(&n);
    for (int i = 0; i < n; i++) {
        char name[512], text[4096];
        int name_length = sizeof name, length = sizeof text, verbosity, bind, scope;
        MPI_Datatype type;
        MPI_T_enum names;
        if (MPI_T_cvar_get_info(i, name, &name_length, &verbosity, &type, &names, text, &length,
                                &bind, &scope) ||
            bind != MPI_T_BIND_NO_OBJECT || type != MPI_INT)
            continue;
        if (MPI_T_cvar_handle_alloc(i, NULL, &handle, &count) == MPI_SUCCESS && count == 1)
            return;
    }
    wrong = 1;
}

int main(int argc, char **argv)
{
    int rank, size, provided, values[64];
    long sum = 1;
    struct until rounds = until(argc > 2 ? argv[2] : NULL, 1000);
    MPI_Init(&argc, &argv);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    find();
    for (int r = 0; until_more(&rounds, r); r++) {
        long in = 0, out = (sum + rank) % 1000000007;
        MPI_Sendrecv(&out, 1, MPI_LONG, (rank + 1) % size, 0, &in, 1, MPI_LONG,
                     (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        sum = (sum * 31 + in) % 1000000007;
        for (int i = 0; i < 20000 && !wrong; i++) {
            int rc = MPI_T_cvar_read(handle, values);
            if (rc == MPI_T_ERR_INVALID_HANDLE) {
                MPI_T_cvar_handle_free(&handle);
                find();
            } else if (rc) {
                wrong = 1;
            }
        }
    }
    long both[2] = {sum, wrong};
    MPI_Allreduce(MPI_IN_PLACE, both, 2, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("tools: %d rounds, %ld, %ld wrong\n", rounds.steps, both[0], both[1]);
    MPI_T_finalize();
    MPI_Finalize();
    return 0;
}
