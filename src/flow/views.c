/* The register of views, and which of their bytes to save. */
#include <base/fail.h>
#include <device/device.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "flow.h"

void *view_address(const view *v)
{
    return v->pointer ? *v->pointer : v->address;
}

size_t view_bytes(const view *v)
{
    return v->pointer ? *v->count * v->element : v->bytes;
}

/* Is the view in GPU memory, or unknown? */
static bool on_device(const view *v)
{
    mend_device_place place;
    return mend_device_where(view_address(v), view_bytes(v), &place) != 0 ||
           mend_device_holds(&place);
}

int view_get(const view *v, void *to)
{
    return mend_device_copy(to, view_address(v), view_bytes(v));
}

int view_set(const view *v, const void *from)
{
    return mend_device_copy(view_address(v), from, view_bytes(v));
}

int view_clear(const view *v)
{
    size_t bytes = view_bytes(v);
    if (bytes && !on_device(v)) {
        memset(view_address(v), 0, bytes);
        return 0;
    }
    void *zeros = bytes ? calloc(1, bytes) : NULL;
    int rc = !bytes  ? 0
             : zeros ? view_set(v, zeros)
                     : mend_fail(MEND_ERR_NO_MEMORY, "no memory for view '%s'", v->label);
    free(zeros);
    return rc;
}

int view_resize(const view *v, size_t bytes)
{
    if (*v->pointer && on_device(v))
        return mend_fail(MEND_ERR_UNSUPPORTED,
                         "dynamic view '%s' is in device memory and has %zu bytes, not %zu: only "
                         "the program can allocate it again",
                         v->label, view_bytes(v), bytes);
    void *moved = realloc(*v->pointer, bytes ? bytes : 1);
    if (!moved)
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for view '%s' (%zu bytes)", v->label,
                         bytes);
    *v->pointer = moved;
    return 0;
}

/* Content that we cannot read equals nothing. */
static uint64_t device_hash(const view *v)
{
    static atomic_uint_fast64_t failures;
    size_t bytes = view_bytes(v);
    void *copy = malloc(bytes);
    uint64_t hash = copy && view_get(v, copy) == 0 ? XXH3_64bits(copy, bytes)
                                                   : ~(uint64_t)atomic_fetch_add(&failures, 1);
    free(copy);
    return hash;
}

uint64_t view_hash(const view *v)
{
    if (!view_bytes(v))
        return 0;
    return on_device(v) ? device_hash(v) : XXH3_64bits(view_address(v), view_bytes(v));
}

view *views_find(const views *v, const char *label)
{
    for (int i = 0; i < v->count; i++)
        if (strcmp(v->all[i]->label, label) == 0)
            return v->all[i];
    return NULL;
}

void views_free(views *v)
{
    for (int i = 0; i < v->count; i++)
        free(v->all[i]);
    free(v->all);
    *v = (views){.generation = v->generation + 1};
}

/* A region's id depends on the label alone, so it is the same in every process and every run.
 */
static int id_of(const char *label)
{
    return (int)(XXH3_64bits(label, strlen(label)) & 0x3fffffff) + 1;
}

static int new_view(mend_flow *f, const char *label, view **made)
{
    views *v = &f->views;
    if (!label || !label[0] || strlen(label) > LABEL_MAX)
        return mend_fail(MEND_ERR_VIEW, "a view needs a label of 1 to %d characters", LABEL_MAX);
    v->generation++;
    f->quiet = false;
    *made = views_find(v, label);
    if (*made)
        return 0;
    int id = id_of(label);
    for (int i = 0; i < v->count; i++)
        if (v->all[i]->id == id)
            return mend_fail(MEND_ERR_VIEW,
                             "the labels '%s' and '%s' have the same hash: rename one", label,
                             v->all[i]->label);
    if (v->count == v->room) {
        int room = v->room ? 2 * v->room : 16;
        view **all = realloc(v->all, (size_t)room * sizeof *all);
        if (!all)
            return mend_fail(MEND_ERR_NO_MEMORY, "no memory for view '%s'", label);
        v->all = all;
        v->room = room;
    }
    *made = calloc(1, sizeof **made);
    if (!*made)
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for view '%s'", label);
    strcpy((*made)->label, label);
    (*made)->id = id;
    v->all[v->count++] = *made;
    return 0;
}

/* Learn mode judges a view again if it moved or changed its meaning. */
static void place_view(view *v, void *address, size_t bytes, unsigned flags)
{
    v->address = address;
    v->bytes = bytes;
    v->pointer = NULL;
    v->count = NULL;
    v->offset = v->total = 0;
    v->flags = flags;
    v->hashed = v->constant = false;
    v->steady = 0;
}

static int bytes_of(size_t count, MPI_Datatype type, const char *label, size_t *bytes)
{
    MPI_Aint low, extent;
    int started = 0;
    MPI_Initialized(&started);
    if (!started)
        return mend_fail(MEND_ERR_STATE, "view '%s' was named before MPI_Init", label);
    if (type == MPI_DATATYPE_NULL || MPI_Type_get_extent(type, &low, &extent) != MPI_SUCCESS ||
        extent < 0)
        return mend_fail(MEND_ERR_VIEW, "view '%s' has a type without a usable extent", label);
    if (extent && count > SIZE_MAX / (size_t)extent)
        return mend_fail(MEND_ERR_VIEW, "view '%s' is too long", label);
    *bytes = count * (size_t)extent;
    return 0;
}

static int check_flags(const char *label, unsigned flags)
{
    if (flags & ~(unsigned)(MEND_CONTROL | MEND_CONSTANT | MEND_SCRATCH | MEND_KEEP | MEND_TRY))
        return mend_fail(MEND_ERR_VIEW, "view '%s' has unknown flags %#x", label ? label : "?",
                         flags);
    if ((flags & MEND_CONTROL) && (flags & (MEND_CONSTANT | MEND_SCRATCH | MEND_KEEP)))
        return mend_fail(MEND_ERR_VIEW, "view '%s': a control view is always saved and agreed",
                         label ? label : "?");
    return 0;
}

static int open_context(mend_flow *f, const char *label)
{
    if (f->status)
        return mend_fail(f->status, "%s", f->status_text);
    if (!f->open)
        return mend_fail(MEND_ERR_STATE,
                         "view '%s' was named before MPI_Init or after MPI_Finalize",
                         label ? label : "?");
    return 0;
}

static bool is_floating(MPI_Datatype type)
{
    return type == MPI_DOUBLE || type == MPI_FLOAT || type == MPI_LONG_DOUBLE ||
           type == MPI_C_DOUBLE_COMPLEX || type == MPI_C_FLOAT_COMPLEX;
}

int mend_flow_view(mend_flow *flow, const char *label, void *address, size_t count,
                   MPI_Datatype type, unsigned flags)
{
    mend_flow *f = flow_of(flow);
    size_t bytes;
    view *v;
    int rc = open_context(f, label);
    if (!rc && !address)
        rc = mend_fail(MEND_ERR_VIEW, "view '%s' has a null pointer", label ? label : "?");
    if (!rc)
        rc = check_flags(label, flags);
    if (!rc)
        rc = bytes_of(count, type, label ? label : "?", &bytes);
    if (!rc && auto_on(f))
        return 0; /* it is saved with everything else */
    if (!rc)
        rc = new_view(f, label, &v);
    if (rc)
        return rc;
    place_view(v, address, bytes, flags);
    v->floating = is_floating(type);
    return 0;
}

int mend_flow_view_dynamic(mend_flow *flow, const char *label, void *pointer, size_t *count,
                           size_t size, unsigned flags)
{
    mend_flow *f = flow_of(flow);
    view *v;
    int rc = open_context(f, label);
    if (!rc && (!pointer || !count || !size))
        rc = mend_fail(MEND_ERR_VIEW,
                       "dynamic view '%s' needs a pointer to its pointer, one to its count, and "
                       "the size of an element",
                       label ? label : "?");
    if (!rc)
        rc = check_flags(label, flags);
    if (!rc && auto_on(f))
        return 0;
    if (!rc)
        rc = new_view(f, label, &v);
    if (rc)
        return rc;
    place_view(v, NULL, 0, flags);
    v->pointer = pointer;
    v->count = count;
    v->element = size;
    return 0;
}

int mend_flow_view_global(mend_flow *flow, const char *label, void *address, size_t count,
                          MPI_Datatype type, uint64_t offset, uint64_t total, unsigned flags)
{
    mend_flow *f = flow_of(flow);
    size_t element;
    if (offset > total || count > total - offset)
        return mend_fail(MEND_ERR_VIEW,
                         "view '%s': elements %llu to %llu are not inside an array of %llu",
                         label ? label : "?", (unsigned long long)offset,
                         (unsigned long long)(offset + count), (unsigned long long)total);
    int rc = mend_flow_view(flow, label, address, count, type, flags);
    if (!rc)
        rc = bytes_of(1, type, label, &element);
    if (rc || auto_on(f))
        return rc;
    view *v = views_find(&f->views, label);
    v->offset = offset * element;
    v->total = total * element;
    return 0;
}

int mend_flow_alias(mend_flow *flow, const char *label, const char *of)
{
    mend_flow *f = flow_of(flow);
    if (auto_on(f))
        return 0;
    view *v = label && of ? views_find(&f->views, label) : NULL;
    if (!v || !views_find(&f->views, of) || strcmp(label, of) == 0)
        return mend_fail(MEND_ERR_VIEW, "alias: '%s' and '%s' must be two known views",
                         label ? label : "?", of ? of : "?");
    strcpy(v->alias_of, of);
    return 0;
}

int mend_flow_view_remove(mend_flow *flow, const char *label)
{
    mend_flow *f = flow_of(flow);
    views *v = &f->views;
    if (auto_on(f))
        return 0;
    for (int i = 0; label && i < v->count; i++) {
        if (strcmp(v->all[i]->label, label) != 0)
            continue;
        free(v->all[i]);
        memmove(v->all + i, v->all + i + 1, (size_t)(v->count - i - 1) * sizeof *v->all);
        v->count--;
        v->generation++;
        f->quiet = false;
        return 0;
    }
    return mend_fail(MEND_ERR_VIEW, "there is no view '%s' to remove", label ? label : "?");
}

static fate declared_fate(const view *v)
{
    if (v->flags & MEND_SCRATCH)
        return FATE_SCRATCH;
    if (v->alias_of[0])
        return FATE_ALIAS;
    if (v->flags & MEND_CONSTANT)
        return FATE_CONSTANT;
    if (v->constant)
        return FATE_FOUND;
    return v->dead ? FATE_DEAD : FATE_SAVED;
}

static int by_address(const void *a, const void *b)
{
    const view *x = *(view *const *)a, *y = *(view *const *)b;
    char *p = view_address(x), *q = view_address(y);
    if (p != q)
        return p < q ? -1 : 1;
    size_t m = view_bytes(x), n = view_bytes(y);
    return m != n ? (m > n ? -1 : 1) : strcmp(x->label, y->label);
}

/* Overlapping views form a span, which is saved once, with the view that begins first. Views with a global layout
 * stay separate: their bytes are addressed by their place in the whole array. */
int views_arrange(views *v)
{
    view **sorted = malloc((size_t)(v->count + 1) * sizeof *sorted);
    if (!sorted)
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory to arrange %d views", v->count);
    int n = 0;
    for (int i = 0; i < v->count; i++) {
        view *w = v->all[i];
        w->fate = declared_fate(w);
        w->leader = NULL;
        w->inside = 0;
        w->span = view_address(w);
        w->span_bytes = view_bytes(w);
        if (w->pointer && !w->span && w->span_bytes) {
            free(sorted);
            return mend_fail(MEND_ERR_VIEW, "dynamic view '%s' has a null pointer and %zu elements",
                             w->label, *w->count);
        }
        if (w->fate == FATE_SAVED && w->span_bytes && !w->total)
            sorted[n++] = w;
    }
    qsort(sorted, (size_t)n, sizeof *sorted, by_address);
    view *leader = NULL;
    for (int i = 0; i < n; i++) {
        view *w = sorted[i];
        char *begin = w->span, *end = leader ? (char *)leader->span + leader->span_bytes : NULL;
        if (!leader || begin >= end) {
            leader = w;
            continue;
        }
        w->fate = FATE_PART;
        w->leader = leader;
        w->inside = (size_t)(begin - (char *)leader->span);
        if (begin + w->span_bytes > end)
            leader->span_bytes = w->inside + w->span_bytes;
    }
    free(sorted);
    return 0;
}

int parts_room(mend_flow *f, int need)
{
    if (f->part_room >= need)
        return 0;
    mend_flow_part *parts = realloc(f->parts, (size_t)need * sizeof *parts);
    if (!parts)
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for %d parts", need);
    f->parts = parts;
    f->part_room = need;
    return 0;
}

int views_parts(mend_flow *f, int *count)
{
    int n = 0;
    if (parts_room(f, f->views.count + 1))
        return MEND_ERR_NO_MEMORY;
    for (int i = 0; i < f->views.count; i++) {
        view *w = f->views.all[i];
        if (w->fate == FATE_SAVED)
            f->parts[n++] =
                (mend_flow_part){w->id, w->label, w->span, w->span_bytes, w->offset, w->total};
    }
    *count = n;
    return 0;
}
