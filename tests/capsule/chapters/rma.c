/* Chapter 11 of MPI-3.1: one-sided communication: all four kinds of window, all ways to
 * synchronise, all transfers. */
#include "chapter.h"

enum { N = 64 };
static MPI_Win created, allocated, shared, dynamic;
static long *mem_created, *mem_allocated, *mem_shared, mem_dynamic[N];
static MPI_Aint *dyn_at; /* address of mem_dynamic on each rank */
static MPI_Comm node;
static MPI_Group left_group, right_group;
static int left, right;

static void make(void)
{
    MPI_Info info;
    MPI_Group world;
    MPI_Info_create(&info);
    MPI_Info_set(info, "no_locks", "false");
    mem_created = calloc(N, sizeof(long));
    MPI_Win_create(mem_created, N * sizeof(long), sizeof(long), info, MPI_COMM_WORLD, &created);
    MPI_Win_allocate(N * sizeof(long), sizeof(long), info, MPI_COMM_WORLD, &mem_allocated,
                     &allocated);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, me, MPI_INFO_NULL, &node);
    MPI_Win_allocate_shared(N * sizeof(long), sizeof(long), info, node, &mem_shared, &shared);
    MPI_Win_create_dynamic(info, MPI_COMM_WORLD, &dynamic);
    MPI_Win_attach(dynamic, mem_dynamic, sizeof mem_dynamic);
    MPI_Info_free(&info);
    dyn_at = malloc((size_t)ranks * sizeof *dyn_at);
    MPI_Get_address(mem_dynamic, &dyn_at[me]);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_AINT, dyn_at, 1, MPI_AINT, MPI_COMM_WORLD);
    memset(mem_allocated, 0, N * sizeof(long));
    memset(mem_shared, 0, N * sizeof(long));
    MPI_Win_set_name(created, "made from memory");
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &left, &left_group);
    MPI_Group_incl(world, 1, &right, &right_group);
    MPI_Group_free(&world);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void fence(MPI_Win w, long *mem, int r)
{
    long out[4], got[4] = {0, 0, 0, 0};
    for (int i = 0; i < 4; i++)
        out[i] = me * 1000 + r * 10 + i;
    MPI_Win_fence(MPI_MODE_NOPRECEDE, w);
    MPI_Put(out, 4, MPI_LONG, right, 8, 4, MPI_LONG, w);
    MPI_Win_fence(0, w);
    for (int i = 0; i < 4; i++)
        SAME(mem[8 + i], left * 1000 + r * 10 + i);
    MPI_Get(got, 4, MPI_LONG, right, 8, 4, MPI_LONG, w);
    MPI_Win_fence(0, w);
    for (int i = 0; i < 4; i++)
        SAME(got[i], out[i]);
    long one = me + 1;
    mem[0] = 0;
    MPI_Win_fence(0, w);
    MPI_Accumulate(&one, 1, MPI_LONG, 0, 0, 1, MPI_LONG, MPI_SUM, w);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, w);
    if (me == 0)
        SAME(mem[0], (long)ranks * (ranks + 1) / 2);
}

static void general_active(int r)
{
    long out = me * 7 + r;
    int flag = 0;
    MPI_Win_post(left_group, 0, created);
    MPI_Win_start(right_group, 0, created);
    MPI_Put(&out, 1, MPI_LONG, right, 20, 1, MPI_LONG, created);
    MPI_Win_complete(created);
    if (r % 2)
        MPI_Win_wait(created);
    else
        while (!flag)
            MPI_Win_test(created, &flag);
    SAME(mem_created[20], left * 7 + r);
}

static void passive(MPI_Win w, int r)
{
    long out = me * 100 + r, got = -1, cmp, res = -1, add = 1, sum2[2] = {me, r}, res2[2] = {0, 0};
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, w);
    MPI_Put(&out, 1, MPI_LONG, right, 30 + me, 1, MPI_LONG, w);
    MPI_Win_flush(right, w);
    MPI_Get(&got, 1, MPI_LONG, right, 30 + me, 1, MPI_LONG, w);
    MPI_Win_flush_local(right, w);
    SAME(got, out);
    MPI_Win_unlock(right, w);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w);
    MPI_Fetch_and_op(&add, &res, MPI_LONG, 0, 40, MPI_SUM, w);
    MPI_Win_unlock(0, w);
    CHECK(res >= 0);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, w);
    MPI_Fetch_and_op(NULL, &res, MPI_LONG, 0, 40, MPI_NO_OP, w);
    MPI_Win_flush_all(w);
    SAME(res, (long)ranks * (r + 1));
    /* one value for each pair: no race */
    MPI_Get_accumulate(sum2, 2, MPI_LONG, res2, 2, MPI_LONG, right, 42, 2, MPI_LONG, MPI_REPLACE,
                       w);
    MPI_Win_flush_local_all(w);
    MPI_Win_flush_all(w);
    mix_int(res2[0]), mix_int(res2[1]);
    cmp = me, out = me + 500;
    MPI_Compare_and_swap(&out, &cmp, &res, MPI_LONG, right, 42, w);
    MPI_Win_flush(right, w);
    SAME(res, me);
    MPI_Request q[4];
    long a = me + 1, b = -1, c = 3, d[2] = {0, 0};
    MPI_Rput(&a, 1, MPI_LONG, right, 46, 1, MPI_LONG, w, &q[0]);
    MPI_Wait(&q[0], MPI_STATUS_IGNORE);
    MPI_Win_flush(right, w);
    MPI_Rget(&b, 1, MPI_LONG, right, 46, 1, MPI_LONG, w, &q[1]);
    MPI_Wait(&q[1], MPI_STATUS_IGNORE);
    SAME(b, me + 1);
    MPI_Raccumulate(&c, 1, MPI_LONG, right, 46, 1, MPI_LONG, MPI_SUM, w, &q[2]);
    MPI_Wait(&q[2], MPI_STATUS_IGNORE);
    MPI_Win_flush(right, w);
    MPI_Rget_accumulate(&c, 1, MPI_LONG, d, 1, MPI_LONG, right, 46, 1, MPI_LONG, MPI_PROD, w,
                        &q[3]);
    MPI_Waitall(1, &q[3], MPI_STATUSES_IGNORE);
    SAME(d[0], me + 4);
    MPI_Win_sync(w);
    MPI_Win_unlock_all(w);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void shared_memory(int r)
{
    MPI_Aint size;
    int unit, nrank, nsize;
    long *theirs;
    MPI_Comm_rank(node, &nrank);
    MPI_Comm_size(node, &nsize);
    MPI_Win_shared_query(shared, (nrank + 1) % nsize, &size, &unit, &theirs);
    SAME(size, N * sizeof(long));
    SAME(unit, sizeof(long));
    MPI_Win_lock_all(MPI_MODE_NOCHECK, shared);
    theirs[3] = me * 11 + r; /* a plain store into the neighbour's part */
    MPI_Win_sync(shared);
    MPI_Barrier(node);
    MPI_Win_sync(shared);
    SAME(mem_shared[3], (long)left * 11 + r);
    MPI_Win_unlock_all(shared);
    MPI_Barrier(node);
}

static void dynamic_memory(int r)
{
    static long extra[N]; /* attached only inside the round */
    MPI_Aint at[8];
    long out = me * 5 + r;
    MPI_Win_attach(dynamic, extra, sizeof extra);
    MPI_Get_address(extra, &at[me]);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_AINT, at, 1, MPI_AINT, MPI_COMM_WORLD);
    MPI_Win_fence(0, dynamic);
    MPI_Put(&out, 1, MPI_LONG, right, dyn_at[right] + 2 * (MPI_Aint)sizeof(long), 1, MPI_LONG,
            dynamic);
    MPI_Put(&out, 1, MPI_LONG, right, MPI_Aint_add(at[right], 8), 1, MPI_LONG, dynamic);
    MPI_Win_fence(0, dynamic);
    SAME(mem_dynamic[2], left * 5 + r);
    SAME(extra[1], left * 5 + r);
    MPI_Win_detach(dynamic, extra);
}

static void ask(void)
{
    char name[MPI_MAX_OBJECT_NAME];
    int len, flag, *flavor, *unit, n;
    MPI_Aint *size;
    void *base;
    MPI_Group g;
    MPI_Info info;
    MPI_Win_get_name(created, name, &len);
    SAME(strcmp(name, "made from memory"), 0);
    MPI_Win_get_group(created, &g);
    MPI_Group_size(g, &n);
    SAME(n, ranks);
    MPI_Group_free(&g);
    MPI_Win_get_info(created, &info);
    MPI_Win_set_info(created, info);
    MPI_Info_free(&info);
    MPI_Win_get_attr(created, MPI_WIN_BASE, &base, &flag);
    CHECK(base == mem_created);
    MPI_Win_get_attr(allocated, MPI_WIN_BASE, &base, &flag);
    CHECK(base == mem_allocated);
    MPI_Win_get_attr(allocated, MPI_WIN_SIZE, &size, &flag);
    SAME(*size, N * sizeof(long));
    MPI_Win_get_attr(allocated, MPI_WIN_DISP_UNIT, &unit, &flag);
    SAME(*unit, sizeof(long));
    const int want[4] = {MPI_WIN_FLAVOR_CREATE, MPI_WIN_FLAVOR_ALLOCATE, MPI_WIN_FLAVOR_SHARED,
                         MPI_WIN_FLAVOR_DYNAMIC};
    MPI_Win w[4] = {created, allocated, shared, dynamic};
    for (int i = 0; i < 4; i++) {
        MPI_Win_get_attr(w[i], MPI_WIN_CREATE_FLAVOR, &flavor, &flag);
        CHECK(flag && *flavor == want[i]);
    }
}

/* an access epoch that stays open over the rounds, as many programs have it */
static MPI_Win open_win;
static long *open_mem;
static void open_use(int r)
{
    long v = 1, got = -1;
    MPI_Accumulate(&v, 1, MPI_LONG, right, 1, 1, MPI_LONG, MPI_SUM, open_win);
    MPI_Win_flush(right, open_win);
    MPI_Fetch_and_op(NULL, &got, MPI_LONG, right, 1, MPI_NO_OP, open_win);
    MPI_Win_flush(right, open_win);
    SAME(got, r + 1);
}

/* Pairs in memory of the library: three pages of rank 0, none of the last rank. What was written in one round is there in all
 * that follow. */
struct pair {
    short value;
    int place;
};
enum { PAIRS = 1500, FIRST = 0, ON_SECOND_PAGE = 700, LAST = PAIRS - 1, NOTES = 900 };
static MPI_Win best;
static struct pair *mem_best;

static void best_make(void)
{
    MPI_Aint size = me == ranks - 1 ? 0 : (PAIRS - me) * (MPI_Aint)sizeof *mem_best;
    MPI_Win_allocate(size, sizeof *mem_best, MPI_INFO_NULL, MPI_COMM_WORLD, &mem_best, &best);
    memset(mem_best, 0, (size_t)size);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void best_of_all(int r)
{
    const int at[3] = {FIRST, ON_SECOND_PAGE, LAST};
    struct pair mine = {.value = (short)(r * ranks + me), .place = 70000 + me}, old = {-1, -1};
    MPI_Win_lock_all(0, best);
    for (int i = 0; i < 3; i++) {
        MPI_Fetch_and_op(&mine, &old, MPI_SHORT_INT, 0, at[i], MPI_MAXLOC, best);
        MPI_Win_flush(0, best);
        CHECK(old.value >= r * ranks - 1); /* the best of the last round */
    }
    if (me == r % ranks)
        MPI_Accumulate(&mine, 1, MPI_SHORT_INT, 0, NOTES + r, 1, MPI_SHORT_INT, MPI_REPLACE, best);
    MPI_Accumulate(&mine, 1, MPI_SHORT_INT, 0, 1, 1, MPI_SHORT_INT, MPI_MAXLOC, best);
    MPI_Win_flush_all(best);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_sync(best);
    for (int i = 0; i < 3 && me == 0; i++) {
        SAME(mem_best[at[i]].value, r * ranks + ranks - 1);
        SAME(mem_best[at[i]].place, 70000 + ranks - 1);
    }
    for (int past = 0; past <= r && me == 0; past++)
        SAME(mem_best[NOTES + past].place, 70000 + past % ranks);
    MPI_Win_unlock_all(best);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* A window of one rank: both libraries take its memory from the heap, which cannot be mapped twice. */
static MPI_Win alone;
static struct pair *mem_alone;

static void alone_make(void)
{
    MPI_Win_allocate(PAIRS * sizeof *mem_alone, sizeof *mem_alone, MPI_INFO_NULL, MPI_COMM_SELF,
                     &mem_alone, &alone);
    memset(mem_alone, 0, PAIRS * sizeof *mem_alone);
}

static void alone_use(int r)
{
    struct pair mine = {.value = (short)(r + 1), .place = 80000 + r}, old = {-1, -1};
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, alone);
    MPI_Fetch_and_op(&mine, &old, MPI_SHORT_INT, 0, LAST, MPI_MAXLOC, alone);
    MPI_Win_unlock(0, alone);
    SAME(old.value, r);
    SAME(mem_alone[LAST].place, 80000 + r);
}

/* Whether others can have these pages, too: a library that allocates them itself sees to it. */
static int is_shared(const void *at)
{
    char line[4352], rights[8];
    unsigned long from, to;
    int found = 0;
    FILE *f = fopen("/proc/self/maps", "r");
    while (!found && fgets(line, sizeof line, f))
        found = sscanf(line, "%lx-%lx %7s", &from, &to, rights) == 3 && from <= (unsigned long)at &&
                (unsigned long)at < to;
    fclose(f);
    return found && rights[3] == 's';
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    chapter_begin(argc, argv);
    left = (me + ranks - 1) % ranks;
    right = (me + 1) % ranks;
    make();
    best_make();
    alone_make();
    MPI_Win_allocate(N * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &open_mem,
                     &open_win);
    memset(open_mem, 0, N * sizeof(long));
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, open_win);
    for (int r = 0; chapter_round(&r); r++) {
        fence(created, mem_created, r);
        fence(allocated, mem_allocated, r);
        general_active(r);
        passive(allocated, r);
        shared_memory(r);
        dynamic_memory(r);
        ask();
        open_use(r);
        best_of_all(r);
        alone_use(r);
        mix_int(is_shared(mem_allocated)); /* as natively, also in a new library */
        MPI_Win w;
        MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &w);
        MPI_Win_fence(0, w);
        MPI_Win_free(&w);
        CHECK(w == MPI_WIN_NULL);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    mix(mem_created, N * sizeof(long));
    mix(mem_allocated, N * sizeof(long));
    mix(mem_shared, N * sizeof(long));
    MPI_Win_unlock_all(open_win);
    MPI_Win_detach(dynamic, mem_dynamic);
    MPI_Win_free(&open_win);
    MPI_Win_free(&best);
    MPI_Win_free(&alone);
    MPI_Win_free(&created);
    MPI_Win_free(&allocated);
    MPI_Win_free(&shared);
    MPI_Win_free(&dynamic);
    MPI_Group_free(&left_group);
    MPI_Group_free(&right_group);
    MPI_Comm_free(&node);
    free(mem_created);
    free(dyn_at);
    return chapter_end("rma");
}
