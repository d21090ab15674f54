/* An array over all ranks; when a rank dies and nobody replaces it, the others close ranks and share its part. The result does
 * not depend on the number of ranks. flow_shrink [-k R@I]… */
#include <mend/flow.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../apps/common/checksum.h"
#include "../../apps/common/kill.h"

enum { TOTAL = 10007, STEPS = 80 };

int main(int argc, char **argv)
{
    struct kill_plan kills = {0};
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--mark") == 0)
            snprintf(kills.mark, sizeof kills.mark, "%s", argv[i + 1]);
        else if (kill_plan_add(&kills, argv[i + 1]))
            return 2;
    }
    MPI_Init(&argc, &argv);
    int rank, ranks, step = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    size_t from = (size_t)TOTAL * rank / ranks, to = (size_t)TOTAL * (rank + 1) / ranks;
    double *cells = calloc(to - from + 1, sizeof *cells), most = 0;
    mend_view_global("cells", cells, to - from, MPI_DOUBLE, from, TOTAL, 0);
    mend_view("step", &step, 1, MPI_INT, MEND_CONTROL);
    mend_view("most", &most, 1, MPI_DOUBLE, MEND_CONTROL);
    for (; mend_point() && step < STEPS; step++) {
        double mine = 0;
        kill_plan_act(&kills, rank, step);
        for (size_t i = from; i < to; i++) {
            double *c = &cells[i - from];
            *c = 0.75 * *c + (double)((i * 7 + (size_t)step) % 13) + 0.01 * most;
            mine = *c > mine ? *c : mine;
        }
        MPI_Allreduce(&mine, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    }
    uint64_t sum = 0, all;
    for (size_t i = from; i < to; i++)
        sum += checksum_of(cells[i - from], i);
    MPI_Reduce(&sum, &all, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("shrink: ranks %d checksum %016llx\n", ranks, (unsigned long long)all);
    MPI_Finalize();
    free(cells);
    return 0;
}
