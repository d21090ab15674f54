/* Arrays on devices that span ranks, over the stand-in of the driver: saved by all, restored by fewer. A device of one rank
 * fails at each call of it, one after the other: all ranks get the same error, nobody waits for ever, and the next restore is
 * right. The same for a save, and for a restore by all. */
#include "store_common.h"

#include "../harness/driver/gpu.h"

enum { TOTAL = 300007, VICTIM = 0 };
static int rank, size;

/* My part of the array among `ranks`. */
struct slice {
    uint64_t *there, *here;
    size_t from, n;
};

static struct slice slice_of(int ranks)
{
    size_t each = TOTAL / (size_t)ranks + 1, from = each * (size_t)rank;
    struct slice s = {.from = from, .n = TOTAL - from < each ? TOTAL - from : each};
    s.there = gpu_new(s.n * 8);
    s.here = malloc(s.n * 8);
    return s;
}

static void slice_free(struct slice *s)
{
    gpu_drop(s->there);
    free(s->here);
}

static void fill(struct slice *s, long version)
{
    for (size_t i = 0; i < s->n; i++)
        s->here[i] = version < 0 ? 0x5E : value(99, version, s->from + i);
    gpu_fill(s->there, s->here, s->n * 8);
}

static bool is(struct slice *s, long version)
{
    gpu_look(s->here, s->there, s->n * 8);
    for (size_t i = 0; i < s->n; i++)
        if (s->here[i] != value(99, version, s->from + i))
            return false;
    return true;
}

static mend_store *opened(MPI_Comm comm, const struct slice *s)
{
    mend_store_options o = plain_options(rank);
    mend_store *store = NULL;
    o.level[MEND_LEVEL_GLOBAL] = (mend_level_options){.every = 1, .keep = 3};
    OK(mend_store_open(comm, -1, "spread", &o, &store));
    OK(mend_store_region_global(store, 1, "array", s->there, s->n * 8, s->from * 8, TOTAL * 8));
    return store;
}

/* The hit-th call of the victim's device fails; did it come to that? */
static void break_one(int hit)
{
    if (rank == VICTIM)
        gpu.fake->breaks("*", hit, 719, 0, 0);
}

static bool healed(MPI_Comm comm)
{
    int came = rank == VICTIM && !gpu.fake->waiting();
    gpu.fake->heal();
    MPI_Bcast(&came, 1, MPI_INT, VICTIM, comm);
    return came;
}

static void same_on_all(MPI_Comm comm, int rc)
{
    int ends[2] = {rc, -rc};
    MPI_Allreduce(MPI_IN_PLACE, ends, 2, MPI_INT, MPI_MAX, comm);
    CHECK(ends[0] == rc && ends[1] == -rc);
    CHECK(rc == 0 || rc == MEND_ERR_DEVICE);
    CHECK(!rc || rank != VICTIM || strstr(mend_error_text(), "on rank 0"));
}

static int every_restore(mend_store *store, MPI_Comm comm, struct slice *s, long version)
{
    int hit = 1;
    for (bool came = true; came; hit++) {
        fill(s, -1);
        break_one(hit);
        int rc = mend_store_restore(store, version);
        same_on_all(comm, rc);
        came = healed(comm);
        if (rc)
            OK(mend_store_restore(store, version));
        CHECK(is(s, version));
    }
    return hit - 2;
}

int main(int argc, char **argv)
{
    int provided, saves = 0, restores, fewer_restores = 0;
    MPI_Comm fewer;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(gpu_start(rank) && gpu.fake);

    struct slice s = slice_of(size);
    mend_store *store = opened(MPI_COMM_WORLD, &s);
    long version = 1;
    for (bool came = true; came; version++) { /* the first save has the most calls */
        fill(&s, version);
        break_one((int)version);
        int rc = mend_store_save(store, version);
        same_on_all(MPI_COMM_WORLD, rc);
        if (rc == 0)
            rc = mend_store_wait(store);
        came = healed(MPI_COMM_WORLD);
        CHECK(rc == 0 || (came && (rc == MEND_ERR_DEVICE || rc == MEND_ERR_NOT_SAVED)));
        saves += came;
    }
    restores = every_restore(store, MPI_COMM_WORLD, &s, --version);
    OK(mend_store_close(store));
    slice_free(&s);

    MPI_Comm_split(MPI_COMM_WORLD, rank == size - 1 ? MPI_UNDEFINED : 0, rank, &fewer);
    if (fewer != MPI_COMM_NULL) {
        s = slice_of(size - 1);
        store = opened(fewer, &s);
        fewer_restores = every_restore(store, fewer, &s, version);
        OK(mend_store_close(store));
        slice_free(&s);
        MPI_Comm_free(&fewer);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        printf("%d calls of saves, %d of restores, %d by fewer ranks\n", saves, restores,
               fewer_restores);
        CHECK(saves > 5 && restores > 5 && fewer_restores > 5);
        pass();
    }
    MPI_Finalize();
    return 0;
}
