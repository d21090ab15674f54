/* Merges chains of deltas, in the background, when the engine has nothing else to do.
 *
 * It replaces the newest file of a kind by a whole image of the same version and attempt:
 *   1. Open the delta with all its bases, and keep their descriptors.
 *   2. Write the whole image under a temporary name, checking every block as we read it.
 *   3. Make it durable, and rename it over the delta.
 *   4. Prune what no kept version needs any more.
 * A death before the rename leaves the delta and its bases; after it, the whole image: the same bytes. This needs no
 * messages: every rank merges what is in its own folder, including its partner's copy. A merge that fails leaves
 * everything as it was, and the next commit of a delta tries again. If the engine is never idle, the version after
 * the longest chain is written whole (delta.c).
 */
#include "levels/merge.h"

#include <stdlib.h>
#include <string.h>

struct merging {
    mend_store *store;
    mend_image *image;
    uint8_t *block;
    int error;
};

static const uint8_t *fetch(void *context, uint64_t at, size_t count)
{
    struct merging *m = context;
    if (atomic_load(&m->store->hurry))
        m->error = mend_fail(MEND_ERR_CANCELLED, "the merge has to wait");
    else
        m->error = mend_image_read(m->image, at, m->block, count);
    return m->error ? NULL : m->block;
}

static int write_whole(struct merging *m, const char *path, int compress)
{
    mend_image_head head = *mend_image_info(m->image);
    mend_image_write_options options = {.compress = compress, .fetch = fetch, .fetch_context = m};
    mend_io_replacement replacement;

    head.base_version = -1;
    head.base_id = 0;
    head.block = (uint32_t)m->store->options.block;
    m->block = malloc(head.block);
    if (!m->block)
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory to merge %s", path);
    int rc = mend_io_replace_begin(&replacement, path);
    if (rc)
        return rc;
    struct file_sink sink = {.store = m->store, .fd = replacement.fd, .path = path};
    MEND_FAULT_POINT(store_merge);
    rc = mend_image_write(&head, NULL, &options, (mend_sink){file_sink_write, &sink}, NULL);
    if (m->error)
        rc = m->error;
    if (rc) {
        mend_io_replace_abort(&replacement);
        return rc;
    }
    return mend_io_replace_commit(&replacement);
}

/* True: the file is whole now. */
static bool merge_file(mend_store *store, const char *folder, const mend_file *file, int compress)
{
    struct merging m = {.store = store};
    char path[PATH_ROOM];
    double start = mend_now();

    int rc = file_path(folder, file, path);
    if (rc == 0)
        rc = mend_folder_open_chain(folder, file, &m.image);
    if (rc == 0 && mend_image_chain(m.image) < merge_from(store)) {
        mend_image_close(m.image);
        return false;
    }
    if (rc == 0)
        rc = write_whole(&m, path, compress);
    mend_image_close(m.image);
    free(m.block);
    if (rc == 0)
        store->stats.merges++;
    mend_event("store.merge", ev_str("store", store->name), ev_int("version", file->version),
               ev_int("part", file->rank), ev_str("error", rc ? mend_error_text() : ""),
               ev_real("seconds", mend_now() - start));
    return rc == 0;
}

int merge_from(const mend_store *store)
{
    return store->options.delta_chain > 2 ? store->options.delta_chain / 2 : 1;
}

void merge_all(mend_store *store)
{
    struct base *own = &store->base[BASE_OWN], *global = &store->base[BASE_GLOBAL];
    const mend_level_options *level = store->options.level;
    bool some = false;

    if (store->local && own->version >= 0) {
        mend_file file = {MEND_FILE_OWN, store->rank, own->version, own->id};
        if (merge_file(store, store->local, &file, level[MEND_LEVEL_LOCAL].compress)) {
            own->chain = 0;
            some = true;
        }
        file.kind = MEND_FILE_COPY;
        file.rank = store->placement.holds;
        if (file.rank >= 0 && (own->levels & MEND_LEVEL_BIT(MEND_LEVEL_PARTNER)))
            some |= merge_file(store, store->local, &file, level[MEND_LEVEL_LOCAL].compress);
    }
    if (store->global && global->version >= 0) {
        mend_file file = {MEND_FILE_GLOBAL, store->rank, global->version, global->id};
        if (merge_file(store, store->global, &file, level[MEND_LEVEL_GLOBAL].compress)) {
            global->chain = 0;
            some = true;
        }
    }
    if (some)
        prune_files(store);
}
