/* fill.c - maps the memory of an image and fills it with its pages.
 *
 * The resuming job waits for this. So
 *   1. we read every byte once, straight to its place, and verify the checksum of its block while the block is in
 *      the cache. We find a wrong one before anything of the image runs (versions/restart.c);
 *   2. several threads do this if there are cores for them, each for its own part of the runs, into huge pages
 *      if the system has them: touching new pages takes longer than reading them;
 *   3. pages that were made ahead of time are moved to where they are needed (start/ahead.c);
 *   4. a process that goes back to an image that it has written or verified itself writes only pages that differ:
 *      it does not look at pages that it has not written since (images/clean.c), and compares the others.
 */
#include "images/load.h"
#include "start/start.h"

#include <base/fail.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { MOST_READERS = 8 };
/* Use huge pages from here on: the first touch of small pages takes half of the time of a restart. */
enum { HUGE_FROM = 4 << 20 };
static const uint64_t least = 8 << 20; /* bytes for a reader: a thread has its price */

struct cursor { /* in one image of the chain; asked for ascending addresses */
    const struct loaded *l;
    mend_image *image;
    uint64_t run, at; /* where this run's bytes are in its memory */
    struct paged_cursor was;
};

struct reader {
    struct loaded *l;
    uint64_t from, to;    /* its part of the bytes of all runs */
    struct cursor *chain; /* the image, its base, ... */
    mend_image *own;      /* to read with, if not l's */
    pthread_t thread;
    int code;
    char text[1024];
};

static int depth_of(const struct loaded *l)
{
    int n = 0;
    for (; l; l = l->base)
        n++;
    return n;
}

static int reader_open(struct reader *r, struct loaded *l, int first)
{
    mend_image *image = l->image;
    r->chain = calloc((size_t)depth_of(l), sizeof *r->chain);
    if (!r->chain)
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory to read an image");
    int rc = first || l->paged ? 0 : mend_image_share(l->image, &r->own);
    if (rc)
        return rc;
    if (r->own)
        image = r->own;
    for (int i = 0; l; l = l->base, image = image ? mend_image_base(image) : NULL)
        r->chain[i++] = (struct cursor){l, image, 0, 0, {l->was, 0, 0}};
    return 0;
}

static void reader_close(struct reader *r)
{
    if (r->own)
        mend_image_close(r->own);
    free(r->chain);
}

/* Pages of an image in memory, from number `page` on. */
static int put_pages(struct cursor *c, uint64_t page, uint64_t from, uint64_t to, int kept)
{
    const struct loaded *l = c->l;
    int rc = 0, there = 0;
    for (uint64_t end; from < to && rc == 0; from = end) {
        end = kept ? clean_until(l, &c->was, from, to, page, &there) : to;
        uint64_t count = (end - from) / ground.page_size;
        if (!there)
            rc = paged_put(l->paged, page, (char *)from, count, l->checked, kept);
        page += count;
    }
    return rc;
}

/* The content of [from, to), which lies in runs of this image. */
static int fill_run(struct cursor *c, uint64_t from, uint64_t to, int kept)
{
    int rc = 0;
    while (from < to && rc == 0) {
        const struct run *r = &c->l->runs[c->run];
        if (r->to <= from) {
            c->at += r->in_base ? 0 : r->to - r->from;
            c->run++;
            continue;
        }
        uint64_t end = r->to < to ? r->to : to,
                 place = c->l->memory_offset + c->at + from - r->from;
        if (r->in_base)
            rc = fill_run(c + 1, from, end, kept);
        else if (c->l->paged)
            rc = put_pages(c, (c->at + from - r->from) / ground.page_size, from, end, kept);
        else
            rc = mend_image_read(c->image, place, (void *)from, end - from);
        from = end;
    }
    return rc;
}

static void *read_part(void *context)
{
    struct reader *reader = context;
    const struct loaded *l = reader->l;
    uint64_t before = 0; /* bytes of the runs before this one */
    uint32_t m = 0;
    for (uint64_t i = 0; i < l->meta.runs && before < reader->to && !reader->code; i++) {
        const struct run *r = &l->runs[i];
        uint64_t bytes = r->to - r->from, a = r->from, b = r->to;
        if (before + bytes > reader->from) {
            a += reader->from > before ? reader->from - before : 0;
            b -= reader->to < before + bytes ? before + bytes - reader->to : 0;
            while (l->mappings[m].to <= a)
                m++;
            reader->code = fill_run(reader->chain, a, b, l->kept && l->kept[m]);
            if (l->mappings[m].prot & PROT_EXEC)
                __builtin___clear_cache((char *)a, (char *)b);
        }
        before += bytes;
    }
    if (reader->code)
        snprintf(reader->text, sizeof reader->text, "%s", mend_error_text());
    return NULL;
}

static int count_readers(uint64_t bytes, int most)
{
    cpu_set_t cores;
    int n = sched_getaffinity(0, sizeof cores, &cores) ? 1 : CPU_COUNT(&cores);
    if (n > MOST_READERS)
        n = MOST_READERS;
    if (n > most)
        n = most;
    if ((uint64_t)n > bytes / least)
        n = (int)(bytes / least);
    return n < 1 ? 1 : n;
}

/* All runs, by several readers; the first one is this thread. */
static int fill_all(struct loaded *l)
{
    struct reader reader[MOST_READERS] = {{0}};
    uint64_t bytes = 0;
    int rc = 0, begun = 0;
    for (uint64_t i = 0; i < l->meta.runs; i++)
        bytes += l->runs[i].to - l->runs[i].from;
    /* checked: the other ranks go back at the same time */
    int most = l->checked ? threads_for(bytes, l->meta.size) : MOST_READERS;
    int n = count_readers(bytes, most);
    sigset_t every, old;
    sigfillset(&every);
    pthread_sigmask(SIG_SETMASK, &every, &old); /* handlers must not run in these threads */
    for (int i = 0; i < n && rc == 0; i++) {
        uint64_t part = ROUND_UP(bytes / (uint64_t)n, IMAGE_BLOCK);
        reader[i] =
            (struct reader){.l = l, .from = (uint64_t)i * part, .to = (uint64_t)(i + 1) * part};
        if (i == n - 1)
            reader[i].to = bytes;
        rc = reader_open(&reader[i], l, i == 0);
        if (rc == 0 && i && pthread_create(&reader[i].thread, NULL, read_part, &reader[i]))
            read_part(&reader[i]); /* no thread available: one after the other */
        else if (rc == 0)
            begun |= 1 << i;
    }
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (rc == 0)
        read_part(&reader[0]);
    for (int i = 0; i < n; i++) {
        if (i && begun >> i & 1)
            pthread_join(reader[i].thread, NULL);
        if (rc == 0 && reader[i].code)
            rc = mend_fail(reader[i].code, "%s", reader[i].text);
        reader_close(&reader[i]);
    }
    return rc;
}

/* Bytes of runs in a mapping. *run: in, the first run that may be in it; out, the first behind it. */
static uint64_t content_of(const struct loaded *l, const struct mapping *m, uint64_t *run)
{
    uint64_t bytes = 0;
    for (; *run < l->meta.runs && l->runs[*run].from < m->to; (*run)++)
        bytes += l->runs[*run].to - l->runs[*run].from;
    return bytes;
}

/* The first mapping of this process in that range, as the kernel describes it; "": none. */
static void find_mapping(uint64_t from, uint64_t to, char *text, size_t room)
{
    char line[512];
    uint64_t first, end;
    FILE *f = fopen("/proc/self/maps", "re");
    *text = 0;
    while (f && !*text && fgets(line, sizeof line, f))
        if (sscanf(line, "%" SCNx64 "-%" SCNx64, &first, &end) == 2 && first < to && end > from)
            snprintf(text, room, "%.*s", (int)strcspn(line, "\n"), line);
    if (f)
        fclose(f);
}

static int cannot_map(const struct mapping *m)
{
    char there[512];
    int why = errno;
    find_mapping(m->from, m->to, there, sizeof there);
    errno = why;
    return mend_fail_errno("cannot map the image at %llx-%llx%s%s", (unsigned long long)m->from,
                           (unsigned long long)m->to, *there ? ", where this process has " : "",
                           there);
}

/* Puts a mapping in its place; NOREPLACE: a collision is an error. Its file, if any, was checked. */
static int map_one(struct loaded *l, uint32_t i, uint64_t content)
{
    const struct mapping *m = &l->mappings[i];
    void *to = (void *)m->from;
    size_t bytes = m->to - m->from;
    int rights = m->file ? PROT_NONE : PROT_READ | PROT_WRITE;
    int kind = m->shared ? MAP_SHARED : MAP_PRIVATE;
    if (m->file && !l->ready[i])
        return mend_fail(MEND_ERR_PROGRAM, "%s", l->refusal);
    void *at =
        mmap(to, bytes, rights, kind | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (at == to && m->file)
        at = mremap(l->ready[i], bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, to);
    if (at != to)
        return cannot_map(m);
    if (m->file)
        l->ready[i] = NULL;
    else if (!m->shared && content >= bytes / 4 * 3) /* else huge pages would waste memory */
        if (!ahead_take(to, bytes) && bytes >= HUGE_FROM)
            madvise(to, bytes, MADV_HUGEPAGE); /* on the whole: a mapping must stay one mapping */
    return 0;
}

static int protect(const struct mapping *m, int rights)
{
    if (mprotect((void *)m->from, m->to - m->from, rights))
        return mend_fail_errno("cannot protect the image at %llx", (unsigned long long)m->from);
    return 0;
}

int loaded_fill(struct loaded *l)
{
    uint64_t run = 0;
    int rc = 0;
    for (uint32_t i = 0; i < l->meta.mappings && rc == 0; i++) {
        const struct mapping *m = &l->mappings[i];
        uint64_t content = content_of(l, m, &run);
        if (!l->kept || !l->kept[i])
            rc = map_one(l, i, content);
        l->mapped += rc == 0;
        if (rc == 0 && m->file && content) /* it was mapped with its final rights */
            rc = protect(m, PROT_READ | PROT_WRITE);
    }
    if (rc == 0)
        rc = fill_all(l);
    if (rc == 0)
        clean_check(l);
    for (uint32_t i = 0; i < l->meta.mappings && rc == 0; i++)
        rc = protect(&l->mappings[i], l->mappings[i].prot);
    ahead_free();
    return rc;
}

void loaded_unmap(const struct loaded *l)
{
    for (uint32_t i = 0; i < l->mapped; i++)
        munmap((void *)l->mappings[i].from, l->mappings[i].to - l->mappings[i].from);
}
