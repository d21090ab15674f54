/* collectives ROUNDS NAME…: each collective call by name, so many times; `collectives` alone lists the names.
 *
 * One rank after the other comes late, so that the others are inside the call most of the time. The thread's name
 * (c0, c1, …) tells from outside which call it is. Prints a digest of all results. */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { N = 4, RANKS = 16 };
#define W MPI_COMM_WORLD
#define L MPI_LONG
static int rank, size, root, one[RANKS], at[RANKS], at_bytes[RANKS];
static long s[N * RANKS], r[N * RANKS];
static MPI_Datatype types[RANKS];
static MPI_Comm ring;
static MPI_File file;
static MPI_Group group;

static void sum_over(MPI_Comm *comm)
{
    long sum = 0;
    if (*comm == MPI_COMM_NULL)
        return;
    MPI_Allreduce(s, &sum, 1, L, MPI_SUM, *comm);
    r[0] += sum;
    MPI_Comm_free(comm);
}

static void through(MPI_Win *win)
{
    MPI_Win_fence(0, *win);
    MPI_Win_fence(0, *win);
    MPI_Win_free(win);
}

#define CALLS(X)                                                                     \
    X(Barrier, MPI_Barrier(W))                                                       \
    X(Bcast, MPI_Bcast(r, N, L, root, W))                                            \
    X(Reduce, MPI_Reduce(s, r, N, L, MPI_SUM, root, W))                              \
    X(Allreduce, MPI_Allreduce(s, r, N, L, MPI_SUM, W))                              \
    X(Scan, MPI_Scan(s, r, N, L, MPI_SUM, W))                                        \
    X(Exscan, MPI_Exscan(s, r, N, L, MPI_SUM, W))                                    \
    X(Reduce_scatter, MPI_Reduce_scatter(s, r, one, L, MPI_SUM, W))                  \
    X(Reduce_scatter_block, MPI_Reduce_scatter_block(s, r, N, L, MPI_SUM, W))        \
    X(Gather, MPI_Gather(s, N, L, r, N, L, root, W))                                 \
    X(Gatherv, MPI_Gatherv(s, 1, L, r, one, at, L, root, W))                         \
    X(Scatter, MPI_Scatter(s, N, L, r, N, L, root, W))                               \
    X(Scatterv, MPI_Scatterv(s, one, at, L, r, 1, L, root, W))                       \
    X(Allgather, MPI_Allgather(s, N, L, r, N, L, W))                                 \
    X(Allgatherv, MPI_Allgatherv(s, 1, L, r, one, at, L, W))                         \
    X(Alltoall, MPI_Alltoall(s, N, L, r, N, L, W))                                   \
    X(Alltoallv, MPI_Alltoallv(s, one, at, L, r, one, at, L, W))                     \
    X(Alltoallw, MPI_Alltoallw(s, one, at_bytes, types, r, one, at_bytes, types, W)) \
    X(Neighbor_allgather, MPI_Neighbor_allgather(s, N, L, r, N, L, ring))            \
    X(Neighbor_allgatherv, MPI_Neighbor_allgatherv(s, 1, L, r, one, at, L, ring))    \
    X(Neighbor_alltoall, MPI_Neighbor_alltoall(s, N, L, r, N, L, ring))              \
    X(Neighbor_alltoallv, MPI_Neighbor_alltoallv(s, one, at, L, r, one, at, L, ring))
#define STARTS(X)                                                                   \
    X(Ibarrier, MPI_Ibarrier(W, &q))                                                \
    X(Ibcast, MPI_Ibcast(r, N, L, root, W, &q))                                     \
    X(Ireduce, MPI_Ireduce(s, r, N, L, MPI_SUM, root, W, &q))                       \
    X(Iallreduce, MPI_Iallreduce(s, r, N, L, MPI_SUM, W, &q))                       \
    X(Iscan, MPI_Iscan(s, r, N, L, MPI_SUM, W, &q))                                 \
    X(Iexscan, MPI_Iexscan(s, r, N, L, MPI_SUM, W, &q))                             \
    X(Ireduce_scatter, MPI_Ireduce_scatter(s, r, one, L, MPI_SUM, W, &q))           \
    X(Ireduce_scatter_block, MPI_Ireduce_scatter_block(s, r, N, L, MPI_SUM, W, &q)) \
    X(Igather, MPI_Igather(s, N, L, r, N, L, root, W, &q))                          \
    X(Igatherv, MPI_Igatherv(s, 1, L, r, one, at, L, root, W, &q))                  \
    X(Iscatter, MPI_Iscatter(s, N, L, r, N, L, root, W, &q))                        \
    X(Iscatterv, MPI_Iscatterv(s, one, at, L, r, 1, L, root, W, &q))                \
    X(Iallgather, MPI_Iallgather(s, N, L, r, N, L, W, &q))                          \
    X(Iallgatherv, MPI_Iallgatherv(s, 1, L, r, one, at, L, W, &q))                  \
    X(Ialltoall, MPI_Ialltoall(s, N, L, r, N, L, W, &q))                            \
    X(Ialltoallv, MPI_Ialltoallv(s, one, at, L, r, one, at, L, W, &q))              \
    X(Ialltoallw, MPI_Ialltoallw(s, one, at_bytes, types, r, one, at_bytes, types, W, &q))
#define MAKERS(X)                                                                                \
    X(Comm_dup, MPI_Comm_dup(W, &made))                                                          \
    X(Comm_split, MPI_Comm_split(W, rank % 2, rank, &made))                                      \
    X(Comm_split_type, MPI_Comm_split_type(W, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &made)) \
    X(Comm_create, MPI_Comm_create(W, group, &made))                                             \
    X(Comm_create_group, MPI_Comm_create_group(W, group, 5, &made))                              \
    X(Cart_create, MPI_Cart_create(W, 1, &size, (int[]){1}, 0, &made))                           \
    X(Dist_graph_create_adjacent,                                                                \
      MPI_Dist_graph_create_adjacent(W, 1, (int[]){(rank + size - 1) % size}, (int[]){1}, 1,     \
                                     (int[]){(rank + 1) % size}, (int[]){1}, MPI_INFO_NULL, 0,   \
                                     &made))
#define WINDOWS(X)                                                                          \
    X(Win_create, MPI_Win_create(s, sizeof s, sizeof *s, MPI_INFO_NULL, W, &win))           \
    X(Win_allocate, MPI_Win_allocate(64, 8, MPI_INFO_NULL, W, &memory, &win))               \
    X(Win_allocate_shared, MPI_Win_allocate_shared(64, 8, MPI_INFO_NULL, W, &memory, &win)) \
    X(Win_create_dynamic, MPI_Win_create_dynamic(MPI_INFO_NULL, W, &win))
#define FILES(X)                                                                                  \
    X(File_read_all, MPI_File_read_all(file, r, N, L, MPI_STATUS_IGNORE))                         \
    X(File_read_at_all, MPI_File_read_at_all(file, 0, r, N, L, MPI_STATUS_IGNORE))                \
    X(File_read_ordered, MPI_File_read_ordered(file, r, N, L, MPI_STATUS_IGNORE))                 \
    X(File_write_all, MPI_File_write_all(file, s, N, L, MPI_STATUS_IGNORE))                       \
    X(File_write_at_all, MPI_File_write_at_all(file, 64 * rank, s, N, L, MPI_STATUS_IGNORE))      \
    X(File_write_ordered, MPI_File_write_ordered(file, s, N, L, MPI_STATUS_IGNORE))               \
    X(File_iread_all, (MPI_File_iread_all(file, r, N, L, &q), MPI_Wait(&q, MPI_STATUS_IGNORE)))   \
    X(File_iread_at_all,                                                                          \
      (MPI_File_iread_at_all(file, 0, r, N, L, &q), MPI_Wait(&q, MPI_STATUS_IGNORE)))             \
    X(File_iwrite_all, (MPI_File_iwrite_all(file, s, N, L, &q), MPI_Wait(&q, MPI_STATUS_IGNORE))) \
    X(File_iwrite_at_all,                                                                         \
      (MPI_File_iwrite_at_all(file, 64 * rank, s, N, L, &q), MPI_Wait(&q, MPI_STATUS_IGNORE)))    \
    X(File_set_size, MPI_File_set_size(file, 4096))                                               \
    X(File_preallocate, MPI_File_preallocate(file, 4096))                                         \
    X(File_seek_shared, MPI_File_seek_shared(file, 0, MPI_SEEK_SET))                              \
    X(File_set_atomicity, MPI_File_set_atomicity(file, 1))                                        \
    X(File_sync, MPI_File_sync(file))

#define PLAIN(name, call)       \
    static void do_##name(void) \
    {                           \
        call;                   \
    }
#define START(name, call)                \
    static void do_##name(void)          \
    {                                    \
        MPI_Request q;                   \
        call;                            \
        MPI_Wait(&q, MPI_STATUS_IGNORE); \
    }
#define MAKER(name, call)              \
    static void do_##name(void)        \
    {                                  \
        MPI_Comm made = MPI_COMM_NULL; \
        call;                          \
        sum_over(&made);               \
    }
#define WINDOW(name, call)      \
    static void do_##name(void) \
    {                           \
        MPI_Win win;            \
        void *memory;           \
        (void)&memory;          \
        call;                   \
        through(&win);          \
    }
#define ON_FILE(name, call)     \
    static void do_##name(void) \
    {                           \
        MPI_Request q;          \
        (void)&q;               \
        call;                   \
    }
CALLS(PLAIN)
STARTS(START)
MAKERS(MAKER)
WINDOWS(WINDOW)
FILES(ON_FILE)

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {
#define ROW(name, call) {#name, do_##name},
    CALLS(ROW) STARTS(ROW) MAKERS(ROW) WINDOWS(ROW) FILES(ROW)};
enum { CASES = sizeof cases / sizeof *cases };

/* Half-way through its rounds, as long as there is a file hold.INDEX, one rank goes into the call and is named
 * vINDEX there; the others wait outside. Whoever removes the file lets them in. In a scan only the last rank is
 * sure to wait for all others. Nobody waits outside for the next call while a victim is in this one: only a rank
 * that calls MPI takes part in a recovery.
 */
static unsigned long repeat(int index, int in_scan, void (*run)(void), int rounds)
{
    unsigned long digest = 1;
    char phase[16], hold[32];
    snprintf(phase, sizeof phase, "c%d", index);
    snprintf(hold, sizeof hold, "hold.%d", index);
    MPI_Barrier(W);
    for (int i = 0; i < rounds; i++) {
        int victim = rank == (in_scan ? size - 1 : index % size);
        phase[0] = victim && i >= rounds / 2 && !access(hold, F_OK) ? 'v' : 'c';
        prctl(PR_SET_NAME, phase);
        root = i % size;
        for (int k = 0; k < N * size; k++) {
            s[k] = 1000 * rank + k + i;
            r[k] = rank == root ? i + k : 0;
        }
        if (rank == i / 16 % size)
            usleep(1000);
        while (!victim && i >= rounds / 2 && !access(hold, F_OK))
            usleep(1000);
        run();
        for (int k = 0; k < N * size; k++)
            digest = digest * 31 + (unsigned long)r[k];
    }
    return digest;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        for (int i = 0; i < CASES; i++)
            puts(cases[i].name);
        return 0;
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(W, &rank);
    MPI_Comm_size(W, &size);
    for (int i = 0; i < RANKS; i++)
        one[i] = 1, at[i] = i, at_bytes[i] = i * (int)sizeof *s, types[i] = L;
    MPI_Cart_create(W, 1, &size, (int[]){1}, 0, &ring);
    MPI_Comm_group(W, &group);
    for (int k = 2; k < argc; k++)
        for (int i = 0; i < CASES; i++) {
            if (strcmp(cases[i].name, argv[k]))
                continue;
            int on_file = !strncmp(argv[k], "File_", 5);
            if (on_file)
                MPI_File_open(W, "collectives.bin", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                              &file);
            unsigned long digest = repeat(k - 2, strstr(argv[k], "scan") || strstr(argv[k], "Scan"),
                                          cases[i].run, atoi(argv[1]));
            if (on_file)
                MPI_File_close(&file);
            printf("rank %d: %s %lx\n", rank, argv[k], digest);
        }
    MPI_Finalize();
    return 0;
}
