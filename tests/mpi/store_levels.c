/* Every level: save, lose what the level promises to survive, restore, compare bit by bit. */
#include "store_common.h"

static int rank, size;

static mend_store *open_store(const char *name, const mend_store_options *o, struct data *d)
{
    mend_store *s = NULL;
    OK(mend_store_open(MPI_COMM_WORLD, -1, name, o, &s));
    data_register(s, d);
    return s;
}

/* Save three versions, close; let `lost` ranks lose their disks; open anew and restore. */
static void survive(const char *name, mend_store_options o, const int *lost, int lost_count)
{
    struct data d;
    long version = -1;

    data_make(&d, rank, 50000);
    mend_store *s = open_store(name, &o, &d);
    CHECK(mend_store_newest(s, &version) == MEND_ERR_NO_VERSION);
    for (long v = 1; v <= 3; v++) {
        data_fill(&d, rank, v);
        OK(mend_store_save(s, v));
        memset(d.a, 0, d.n * sizeof *d.a); /* the application goes on at once */
    }
    OK(mend_store_wait(s));
    OK(mend_store_close(s));
    for (int i = 0; i < lost_count; i++)
        if (lost[i] == rank)
            lose_disk(rank, name);
    MPI_Barrier(MPI_COMM_WORLD);

    s = open_store(name, &o, &d);
    OK(mend_store_newest(s, &version));
    CHECK(version == 3);
    OK(mend_store_restore(s, 3));
    CHECK(data_is(&d, rank, 3));
    OK(mend_store_wait(s)); /* the rebuild in the background */

    /* redundancy is back: the same loss again */
    OK(mend_store_close(s));
    for (int i = 0; i < lost_count; i++)
        if ((lost[i] + 1) % size == rank)
            lose_disk(rank, name);
    MPI_Barrier(MPI_COMM_WORLD);
    s = open_store(name, &o, &d);
    memset(d.a, 0, d.n * sizeof *d.a);
    OK(mend_store_restore_newest(s, &version));
    CHECK(version == 3 && data_is(&d, rank, 3));
    CHECK(mend_store_save(s, 3) == MEND_ERR_VERSION);
    data_fill(&d, rank, 4);
    OK(mend_store_save(s, 4));
    OK(mend_store_wait(s));
    unsigned reached = 0;
    OK(mend_store_reached(s, 4, &reached));
    CHECK(reached != 0);
    OK(mend_store_close(s));
    free(d.a);
    if (rank == 0)
        printf("%s: ok\n", name);
}

/* Arrays that span ranks: saved by all, restored by fewer. */
static void redistribute(int bundles)
{
    const char *name = bundles ? "spread-bundled" : "spread";
    mend_store_options o = plain_options(rank);
    o.level[MEND_LEVEL_GLOBAL] = (mend_level_options){.every = 1, .keep = 2};
    o.global_files = bundles;
    size_t total = 100003, each = total / (size_t)size + 1, from = each * (size_t)rank;
    size_t n = from >= total ? 0 : total - from < each ? total - from : each;
    uint64_t *part = malloc((each + 1) * sizeof *part);
    mend_store *s = NULL;

    for (size_t i = 0; i < n; i++)
        part[i] = value(99, 5, from + i);
    OK(mend_store_open(MPI_COMM_WORLD, -1, name, &o, &s));
    OK(mend_store_region_global(s, 1, "array", part, n * 8, from * 8, total * 8));
    OK(mend_store_save(s, 5));
    OK(mend_store_wait(s));
    OK(mend_store_close(s));

    MPI_Comm fewer;
    MPI_Comm_split(MPI_COMM_WORLD, rank == size - 1 ? MPI_UNDEFINED : 0, rank, &fewer);
    if (fewer != MPI_COMM_NULL) {
        long version;
        int m = size - 1;
        each = total / (size_t)m + 1;
        from = each * (size_t)rank;
        n = from >= total ? 0 : total - from < each ? total - from : each;
        part = realloc(part, (each + 1) * sizeof *part);
        memset(part, 0, each * sizeof *part);
        OK(mend_store_open(fewer, -1, name, &o, &s));
        OK(mend_store_newest(s, &version));
        OK(mend_store_region(s, 2, "plain", part, 8));
        CHECK(mend_store_restore(s, 5) == MEND_ERR_RANK_COUNT);
        OK(mend_store_region_remove(s, 2));
        OK(mend_store_region_global(s, 1, "array", part, n * 8, from * 8, total * 8));
        OK(mend_store_restore(s, 5));
        for (size_t i = 0; i < n; i++)
            CHECK(part[i] == value(99, 5, from + i));
        OK(mend_store_save(s, 6));
        OK(mend_store_close(s));
        MPI_Comm_free(&fewer);
    }
    free(part);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("%s: ok\n", name);
}

int main(int argc, char **argv)
{
    int provided;
    MPI_Init_thread(&argc, &argv, argc > 1 ? atoi(argv[1]) : MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);

    mend_store_options o = plain_options(rank);
    const mend_level_options on = {.every = 1, .keep = 2},
                             packed = {.every = 1, .keep = 2, .compress = 3};

    o.level[MEND_LEVEL_LOCAL] = on;
    survive("local", o, NULL, 0);
    o.level[MEND_LEVEL_LOCAL] = packed;
    o.sync = 1;
    survive("compressed", o, NULL, 0);
    o.sync = 0;
    o.level[MEND_LEVEL_LOCAL].every = 0;
    o.level[MEND_LEVEL_PARTNER] = on;
    survive("partner", o, (int[]){1}, 1);
    survive("partner-first", o, (int[]){0}, 1);
    o.level[MEND_LEVEL_PARTNER].every = 0;
    o.level[MEND_LEVEL_ERASURE] = on;
    o.erasure_k = size - 1;
    survive("erasure-1", o, (int[]){2}, 1);
    if (size > 3) {
        o.erasure_k = size - 2;
        o.erasure_m = 2;
        survive("erasure-2", o, (int[]){1, 3}, 2);
    }
    o.level[MEND_LEVEL_ERASURE].every = 0;
    o.level[MEND_LEVEL_GLOBAL] = on;
    survive("global", o, NULL, 0);
    o.global_files = 2;
    survive("bundles", o, NULL, 0);
    o.level[MEND_LEVEL_MEMORY] = (mend_level_options){.every = 1, .keep = 1};
    o.level[MEND_LEVEL_LOCAL] = on;
    o.level[MEND_LEVEL_PARTNER] = (mend_level_options){.every = 2, .keep = 1};
    o.level[MEND_LEVEL_ERASURE] = (mend_level_options){.every = 3, .keep = 1};
    o.global_files = 0;
    survive("all", o, NULL, 0);
    redistribute(0);
    redistribute(2);

    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        pass();
    MPI_Finalize();
    return 0;
}
