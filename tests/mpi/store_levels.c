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

/* Four saves under way at once, each at another level; each is whole where it should be. */
static void side_by_side(void)
{
    static const mend_level kinds[] = {MEND_LEVEL_LOCAL, MEND_LEVEL_PARTNER, MEND_LEVEL_ERASURE,
                                       MEND_LEVEL_GLOBAL};
    struct data d;
    mend_store_options o = plain_options(rank);
    data_make(&d, rank, 50000);
    for (int i = 0; i < 4; i++)
        o.level[kinds[i]] = (mend_level_options){.every = 1, .keep = 2};
    o.level[MEND_LEVEL_MEMORY] = (mend_level_options){.every = 1, .keep = 1};
    o.erasure_k = size - 1;
    o.buffers = 4;
    mend_store *s = open_store("side", &o, &d);
    for (long v = 1; v <= 8; v++) {
        mend_save_options at = {.levels = MEND_LEVEL_BIT(kinds[(v - 1) % 4])};
        data_fill(&d, rank, v);
        OK(mend_store_save_with(s, v, &at));
        memset(d.a, 0, d.n * sizeof *d.a);
    }
    OK(mend_store_wait(s));
    for (long v = 1; v <= 8; v++) {
        unsigned reached = 0;
        OK(mend_store_reached(s, v, &reached));
        CHECK(reached == MEND_LEVEL_BIT(kinds[(v - 1) % 4]));
    }
    for (long v = 8; v >= 1; v--) {
        OK(mend_store_restore(s, v));
        CHECK(data_is(&d, rank, v));
    }
    OK(mend_store_close(s));
    free(d.a);
    if (rank == 0)
        printf("side by side: ok\n");
}

static int count_copies(const char *dir, int of)
{
    char mark[32];
    int n = 0;
    struct dirent *e;
    DIR *d = opendir(dir);
    snprintf(mark, sizeof mark, "copy-r%d-", of);
    while (d && (e = readdir(d)))
        n += strncmp(e->d_name, mark, strlen(mark)) == 0;
    if (d)
        closedir(d);
    return n;
}

/* The ranks are placed anew, and everybody has another partner: what the former one held goes. */
static void former_partner(void)
{
    static char dir[4096], domain[64];
    char folder[4200];
    struct data d;
    long version = -1;
    int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    mend_store_options o = plain_options(rank);
    snprintf(dir, sizeof dir, "%s/kept-by-%d", getenv("MEND_TEST_DIR"), rank);
    snprintf(folder, sizeof folder, "%s/moved", dir);
    snprintf(domain, sizeof domain, "n%d", rank);
    o.local_dir = dir;
    o.domain = domain;
    o.level[MEND_LEVEL_PARTNER] = (mend_level_options){.every = 1, .keep = 2};
    data_make(&d, rank, 5000);
    mend_store *s = open_store("moved", &o, &d);
    for (long v = 1; v <= 2; v++) {
        data_fill(&d, rank, v);
        OK(mend_store_save(s, v));
    }
    OK(mend_store_close(s));
    CHECK(count_copies(folder, previous) == 2 && count_copies(folder, next) == 0);
    MPI_Barrier(MPI_COMM_WORLD);
    snprintf(domain, sizeof domain, "n%d",
             size - rank); /* the order is reversed, and so is the ring */
    s = open_store("moved", &o, &d);
    OK(mend_store_restore_newest(s, &version));
    CHECK(version == 2 && data_is(&d, rank, 2));
    for (long v = 3; v <= 4; v++) {
        data_fill(&d, rank, v);
        OK(mend_store_save(s, v));
    }
    OK(mend_store_close(s));
    CHECK(count_copies(folder, next) == 2 && count_copies(folder, previous) == 0);
    MPI_Barrier(MPI_COMM_WORLD);
    free(d.a);
    if (rank == 0)
        printf("former partner: ok\n");
}

/* mend ls counts what parity can give. */
static void listed(const char *program)
{
    char command[9000], text[4000] = "";
    struct data d;
    mend_store_options o = plain_options(rank);
    o.level[MEND_LEVEL_ERASURE] = (mend_level_options){.every = 1, .keep = 2};
    o.erasure_k = size - 1;
    data_make(&d, rank, 5000);
    mend_store *s = open_store("listed", &o, &d);
    data_fill(&d, rank, 1);
    OK(mend_store_save(s, 1));
    OK(mend_store_close(s));
    if (rank == 2)
        lose_disk(rank, "listed");
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        snprintf(command, sizeof command, "'%.*s../bin/mend' ls '%s' | grep '^listed '",
                 (int)(strrchr(program, '/') + 1 - program), program, getenv("MEND_TEST_DIR"));
        FILE *f = popen(command, "r");
        CHECK(f && fgets(text, sizeof text, f));
        pclose(f);
        char shape[120];
        snprintf(shape, sizeof shape, "parity %d/%d (%d+1)  1 from parity", size - 1, size,
                 size - 1);
        CHECK(strstr(text, "  complete") && strstr(text, shape));
        printf("listed: ok\n");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    free(d.a);
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
    char half[4096] = ""; /* every rank has the first half of it, nobody the second */

    for (size_t i = 0; i < n; i++)
        part[i] = value(99, 5, from + i);
    OK(mend_store_open(MPI_COMM_WORLD, -1, name, &o, &s));
    OK(mend_store_region_global(s, 1, "array", part, n * 8, from * 8, total * 8));
    OK(mend_store_region_global(s, 3, "half", half, sizeof half / 2, 0, sizeof half));
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
        OK(mend_store_region_global(s, 3, "half", half, sizeof half, 0, sizeof half));
        CHECK(mend_store_restore_regions(s, 5, (int[]){3}, 1) == MEND_ERR_REGION);
        OK(mend_store_region_remove(s, 3));
        const uint64_t before = part[0];
        for (size_t other = total - 1; other <= total + 1; other += 2) { /* it is another array */
            size_t mine = from + n > other ? other - from : n;
            OK(mend_store_region_global(s, 1, "array", part, mine * 8, from * 8, other * 8));
            CHECK(mend_store_restore(s, 5) == MEND_ERR_SIZE && part[0] == before);
            CHECK(strstr(mend_error_text(), "800024 in the version"));
            OK(mend_store_region_remove(s, 1));
        }
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
    side_by_side();
    former_partner();
    listed(argv[0]);
    redistribute(0);
    redistribute(2);

    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        pass();
    MPI_Finalize();
    return 0;
}
