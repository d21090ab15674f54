/* Opening, rebinding, closing. */
#include <mpi.h>

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <xxhash.h>

#include "copies/cow.h"
#include "copies/device.h"

#include <base/grow.h>
#include "open.h"
#include "copies/pages.h"

static int check_name(const char *name)
{
    size_t n = name ? strlen(name) : 0;
    bool good = n > 0 && n <= NAME_MAX_LENGTH && name[0] != '.';
    for (size_t i = 0; good && i < n; i++)
        good = isalnum((unsigned char)name[i]) || strchr("-_.", name[i]);
    return good ? 0
                : mend_fail(MEND_ERR_ARGUMENT,
                            "a store's name has 1 to %d letters, digits, '-', '_', '.'",
                            NAME_MAX_LENGTH);
}

static int make_store(const char *name, const mend_store_options *options, mend_store **out)
{
    int rc = check_name(name);
    if (rc)
        return rc;
    mend_store *store = calloc(1, sizeof *store);
    if (!store)
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for a store");
    strcpy(store->name, name);
    store->last = store->floor = -1;
    pthread_mutex_init(&store->guard.lock, NULL);
    pthread_mutex_init(&store->lock, NULL);
    pthread_cond_init(&store->changed, NULL);
    delta_reset(store);
    *out = store;
    rc = options_take(store, options);
    if (rc == 0 && store->options.delta == MEND_DELTA_PAGES && !pages_work()) {
        store->options.delta = MEND_DELTA_HASH;
        mend_event("store.delta_fallback", ev_str("store", store->name),
                   ev_str("why", "the kernel's write tracking is missing or wrong"));
    }
    return rc;
}

static void free_slots(mend_store *store, struct slots *slots)
{
    for (int i = 0; i < slots->count; i++)
        slot_free(store, slots->list[i]);
    free(slots->list);
}

static void drop_folder(char **folder)
{
    if (*folder)
        mend_io_unpin(*folder);
    free(*folder);
    *folder = NULL;
}

static void free_store(mend_store *store)
{
    pages_free(store);
    cow_free(store);
    delta_free(store);
    free_slots(store, &store->own);
    free_slots(store, &store->held);
    device_free(store);
    free(store->layout.regions);
    free(store->regions);
    free(store->known);
    free(store->bad);
    free(store->placement.homes);
    free(store->local_dir);
    free(store->global_dir);
    free(store->domain);
    free(store->topology);
    drop_folder(&store->local);
    drop_folder(&store->global);
    pthread_cond_destroy(&store->changed);
    pthread_mutex_destroy(&store->guard.lock);
    pthread_mutex_destroy(&store->lock);
    free(store);
}

/* DIR/NAME, with %d for the domain; created 0700 and pinned. */
static int make_folder(const mend_store *store, const char *dir, const char *domain, char **out)
{
    char path[PATH_ROOM];
    size_t n = 0;

    for (const char *p = dir; *p; p++) {
        const char *piece = p[0] == '%' && p[1] == 'd' ? domain : NULL;
        size_t length = piece ? strlen(piece) : 1;
        if (n + length >= sizeof path)
            return mend_fail(MEND_ERR_CONFIG, "the path %s is too long", dir);
        memcpy(path + n, piece ? piece : p, length);
        n += length;
        p += piece != NULL;
    }
    path[n] = 0;
    drop_folder(out);
    char *made = NULL;
    if (asprintf(&made, "%s/%s", path, store->name) < 0)
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for a path");
    int rc = mend_io_make_folders(made);
    if (rc == 0)
        rc = mend_io_pin(made);
    if (rc)
        free(made);
    else
        *out = made;
    return rc;
}

/* A digest of the options that must be equal on all ranks. */
static int64_t digest(const mend_store *store)
{
    const mend_store_options *o = &store->options;
    int64_t v[8 + 3 * MEND_LEVEL_COUNT] = {
        o->erasure_k, o->erasure_m,    o->global_files,        (int64_t)o->block,
        o->sync,      o->memory_tight, (int64_t)store->levels, 0};
    for (int i = 0; i < MEND_LEVEL_COUNT; i++) {
        v[8 + 3 * i] = o->level[i].every;
        v[9 + 3 * i] = o->level[i].keep;
        v[10 + 3 * i] = o->level[i].compress;
    }
    return (
        int64_t)(XXH3_64bits_withSeed(v, sizeof v, XXH3_64bits(store->name, strlen(store->name))) >>
                 1);
}

static int make_folders(mend_store *store, struct home *home)
{
    struct stat st;
    int rc = domain_of(store, home->domain);
    if (rc == 0 && strchr(home->domain, '/'))
        rc = mend_fail(MEND_ERR_CONFIG, "a failure domain may not have a '/': %s", home->domain);
    if (rc == 0 && (store->levels & LEVELS_OWN_FILE)) {
        rc = make_folder(store, store->local_dir, home->domain, &store->local);
        if (rc == 0 && stat(store->local, &st) == 0) {
            home->folder_device = st.st_dev;
            home->folder_inode = st.st_ino;
            mend_folder_sweep(store->local, store->rank);
        }
    }
    if (rc == 0 && (store->levels & MEND_LEVEL_BIT(MEND_LEVEL_GLOBAL))) {
        rc = make_folder(store, store->global_dir, home->domain, &store->global);
        if (rc == 0)
            mend_folder_sweep(store->global, store->rank);
    }
    return rc;
}

static void tell_place(const mend_store *store)
{
    bool partner =
        store->levels & (MEND_LEVEL_BIT(MEND_LEVEL_PARTNER) | MEND_LEVEL_BIT(MEND_LEVEL_MEMORY));
    bool erasure = store->levels & MEND_LEVEL_BIT(MEND_LEVEL_ERASURE);
    if (store->rank == 0 && partner && store->size > 1 && !store->placement.partner_apart)
        mend_event("store.same_domain", ev_str("store", store->name), ev_str("what", "partner"));
    if (store->rank == 0 && erasure && !store->placement.group_apart)
        mend_event("store.same_domain", ev_str("store", store->name), ev_str("what", "erasure"));
}

/* The collective part of opening and rebinding. Here replacements meet survivors.
 *   1. Check options, make folders: local.
 *   2. Agree that all could do that, with equal options.
 *   3. Exchange homes.
 *   4. Derive partners and groups from the homes. */
static int bind_net(mend_store *store, struct net *net)
{
    struct home home = {0}, *homes = calloc((size_t)net_size(net), sizeof *homes);

    store->net = net;
    store->rank = net_rank(net);
    store->size = net_size(net);
    int rc = homes ? options_check(store)
                   : mend_fail(MEND_ERR_NO_MEMORY, "no memory for %d ranks", store->size);
    if (rc == 0)
        rc = make_folders(store, &home);
    MEND_FAULT_POINT(store_rebind);
    int64_t v[] = {rc, digest(store), -digest(store), -store->last, -store->turn};
    int broken = net_all_min(net, CALL, v, 5);
    if (broken)
        rc = broken;
    else if (v[0] && rc == 0)
        rc = mend_fail((int)v[0], "another rank could not open store %s", store->name);
    else if (rc == 0 && v[1] != -v[2])
        rc = mend_fail(MEND_ERR_CONFIG, "store %s: ranks have different names or options",
                       store->name);
    if (rc == 0)
        rc = net_gather(net, CALL, &home, sizeof home, homes);
    if (rc) {
        free(homes);
        return rc;
    }
    store->turn = -v[4];
    store->exchanged.serial = 0; /* the partner may be a different one, or know nothing */
    free(store->placement.homes);
    rc = placement_make(&store->placement, homes, store->alone ? 0 : store->rank, store->size,
                        store->options.erasure_k, store->options.erasure_m);
    store->threaded = net_threads(net);
    if (!store->threaded && store->rank == 0)
        mend_event("store.sync_forced", ev_str("store", store->name),
                   ev_str("why", "MPI was not initialised with MPI_THREAD_MULTIPLE"));
    tell_place(store);
    return rc ? rc : engine_start(store);
}

static int open_on(struct net *net, bool alone, int made, mend_store *store, mend_store **out)
{
    if (store)
        store->alone = alone;
    int rc = made;
    if (made) { /* tell the others, who are about to enter the same agreement */
        int64_t v[] = {made, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX};
        net_all_min(net, CALL, v, 5);
    } else {
        rc = bind_net(store, net);
    }
    if (rc) {
        net_close(net);
        if (store)
            free_store(store);
        return rc;
    }
    mend_event("store.open", ev_str("store", store->name), ev_int("of", store->rank),
               ev_int("ranks", store->size), ev_int("levels", store->levels));
    *out = store;
    return 0;
}

int mend_store_open_alone(const char *name, int logical_rank, const mend_store_options *options,
                          mend_store **out)
{
    mend_store *store = NULL;
    struct net *net = NULL;

    if (!out || logical_rank < 0)
        return mend_fail(MEND_ERR_ARGUMENT, "no place for the handle (NULL), or a negative rank");
    int rc = make_store(name, options, &store);
    if (rc == 0)
        rc = net_alone(logical_rank, &net);
    if (rc) {
        if (store)
            free_store(store);
        return rc;
    }
    return open_on(net, true, 0, store, out);
}

int mend_store_open_single(const char *name, const mend_store_options *options, mend_store **out)
{
    return mend_store_open_alone(name, 0, options, out);
}

int mend_store_open(MPI_Comm comm, int logical_rank, const char *name,
                    const mend_store_options *options, mend_store **out)
{
    mend_store *store = NULL;
    struct net *net = NULL;

    if (!out)
        return mend_fail(MEND_ERR_ARGUMENT, "no place for the handle (NULL)");
    if (comm == MPI_COMM_NULL)
        return mend_store_open_alone(name, logical_rank < 0 ? 0 : logical_rank, options, out);
    int rc = net_open(comm, logical_rank, &net);
    if (rc)
        return rc;
    int made = make_store(name, options, &store);
    return open_on(net, false, made, store, out);
}

/* End everything on the old communicator. A save that did not commit is no version. The broken net stays until there
 * is a new one, so that calls in between fail as they should. */
static void unbind(mend_store *store)
{
    engine_drain(store);
    engine_stop(store);
    net_break(store->net);
}

int mend_store_rebind(mend_store *store, MPI_Comm comm, int logical_rank)
{
    struct net *net = NULL;

    if (!store || comm == MPI_COMM_NULL || store->alone)
        return mend_fail(
            MEND_ERR_ARGUMENT,
            "mend_store_rebind() needs a store on a communicator and a new communicator");
    int rc = guard_check(store, "mend_store_rebind", FRAME);
    if (rc)
        return rc;
    mend_store_end_restore(store);
    unbind(store);
    rc = net_open(comm, logical_rank, &net);
    if (rc)
        return rc;
    net_close(store->net);
    store->result = 0;
    store->last = -1; /* if nothing can be restored, the program may start over */
    store->bad_count = 0;
    delta_reset(store);
    rc = bind_net(store, net);
    if (rc)
        net_break(net);
    mend_event("store.rebind", ev_str("store", store->name), ev_int("of", store->rank),
               ev_int("ranks", store->size), ev_str("error", rc ? mend_error_name(rc) : ""));
    return rc;
}

int mend_store_close(mend_store *store)
{
    if (!store)
        return 0;
    int rc = guard_check(store, "mend_store_close", FRAME);
    if (rc)
        return rc;
    mend_store_end_restore(store);
    engine_drain(store);
    engine_stop(store);
    rc = net_broken(store->net) ? MEND_ERR_PEER_FAILED : store->result;
    mend_event("store.close", ev_str("store", store->name),
               ev_int("saves", (long long)store->stats.saves),
               ev_int("commits", (long long)store->stats.commits),
               ev_int("failures", (long long)store->stats.failures));
    net_close(store->net);
    free_store(store);
    return rc ? mend_fail(rc, "the last save did not reach all its levels") : 0;
}

int mend_store_statistics_sized(const mend_store *store, mend_store_stats *stats, size_t size)
{
    if (!store || !stats)
        return mend_fail(MEND_ERR_ARGUMENT, "no store, or no place for the result (NULL)");
    mend_result_give(stats, size, &store->stats, sizeof store->stats);
    return 0;
}

int mend_store_prune(mend_store *store, long before)
{
    mend_version_t newest = 0;
    if (!store)
        return mend_fail(MEND_ERR_ARGUMENT, "no store");
    int rc = mend_store_newest(store, &newest);
    if (rc == MEND_ERR_NO_VERSION)
        return 0;
    if (rc)
        return rc;
    engine_hold(store);
    pthread_mutex_lock(&store->lock);
    for (int i = 0; i < store->known_count; i++)
        if (store->known[i].version < before && store->known[i].version != newest)
            store->known[i].reached = 0;
    pthread_mutex_unlock(&store->lock);
    prune_files(store);
    engine_release(store);
    return 0;
}
