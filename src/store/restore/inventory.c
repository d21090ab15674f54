#include <stdlib.h>
#include <string.h>

#include <image/bundle.h>

#include "restore/inventory.h"

struct list {
    struct item *items;
    int count, room;
    bool unreadable;
};

static int add(struct list *list, const struct item *item)
{
    if (list->count == list->room) {
        int room = list->room ? 2 * list->room : 32;
        struct item *bigger = realloc(list->items, (size_t)room * sizeof *bigger);
        if (!bigger)
            return mend_fail(MEND_ERR_NO_MEMORY, "no memory to list %d parts", room);
        list->items = bigger;
        list->room = room;
    }
    list->items[list->count++] = *item;
    return 0;
}

static int add_image(mend_store *store, struct list *list, mend_image *image, enum source_kind kind,
                     int bundle)
{
    const mend_image_head *head = mend_image_info(image);
    struct item item = {
        .version = head->version,
        .id = head->save_id,
        .rank = head->rank,
        .ranks = head->ranks,
        .holder = store->rank,
        .kind = kind,
        .bundle = bundle,
        .whole = head->base_version < 0,
        .bytes = mend_image_file_bytes(image),
    };
    if (strcmp(head->name, store->name) != 0)
        return 0;
    if (kind == IN_PARITY && parity_read_meta(image, &item))
        return 0; /* damaged: as if it did not exist */
    return add(list, &item);
}

static int list_memory(mend_store *store, struct list *list)
{
    const struct slots *both[] = {&store->own, &store->held};
    for (int b = 0; b < 2; b++)
        for (int i = 0; i < both[b]->count; i++) {
            struct slot *s = both[b]->list[i];
            if (!s->complete || s->poisoned)
                continue;
            struct item item = {.version = s->head.version,
                                .id = s->head.save_id,
                                .rank = s->head.rank,
                                .ranks = s->head.ranks,
                                .holder = store->rank,
                                .kind = IN_MEMORY};
            int rc = slot_digest(store, s, &item.bytes);
            if (rc == 0)
                rc = add(list, &item);
            if (rc)
                return rc;
        }
    return 0;
}

/* If several ranks share a folder, one of them lists each file; its owner lists it, too. */
static bool to_be_listed(const mend_store *store, const mend_file *f)
{
    if (store->alone)
        return f->rank == store->rank;
    if (f->kind == MEND_FILE_GLOBAL || f->kind == MEND_FILE_BUNDLE)
        return f->rank % store->size == store->rank;
    if (f->rank == store->rank || (f->kind == MEND_FILE_COPY && f->rank == store->placement.holds))
        return true;
    return f->rank % store->placement.folder_peers == store->placement.folder_index;
}

/* A file that exists but is of no use. If it could not be read, it may be readable next time. */
static void not_listed(struct list *list, const mend_file *f, int rc)
{
    if (rc == MEND_ERR_IO)
        list->unreadable = true;
    mend_event("store.damaged", ev_int("version", f->version), ev_int("part", f->rank),
               ev_str("error", mend_error_text()));
}

static int list_bundle(mend_store *store, const char *folder, const mend_file *f, struct list *list)
{
    char path[PATH_ROOM];
    mend_source source;
    mend_bundle_entry *entries = NULL;
    uint64_t count = 0, id;
    mend_version_t version;
    int rc = 0;

    rc = file_path(folder, f, path);
    if (rc == 0)
        rc = mend_source_file(path, 0, UINT64_MAX, &source);
    if (rc == 0)
        rc = mend_bundle_open(source, &entries, &count, &version, &id);
    if (rc) {
        not_listed(list, f, rc);
        return 0;
    }
    for (uint64_t i = 0; rc == 0 && i < count; i++) {
        mend_image *image = NULL;
        if (mend_folder_open_bundled(folder, f, (int)entries[i].rank, &image) == 0) {
            rc = add_image(store, list, image, IN_BUNDLE, f->rank);
            mend_image_close(image);
        }
    }
    free(entries);
    return rc;
}

static int list_folder(mend_store *store, const char *folder, struct list *list)
{
    static const enum source_kind kinds[] = {[MEND_FILE_OWN] = IN_OWN,
                                             [MEND_FILE_COPY] = IN_COPY,
                                             [MEND_FILE_PARITY] = IN_PARITY,
                                             [MEND_FILE_GLOBAL] = IN_GLOBAL};
    mend_file *files = NULL;
    int count = 0, rc = folder ? mend_folder_list(folder, &files, &count) : 0;

    if (rc) { /* an unreadable folder holds nothing for us now; report why */
        list->unreadable = true;
        mend_event("store.folder_unreadable", ev_str("folder", folder),
                   ev_str("error", mend_error_text()));
        return 0;
    }
    for (int i = 0; rc == 0 && i < count; i++) {
        mend_image *image = NULL;
        if (!to_be_listed(store, &files[i]))
            continue;
        if (files[i].kind == MEND_FILE_BUNDLE) {
            rc = list_bundle(store, folder, &files[i], list);
            continue;
        }
        int opened = mend_folder_open_chain(folder, &files[i], &image);
        if (opened) {
            not_listed(list, &files[i], opened);
            continue;
        }
        rc = add_image(store, list, image, kinds[files[i].kind], 0);
        mend_image_close(image);
    }
    free(files);
    return rc;
}

/* A copy in memory gets its sums a moment after it was made. If its memory changed before that, only the other copy
 * can tell, but not which of the two is right. So we use neither. */
static void drop_contradictions(mend_store *store, struct inventory *inventory)
{
    int kept = 0;
    for (int i = 0; i < inventory->count; i++) {
        struct item *a = &inventory->items[i];
        for (int j = 0; a->kind == IN_MEMORY && j < inventory->count; j++) {
            const struct item *b = &inventory->items[j];
            if ((b->kind == IN_MEMORY || b->kind == IN_DOUBT) && b->version == a->version &&
                b->id == a->id && b->rank == a->rank && b->ranks == a->ranks &&
                b->bytes != a->bytes) {
                a->kind = IN_DOUBT;
                mend_event("store.damaged", ev_str("store", store->name),
                           ev_int("version", a->version), ev_int("part", a->rank),
                           ev_str("error", "the copies in memory differ"));
            }
        }
    }
    for (int i = 0; i < inventory->count; i++)
        if (inventory->items[i].kind != IN_DOUBT)
            inventory->items[kept++] = inventory->items[i];
    inventory->count = kept;
}

int inventory_take(mend_store *store, struct inventory *inventory)
{
    struct list list = {0};
    uint8_t *all = NULL;
    size_t *sizes = malloc((size_t)store->size * sizeof *sizes), total = 0;

    int rc = sizes ? 0 : mend_fail(MEND_ERR_NO_MEMORY, "no memory for %d sizes", store->size);
    if (rc == 0)
        rc = list_memory(store, &list);
    if (rc == 0)
        rc = list_folder(store, store->local, &list);
    if (rc == 0)
        rc = list_folder(store, store->global, &list);
    int64_t worst[2] = {rc, !list.unreadable};
    int broken = net_all_min(store->net, CALL, worst, 2);
    if (rc == 0 && (broken || worst[0]))
        rc =
            broken ? broken : mend_fail((int)worst[0], "another rank could not list what it holds");
    if (rc == 0 && !store->alone) {
        rc = net_gather_var(store->net, CALL, list.items, (size_t)list.count * sizeof *list.items,
                            &all, sizes);
        for (int r = 0; rc == 0 && r < store->size; r++)
            total += sizes[r];
        free(list.items);
        list.items = (struct item *)(void *)all;
        list.count = (int)(total / sizeof *list.items);
    }
    free(sizes);
    if (rc) {
        free(list.items);
        return rc;
    }
    *inventory = (struct inventory){list.items, list.count, !worst[1]};
    drop_contradictions(store, inventory);
    MEND_FAULT_POINT(store_restore_plan);
    return 0;
}

void inventory_free(struct inventory *inventory)
{
    free(inventory->items);
    *inventory = (struct inventory){0};
}

int inventory_nothing(const mend_store *store, const struct inventory *inventory)
{
    return inventory->unreadable
               ? mend_fail(MEND_ERR_IO,
                           "store %s: some files or folders could not be read, and nothing else is "
                           "left that every rank can restore (see the events)",
                           store->name)
               : mend_fail(MEND_ERR_NO_VERSION,
                           "store %s has no version that every rank can restore", store->name);
}

/* ---- questions ------------------------------------------------------------------------------- */

static bool of_attempt(const struct item *i, const struct attempt *a)
{
    return i->version == a->version && i->id == a->id && i->ranks == a->ranks;
}

static int compare_attempts(const void *x, const void *y)
{
    const struct attempt *a = x, *b = y;
    if (a->version != b->version)
        return a->version > b->version ? -1 : 1;
    if (a->id != b->id)
        return a->id > b->id ? -1 : 1;
    return (b->ranks > a->ranks) - (b->ranks < a->ranks);
}

int inventory_attempts(const struct inventory *inventory, struct attempt **attempts, int *count)
{
    struct attempt *list = malloc((size_t)(inventory->count ? inventory->count : 1) * sizeof *list);
    int n = 0;
    if (!list)
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for %d versions", inventory->count);
    for (int i = 0; i < inventory->count; i++) {
        const struct item *item = &inventory->items[i];
        list[i] = (struct attempt){item->version, item->id, item->ranks};
    }
    qsort(list, (size_t)inventory->count, sizeof *list, compare_attempts);
    for (int i = 0; i < inventory->count; i++)
        if (n == 0 || compare_attempts(&list[n - 1], &list[i]) != 0)
            list[n++] = list[i];
    *attempts = list;
    *count = n;
    return 0;
}

const struct item *inventory_find(const struct inventory *inventory, const struct attempt *a,
                                  int rank, enum source_kind kind, int holder)
{
    for (int i = 0; i < inventory->count; i++) {
        const struct item *item = &inventory->items[i];
        if (of_attempt(item, a) && item->rank == rank && item->kind == (int)kind &&
            (holder < 0 || item->holder == holder))
            return item;
    }
    return NULL;
}

bool inventory_kind(const struct inventory *inventory, const struct attempt *a,
                    enum source_kind kind)
{
    for (int i = 0; i < inventory->count; i++)
        if (of_attempt(&inventory->items[i], a) && inventory->items[i].kind == (int)kind)
            return true;
    return false;
}

/* A parity item whose group has `rank`. */
static const struct item *group_of(const struct inventory *inventory, const struct attempt *a,
                                   int rank)
{
    for (int i = 0; i < inventory->count; i++) {
        const struct item *item = &inventory->items[i];
        if (!of_attempt(item, a) || item->kind != IN_PARITY)
            continue;
        for (int j = 0; j < item->group_size; j++)
            if (item->member[j] == rank)
                return item;
    }
    return NULL;
}

static bool data_there(const struct inventory *inventory, const struct attempt *a,
                       const struct item *group, int i)
{
    const struct item *own = inventory_find(inventory, a, group->member[i], IN_OWN, -1);
    const struct item *copy = inventory_find(inventory, a, group->member[i], IN_COPY, -1);
    return (own && own->bytes == group->member_bytes[i]) ||
           (copy && copy->bytes == group->member_bytes[i]);
}

const struct item *inventory_group(const struct inventory *inventory, const struct attempt *a,
                                   int rank)
{
    const struct item *group = group_of(inventory, a, rank);
    if (!group)
        return NULL;
    int g = group->group_size, x = 0;
    bool data[GROUP_MAX], parity[GROUP_MAX];

    for (int i = 0; i < g; i++) {
        data[i] = data_there(inventory, a, group, i);
        parity[i] = inventory_find(inventory, a, group->member[i], IN_PARITY, -1) != NULL;
        if (group->member[i] == rank)
            x = i;
    }
    return mend_parity_suffices(g, group->parity, data, parity, x) ? group : NULL;
}

bool inventory_has(const struct inventory *inventory, const struct attempt *a, int rank)
{
    static const enum source_kind direct[] = {IN_MEMORY, IN_OWN, IN_COPY, IN_GLOBAL, IN_BUNDLE};
    for (size_t i = 0; i < sizeof direct / sizeof *direct; i++)
        if (inventory_find(inventory, a, rank, direct[i], -1))
            return true;
    return inventory_group(inventory, a, rank) != NULL;
}

bool inventory_complete(const mend_store *store, const struct inventory *inventory,
                        const struct attempt *a)
{
    if (store->alone)
        return inventory_has(inventory, a, store->rank);
    for (int r = 0; r < a->ranks; r++)
        if (!inventory_has(inventory, a, r))
            return false;
    return true;
}

/* Is rank r's part at this level as it should be? */
static bool level_has(const struct inventory *inv, const struct attempt *a, int level, int r,
                      bool alone)
{
    const struct item *own = inventory_find(inv, a, r, IN_OWN, -1);
    switch (level) {
    case MEND_LEVEL_MEMORY: {
        int held = 0;
        for (int i = 0; i < inv->count; i++)
            held += of_attempt(&inv->items[i], a) && inv->items[i].rank == r &&
                    inv->items[i].kind == IN_MEMORY;
        return held >= (a->ranks > 1 && !alone ? 2 : 1);
    }
    case MEND_LEVEL_LOCAL: return own != NULL;
    case MEND_LEVEL_PARTNER: {
        const struct item *copy = inventory_find(inv, a, r, IN_COPY, -1);
        return own && copy && own->holder != copy->holder;
    }
    case MEND_LEVEL_ERASURE: return own && inventory_find(inv, a, r, IN_PARITY, -1);
    default:
        return inventory_find(inv, a, r, IN_GLOBAL, -1) || inventory_find(inv, a, r, IN_BUNDLE, -1);
    }
}

unsigned inventory_levels(const mend_store *store, const struct inventory *inventory,
                          const struct attempt *a)
{
    unsigned levels = 0;
    for (int level = 0; level < MEND_LEVEL_COUNT; level++) {
        bool all = true;
        for (int r = 0; all && r < (store->alone ? 1 : a->ranks); r++)
            all = level_has(inventory, a, level, store->alone ? store->rank : r, store->alone);
        if (all)
            levels |= MEND_LEVEL_BIT(level);
    }
    return levels;
}
