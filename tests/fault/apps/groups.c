/* Communicators that their members make alone (MPI_Comm_create_group). Rank 0 is in that call (file "inside")
 * long before the others, which wait for file "go" outside MPI. Then all make some more, of changing groups. */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

enum { STEPS = 200, MOST = 64 };

static long made_by(const int *ranks, int n, int tag)
{
    MPI_Group all, some;
    MPI_Comm comm;
    long one = tag + 1, sum = 0;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, n, ranks, &some);
    MPI_Comm_create_group(MPI_COMM_WORLD, some, tag, &comm);
    MPI_Allreduce(&one, &sum, 1, MPI_LONG, MPI_SUM, comm);
    MPI_Comm_free(&comm);
    MPI_Group_free(&some);
    MPI_Group_free(&all);
    return sum;
}

int main(int argc, char **argv)
{
    int rank, size;
    long sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0)
        fclose(fopen("inside", "w"));
    while (rank && access("go", F_OK))
        usleep(1000);
    for (int step = 0; step < STEPS; step++) {
        int ranks[MOST], n = 0, inside = 0;
        for (int i = 0; i < size && n < MOST; i++) { /* first all, then all but one */
            int r = (i + step) % size;
            if (step == 0 || r != step % size)
                ranks[n++] = r, inside |= r == rank;
        }
        if (inside)
            sum = sum * 3 + made_by(ranks, n, step);
    }
    printf("rank %d: %ld\n", rank, sum);
    MPI_Finalize();
    return 0;
}
