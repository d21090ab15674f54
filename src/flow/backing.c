/* Mend's own store and process layer behind the two tables of functions that this layer works with.
 */
#include <base/event.h>
#include <base/fail.h>
#include <base/log.h>
#include <limits.h>
#include <mend/process.h>
#include <mend/store.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "flow.h"

/* ---- the store ---- */

struct backing {
    mend_store *store;
    char *name;
    int *ids;
    int id_room;
    mend_version_t saved; /* the last one whose outcome nobody has asked for, -1: none */
    mend_store_options options;
};

static int store_bind(void *arg, MPI_Comm comm, int rank)
{
    struct backing *b = arg;
    if (b->store)
        return mend_store_rebind(b->store, comm, rank);
    return mend_store_open(comm, rank, b->name, &b->options, &b->store);
}

static int register_parts(struct backing *b, const mend_flow_part *parts, int count)
{
    if (b->id_room < count) {
        int *ids = realloc(b->ids, (size_t)count * sizeof *ids);
        if (!ids)
            return mend_fail(MEND_ERR_NO_MEMORY, "no memory for %d regions", count);
        b->ids = ids;
        b->id_room = count;
    }
    int rc = 0;
    for (int i = 0; i < count && !rc; i++) {
        const mend_flow_part *p = &parts[i];
        b->ids[i] = p->id;
        rc = p->total ? mend_store_region_global(b->store, p->id, p->label, p->address, p->bytes,
                                                 p->offset, p->total)
                      : mend_store_region(b->store, p->id, p->label, p->address, p->bytes);
    }
    return rc;
}

static int store_save(void *arg, mend_version_t version, const mend_flow_part *parts, int count,
                      unsigned levels)
{
    struct backing *b = arg;
    int rc = register_parts(b, parts, count);
    if (rc)
        return rc;
    mend_save_options o = {.levels = levels, .ids = b->ids, .id_count = count};
    rc = mend_store_save_with(b->store, version, &o);
    b->saved = rc ? -1 : version;
    return rc;
}

static int store_newest(void *arg, mend_version_t at_most, mend_version_t *version)
{
    struct backing *b = arg;
    return at_most == LONG_MAX ? mend_store_newest(b->store, version)
                               : mend_store_newest_until(b->store, at_most, version);
}

static int store_begin(void *arg, mend_version_t version, int rank)
{
    struct backing *b = arg;
    return mend_store_begin_restore(b->store, version, rank);
}

static int store_size(void *arg, int id, size_t *bytes)
{
    struct backing *b = arg;
    return mend_store_saved_size(b->store, id, bytes);
}

static int store_read(void *arg, int id, size_t offset, void *to, size_t bytes)
{
    struct backing *b = arg;
    return mend_store_read(b->store, id, offset, to, bytes);
}

static int store_end(void *arg, mend_version_t version)
{
    struct backing *b = arg;
    (void)version;
    return mend_store_end_restore(b->store);
}

static int store_close(void *arg)
{
    struct backing *b = arg;
    int rc = mend_store_close(b->store);
    free(b->ids);
    free(b->name);
    free(b);
    return rc;
}

static int store_saved_ranks(void *arg, int *ranks)
{
    struct backing *b = arg;
    return mend_store_saved_ranks(b->store, ranks);
}

static int store_redistribute(void *arg, mend_version_t version, const mend_flow_part *parts,
                              int count)
{
    struct backing *b = arg;
    int rc = register_parts(b, parts, count);
    return rc ? rc : mend_store_restore_regions(b->store, version, b->ids, count);
}

static int make_store(const char *name, const char *suffix, mend_flow_store *made)
{
    struct backing *b = calloc(1, sizeof *b);
    if (!b || asprintf(&b->name, "%s%s", name, suffix) < 0) {
        free(b);
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for a store");
    }
    b->saved = -1;
    int rc = mend_store_defaults(&b->options);
    if (rc) {
        free(b->name);
        free(b);
        return rc;
    }
    *made = (mend_flow_store){.struct_size = sizeof *made,
                              .part_size = sizeof(mend_flow_part),
                              .arg = b,
                              .bind = store_bind,
                              .save = store_save,
                              .newest = store_newest,
                              .begin = store_begin,
                              .size = store_size,
                              .read = store_read,
                              .end = store_end,
                              .close = store_close,
                              .saved_ranks = store_saved_ranks,
                              .redistribute = store_redistribute};
    return 0;
}

int backing_store(mend_flow *f)
{
    int rc = make_store(f->name, "", &f->store);
    f->own_store = rc == 0;
    return rc;
}

int backing_outcome(mend_flow *f, mend_version_t *version)
{
    struct backing *b = f->own_store ? f->store.arg : NULL;
    int done = 0;
    if (!b || !b->store || b->saved < 0)
        return 0;
    int rc = mend_store_test(b->store, &done);
    if (!done)
        return 0;
    *version = b->saved;
    b->saved = -1;
    return rc;
}

/* Saves are rare, and each must be complete at once. */
int backing_side_store(mend_flow *f, mend_flow_store *side)
{
    int rc = make_store(f->name, ".constant", side);
    if (rc)
        return rc;
    struct backing *b = side->arg;
    b->options.sync = 1;
    for (int i = 0; i < MEND_LEVEL_COUNT; i++)
        if (b->options.level[i].every > 0)
            b->options.level[i].every = 1;
    return 0;
}

/* The store's meaning of "where it is possible". */
static bool possible(const mend_store_options *o, int level, int ranks)
{
    const char *folder = level == MEND_LEVEL_GLOBAL ? o->global_dir : o->local_dir;
    return level == MEND_LEVEL_MEMORY ? ranks > 1 : folder && folder[0];
}

unsigned backing_levels(const mend_flow *f, bool implied)
{
    unsigned bits = 0;
    int ranks = 1;
    if (!f->own_store)
        return 0;
    const struct backing *b = f->store.arg;
    MPI_Comm_size(f->comm, &ranks);
    for (int i = 0; i < MEND_LEVEL_COUNT; i++) {
        int every = b->options.level[i].every;
        if (every > 0 || (every < 0 && implied && possible(&b->options, i, ranks)))
            bits |= MEND_LEVEL_BIT(i);
    }
    return bits;
}

/* A background thread costs the ranks nothing if there are more cores than ranks; otherwise it takes their time. The
 * node's spares count as ranks, although they sleep. */
static bool cores_are_taken(void)
{
    cpu_set_t mine;
    const char *ranks = getenv("OMPI_COMM_WORLD_LOCAL_SIZE");
    if (sched_getaffinity(0, sizeof mine, &mine) != 0)
        return true;
    int cores = CPU_COUNT(&mine); /* one core: this rank and all its threads are bound to it */
    return cores <= 1 || (ranks && atoi(ranks) >= cores);
}

double backing_background(const mend_flow *f)
{
    mend_store_stats stats = {0};
    if (!f->own_store)
        return 0;
    const struct backing *b = f->store.arg;
    if (!b->store || mend_store_statistics(b->store, &stats) != 0 || !cores_are_taken())
        return 0;
    return stats.cpu_background;
}

/* ---- the process layer ---- */

static int process_repair(void *arg, MPI_Comm broken, MPI_Comm *repaired)
{
    (void)broken;
    int rc = mend_process_repair(arg);
    if (!rc)
        *repaired = mend_process_state(arg)->comm;
    return rc;
}

static int process_is_failure(void *arg, int code)
{
    int class = MPI_SUCCESS;
    if (mend_process_is_failure(code))
        return 1;
    MPI_Error_class(code, &class);
    if (class != MPI_ERR_IN_STATUS && class != MPI_ERR_PENDING)
        return 0;
    return mend_process_check(arg, 0) == MEND_ERR_PEER_FAILED; /* one of several requests failed */
}

int backing_process(mend_flow *f, int spares, bool required, bool *released)
{
    mend_process_options o = {.spares = spares, .resume = MEND_RESUME_MANUAL, .explicit_settle = 1};
    mend_process *p = NULL;
    int rc = mend_process_open(MPI_COMM_WORLD, &o, &p);
    *released = false;
    if (rc == MEND_ERR_NO_ULFM && !required && spares == 0) {
        mend_log(MEND_LOG_INFO, "no process recovery: %s", mend_error_text());
        f->comm = MPI_COMM_WORLD;
        return 0;
    }
    if (rc)
        return rc;
    const mend_repair *now = mend_process_state(p);
    if (now->role == MEND_ROLE_RELEASED) {
        mend_process_close(p);
        *released = true;
        return 0;
    }
    f->process = p;
    f->comm = now->comm;
    f->repair = (mend_flow_repair){sizeof f->repair, p, process_repair, process_is_failure};
    f->has_repair = true;
    return 0;
}

bool backing_is_replacement(const mend_flow *f)
{
    return f->process && mend_process_state(f->process)->role == MEND_ROLE_RECOVERED;
}

int backing_process_end(mend_flow *f)
{
    if (!f->process)
        return 0;
    int rc = mend_process_close(f->process);
    if (rc == MEND_ERR_PEER_FAILED) {
        f->comm = mend_process_state(f->process)->comm;
        f->settled_by_end = true;
        return rc;
    }
    f->process = NULL;
    return rc;
}

void backing_settled(mend_flow *f)
{
    if (f->process)
        mend_process_settled(f->process);
}
