/* online/levels.c - versions in node-local folders and in parity over groups of ranks, by the store
 * (mend/store.h); and the way back from any level that is not memory.
 *
 * The store does not handle memory and partner: these levels get every version, and must be available without
 * a collective operation and without a second copy (online/held.c). The store gets the image in memory, as
 * one stream. We bind it to a new communicator only when we need it: a recovery from memory does not wait for
 * it.
 */
#include "online/levels.h"
#include "online/online.h"
#include "round/due.h"
#include "versions/versions.h"

#ifdef OPEN_MPI
#include <base/config.h>
#include <base/event.h>
#include <base/io.h>
#include <image/folder.h>
#include <mend/store.h>

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static struct {
    int partner, local, erasure, global; /* every n versions; 0: not used */
    int k, m;
    char global_dir[PATH_MAX], local_dir[PATH_MAX];
    mend_store *store;
    int bound, out_of_order;
    struct damaged damaged; /* found by the last levels_fetch */
    int begun;              /* this job has had a successful meeting */
} use;

static int number(enum mend_config_key key)
{
    return (int)mend_setting_integer(key);
}

/* Anybody can make a folder of that name before us, and would own what we put there. */
static void must_be_ours(const char *folder)
{
    if (!mend_io_make_private(folder))
        return;
    mend_event("recover.refused", ev_str("folder", folder), ev_str("why", mend_error_text()));
    die("the node's folder for versions is refused: %s (--local-dir names another)",
        mend_error_text());
}

void levels_open(const char *dir)
{
    const char *local = mend_setting_string(MEND_KEY_ONLINE_LOCAL_DIR);
    const char *job = mend_setting_string(MEND_KEY_ONLINE_JOB);
    use.partner = number(MEND_KEY_ONLINE_PARTNER_EVERY);
    use.local = number(MEND_KEY_ONLINE_LOCAL_EVERY);
    use.erasure = number(MEND_KEY_ONLINE_ERASURE_EVERY);
    use.global = number(MEND_KEY_ONLINE_DISK_EVERY);
    use.k = number(MEND_KEY_ONLINE_ERASURE_K);
    use.m = number(MEND_KEY_ONLINE_ERASURE_M);
    if (!use.erasure) /* the store checks them anyway */
        use.k = 2, use.m = 1;
    char folder[64];
    snprintf(folder, sizeof folder, "/tmp/mend-%d", (int)getuid());
    if (!local[0] && (use.local || use.erasure))
        must_be_ours(folder);
    size_t room = sizeof use.local_dir;
    if (snprintf(use.global_dir, room, "%s", dir) >= (int)room ||
        snprintf(use.local_dir, room, "%s/%s", local[0] ? local : folder, job) >= (int)room)
        die("the path of the folder %s or %s is too long", dir, local);
    global_open(dir, use.global);
}

int levels_partner_due(mend_version_t version)
{
    return use.partner > 0 && version % use.partner == 0;
}

/* 0: a peer has failed. The store makes all ranks agree on any other error: then we stop using the levels,
 * and say so. */
static int bind(MPI_Comm comm, int rank)
{
    mend_store_options o;
    if (use.bound || use.out_of_order)
        return 1;
    int rc = mend_store_defaults(&o);
    if (rc)
        die("%s", mend_error_text());
    for (int i = 0; i < MEND_LEVEL_COUNT; i++)
        o.level[i] = (mend_level_options){0, 2, 0};
    o.level[MEND_LEVEL_LOCAL].every = use.local > 0;
    o.level[MEND_LEVEL_ERASURE].every = use.erasure > 0;
    o.level[MEND_LEVEL_GLOBAL].every = 1; /* read only: online/global.c writes */
    o.local_dir = use.local_dir;
    o.global_dir = use.global_dir;
    const char *domain = mend_setting_string(MEND_KEY_ONLINE_DOMAIN);
    o.domain = domain[0] ? domain : NULL;
    o.erasure_k = use.k;
    o.erasure_m = use.m;
    o.delta = MEND_DELTA_OFF;
    o.buffers = 1;
    o.sync = 1;
    rc = use.store ? mend_store_rebind(use.store, comm, rank)
                   : mend_store_open(comm, rank, LEVELS_STORE, &o, &use.store);
    if (rc == MEND_ERR_PEER_FAILED || rc == MEND_ERR_MPI)
        return 0;
    use.bound = rc == 0;
    if (rc) {
        use.out_of_order = 1;
        fprintf(stderr, "mend: rank %d can use only the memory level: %s\n", rank,
                mend_error_text());
        mend_event("checkpoint.failed", ev_str("level", "local"), ev_str("why", mend_error_text()));
    }
    return 1;
}

void levels_unbind(void)
{
    use.bound = 0;
}

static int produce(mend_store_sink *sink, void *arg)
{
    enum { PART = 4 << 20 };
    const struct held_image *image = arg;
    int rc = 0;
    for (size_t at = 0, n; at < image->size && rc == 0; at += n) {
        n = image->size - at < PART ? image->size - at : PART;
        void *to = mend_store_put_room(sink, n);
        rc = to ? paged_read(&image->pages, at, to, n) : MEND_ERR_NO_MEMORY;
    }
    return rc;
}

/* By the order, or else by the version's number. */
static int is_due(int every, mend_version_t version, uint64_t order, enum due_level level)
{
    int planned = due_at(order, level);
    return every && (planned < 0 ? version % every == 0 : planned);
}

int levels_save(const struct held_image *image, uint64_t order, MPI_Comm comm, int ranks)
{
    int none = 0;
    unsigned levels = 0;
    if (is_due(use.local, image->version, order, DUE_LOCAL))
        levels |= MEND_LEVEL_BIT(MEND_LEVEL_LOCAL);
    if (is_due(use.erasure, image->version, order, DUE_ERASURE) && ranks > 1)
        levels |= MEND_LEVEL_BIT(MEND_LEVEL_ERASURE);
    if (!levels || use.out_of_order)
        return 1;
    double begun = mend_now();
    if (!bind(comm, image->rank))
        return 0;
    if (!use.bound)
        return 1;
    mend_store_stream stream = {LEVELS_REGION, "capsule", image->size, produce, (void *)image};
    mend_save_options o = {
        .levels = levels, .sync = 1, .ids = &none, .streams = &stream, .stream_count = 1};
    int rc = mend_store_save_with(use.store, image->version, &o);
    if (rc == MEND_ERR_PEER_FAILED || rc == MEND_ERR_MPI)
        return 0;
    for (int l = MEND_LEVEL_LOCAL; l <= MEND_LEVEL_ERASURE; l++) {
        unsigned reached = 0;
        if (!(levels & MEND_LEVEL_BIT(l)))
            continue;
        if (!mend_store_reached(use.store, image->version, &reached) && reached & MEND_LEVEL_BIT(l))
            mend_event("checkpoint.commit", ev_int("version", image->version),
                       ev_str("level", mend_level_name((mend_level)l)),
                       ev_int("bytes", (long long)image->size),
                       ev_real("seconds", mend_now() - begun));
        else
            mend_event("checkpoint.failed", ev_int("version", image->version),
                       ev_str("level", mend_level_name((mend_level)l)),
                       ev_str("why", mend_error_text()));
    }
    return 1;
}

static int read_stored(void *none, uint64_t at, void *to, size_t count)
{
    (void)none;
    return mend_store_read(use.store, LEVELS_REGION, at, to, count);
}

static int read_into(struct held_image *image)
{
    int rc = mend_store_saved_size(use.store, LEVELS_REGION, &image->size);
    return rc ? rc : paged_from_stream(&image->pages, read_stored, NULL, image->size);
}

/* Name the files of this rank that the store passed over, with the reason: the user may expect to resume from
 * one of them. */
static void say_unusable(int rank, mend_version_t above)
{
    char folder[PATH_MAX + 16];
    mend_file *list = NULL;
    int n = 0;
    snprintf(folder, sizeof folder, "%s/" LEVELS_STORE, use.global_dir);
    if (access(folder, F_OK) || mend_folder_list(folder, &list, &n))
        return;
    for (int i = 0; i < n; i++) {
        mend_image *image;
        if (list[i].rank != rank || list[i].version <= above)
            continue;
        if (mend_folder_open_chain(folder, &list[i], &image) == 0)
            mend_image_close(image);
        else
            fprintf(stderr, "mend: rank %d: version %lld is not used: %s\n", rank,
                    (long long)list[i].version, mend_error_text());
    }
    free(list);
}

/* Otherwise the job would begin again, and remove what it could not read. */
static void must_be_readable(int rank, int rc)
{
    char folder[PATH_MAX + 16];
    mend_file *list = NULL;
    int n = 0, mine = 0;
    snprintf(folder, sizeof folder, "%s/" LEVELS_STORE, use.global_dir);
    if (access(folder, F_OK) && errno == ENOENT)
        return;
    if (mend_folder_list(folder, &list, &n))
        mine = 1;
    for (int i = 0; i < n && !mine; i++)
        mine = list[i].rank == rank;
    free(list);
    if (mine && (rc || !use.bound))
        die("rank %d cannot read the checkpoints in %s: %s", rank, folder, mend_error_text());
}

/* The newest version of this rank that has a file at one of the levels, judging by names; 0: none. only: look
 * for this one. */
static mend_version_t newest_listed(int rank, mend_version_t only)
{
    const char *const place[] = {use.global_dir, use.local_dir};
    mend_version_t newest = 0;
    for (int i = 0; i < 2; i++) {
        char folder[PATH_MAX + 16];
        mend_file *list = NULL;
        int n = 0;
        snprintf(folder, sizeof folder, "%s/" LEVELS_STORE, place[i]);
        if (access(folder, F_OK) || mend_folder_list(folder, &list, &n))
            continue;
        for (int k = 0; k < n; k++)
            if (list[k].rank == rank && (!only || list[k].version == only) &&
                list[k].version > newest)
                newest = list[k].version;
        free(list);
    }
    return newest;
}

/* No version could be read. If, judging by names, every rank has files of one, they are damaged or belong to
 * another job, and starting from the beginning would silently lose work: refuse. (A job that was killed while
 * its first version was being written has no such version.) 0: a peer has failed. */
static int refuse_if_listed(MPI_Comm comm, int rank)
{
    mend_version_t newest = newest_listed(rank, 0), common = 0;
    int here, everywhere = 0;
    if (!TRY(MPI_Allreduce(&newest, &common, 1, MPI_INT64_T, MPI_MIN, comm)))
        return 0;
    here = common > 0 && newest_listed(rank, common) == common;
    if (!TRY(MPI_Allreduce(&here, &everywhere, 1, MPI_INT, MPI_MIN, comm)))
        return 0;
    if (!everywhere)
        return 1;
    say_unusable(rank, 0);
    if (rank == 0) {
        nanosleep(&(struct timespec){0, 200000000}, NULL); /* the others' reasons come first */
        retention_refuse(use.global_dir);
        mend_event("recover.refused", ev_int("version", common), ev_str("file", use.global_dir));
    }
    sleep(10); /* `mend run` ends the job */
    MPI_Abort(MPI_COMM_WORLD, EXIT_REFUSED);
    _exit(EXIT_REFUSED);
}

int levels_fetch(MPI_Comm comm, int rank, mend_version_t *version)
{
    *version = 0;
    free(use.damaged.version);
    use.damaged =
        (struct damaged){.all = !use.begun && mend_setting_boolean(MEND_KEY_RUN_FROM_START)};
    if (use.damaged.all)
        return 1;
    if (!bind(comm, rank))
        return 0;
    must_be_readable(rank, 0);
    for (int tries = 0; use.bound && tries < 8; tries++) { /* pass over damaged ones */
        mend_version_t newest = 0;
        int rc = mend_store_newest(use.store, &newest);
        if (rc == MEND_ERR_PEER_FAILED || rc == MEND_ERR_MPI)
            return 0;
        if (rc && rc != MEND_ERR_NO_VERSION)
            must_be_readable(rank, rc);
        if (rc || newest <= 0)
            return refuse_if_listed(comm, rank);
        rc = mend_store_begin_restore(use.store, newest, -1);
        if (rc == MEND_ERR_PEER_FAILED || rc == MEND_ERR_MPI)
            return 0;
        if (rc) {
            mend_event("recover.damaged", ev_int("version", newest),
                       ev_str("why", mend_error_text()));
            fprintf(stderr, "mend: rank %d: version %ld is not used: %s\n", rank, newest,
                    mend_error_text());
            damaged_add(&use.damaged, newest);
            continue;
        }
        struct held_image *image = held_new();
        if (read_into(image))
            die("cannot read version %ld: %s", newest, mend_error_text());
        mend_store_end_restore(use.store);
        image->rank = rank;
        image->version = *version = newest;
        mend_event("recover.fetched", ev_int("version", newest),
                   ev_int("bytes", (long long)image->size));
        say_unusable(rank, newest);
        return 1;
    }
    return refuse_if_listed(comm, rank);
}

void levels_remove_later(int rank, mend_version_t version)
{
    const char *const place[] = {use.global_dir, use.local_dir};
    for (int i = 0; i < (use.local || use.erasure ? 2 : 1); i++) {
        char folder[PATH_MAX + 16], aside[PATH_MAX + 16];
        snprintf(folder, sizeof folder, "%s/" LEVELS_STORE, place[i]);
        snprintf(aside, sizeof aside, "%s/damaged", place[i]);
        retention_put_aside(folder, aside, rank, version, &use.damaged);
        retention_remove_later(folder, rank, version);
    }
}

void levels_begun(void)
{
    use.begun = 1;
    free(use.damaged.version);
    use.damaged = (struct damaged){0};
}

void levels_begin(int rank, int ranks, mend_version_t version, uint64_t id)
{
    levels_begun();
    global_begin(ranks, version, id);
    levels_remove_later(rank, version); /* one may have been on its way */
}

void levels_done(void)
{
    if (use.local || use.erasure)
        mend_io_remove_tree(use.local_dir);
}
#endif
