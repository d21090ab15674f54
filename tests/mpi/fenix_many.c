/* Failures in a row through fenix.h:
 *
 *     fenix_many SEED [threads]
 *
 * As long as there are spares, a rank that comes from the seed dies after some reductions, whose number comes from it,
 * too, while the others reduce. With every third seed two die at once. When all spares are used, the sums are right. */
#include "process_test.h"

#include <fenix.h>

static unsigned mix(unsigned a, unsigned b)
{
    unsigned x = a * 2654435761u + b * 40503u + 17u;
    return (x ^ x >> 13) * 2246822519u >> 8;
}

static void add(MPI_Comm comm, int rank, int size)
{
    int sum = 0;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm); /* jumps when somebody has died */
    EXPECT(sum == size * (size - 1) / 2);
}

static void work_and_die(MPI_Comm comm, int rank, int size, unsigned seed, int left)
{
    unsigned dies = mix(seed, (unsigned)left), also = seed % 3 == 0 && left > 1;
    int victim = (int)(dies % (unsigned)size), second = also ? (victim + 1) % size : victim;
    for (unsigned step = 0;; step++) {
        if (step == dies / 16 % 200 && (rank == victim || rank == second))
            test_die();
        add(comm, rank, size);
    }
}

int main(int argc, char **argv)
{
    int role, error, level, rank, size;
    unsigned seed = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
    MPI_Comm comm;
    MPI_Init_thread(&argc, &argv, argc > 2 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
    Fenix_Init(&role, MPI_COMM_WORLD, &comm, &argc, &argv, test_spares(), 0, MPI_INFO_NULL, &error);
    EXPECT(error == FENIX_SUCCESS);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    EXPECT(size == atoi(getenv("MEND_TEST_NP")));
    if (Fenix_get_nspare() > 0)
        work_and_die(comm, rank, size, seed, Fenix_get_nspare());
    for (int i = 0; i < 50; i++)
        add(comm, rank, size);
    EXPECT(Fenix_Finalize() == FENIX_SUCCESS);
    if (rank == 0)
        test_pass();
    MPI_Finalize();
    return 0;
}
