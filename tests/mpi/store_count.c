/* Messages and bytes that a rank sends for a save at each level, and for a restore: counted, and compared with the
 * formulas in docs/guide/scale.md. The store sends by MPI_Isend only, which is counted here on its way to the library.
 *
 * L = ceil(log2 R): rounds of a reduction, or of a gathering, over R ranks. */
#include "store_common.h"

#include <stdatomic.h>

enum { BYTES = 300000, SLACK = 16384, ITEM = 456 };

static int rank, size, rounds;
static atomic_llong messages, bytes_sent; /* the store's own thread sends, too */

int MPI_Isend(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    int each = 0;
    PMPI_Type_size(type, &each);
    messages++;
    bytes_sent += (long long)count * each;
    return PMPI_Isend(data, count, type, to, tag, comm, request);
}

static void begin(void)
{
    PMPI_Barrier(MPI_COMM_WORLD);
    messages = bytes_sent = 0;
}

/* Every rank has sent so many messages, and bytes between the two limits. */
static void expect(const char *what, long long count, long long least, long long most)
{
    long long mine[4] = {messages, -messages, bytes_sent, -bytes_sent}, all[4];
    PMPI_Allreduce(mine, all, 4, MPI_LONG_LONG, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("%3d ranks, %-16s %lld messages, %lld to %lld bytes a rank\n", size, what, all[0],
               -all[3], all[2]);
        if (all[0] != count || -all[1] != count || -all[3] < least || all[2] > most)
            fprintf(stderr, "%s: expected %lld messages and %lld to %lld bytes\n", what, count,
                    least, most);
    }
    CHECK(all[0] == count && -all[1] == count);
    CHECK(-all[3] >= least && all[2] <= most);
}

static void save(mend_store *s, mend_version_t version, mend_level level)
{
    mend_save_options o = {.levels = MEND_LEVEL_BIT(level)};
    begin();
    OK(mend_store_save_with(s, version, &o));
    OK(mend_store_wait(s));
}

/* Agreements are reductions of 8 bytes; that of the call itself has ten numbers. */
static long long agreements(int others)
{
    return rounds * (80LL + 8 * others);
}

static void levels(mend_store *s)
{
    const int k = 3, m = 1;
    long long data = BYTES, file = BYTES + SLACK;
    save(s, 1, MEND_LEVEL_MEMORY);
    expect("memory, first", 4 * rounds + 3, data, data + SLACK + agreements(3));
    save(s, 2, MEND_LEVEL_MEMORY); /* makes room for the second of two copies in turn */
    save(s, 3, MEND_LEVEL_MEMORY);
    expect("memory", 3 * rounds + 2, data, data + SLACK + agreements(2));
    save(s, 4, MEND_LEVEL_LOCAL);
    expect("local", 4 * rounds, agreements(3), agreements(3));
    save(s, 5, MEND_LEVEL_PARTNER);
    expect("partner", 6 * rounds + 2, data, file + agreements(5));
    save(s, 6, MEND_LEVEL_ERASURE);
    expect("erasure", 7 * rounds + k + m - 1 + k * m, m * data,
           m * (file + k) + 8 * (k + m) + agreements(6));
    save(s, 7, MEND_LEVEL_GLOBAL);
    expect("global", 5 * rounds, agreements(4), agreements(4));
}

/* Everybody learns what everybody has: R items a part that somebody holds. Nothing was lost, so that nothing moves. */
static void restore(mend_store *s, const struct data *d, int parts)
{
    OK(mend_store_save(s, 8)); /* at every level: else the restore would add what is missing */
    OK(mend_store_wait(s));
    begin();
    OK(mend_store_restore(s, 8));
    long long others = size - 1, least = 32LL * rounds + others * (13 + ITEM);
    expect("restore", 7 * rounds, least, 32LL * rounds + others * (13 + (long long)ITEM * parts));
    CHECK(data_is(d, rank, 8));
}

int main(int argc, char **argv)
{
    int level;
    struct data d;
    mend_store *s = NULL;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    while (1 << rounds < size)
        rounds++;
    mend_store_options o = plain_options(rank);
    for (int i = 0; i < MEND_LEVEL_COUNT; i++)
        o.level[i] = (mend_level_options){.every = 1, .keep = 1};
    o.erasure_k = 3;
    o.erasure_m = 1;
    data_make(&d, 0, (BYTES - sizeof d.b) / sizeof *d.a); /* the same on every rank */
    data_fill(&d, rank, 8);
    begin();
    OK(mend_store_open(MPI_COMM_WORLD, -1, "count", &o, &s));
    data_register(s, &d);
    levels(s);
    restore(s, &d, 16);
    OK(mend_store_close(s));
    free(d.a);
    if (rank == 0)
        pass();
    MPI_Finalize();
    return 0;
}
