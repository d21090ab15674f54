/* Subsets of Fenix data over several snapshots: what a restore gives for one snapshot, for the
 * latest, and for all of them; without a failure and after one.
 *
 *     mpi_fenix_subset MODE     MODE: 1 a copy, 5 parity
 *
 * Every element has the number of the commit that stored it last in it, so that each one tells where
 * it came from. With spares, rank 1 dies with a store under way that is never committed. */
#include <compat/fenix.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHECK(ok) ((ok) ? (void)0 : failed(#ok, __LINE__))

enum { GROUP = 5, DATA = 777, N = 100, UNTOUCHED = -7 };

static int rank, size, data[N];

static void failed(const char *what, int line)
{
    fprintf(stderr, "rank %d, line %d: not true: %s\n", rank, line, what);
    fflush(NULL);
    _exit(1);
}

static void fill(int commit)
{
    for (int i = 0; i < N; i++)
        data[i] = 10000 * rank + 100 * i + commit;
}

static int value(int i, int commit)
{
    return commit < 0 ? UNTOUCHED : 10000 * rank + 100 * i + commit;
}

/* Ten blocks of three, every five: 0-2, 5-7, … 45-47. */
static int in_stride(int i)
{
    return i < 50 && i % 5 < 3;
}

/* 0-1, 5-10, and one block that differs from rank to rank. */
static int in_list(int i)
{
    return i < 2 || (i >= 5 && i <= 10) || (i >= 60 + rank && i <= 70 + rank);
}

static void commit(const Fenix_Data_subset subset, int number, int each)
{
    int stamp = -1;
    fill(number);
    if (each)
        CHECK(Fenix_Data_member_storev(GROUP, DATA, subset) == FENIX_SUCCESS);
    else
        CHECK(Fenix_Data_member_store(GROUP, DATA, subset) == FENIX_SUCCESS);
    memset(data, 0, sizeof data); /* the copy was taken */
    CHECK(Fenix_Data_commit_barrier(GROUP, &stamp) == FENIX_SUCCESS && stamp == number);
}

static void make_subsets(Fenix_Data_subset *stride, Fenix_Data_subset *list)
{
    int from[] = {5, 60 + rank, 0, 6}, to[] = {7, 70 + rank, 1, 10}; /* in no order, overlapping */
    CHECK(Fenix_Data_subset_create(10, 0, 2, 5, stride) == FENIX_SUCCESS);
    CHECK(Fenix_Data_subset_createv(4, from, to, list) == FENIX_SUCCESS);
}

/* Elements of the stride come from commit 1, those of the list from 2, all others from `rest`. */
static void check_all(const int *got, int rest)
{
    for (int i = 0; i < N; i++)
        CHECK(got[i] == value(i, in_list(i) ? 2 : in_stride(i) ? 1 : rest));
}

static void clear(int *got)
{
    for (int i = 0; i < N; i++)
        got[i] = UNTOUCHED;
}

static void test_without_failure(void)
{
    int got[N];
    Fenix_Data_subset found;
    clear(got);
    CHECK(Fenix_Data_member_restore(GROUP, DATA, got, N, FENIX_DATA_SNAPSHOT_LATEST, &found) ==
          FENIX_WARNING_PARTIAL_RESTORE);
    for (int i = 0; i < N; i++)
        CHECK(got[i] == value(i, in_list(i) ? 2 : -1));
    CHECK(Fenix_Data_subset_delete(&found) == FENIX_SUCCESS);
    clear(got);
    CHECK(Fenix_Data_member_restore(GROUP, DATA, got, N, 1, NULL) == FENIX_WARNING_PARTIAL_RESTORE);
    for (int i = 0; i < N; i++)
        CHECK(got[i] == value(i, in_stride(i) ? 1 : -1));
    clear(got);
    CHECK(Fenix_Data_member_restore(GROUP, DATA, got, N, FENIX_DATA_SNAPSHOT_ALL, &found) ==
          FENIX_SUCCESS);
    check_all(got, 0);
    CHECK(Fenix_Data_subset_delete(&found) == FENIX_SUCCESS);
    clear(got);
    CHECK(Fenix_Data_member_restore(GROUP, DATA, got, N, FENIX_TIME_STAMP_MAX, NULL) ==
          FENIX_SUCCESS);
    check_all(got, 0);
    clear(got);
    CHECK(Fenix_Data_member_lrestore(GROUP, DATA, got, N, FENIX_DATA_SNAPSHOT_ALL, NULL) ==
          FENIX_SUCCESS);
    check_all(got, 0);
    clear(got); /* fewer than there are: all that was asked for is there */
    CHECK(Fenix_Data_member_restore(GROUP, DATA, got, 2, FENIX_DATA_SNAPSHOT_LATEST, NULL) ==
          FENIX_SUCCESS);
    CHECK(got[1] == value(1, 2) && got[2] == UNTOUCHED);
}

/* A fourth commit with depth 2: the full one is gone. */
static void test_depth(const Fenix_Data_subset stride)
{
    int got[N];
    commit(stride, 3, 0);
    clear(got);
    CHECK(Fenix_Data_member_restore(GROUP, DATA, got, N, FENIX_DATA_SNAPSHOT_ALL, NULL) ==
          FENIX_WARNING_PARTIAL_RESTORE);
    for (int i = 0; i < N; i++)
        CHECK(got[i] == value(i, in_stride(i) ? 3 : in_list(i) ? 2 : -1));
}

int main(int argc, char **argv)
{
    int provided, role, error, flag, mode = argc > 1 ? atoi(argv[1]) : 1;
    int spares = atoi(getenv("MEND_TEST_SPARES")), policy[3] = {mode, 1, 3};
    Fenix_Data_subset stride, list;
    MPI_Comm comm;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    Fenix_Init(&role, MPI_COMM_WORLD, &comm, &argc, &argv, spares, 0, MPI_INFO_NULL, &error);
    CHECK(error == FENIX_SUCCESS);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    make_subsets(&stride, &list);
    CHECK(Fenix_Data_group_create(GROUP, comm, 0, 2, FENIX_DATA_POLICY_IN_MEMORY_RAID, policy,
                                  &flag) == FENIX_SUCCESS);
    if (role == FENIX_ROLE_INITIAL_RANK) {
        CHECK(Fenix_Data_member_create(GROUP, DATA, data, N, MPI_INT) == FENIX_SUCCESS);
        commit(FENIX_DATA_SUBSET_FULL, 0, 0);
        commit(stride, 1, 0);
        commit(list, 2, 1);
        test_without_failure();
        if (spares) {
            fill(99);
            CHECK(Fenix_Data_member_store(GROUP, DATA, FENIX_DATA_SUBSET_FULL) == FENIX_SUCCESS);
            MPI_Barrier(comm);
            if (rank == 1)
                raise(SIGKILL);
            for (;;)
                MPI_Barrier(comm); /* a death ends it */
        }
    } else {
        void *where = data;
        clear(data);
        CHECK(Fenix_Data_member_attr_set(GROUP, DATA, FENIX_DATA_MEMBER_ATTRIBUTE_BUFFER, where,
                                         &flag) == FENIX_SUCCESS);
        CHECK(Fenix_Data_member_restore(GROUP, DATA, data, N, FENIX_DATA_SNAPSHOT_ALL, NULL) ==
              FENIX_SUCCESS);
        check_all(data, 0);
    }
    test_depth(stride);
    Fenix_Data_subset_delete(&stride);
    Fenix_Data_subset_delete(&list);
    MPI_Barrier(comm);
    FILE *marker = rank == 0 ? fopen(getenv("MEND_TEST_MARKER"), "w") : NULL;
    if (marker) {
        fputs("PASS\n", marker);
        fclose(marker);
    }
    Fenix_Finalize();
    MPI_Finalize();
    return 0;
}
