/* The description saved with every version: at which place of the program it was made, after how many safe points,
 * and what became of every view. With it another process, or a later run, can restore the version or say why not.
 *
 * Layout, in the machine's byte order (which a store's image names): a header of fixed size with the first open
 * places, the other open places, then one record for each view. Readers trust nothing. */
#include <base/fail.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "flow.h"

enum { META_MAGIC = 0x4d464c31, VIEWS_MAX = 1 << 20, OPEN_MAX = 1 << 20, OPEN_IN_HEADER = 16 };

struct header {
    uint32_t magic, finished, ranks, open_count, view_count, constants; /* constants: number + 1 */
    int64_t points;
    uint64_t place;
    char place_text[256];
    uint64_t open[OPEN_IN_HEADER];
};

_Static_assert(offsetof(struct header, open) + OPEN_IN_HEADER * sizeof(uint64_t) ==
                   sizeof(struct header),
               "the list of open places ends the header");

struct record {
    char label[LABEL_MAX + 1];
    uint32_t fate, flags;
    int32_t leader, dynamic;
    uint64_t bytes, span_bytes, inside, hash;
};

/* Bytes of the open places that do not fit in the header. */
static size_t more_open(uint32_t count)
{
    return count > OPEN_IN_HEADER ? (count - OPEN_IN_HEADER) * sizeof(uint64_t) : 0;
}

static int index_of(const views *v, const view *w)
{
    for (int i = 0; i < v->count; i++)
        if (v->all[i] == w)
            return i;
    return -1;
}

static struct record describe(const views *all, view *v)
{
    struct record r = {.fate = (uint32_t)v->fate,
                       .flags = v->flags,
                       .leader = -1,
                       .dynamic = v->pointer != NULL,
                       .bytes = view_bytes(v),
                       .span_bytes = v->span_bytes,
                       .inside = v->inside};
    memcpy(r.label, v->label, sizeof r.label);
    if (v->leader)
        r.leader = index_of(all, v->leader);
    if (v->fate == FATE_CONSTANT) {
        if (!v->hashed)
            v->hash = view_hash(v);
        v->hashed = true;
        r.hash = v->hash;
    }
    return r;
}

int meta_write(mend_flow *f, const safe_point *at, int finished, size_t *bytes)
{
    uint32_t open_count = at ? (uint32_t)safe_point_open(f, at, NULL, 0) : 0;
    size_t more = more_open(open_count);
    size_t need = sizeof(struct header) + more + (size_t)f->views.count * sizeof(struct record);
    if (f->meta_room < need) {
        void *buffer = realloc(f->meta_buffer, need);
        if (!buffer)
            return mend_fail(MEND_ERR_NO_MEMORY, "no memory to describe %d views", f->views.count);
        f->meta_buffer = buffer;
        f->meta_room = need;
    }
    struct header h = {.magic = META_MAGIC,
                       .finished = (uint32_t)finished,
                       .ranks = (uint32_t)f->size,
                       .open_count = open_count,
                       .view_count = (uint32_t)f->views.count,
                       .constants = (uint32_t)(constants_version(f) + 1),
                       .points = f->points};
    if (at) {
        h.place = at->hash;
        snprintf(h.place_text, sizeof h.place_text, "%.180s:%d in %.60s()", at->site->file,
                 at->site->line, at->site->function);
    }
    char *to = f->meta_buffer;
    memcpy(to, &h, sizeof h);
    if (at) /* the list begins in the header and may continue behind it */
        safe_point_open(f, at, (uint64_t *)(to + offsetof(struct header, open)), (int)open_count);
    struct record *r = (struct record *)(to + sizeof h + more);
    for (int i = 0; i < f->views.count; i++)
        r[i] = describe(&f->views, f->views.all[i]);
    *bytes = need;
    return 0;
}

static int read_record(const struct record *r, int count, meta_view *v)
{
    if (memchr(r->label, 0, sizeof r->label) == NULL || r->fate > FATE_FOUND ||
        r->leader >= count || (r->fate == FATE_PART && r->leader < 0))
        return mend_fail(MEND_ERR_FORMAT, "the description of the version is not valid");
    memcpy(v->label, r->label, sizeof v->label);
    v->fate = (int)r->fate;
    v->flags = r->flags;
    v->leader = r->leader;
    v->dynamic = r->dynamic;
    v->bytes = r->bytes;
    v->span_bytes = r->span_bytes;
    v->inside = r->inside;
    v->hash = r->hash;
    return 0;
}

int meta_read(const void *bytes, size_t size, meta **result)
{
    struct header h;
    if (size < sizeof h)
        return mend_fail(MEND_ERR_FORMAT, "the description of the version is too short (%zu bytes)",
                         size);
    memcpy(&h, bytes, sizeof h);
    if (h.magic != META_MAGIC || h.view_count > VIEWS_MAX || h.open_count > OPEN_MAX ||
        h.ranks < 1 ||
        size != sizeof h + more_open(h.open_count) + h.view_count * sizeof(struct record) ||
        memchr(h.place_text, 0, sizeof h.place_text) == NULL)
        return mend_fail(MEND_ERR_FORMAT, "the version was not saved by this layer, or is damaged");
    meta *m = calloc(1, sizeof *m);
    if (m) {
        m->views = calloc(h.view_count + 1, sizeof *m->views);
        m->open = calloc(h.open_count + 1, sizeof *m->open);
    }
    if (!m || !m->views || !m->open) {
        meta_free(m);
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for the description of %u views",
                         h.view_count);
    }
    m->finished = h.finished != 0;
    m->ranks = (int)h.ranks;
    m->points = h.points;
    m->place = h.place;
    memcpy(m->place_text, h.place_text, sizeof m->place_text);
    m->constants = (mend_version_t)h.constants - 1;
    m->open_count = (int)h.open_count;
    memcpy(m->open, (const char *)bytes + offsetof(struct header, open),
           h.open_count * sizeof *m->open);
    m->view_count = (int)h.view_count;
    int rc = 0;
    for (int i = 0; i < m->view_count && !rc; i++) {
        struct record r;
        memcpy(&r, (const char *)bytes + sizeof h + more_open(h.open_count) + (size_t)i * sizeof r,
               sizeof r);
        rc = read_record(&r, m->view_count, &m->views[i]);
    }
    if (rc) {
        meta_free(m);
        return rc;
    }
    *result = m;
    return 0;
}

void meta_free(meta *m)
{
    if (!m)
        return;
    free(m->views);
    free(m->open);
    free(m);
}
