/* selection.c - chooses the pages of an image, and writes them.
 *
 * An image does not store a page that is zero, nor one with the same content as in the base. Checksums of
 * pages (XXH3) find the latter. Unlike tracking by page faults, they work on every kernel and miss no
 * write, be it by a system call, another process or a network card.
 *
 * selection_make() and selection_write() may run in a child process that has only one thread: they call no
 * malloc, and their results lie in memory that is shared with the parent.
 */
#include "images/image.h"

#include <base/fail.h>
#include <base/io.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

static void *take(void *context, size_t bytes)
{
    struct selection *p = context;
    size_t at = p->used, next = ROUND_UP(at + bytes, 64);
    if (next > p->bytes)
        return NULL;
    p->used = next;
    return p->memory + at;
}

int selection_prepare(struct selection *p, struct survey *s, const struct page_sums *base,
                      int want_sums)
{
    size_t maps = s->meta.mappings * sizeof *s->mappings, runs = s->pages * sizeof *p->runs;
    maps += s->meta.files * sizeof *s->files + s->meta.names;
    size_t blocks = s->pages * ground.page_size / IMAGE_BLOCK + (maps + runs) / IMAGE_BLOCK + 16;
    *p = (struct selection){.survey = s, .base = base, .want_sums = want_sums};
    /* upper bounds; unused memory is never touched */
    p->bytes = runs + s->pages * (sizeof *p->shifts + sizeof *p->sums + sizeof *p->zero) +
               (sizeof s->meta + maps + runs + 2 * IMAGE_BLOCK) + blocks * 64 + (1 << 16);
    p->bytes = ROUND_UP(p->bytes, ground.page_size);
    p->memory = mmap(NULL, p->bytes, PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p->memory == MAP_FAILED) {
        p->memory = NULL;
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for the table of %llu pages",
                         (unsigned long long)s->pages);
    }
    p->found = take(p, sizeof *p->found);
    p->runs = take(p, runs);
    p->shifts = take(p, s->pages * sizeof *p->shifts);
    p->zero = take(p, s->pages * sizeof *p->zero);
    p->sums = want_sums ? take(p, s->pages * sizeof *p->sums) : NULL;
    return 0;
}

void survey_reveal(const struct survey *s, int yes)
{
    for (size_t i = 0; i < s->count; i++) {
        const struct stretch *t = &s->stretches[i];
        int prot = s->mappings[t->mapping].prot;
        if (!(prot & PROT_READ) && !t->shift)
            mprotect((void *)t->from, t->to - t->from, yes ? PROT_READ : prot);
    }
}

struct cursor { /* in the base, whose runs are in ascending order, too */
    const struct page_sums *base;
    uint64_t run, before; /* pages before this run */
};

static int same_in_base(struct cursor *c, uint64_t page, uint64_t sum)
{
    const struct page_sums *b = c->base;
    if (!b)
        return 0;
    while (c->run < b->count && b->runs[c->run].to <= page) {
        c->before += (b->runs[c->run].to - b->runs[c->run].from) / ground.page_size;
        c->run++;
    }
    if (c->run == b->count || page < b->runs[c->run].from)
        return 0;
    return b->sums[c->before + (page - b->runs[c->run].from) / ground.page_size] == sum;
}

static void add_page(struct selection *p, const struct stretch *t, uint64_t at, int in_base)
{
    struct found *f = p->found;
    struct run *next = &p->runs[f->runs];
    if (!in_base)
        f->bytes += ground.page_size;
    if (f->runs && next[-1].to == at && next[-1].in_base == (uint64_t)in_base && at != t->from) {
        next[-1].to += ground.page_size;
        return;
    }
    p->shifts[f->runs++] = t->shift;
    *next = (struct run){at, at + ground.page_size, (uint64_t)in_base};
}

static void choose_pages(struct selection *p)
{
    struct survey *s = p->survey;
    struct cursor c = {p->base, 0, 0};
    uint64_t number = 0;
    for (size_t i = 0; i < s->count; i++) {
        const struct stretch *t = &s->stretches[i];
        for (uint64_t at = t->from; at < t->to; at += ground.page_size, number++) {
            if (p->zero[number])
                continue;
            uint64_t sum = p->sums ? p->sums[number] : 0;
            if (p->sums) /* from here on those of the chosen pages only */
                p->sums[p->found->pages] = sum;
            p->found->pages++;
            add_page(p, t, at, same_in_base(&c, at, sum));
        }
    }
}

/* Where memory begins in the stream. Each page of memory is one page of the file: a page that straddles two
 * is copied more slowly. */
enum { REGIONS = 2 };
static uint64_t place_of_memory(const struct selection *p)
{
    size_t before = mend_image_head_bytes(REGIONS);
    return ROUND_UP(before + p->head_bytes, ground.page_size) - before;
}

int selection_make(struct selection *p, int alone)
{
    struct survey *s = p->survey;
    survey_reveal(s, 1);
    selection_look(p, alone);
    choose_pages(p);
    s->meta.runs = p->found->runs;
    s->meta.bytes = p->found->bytes;
    size_t maps = s->meta.mappings * sizeof *s->mappings, runs = s->meta.runs * sizeof *p->runs;
    size_t files = s->meta.files * sizeof *s->files;
    p->head_bytes = sizeof s->meta + maps + runs + files + s->meta.names;
    p->memory_offset = place_of_memory(p);
    p->head = take(p, p->memory_offset);
    p->scratch = take(p, IMAGE_BLOCK);
    if (!p->head || !p->scratch)
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for the table of pages");
    uint8_t *to = mempcpy(p->head, &s->meta, sizeof s->meta);
    to = mempcpy(to, s->mappings, maps);
    to = mempcpy(to, p->runs, runs);
    if (files) {
        to = mempcpy(to, s->files, files);
        memcpy(to, s->names, s->meta.names);
    }
    return 0;
}

static uint64_t stored(const struct run *r)
{
    return r->in_base ? 0 : r->to - r->from;
}

enum { OUR_STACK = 8 << 20 }; /* more than we need */
int survey_is_moving(const struct survey *s, uint64_t from, size_t count)
{
    const struct upper *u = s->meta.upper;
    uint64_t stack = u->context.sp, to = from + count;
    return (from < stack && to > stack - OUR_STACK) ||
           (from < (uint64_t)(u + 1) && to > (uint64_t)u);
}

static const uint8_t *fetch(void *context, uint64_t at, size_t count)
{
    struct selection *p = context;
    uint64_t place = 0, done = 0, i;
    if (at + count <= p->memory_offset)
        return p->head + at;
    if (at < p->memory_offset) { /* the block where memory begins */
        done = p->memory_offset - at;
        memcpy(p->scratch, p->head + at, done);
    } else {
        place = at - p->memory_offset;
    }
    while (p->run_at + stored(&p->runs[p->run_now]) <= place)
        p->run_at += stored(&p->runs[p->run_now]), p->run_now++;
    i = p->run_now;
    uint64_t skip = place - p->run_at;
    uint64_t from = p->runs[i].from + (uint64_t)p->shifts[i] + skip;
    if (!done && stored(&p->runs[i]) - skip >= count && !survey_is_moving(p->survey, from, count))
        return (const uint8_t *)from;
    for (; done < count; i++, skip = 0) {
        uint64_t n = stored(&p->runs[i]) - skip;
        n = n < count - done ? n : count - done;
        if (n)
            memcpy(p->scratch + done, (void *)(p->runs[i].from + (uint64_t)p->shifts[i] + skip), n);
        done += n;
    }
    return p->scratch;
}

struct file_sink {
    int fd;
    const char *path;
};

static int sink_write(void *context, const void *bytes, size_t count)
{
    struct file_sink *f = context;
    return mend_io_write(f->fd, bytes, count, f->path);
}

/* A second thread may see a page a while before or after it is written: not if other processes may change it. */
static int second_thread(const struct survey *s)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->mappings[s->stretches[i].mapping].shared)
            return 0;
    return threads_for(s->meta.bytes, s->meta.size) > 1;
}

int selection_write(struct selection *p, mend_version_t version, uint64_t save_id, int fd,
                    const char *path, int alone, uint64_t *bytes)
{
    const struct image_meta *m = &p->survey->meta;
    mend_image_region regions[REGIONS] = {
        {.id = IMAGE_META, .offset = 0, .bytes = p->head_bytes, .label = "capsule"},
        {.id = IMAGE_MEMORY, .offset = p->memory_offset, .bytes = m->bytes, .label = "memory"}};
    mend_image_head head = {.kind = MEND_IMAGE_DATA,
                            .name = IMAGE_NAME,
                            .version = version,
                            .save_id = save_id,
                            .rank = (int32_t)m->rank,
                            .ranks = (int32_t)m->size,
                            .base_version = p->base ? p->base->version : -1,
                            .base_id = p->base ? p->base->save_id : 0,
                            .block = IMAGE_BLOCK,
                            .region_count = REGIONS,
                            .stream_bytes = p->memory_offset + m->bytes,
                            .regions = regions};
    mend_image_write_options options = {.fetch = fetch,
                                        .fetch_context = p,
                                        .allocate = take,
                                        .allocate_context = p,
                                        .second_thread = !alone && second_thread(p->survey),
                                        .reused = p->scratch};
    struct file_sink f = {fd, path};
    int rc = mend_image_write(&head, NULL, &options, (mend_sink){sink_write, &f}, bytes);
    survey_reveal(p->survey, 0);
    return rc;
}

void selection_keep(struct selection *p, mend_version_t version, uint64_t save_id,
                    struct page_sums *sums)
{
    page_sums_free(sums);
    *sums =
        (struct page_sums){version, save_id, p->runs, p->sums, p->found->runs, p->memory, p->bytes};
    p->memory = NULL;
}

void selection_free(struct selection *p)
{
    if (p->memory)
        munmap(p->memory, p->bytes);
    p->memory = NULL;
}

void page_sums_free(struct page_sums *s)
{
    if (s->memory)
        munmap(s->memory, s->bytes);
    *s = (struct page_sums){.version = -1};
}
