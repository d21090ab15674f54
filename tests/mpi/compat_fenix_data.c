/* Fenix' data functions: a ring of numbers that is computed through kills, and every call once.
 *
 *   compat_fenix_data MODE KILLS    MODE 1 or 5: in-memory RAID
 *                                   KILLS: 0 or more ranks die one by one
 */
#include <fenix.h>
#include <mpi.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { GROUP = 7, STEP = 1, CELLS = 2, ODD = 3, GROWING = 4, N = 20000, STEPS = 60, EVERY = 5 };

static int rank, size;

#define CHECK(condition)                                                                         \
    do {                                                                                         \
        if (!(condition)) {                                                                      \
            fprintf(stderr, "rank %d, line %d: %s does not hold\n", rank, __LINE__, #condition); \
            MPI_Abort(MPI_COMM_WORLD, 1);                                                        \
        }                                                                                        \
    } while (0)

static int step;
static double cells[N];

static void initial(void)
{
    step = 0;
    for (int i = 0; i < N; i++)
        cells[i] = rank + i * 1e-6;
}

/* Neighbours give each other a number, so that an error in one rank's data spreads to all. */
static void advance(MPI_Comm comm)
{
    double to = cells[step % N], from;
    int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    MPI_Sendrecv(&to, 1, MPI_DOUBLE, next, 0, &from, 1, MPI_DOUBLE, previous, 0, comm,
                 MPI_STATUS_IGNORE);
    for (int i = 0; i < N; i++)
        cells[i] = cells[i] * 0.9999 + from * 0.0001;
    step++;
}

static double expected_sum(void)
{
    double *all = malloc(sizeof(double) * (size_t)size * N), sum = 0, first[64];
    for (int r = 0; r < size; r++)
        for (int i = 0; i < N; i++)
            all[r * N + i] = r + i * 1e-6;
    for (int s = 0; s < STEPS; s++) {
        for (int r = 0; r < size; r++)
            first[r] = all[r * N + s % N];
        for (int r = 0; r < size; r++)
            for (int i = 0; i < N; i++)
                all[r * N + i] = all[r * N + i] * 0.9999 + first[(r + size - 1) % size] * 0.0001;
    }
    for (int i = 0; i < N; i++)
        sum += all[rank * N + i];
    free(all);
    return sum;
}

static void make_members(void)
{
    if (!Fenix_Data_member_created(GROUP, STEP))
        CHECK(Fenix_Data_member_create(GROUP, STEP, &step, 1, MPI_INT) == FENIX_SUCCESS);
    if (!Fenix_Data_member_created(GROUP, CELLS))
        CHECK(Fenix_Data_member_create(GROUP, CELLS, cells, N, MPI_DOUBLE) == FENIX_SUCCESS);
}

static void save(void)
{
    int stamp;
    CHECK(Fenix_Data_member_store(GROUP, FENIX_DATA_MEMBER_ALL, FENIX_DATA_SUBSET_FULL) ==
          FENIX_SUCCESS);
    CHECK(Fenix_Data_commit_barrier(GROUP, &stamp) == FENIX_SUCCESS);
}

static int calls_back;

static void count_call(MPI_Comm comm, int code, void *arg)
{
    (void)comm;
    (void)code;
    *(int *)arg += 1;
}

/* Blocks of different lengths, stored without waiting, in a subset that may differ from rank to
 * rank. */
static void test_blocks(int group)
{
    enum { BLOCKS = 9 };
    int from[] = {0, 4, 7}, to[] = {1, 4, 9}, numbers[10], copy[10] = {0}, stamp;
    Fenix_Data_subset blocks, bad;
    Fenix_Request request;
    for (int i = 0; i < 10; i++)
        numbers[i] = 7 * rank + i;
    CHECK(Fenix_Data_member_create(group, BLOCKS, numbers, 10, MPI_INT) == FENIX_SUCCESS);
    CHECK(Fenix_Data_subset_createv(0, from, to, &bad) == FENIX_ERROR_SUBSET_NUM_BLOCKS);
    CHECK(Fenix_Data_subset_createv(1, to + 2, from, &bad) == FENIX_ERROR_SUBSET_END_OFFSET);
    CHECK(Fenix_Data_subset_createv(3, from, to, &blocks) == FENIX_SUCCESS);
    CHECK(Fenix_Data_member_istorev(group, BLOCKS, blocks, &request) == FENIX_SUCCESS);
    CHECK(Fenix_Data_wait(request) == FENIX_SUCCESS);
    CHECK(Fenix_Data_commit_barrier(group, &stamp) == FENIX_SUCCESS);
    CHECK(Fenix_Data_member_restore(group, BLOCKS, copy, 10, stamp, FENIX_DATA_SUBSET_IGNORE) >=
          FENIX_SUCCESS);
    for (int i = 0; i < 10; i++)
        CHECK(copy[i] == (i < 2 || i == 4 || i >= 7 ? numbers[i] : 0));
    CHECK(Fenix_Data_subset_delete(&blocks) == FENIX_SUCCESS);
    CHECK(Fenix_Data_member_delete(group, BLOCKS) == FENIX_SUCCESS);
}

static void check_member(int group, int member, int first, int count)
{
    int copy[20] = {0};
    CHECK(Fenix_Data_member_restore(group, member, copy, count, FENIX_DATA_SNAPSHOT_LATEST, NULL) ==
          FENIX_SUCCESS);
    for (int i = 0; i < count; i++)
        CHECK(copy[i] == first + i);
}

static void fill(int *numbers, int first)
{
    for (int i = 0; i < 20; i++)
        numbers[i] = first + i;
}

/* Whole members lie where the commit keeps them as soon as they are stored. Whatever changes between the two calls, the
 * snapshot has what was stored: the buffers, a member's length, another member. */
static void test_places(int group)
{
    enum { FIRST = 10, SECOND, THIRD };
    int a[20], b[20], c[20], longer = 20, flag, base = 100 * rank;
    fill(a, base), fill(b, base + 20), fill(c, base + 40);
    CHECK(Fenix_Data_member_create(group, FIRST, a, 20, MPI_INT) == FENIX_SUCCESS);
    CHECK(Fenix_Data_member_create(group, SECOND, b, 4, MPI_INT) == FENIX_SUCCESS);
    CHECK(Fenix_Data_member_store(group, FIRST, FENIX_DATA_SUBSET_FULL) == FENIX_SUCCESS);
    CHECK(Fenix_Data_member_attr_set(group, SECOND, FENIX_DATA_MEMBER_ATTRIBUTE_COUNT, &longer,
                                     &flag) == FENIX_SUCCESS);
    CHECK(Fenix_Data_member_create(group, THIRD, c, 20, MPI_INT) == FENIX_SUCCESS);
    CHECK(Fenix_Data_member_store(group, SECOND, FENIX_DATA_SUBSET_FULL) == FENIX_SUCCESS);
    CHECK(Fenix_Data_member_store(group, THIRD, FENIX_DATA_SUBSET_FULL) == FENIX_SUCCESS);
    for (int round = 0; round < 3; round++) { /* the second time everything has its place */
        fill(a, -1), fill(b, -1), fill(c, -1);
        CHECK(Fenix_Data_commit(group, NULL) == FENIX_SUCCESS);
        check_member(group, FIRST, base, 20);
        check_member(group, SECOND, base + 20, 20);
        check_member(group, THIRD, base + 40, 20);
        base += 1000;
        fill(a, base), fill(b, base + 20), fill(c, base + 40);
        for (int m = FIRST; m <= THIRD; m++)
            CHECK(Fenix_Data_member_store(group, m, FENIX_DATA_SUBSET_FULL) == FENIX_SUCCESS);
    }
    CHECK(Fenix_Data_member_delete(group, SECOND) == FENIX_SUCCESS);
    CHECK(Fenix_Data_commit(group, NULL) == FENIX_SUCCESS);
    check_member(group, FIRST, base, 20);
    check_member(group, THIRD, base + 40, 20);
    CHECK(Fenix_Data_member_delete(group, FIRST) == FENIX_SUCCESS);
    CHECK(Fenix_Data_member_delete(group, THIRD) == FENIX_SUCCESS);
}

/* Calls that have nothing to do with data; message logs say that they are missing. */
static void test_other_calls(MPI_Comm comm)
{
    unsigned option = 99;
    int role = -1;
    CHECK(Fenix_get_option(FENIX_RESUME_MODE, &option) == FENIX_SUCCESS &&
          option == FENIX_RESUME_JUMP);
    CHECK(Fenix_get_option(FENIX_SETTING_NAME_MAXCODE, &option) ==
          FENIX_ERROR_INVALID_SETTING_NAME);
    CHECK(Fenix_get_rank_role(comm, size - 1, &role) == FENIX_SUCCESS &&
          role == FENIX_ROLE_INITIAL_RANK);
    CHECK(Fenix_get_rank_role(comm, size, &role) != FENIX_SUCCESS);
    CHECK(Fenix_Callback_register(count_call, &calls_back) == FENIX_SUCCESS);
    CHECK(Fenix_Callback_invoke_all() == FENIX_SUCCESS);
    CHECK(Fenix_Callback_pop() == FENIX_SUCCESS && calls_back == 0); /* nothing failed yet */
    CHECK(Fenix_Mlog_create(1, &comm, 2) != FENIX_SUCCESS);
    CHECK(Fenix_Mlog_activate(1) != FENIX_SUCCESS &&
          Fenix_Mlog_begin_region(1, 1) != FENIX_SUCCESS);
    CHECK(Fenix_Mlog_sync(1, 1) != FENIX_SUCCESS && Fenix_Mlog_stage(1, 2, 3) != FENIX_SUCCESS);
    CHECK(Fenix_Mlog_lrestore(1, 2, 3, 4) != FENIX_SUCCESS &&
          Fenix_Mlog_delete(1) != FENIX_SUCCESS);
}

/* Every call that needs no failure, on a group of its own. */
static void test_calls(MPI_Comm comm, int mode)
{
    enum { OTHER = 3 };
    int policy[3] = {mode, 1, 3}, flag, stamp, n, id, name, back[3];
    int numbers[10], copy[10];
    Fenix_Data_subset odd, found, bad;
    Fenix_Request request;
    CHECK(Fenix_Data_commit(OTHER, &stamp) == FENIX_ERROR_INVALID_GROUPID);
    CHECK(Fenix_Data_group_create(OTHER, comm, 0, 1, 99, policy, &flag) ==
          FENIX_ERROR_INVALID_POLICY_NAME);
    CHECK(Fenix_Data_group_create(OTHER, comm, 4, 1, FENIX_DATA_POLICY_IN_MEMORY_RAID, policy,
                                  &flag) == FENIX_SUCCESS);
    CHECK(Fenix_Data_group_created(OTHER) && !Fenix_Data_group_created(99));
    CHECK(Fenix_Data_group_get_redundancy_policy(OTHER, &name, back, &flag) == FENIX_SUCCESS &&
          name == FENIX_DATA_POLICY_IN_MEMORY_RAID && back[0] == mode && flag);
    CHECK(Fenix_Data_member_create(OTHER, ODD, numbers, 10, MPI_INT) == FENIX_SUCCESS);
    CHECK(Fenix_Data_member_create(OTHER, ODD, numbers, 10, MPI_INT) == FENIX_ERROR_MEMBER_EXISTS);
    CHECK(Fenix_Data_member_create(OTHER, GROWING, numbers, FENIX_RESIZEABLE, MPI_INT) ==
          FENIX_SUCCESS);
    CHECK(Fenix_Data_group_get_number_of_members(OTHER, &n) == FENIX_SUCCESS && n == 2);
    CHECK(Fenix_Data_group_get_member_at_position(OTHER, &id, 1) == FENIX_SUCCESS && id == GROWING);
    CHECK(Fenix_Data_group_get_member_at_position(OTHER, &id, 2) == FENIX_ERROR_INVALID_POSITION);

    CHECK(Fenix_Data_subset_create(5, 1, 1, 2, &odd) == FENIX_SUCCESS);
    CHECK(Fenix_Data_subset_create(0, 1, 1, 2, &bad) == FENIX_ERROR_SUBSET_NUM_BLOCKS);
    CHECK(Fenix_Data_subset_create(1, 5, 2, 2, &bad) == FENIX_ERROR_SUBSET_END_OFFSET);
    for (int i = 0; i < 10; i++)
        numbers[i] = 100 * rank + i;
    CHECK(Fenix_Data_member_istore(OTHER, ODD, odd, &request) == FENIX_SUCCESS);
    CHECK(Fenix_Data_test(request, &flag) == FENIX_SUCCESS && flag);
    CHECK(Fenix_Data_wait(request) == FENIX_SUCCESS);
    CHECK(Fenix_Data_member_stage(OTHER, GROWING, FENIX_DATA_SUBSET_FULL) != FENIX_SUCCESS);
    CHECK(Fenix_Data_member_stage(OTHER, GROWING, odd) == FENIX_SUCCESS);
    CHECK(Fenix_Data_member_storev(OTHER, GROWING, FENIX_DATA_SUBSET_PRESTAGED) == FENIX_SUCCESS);
    memset(numbers, 0, sizeof numbers); /* the copy was taken */
    CHECK(Fenix_Data_commit(OTHER, &stamp) == FENIX_SUCCESS && stamp == 4);
    CHECK(Fenix_Data_group_get_number_of_snapshots(OTHER, &n) == FENIX_SUCCESS && n == 1);
    CHECK(Fenix_Data_group_get_snapshot_at_position(OTHER, 0, &n) == FENIX_SUCCESS && n == 4);

    memset(copy, 0x7f, sizeof copy);
    CHECK(Fenix_Data_member_restore(OTHER, ODD, copy, 10, FENIX_DATA_SNAPSHOT_LATEST, &found) ==
          FENIX_WARNING_PARTIAL_RESTORE);
    for (int i = 0; i < 10; i++)
        CHECK(copy[i] == (i % 2 ? 100 * rank + i : 0x7f7f7f7f));
    CHECK(Fenix_Data_subset_delete(&found) == FENIX_SUCCESS);
    CHECK(Fenix_Data_member_attr_get(OTHER, GROWING, FENIX_DATA_MEMBER_ATTRIBUTE_COUNT, &n, &flag,
                                     rank) == FENIX_SUCCESS &&
          flag && n == 10);
    CHECK(Fenix_Data_member_lrestore(OTHER, GROWING, copy, 4, 4, FENIX_DATA_SUBSET_IGNORE) ==
          FENIX_WARNING_PARTIAL_RESTORE);
    CHECK(copy[1] == 100 * rank + 1 && copy[3] == 100 * rank + 3);
    CHECK(Fenix_Data_member_restore_from_rank(OTHER, ODD, copy, 10, 4, NULL, 2) ==
          FENIX_WARNING_PARTIAL_RESTORE);
    CHECK(copy[9] == 209);
    CHECK(Fenix_Data_member_restore(OTHER, ODD, copy, 10, 77, NULL) == FENIX_ERROR_NODATA_FOUND);
    CHECK(Fenix_Data_member_restore(OTHER, 99, copy, 10, 4, NULL) == FENIX_ERROR_INVALID_MEMBERID);

    for (int i = 0; i < 10; i++)
        numbers[i] = 1000 * rank + i;
    CHECK(Fenix_Data_member_store(OTHER, ODD, FENIX_DATA_SUBSET_FULL) == FENIX_SUCCESS);
    CHECK(Fenix_Data_commit_barrier(OTHER, &stamp) == FENIX_SUCCESS && stamp == 5);
    CHECK(Fenix_Data_member_restore(OTHER, ODD, copy, 10, 5, NULL) == FENIX_SUCCESS);
    CHECK(copy[8] == 1000 * rank + 8);
    CHECK(Fenix_Data_member_restore(OTHER, ODD, copy, 10, 4, NULL) ==
          FENIX_WARNING_PARTIAL_RESTORE); /* depth 1: the one before is kept */
    CHECK(Fenix_Data_snapshot_delete(OTHER, 4) == FENIX_SUCCESS);
    CHECK(Fenix_Data_snapshot_delete(OTHER, 4) == FENIX_ERROR_INVALID_TIMESTAMP);
    CHECK(Fenix_Data_member_restore(OTHER, ODD, copy, 10, 4, NULL) == FENIX_ERROR_NODATA_FOUND);
    n = 20;
    CHECK(Fenix_Data_member_attr_set(OTHER, ODD, FENIX_DATA_MEMBER_ATTRIBUTE_COUNT, &n, &flag) !=
          FENIX_SUCCESS);
    CHECK(Fenix_Data_barrier(OTHER) == FENIX_SUCCESS);
    CHECK(Fenix_Data_member_delete(OTHER, GROWING) == FENIX_SUCCESS);
    CHECK(Fenix_Data_subset_delete(&odd) == FENIX_SUCCESS);
    test_blocks(OTHER);
    CHECK(Fenix_Data_member_delete(OTHER, ODD) == FENIX_SUCCESS);
    test_places(OTHER);
    CHECK(Fenix_Data_group_delete(OTHER) == FENIX_SUCCESS);
    CHECK(Fenix_Data_group_delete(OTHER) == FENIX_ERROR_INVALID_GROUPID);
}

static void restore(void)
{
    CHECK(Fenix_Data_member_restore(GROUP, STEP, &step, 1, FENIX_DATA_SNAPSHOT_LATEST, NULL) ==
          FENIX_SUCCESS);
    CHECK(Fenix_Data_member_restore(GROUP, CELLS, cells, N, FENIX_DATA_SNAPSHOT_LATEST, NULL) ==
          FENIX_SUCCESS);
}

int main(int argc, char **argv)
{
    int provided, role, error, mode = atoi(argv[1]), kills = atoi(argv[2]);
    int spares = atoi(getenv("MEND_TEST_SPARES")), policy[3] = {mode, 1, 3}, flag;
    static volatile int died; /* failures this process knows of */
    MPI_Comm comm;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    Fenix_Init(&role, MPI_COMM_WORLD, &comm, &argc, &argv, spares, &error);
    CHECK(error == FENIX_SUCCESS);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    if (role == FENIX_ROLE_INITIAL_RANK) {
        test_calls(comm, mode);
        test_other_calls(comm);
    }
    CHECK(Fenix_Data_group_create(GROUP, comm, 0, 0, FENIX_DATA_POLICY_IN_MEMORY_RAID, policy,
                                  &flag) == FENIX_SUCCESS);
    make_members();
    if (role == FENIX_ROLE_INITIAL_RANK) {
        initial();
        save();
    } else {
        void *where =
            cells; /* a replacement knows the members by the survivors, not where they lie */
        CHECK(Fenix_Data_member_attr_set(GROUP, CELLS, FENIX_DATA_MEMBER_ATTRIBUTE_BUFFER, where,
                                         &flag) == FENIX_SUCCESS);
        CHECK(Fenix_Data_member_attr_set(GROUP, STEP, FENIX_DATA_MEMBER_ATTRIBUTE_BUFFER, &step,
                                         &flag) == FENIX_SUCCESS);
        restore();
        died++;
    }
    while (step < STEPS) {
        /* the k-th victim dies at a step of its own, by the first process that holds that rank */
        for (int k = 0; k < kills; k++)
            if (role == FENIX_ROLE_INITIAL_RANK && rank == (k * 2 + 1) % size && step == 7 + 13 * k)
                raise(SIGKILL);
            else if (role != FENIX_ROLE_INITIAL_RANK && role != FENIX_ROLE_RECOVERED_RANK &&
                     k >= died && rank == (k * 2 + 1) % size && step == 7 + 13 * k)
                raise(SIGKILL);
        advance(comm);
        if (step % EVERY == 0)
            save();
    }
    double sum = 0, right = expected_sum();
    for (int i = 0; i < N; i++)
        sum += cells[i];
    int ok = sum == right, all;
    MPI_Allreduce(&ok, &all, 1, MPI_INT, MPI_MIN, comm);
    if (!ok)
        fprintf(stderr, "rank %d: sum %.17g, expected %.17g\n", rank, sum, right);
    if (all && rank == 0) {
        FILE *marker = fopen(getenv("MEND_TEST_MARKER"), "w");
        fputs("PASS\n", marker);
        fclose(marker);
    }
    Fenix_Finalize();
    MPI_Finalize();
    return !all;
}
