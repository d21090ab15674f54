#include "versions.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <base/fail.h>
#include <image/bundle.h>

#define DEPTH     4
#define RANKS_MAX (1 << 24)
#define PATH_ROOM 4096

struct walking {
    visit_file *visit;
    void *context;
    long visited, refused;
};

static int visit_folder(const char *dir, struct walking *w)
{
    mend_file *files = NULL;
    int count = 0, rc = mend_folder_list(dir, &files, &count);
    for (int i = 0; rc == 0 && i < count; i++, w->visited++)
        rc = w->visit(dir, &files[i], w->context);
    free(files);
    return rc;
}

/* Do not trust files directly in a folder that others may write to, such as /scratch; folders below it may be ours. */
static int walk(const char *dir, int depth, struct walking *w)
{
    char path[PATH_ROOM];
    struct dirent *e;
    struct stat st;
    int rc = visit_folder(dir, w);
    if (rc == MEND_ERR_PERMISSION) {
        w->refused++;
        rc = 0;
    }
    DIR *d = rc || depth >= DEPTH ? NULL : opendir(dir);
    while (rc == 0 && d && (e = readdir(d)))
        if (e->d_name[0] != '.' &&
            snprintf(path, sizeof path, "%s/%s", dir, e->d_name) < (int)sizeof path &&
            lstat(path, &st) == 0 && S_ISDIR(st.st_mode))
            rc = walk(path, depth + 1, w);
    if (d)
        closedir(d);
    return rc;
}

int versions_walk(const char *dir, visit_file *visit, void *context)
{
    struct stat st;
    struct walking w = {.visit = visit, .context = context};
    if (stat(dir, &st) != 0)
        return mend_fail_errno("cannot read the folder %s", dir);
    if (!S_ISDIR(st.st_mode))
        return mend_fail(MEND_ERR_ARGUMENT, "%s is not a folder", dir);
    int rc = walk(dir, 0, &w);
    if (rc == 0 && w.refused && !w.visited)
        rc = mend_fail(
            MEND_ERR_PERMISSION,
            "%s has no folder that belongs to you alone; Mend does not read images of other users",
            dir);
    return rc;
}

struct views {
    struct store_view *stores;
    int count;
};

static struct store_view *find_store(struct views *views, const char *name)
{
    for (int i = 0; i < views->count; i++)
        if (strcmp(views->stores[i].name, name) == 0)
            return &views->stores[i];
    struct store_view *bigger = realloc(views->stores, (size_t)(views->count + 1) * sizeof *bigger);
    if (!bigger)
        return NULL;
    views->stores = bigger;
    struct store_view *s = &bigger[views->count++];
    *s = (struct store_view){0};
    snprintf(s->name, sizeof s->name, "%s", name);
    return s;
}

static struct version_view *find_version(struct store_view *store, const mend_file *f)
{
    for (int i = 0; i < store->count; i++)
        if (store->versions[i].version == f->version && store->versions[i].save_id == f->save_id)
            return &store->versions[i];
    struct version_view *bigger =
        realloc(store->versions, (size_t)(store->count + 1) * sizeof *bigger);
    if (!bigger)
        return NULL;
    store->versions = bigger;
    struct version_view *v = &bigger[store->count++];
    *v = (struct version_view){.version = f->version, .save_id = f->save_id};
    return v;
}

static int note_part(struct version_view *v, int rank, int ranks, enum mend_file_kind kind)
{
    if (ranks > v->ranks && ranks <= RANKS_MAX) {
        unsigned char *bigger = realloc(v->have, (size_t)ranks);
        if (!bigger)
            return mend_fail(MEND_ERR_NO_MEMORY, "no memory for %d ranks", ranks);
        memset(bigger + v->ranks, 0, (size_t)(ranks - v->ranks));
        v->have = bigger;
        v->ranks = ranks;
    }
    if (rank < v->ranks && !(v->have[rank] >> kind & 1)) {
        v->have[rank] |= (unsigned char)(1u << kind);
        v->parts[kind]++;
    }
    return 0;
}

static void note_job(struct version_view *v, const mend_image_job *job)
{
    if (!v->ranks)
        v->job = *job;
    v->jobs_differ |= strcmp(v->job.id, job->id) != 0;
}

/* Every parity image describes its whole group: keep one per group. */
static int note_group(struct version_view *v, mend_image *image)
{
    mend_parity_group group;
    if (mend_parity_read(image, &group)) {
        v->damaged++;
        return 0;
    }
    for (int i = 0; i < v->group_count; i++)
        if (v->groups[i].size == group.size &&
            memcmp(v->groups[i].member, group.member, sizeof group.member) == 0)
            return 0;
    mend_parity_group *bigger = realloc(v->groups, (size_t)(v->group_count + 1) * sizeof *bigger);
    if (!bigger)
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for a list of groups");
    v->groups = bigger;
    v->groups[v->group_count++] = group;
    return 0;
}

/* The store's name is that of its folder. */
static const char *store_name(const char *folder)
{
    const char *slash = strrchr(folder, '/');
    return slash ? slash + 1 : folder;
}

/* Is the label one of the list? */
static bool listed(const char *list, const char *label)
{
    size_t n = strlen(label);
    for (const char *at = list; (at = strstr(at, label)); at++)
        if ((at == list || at[-1] == ' ') && (at[n] == ',' || !at[n]))
            return true;
    return false;
}

static void note_regions(struct version_view *v, const mend_image_head *head)
{
    for (uint32_t i = 0; i < head->region_count; i++) {
        const mend_image_region *r = &head->regions[i];
        char label[MEND_IMAGE_LABEL + 20];
        size_t used = strlen(v->on_gpu);
        if (!(r->flags & MEND_REGION_DEVICE))
            continue;
        if (r->label[0])
            snprintf(label, sizeof label, "%s", r->label);
        else
            snprintf(label, sizeof label, "region %d", r->id);
        if (!listed(v->on_gpu, label) && used + strlen(label) + 8 < sizeof v->on_gpu)
            snprintf(v->on_gpu + used, sizeof v->on_gpu - used, "%s%s", used ? ", " : "", label);
        else if (!listed(v->on_gpu, label) && !listed(v->on_gpu, "..."))
            snprintf(v->on_gpu + used, sizeof v->on_gpu - used, ", ...");
    }
}

static int note_bundle(const char *folder, const mend_file *f, const char *path,
                       struct version_view *v)
{
    mend_source source;
    mend_bundle_entry *entries = NULL;
    uint64_t count = 0, id;
    mend_version_t version;
    int rc = mend_source_file(path, 0, UINT64_MAX, &source);
    if (rc == 0)
        rc = mend_bundle_open(source, &entries, &count, &version, &id);
    if (rc) {
        v->damaged++;
        return 0;
    }
    for (uint64_t i = 0; rc == 0 && i < count; i++) {
        mend_image *image = NULL;
        if (mend_folder_open_bundled(folder, f, (int)entries[i].rank, &image)) {
            v->damaged++;
            continue;
        }
        note_job(v, &mend_image_info(image)->job);
        note_regions(v, mend_image_info(image));
        rc = note_part(v, (int)entries[i].rank, mend_image_info(image)->ranks, MEND_FILE_BUNDLE);
        mend_image_close(image);
    }
    free(entries);
    return rc;
}

static int note_file(const char *folder, const mend_file *f, void *context)
{
    char path[PATH_ROOM], name[MEND_FILE_NAME_MAX];
    struct stat st;
    mend_image *image = NULL;
    struct store_view *store = find_store(context, store_name(folder));
    struct version_view *v = store ? find_version(store, f) : NULL;
    if (!v)
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for a list of versions");
    mend_file_name(f, name);
    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path)
        return 0;
    if (stat(path, &st) == 0)
        v->bytes += (uint64_t)st.st_size;
    if (f->kind == MEND_FILE_BUNDLE)
        return note_bundle(folder, f, path, v);
    if (mend_folder_open_chain(folder, f, &image)) {
        v->damaged++;
        return 0;
    }
    const mend_image_head *head = mend_image_info(image);
    v->deltas += head->base_version >= 0;
    note_job(v, &head->job);
    note_regions(v, head);
    int rc = note_part(v, f->rank, head->ranks, f->kind);
    if (rc == 0 && f->kind == MEND_FILE_PARITY)
        rc = note_group(v, image);
    mend_image_close(image);
    return rc;
}

static int newest_first(const void *a, const void *b)
{
    const struct version_view *x = a, *y = b;
    if (x->version != y->version)
        return x->version < y->version ? 1 : -1;
    return (x->save_id < y->save_id) - (x->save_id > y->save_id);
}

static bool has(const struct version_view *v, int rank, unsigned kinds)
{
    return rank >= 0 && rank < v->ranks && (v->have[rank] & kinds);
}

/* Can a restore rebuild the rank's part from the rest of its group? */
static bool can_be_rebuilt(const struct version_view *v, int rank)
{
    const unsigned files = 1u << MEND_FILE_OWN | 1u << MEND_FILE_COPY;
    for (int i = 0; i < v->group_count; i++) {
        const mend_parity_group *g = &v->groups[i];
        bool data[MEND_GROUP_MAX], parity[MEND_GROUP_MAX];
        int x = -1;
        for (int j = 0; j < g->size; j++) {
            data[j] = has(v, g->member[j], files);
            parity[j] = has(v, g->member[j], 1u << MEND_FILE_PARITY);
            if (g->member[j] == rank)
                x = j;
        }
        if (x >= 0 && mend_parity_suffices(g->size, g->parity, data, parity, x))
            return true;
    }
    return false;
}

/* Every rank's data is there in some form, or parity can rebuild it. */
static void judge(struct version_view *v)
{
    const unsigned data = 1u << MEND_FILE_OWN | 1u << MEND_FILE_COPY | 1u << MEND_FILE_GLOBAL |
                          1u << MEND_FILE_BUNDLE;
    v->complete = v->ranks > 0;
    for (int r = 0; r < v->ranks; r++) {
        bool rebuilt = !(v->have[r] & data) && can_be_rebuilt(v, r);
        v->rebuildable += rebuilt;
        v->complete = v->complete && (rebuilt || (v->have[r] & data));
    }
}

int versions_read(const char *dir, struct store_view **stores, int *count)
{
    struct views views = {0};
    int rc = versions_walk(dir, note_file, &views);
    for (int s = 0; s < views.count; s++) {
        struct store_view *store = &views.stores[s];
        qsort(store->versions, (size_t)store->count, sizeof *store->versions, newest_first);
        for (int i = 0; i < store->count; i++)
            judge(&store->versions[i]);
    }
    if (rc) {
        versions_free(views.stores, views.count);
        return rc;
    }
    *stores = views.stores;
    *count = views.count;
    return 0;
}

void versions_free(struct store_view *stores, int count)
{
    for (int s = 0; s < count; s++) {
        for (int i = 0; i < stores[s].count; i++) {
            free(stores[s].versions[i].have);
            free(stores[s].versions[i].groups);
        }
        free(stores[s].versions);
    }
    free(stores);
}
