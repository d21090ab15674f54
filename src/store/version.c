/* What this process knows of versions, and what may go. This knowledge only serves to remove files: what can be
 * restored is determined again each time (inventory.c). */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

#define KNOWN_MAX 256

static const unsigned levels_of_kind[MEND_FILE_KINDS] = {
    [MEND_FILE_OWN] = LEVELS_OWN_FILE,
    [MEND_FILE_COPY] = MEND_LEVEL_BIT(MEND_LEVEL_PARTNER),
    [MEND_FILE_PARITY] = MEND_LEVEL_BIT(MEND_LEVEL_ERASURE),
    [MEND_FILE_GLOBAL] = MEND_LEVEL_BIT(MEND_LEVEL_GLOBAL),
    [MEND_FILE_BUNDLE] = MEND_LEVEL_BIT(MEND_LEVEL_GLOBAL),
};

struct known *known_find(mend_store *store, mend_version_t version, uint64_t id)
{
    for (int i = 0; i < store->known_count; i++)
        if (store->known[i].version == version && store->known[i].id == id)
            return &store->known[i];
    return NULL;
}

/* If there are too many entries, drop the oldest that no level keeps. */
static void known_trim(mend_store *store)
{
    for (int i = 0; store->known_count >= KNOWN_MAX && i < store->known_count - 1;) {
        if (store->known[i].reached) {
            i++;
            continue;
        }
        store->known_count--;
        memmove(&store->known[i], &store->known[i + 1],
                (size_t)(store->known_count - i) * sizeof *store->known);
    }
}

struct known *known_add(mend_store *store, mend_version_t version, uint64_t id)
{
    struct known *k = known_find(store, version, id);
    if (k)
        return k;
    known_trim(store);
    k = realloc(store->known, (size_t)(store->known_count + 1) * sizeof *k);
    if (!k)
        return NULL;
    store->known = k;
    int at = store->known_count++;
    while (at > 0 && k[at - 1].version > version) {
        k[at] = k[at - 1];
        at--;
    }
    k[at] = (struct known){.version = version, .id = id};
    return &k[at];
}

void known_forget(mend_store *store)
{
    store->known_count = 0;
}

bool known_kept(const mend_store *store, mend_version_t version, uint64_t id, unsigned levels)
{
    for (int i = 0; i < store->known_count; i++)
        if (store->known[i].version == version && store->known[i].id == id)
            return (store->known[i].reached & levels) != 0;
    return false;
}

bool known_any(const mend_store *store, unsigned levels)
{
    for (int i = 0; i < store->known_count; i++)
        if (store->known[i].reached & levels)
            return true;
    return false;
}

void known_abandon(mend_store *store, mend_version_t version)
{
    while (store->known_count && store->known[store->known_count - 1].version >= version)
        store->known_count--;
    if (store->floor >= version)
        store->floor = version - 1;
}

static mend_version_t newest_at(const mend_store *store, unsigned levels)
{
    for (int i = store->known_count - 1; i >= 0; i--)
        if (store->known[i].reached & levels)
            return store->known[i].version;
    return -1;
}

/* ---- files ----------------------------------------------------------------------------------- */

struct listed {
    mend_file file;
    bool keep;
};

/* Is there a copy of that rank's file in this folder, in the care of another rank? */
static bool held_by_peer(const mend_store *store, int rank)
{
    const struct home *homes = store->placement.homes;
    int *partner = malloc((size_t)store->size * sizeof *partner);
    bool apart, held = true; /* no memory: leave it alone */
    if (partner) {
        placement_partners(homes, store->size, partner, &apart);
        int holder = rank < store->size ? partner[rank] : -1;
        held = holder >= 0 && homes[holder].folder_device == homes[store->rank].folder_device &&
               homes[holder].folder_inode == homes[store->rank].folder_inode;
    }
    free(partner);
    return held;
}

bool version_is_mine(const mend_store *store, const mend_file *f)
{
    switch (f->kind) {
    case MEND_FILE_OWN:
    case MEND_FILE_PARITY:
    case MEND_FILE_GLOBAL:
        return f->rank == store->rank ||
               (!store->alone && store->rank == 0 && f->rank >= store->size);
    case MEND_FILE_COPY:
        if (store->alone || f->rank == store->placement.holds)
            return f->rank == store->placement.holds;
        /* A copy for a rank that had its partner here before the ranks were placed again. */
        return store->placement.folder_index == 0 && !held_by_peer(store, f->rank);
    case MEND_FILE_BUNDLE: return store->rank == 0;
    default: return false;
    }
}

/* A file that this process knows nothing of (it replaced another and has restored nothing): others may rely on its
 * version until the level has as many newer ones as it keeps. */
static bool others_may_need(mend_store *store, const mend_file *f, unsigned levels)
{
    int newer = 0, keep = 0;
    if (known_find(store, f->version, f->save_id))
        return false;
    for (int i = 0; i < store->known_count; i++)
        newer += store->known[i].version > f->version && (store->known[i].reached & levels);
    for (int level = 0; level < MEND_LEVEL_COUNT; level++)
        if ((levels & store->levels & MEND_LEVEL_BIT(level)) &&
            store->options.level[level].keep > keep)
            keep = store->options.level[level].keep;
    return newer < keep;
}

/* Keep a file if a level keeps its version, if it is newer than everything committed, or if it belongs to a past that
 * nothing has replaced yet. */
static bool wanted(mend_store *store, const mend_file *f)
{
    unsigned levels = levels_of_kind[f->kind];
    mend_version_t newest = newest_at(store, levels);

    if (newest < 0 || known_kept(store, f->version, f->save_id, levels))
        return true;
    bool abandoned = f->version > store->floor && newest > store->floor &&
                     !known_find(store, f->version, f->save_id);
    if (f->version < newest)
        return others_may_need(store, f, levels);
    return !abandoned;
}

/* Does the file remain useless when it is read again later? */
static bool is_useless(int code)
{
    return code != MEND_ERR_IO && code != MEND_ERR_NO_MEMORY && code != MEND_ERR_PERMISSION;
}

/* Keep the base of list[i]. If we cannot learn which one that is, any that is older may be. */
static void keep_base(const char *folder, struct listed *list, int i)
{
    mend_image *image = NULL;
    char path[PATH_ROOM];
    const mend_file *f = &list[i].file;
    int rc = file_path(folder, f, path);
    if (rc == 0)
        rc = mend_image_open_file(path, &image);
    if (rc && is_useless(rc))
        return;
    const mend_image_head *head = image ? mend_image_info(image) : NULL;
    for (int b = 0; (!head || head->base_version >= 0) && b < i; b++)
        if (list[b].file.kind == f->kind && list[b].file.rank == f->rank &&
            (!head ||
             (list[b].file.version == head->base_version && list[b].file.save_id == head->base_id)))
            list[b].keep = true;
    mend_image_close(image);
}

/* Keep the bases of what we keep. */
static void keep_bases(const char *folder, struct listed *list, int count)
{
    for (int i = count - 1; i >= 0; i--) /* newest first: a base is older than its deltas */
        if (list[i].keep && list[i].file.kind != MEND_FILE_PARITY &&
            list[i].file.kind != MEND_FILE_BUNDLE)
            keep_base(folder, list, i);
}

static void prune_folder(mend_store *store, const char *folder)
{
    mend_file *files = NULL;
    int count = 0, n = 0;

    if (!folder || mend_folder_list(folder, &files, &count) || !count)
        return;
    struct listed *list = malloc((size_t)count * sizeof *list);
    pthread_mutex_lock(&store->lock);
    for (int i = 0; list && i < count; i++)
        if (version_is_mine(store, &files[i]))
            list[n++] = (struct listed){files[i], wanted(store, &files[i])};
    pthread_mutex_unlock(&store->lock);
    if (list)
        keep_bases(folder, list, n);
    for (int i = 0; i < n; i++) {
        char path[PATH_ROOM];
        if (list[i].keep || file_path(folder, &list[i].file, path))
            continue;
        MEND_FAULT_POINT(store_prune);
        int rc = mend_io_remove(path);
        mend_event("store.prune", ev_str("store", store->name),
                   ev_int("version", list[i].file.version), ev_str("file", path),
                   ev_str("error", rc ? mend_error_text() : ""));
    }
    free(list);
    free(files);
}

struct known *known_due(const mend_store *store, mend_level level)
{
    struct known *oldest = NULL;
    int kept = 0, keep = store->options.level[level].keep;
    for (int i = store->known_count - 1; i >= 0; i--)
        if (store->known[i].reached & MEND_LEVEL_BIT(level)) {
            oldest = &store->known[i];
            kept++;
        }
    return store->oldest_may_go && keep > 1 && kept >= keep ? oldest : NULL;
}

void prune_due(mend_store *store, mend_level level)
{
    pthread_mutex_lock(&store->lock);
    struct known *due = known_due(store, level);
    if (due)
        due->reached &= ~MEND_LEVEL_BIT(level);
    pthread_mutex_unlock(&store->lock);
    if (due)
        prune_folder(store, store->local);
}

void prune_files(mend_store *store)
{
    prune_folder(store, store->local);
    prune_folder(store, store->global);
}

void prune_level(mend_store *store, mend_level level)
{
    unsigned bit = MEND_LEVEL_BIT(level);
    int kept = 0;

    pthread_mutex_lock(&store->lock);
    for (int i = store->known_count - 1; i >= 0; i--) {
        struct known *k = &store->known[i];
        if ((k->reached & bit) && ++kept > store->options.level[level].keep)
            k->reached &= ~bit;
    }
    for (int i = 0; i < store->own.count + store->held.count; i++) {
        struct slot *s =
            i < store->own.count ? store->own.list[i] : store->held.list[i - store->own.count];
        if (s->complete && !s->users && s->head.version > store->floor &&
            !known_find(store, s->head.version, s->head.save_id))
            slot_forget(s); /* from an abandoned past */
    }
    pthread_mutex_unlock(&store->lock);
    if (level == MEND_LEVEL_GLOBAL)
        prune_folder(store, store->global);
    else if (level != MEND_LEVEL_MEMORY)
        prune_folder(store, store->local);
}
