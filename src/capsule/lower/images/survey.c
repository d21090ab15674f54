/* survey.c - what there is to save: the upper half's mappings, and the pages that were touched. */
#include "gpu/gpu.h"
#include "images/image.h"
#include "images/track.h"

#include <base/fail.h>
#include <base/readable.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct {
    int store_all, told; /* told: we said that pagemap cannot be read */
} surveying;

void survey_store_all(int yes)
{
    surveying.store_all = yes;
}

/* The kernel splits a mapping where it is watched; to us it is still one mapping. */
static int continues_last(const struct survey *s, const struct mapping *m, int anonymous)
{
    const struct mapping *last = s->meta.mappings ? &s->mappings[s->meta.mappings - 1] : NULL;
    return last && anonymous && s->last_anonymous && last->to == m->from && last->prot == m->prot &&
           !last->shared && !m->shared;
}

static int add_mapping(struct survey *s, struct mapping m, int anonymous)
{
    int continues = continues_last(s, &m, anonymous);
    s->last_anonymous = anonymous;
    if (continues) {
        s->mappings[s->meta.mappings - 1].to = m.to;
        return 0;
    }
    if (s->meta.mappings == s->mapping_room) {
        size_t room = 2 * s->mapping_room + 64;
        void *more = realloc(s->mappings, room * sizeof *s->mappings);
        if (!more)
            return mend_fail(MEND_ERR_NO_MEMORY, "no memory to list the mappings");
        s->mappings = more;
        s->mapping_room = room;
    }
    s->mappings[s->meta.mappings++] = m;
    return 0;
}

static int add_stretch(struct survey *s, uint64_t from, uint64_t to)
{
    if (s->count == s->room) {
        size_t room = 2 * s->room + 256;
        void *more = realloc(s->stretches, room * sizeof *s->stretches);
        if (!more)
            return mend_fail(MEND_ERR_NO_MEMORY, "no memory to list the pages");
        s->stretches = more;
        s->room = room;
    }
    s->stretches[s->count++] = (struct stretch){from, to, s->meta.mappings - 1, 0};
    s->pages += (to - from) / ground.page_size;
    return 0;
}

static int add_written(void *context, uint64_t from, uint64_t to)
{
    struct survey *s = context;
    if (s->written_count == s->written_room) {
        size_t room = 2 * s->written_room + 256;
        void *more = realloc(s->written, room * sizeof *s->written);
        if (!more)
            return mend_fail(MEND_ERR_NO_MEMORY, "no memory to list what was written");
        s->written = more;
        s->written_room = room;
    }
    s->written[s->written_count++] = (struct mend_range){from, to};
    return 0;
}

/* Where the file ends in the mapping: it may be shorter, and touching the rest is an error. (The loader's first
 * mapping of a library is longer than its file, for a moment.) */
static uint64_t readable_end(const struct mapping *m)
{
    uint64_t from = m->from, to = m->to;
    if (mend_readable((void *)(to - ground.page_size)))
        return to;
    while (from < to) { /* pages before `from` can be read, the one at `to` cannot */
        uint64_t middle = from + (to - from) / ground.page_size / 2 * ground.page_size;
        if (mend_readable((void *)middle))
            from = middle + ground.page_size;
        else
            to = middle;
    }
    return from;
}

static int add_found(void *s, uint64_t from, uint64_t to)
{
    return add_stretch(s, from, to);
}

/* Use what the kernel has recorded; 0: it has not, and nothing was added. */
static int add_tracked(struct survey *s, const struct mapping *m, enum pages which, int pagemap)
{
    struct survey before = *s;
    if (!s->tracked)
        return 0;
    if (!track_pages(pagemap, m->from, m->to, which, add_found, add_written, s))
        return 1;
    s->count = before.count;
    s->pages = before.pages;
    s->written_count = before.written_count;
    return 0;
}

/* The pages of a private mapping that were touched, or written. */
static int add_some(struct survey *s, const struct mapping *m, enum pages which, int pagemap)
{
    if (add_tracked(s, m, which, pagemap))
        return 0;
    int rc = add_written(s, m->from, m->to);
    return rc ? rc : pagemap_pages(pagemap, m->from, m->to, which, add_found, s);
}

/* The whole mapping up to the end of its file. Behind PROT_NONE there is mostly nothing (gaps between the
 * segments of a library), except for pages that were written before. */
static int add_all_of_file(struct survey *s, const struct mapping *m, int pagemap)
{
    int rc = add_written(s, m->from, m->to);
    if (rc)
        return rc;
    if (!(m->prot & PROT_READ))
        return pagemap < 0 || m->shared
                   ? 0
                   : pagemap_pages(pagemap, m->from, m->to, PAGES_WRITTEN, add_found, s);
    uint64_t end = readable_end(m);
    return end > m->from ? add_stretch(s, m->from, end) : 0;
}

/* A private mapping of a file: add what was written and leave the rest to the file; or add everything. */
static int add_private(struct survey *s, const struct mapped_file *file, int pagemap)
{
    struct mapping *m = &s->mappings[s->meta.mappings - 1];
    int named = pagemap >= 0 && !surveying.store_all ? files_name(s, m, file) : 0;
    if (named < 0)
        return named;
    return named ? add_some(s, m, PAGES_WRITTEN, pagemap) : add_all_of_file(s, m, pagemap);
}

/* The pages with possible content in the last mapping, or in the piece `m` by which it grew. Pages of an
 * anonymous mapping that were never touched are zero and are left out. */
static int add_pages(struct survey *s, const struct mapping *m, const struct mapped_file *file,
                     int pagemap)
{
    if (file->inode && m->shared) /* pages that other processes touched have content, too */
        return add_all_of_file(s, m, pagemap);
    if (file->inode)
        return add_private(s, file, pagemap);
    if (pagemap >= 0)
        return add_some(s, m, PAGES_TOUCHED, pagemap);
    int rc = add_written(s, m->from, m->to);
    return rc ? rc : add_stretch(s, m->from, m->to);
}

static int open_pagemap(uint32_t rank)
{
    int fd = pagemap_open();
    if (fd < 0 && !surveying.told++)
        fprintf(stderr,
                "mend: rank %u: /proc/self/pagemap does not show which pages were written (%s): "
                "images hold all of them\n",
                rank, strerror(errno));
    return fd;
}

static int walk(struct survey *s)
{
    char line[4352], perm[8];
    unsigned long from, to, offset, inode;
    unsigned major, minor;
    int rc = 0, path = 0, pagemap = open_pagemap(s->meta.rank);
    FILE *f = fopen("/proc/self/maps", "re");
    if (!f)
        rc = mend_fail_errno("cannot read /proc/self/maps");
    while (rc == 0 && fgets(line, sizeof line, f)) {
        if (sscanf(line, "%lx-%lx %7s %lx %x:%x %lu %n", &from, &to, perm, &offset, &major, &minor,
                   &inode, &path) != 7)
            continue;
        if (from >= UPPER_END)
            break; /* belongs to the lower half */
        struct mapping m = {.from = from,
                            .to = to,
                            .prot = (perm[0] == 'r' ? PROT_READ : 0) |
                                    (perm[1] == 'w' ? PROT_WRITE : 0) |
                                    (perm[2] == 'x' ? PROT_EXEC : 0),
                            .shared = perm[3] == 's'};
        char *end = strchr(line, '\n');
        struct mapped_file file = {inode, offset, end ? line + path : ""};
        if (end)
            *end = 0;
        rc = add_mapping(s, m, !inode);
        /* anonymous shared memory has an inode, too, but its untouched pages read as zero */
        if (rc == 0)
            rc = add_pages(s, &m, &file, pagemap);
    }
    if (f)
        fclose(f);
    if (pagemap >= 0)
        close(pagemap);
    return rc;
}

int survey_take(struct survey *s, struct upper *u, int tracked)
{
    *s = (struct survey){
        .meta = {.border_version = BORDER_VERSION,
                 .rank = (uint32_t)u->rank,
                 .size = (uint32_t)u->size,
                 .arch = ARCH_NAME,
                 .page_size = ground.page_size,
                 .upper = u,
                 .steering = steering,
                 .tid_address = lower.tid_address,
                 .thread_level = u->thread_level},
        /* a GPU that we took has written to memory past the page tables until then */
        .tracked = tracked && !gpu_held() && track_start()};
    files_look_again();
    machine_describe(s->meta.machine);
    syscall(SYS_get_robust_list, 0, &s->meta.robust_list, &s->meta.robust_length);
    int rc = walk(s);
    track_end();
    return rc;
}

void survey_free(struct survey *s)
{
    free(s->mappings);
    free(s->stretches);
    free(s->files);
    free(s->names);
    free(s->written);
    *s = (struct survey){0};
}
