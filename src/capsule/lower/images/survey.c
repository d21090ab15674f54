/* survey.c - what there is to save: the upper half's mappings, and the pages that were touched. */
#include "images/image.h"

#include <base/fail.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static int add_mapping(struct survey *s, struct mapping m)
{
    if (s->meta.mappings == s->mapping_room) {
        s->mapping_room = 2 * s->mapping_room + 64;
        void *more = realloc(s->mappings, s->mapping_room * sizeof *s->mappings);
        if (!more)
            return mend_fail(MEND_ERR_NO_MEMORY, "no memory to list the mappings");
        s->mappings = more;
    }
    s->mappings[s->meta.mappings++] = m;
    return 0;
}

static int add_stretch(struct survey *s, uint64_t from, uint64_t to)
{
    if (s->count == s->room) {
        s->room = 2 * s->room + 256;
        void *more = realloc(s->stretches, s->room * sizeof *s->stretches);
        if (!more)
            return mend_fail(MEND_ERR_NO_MEMORY, "no memory to list the pages");
        s->stretches = more;
    }
    s->stretches[s->count++] = (struct stretch){from, to, s->meta.mappings - 1, 0};
    s->pages += (to - from) / page_size;
    return 0;
}

/* A mapping of a file may be longer than the file: touching the rest is an error. */
static int readable(uint64_t at)
{
    char byte;
    struct iovec to = {&byte, 1}, from = {(void *)at, 1};
    return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == 1;
}

/* Where the file ends in it. (The loader's first mapping of a library is such a one, for a moment.) */
static uint64_t readable_end(const struct mapping *m)
{
    uint64_t from = m->from, to = m->to;
    if (readable(to - page_size))
        return to;
    while (from < to) { /* pages before `from` can be read, the one at `to` cannot */
        uint64_t middle = from + (to - from) / page_size / 2 * page_size;
        if (readable(middle))
            from = middle + page_size;
        else
            to = middle;
    }
    return from;
}

/* Linux 6.7's PAGEMAP_SCAN, which tells stretches of pages rather than pages: reading a word for each of
 * them takes several per cent of the time of writing them. Headers of older systems have none of it.
 */
struct pagemap_stretch {
    uint64_t from, to, is;
};
struct pagemap_question {
    uint64_t size, flags, from, to, walked_to, answer, room, most_pages, inverted, all_of, any_of,
        tell;
};
enum { PAGE_PRESENT = 1 << 3, PAGE_SWAPPED = 1 << 4 };
#define ASK_PAGEMAP _IOWR('f', 16, struct pagemap_question)

/* The pages of an anonymous mapping that were touched; 1: this kernel does not tell it this way. */
static int add_touched(struct survey *s, const struct mapping *m, int pagemap)
{
    struct pagemap_stretch found[128];
    struct pagemap_question q = {.size = sizeof q,
                                 .from = m->from,
                                 .to = m->to,
                                 .answer = (uint64_t)found,
                                 .room = sizeof found / sizeof *found,
                                 .any_of = PAGE_PRESENT | PAGE_SWAPPED};
    uint64_t from = 0, to = 0; /* not yet added: what follows may continue it */
    while (q.from < m->to) {
        int n = ioctl(pagemap, ASK_PAGEMAP, &q), rc = 0;
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 || q.walked_to <= q.from)
            return q.from == m->from ? 1 : mend_fail_errno("cannot read /proc/self/pagemap");
        for (int i = 0; i < n && rc == 0; i++) {
            if (to && found[i].from != to)
                rc = add_stretch(s, from, to);
            if (found[i].from != to)
                from = found[i].from;
            to = found[i].to;
        }
        if (rc)
            return rc;
        q.from = q.walked_to;
    }
    return to ? add_stretch(s, from, to) : 0;
}

/* The pages of one mapping that may have content. Those of an anonymous mapping that were never
 * touched are zero and are left out, as are those of a private file mapping behind PROT_NONE: gaps
 * between the segments of a library.
 */
static int add_pages(struct survey *s, const struct mapping *m, int is_file, int pagemap)
{
    uint64_t entry[512], begin = 0;
    size_t pages = (m->to - m->from) / page_size;
    if (is_file && !(m->prot & PROT_READ))
        return 0;
    if (is_file && !m->shared) {
        uint64_t end = readable_end(m);
        return end > m->from ? add_stretch(s, m->from, end) : 0;
    }
    int rc = is_file ? 1 : add_touched(s, m, pagemap);
    if (rc <= 0)
        return rc;
    for (size_t i = 0; i <= pages; i++) {
        if (i % 512 == 0 && i < pages) {
            size_t want = (pages - i < 512 ? pages - i : 512) * 8;
            if (pread(pagemap, entry, want, (off_t)((m->from / page_size + i) * 8)) !=
                (ssize_t)want)
                memset(entry, 0xff, sizeof entry);
        }
        int touched = i < pages && entry[i % 512] >> 62 != 0; /* present or swapped */
        if (is_file && i < pages && !touched)
            touched = readable(m->from + i * page_size);
        if (touched && !begin)
            begin = m->from + i * page_size;
        if (!touched && begin) {
            rc = add_stretch(s, begin, m->from + i * page_size);
            if (rc)
                return rc;
            begin = 0;
        }
    }
    return 0;
}

static int walk(struct survey *s)
{
    char line[4352], perm[8];
    unsigned long from, to, offset, inode;
    unsigned major, minor;
    int rc = 0;
    FILE *f = fopen("/proc/self/maps", "re");
    int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    if (!f || pagemap < 0)
        rc = mend_fail_errno("cannot read /proc/self/maps");
    while (rc == 0 && fgets(line, sizeof line, f)) {
        if (sscanf(line, "%lx-%lx %7s %lx %x:%x %lu", &from, &to, perm, &offset, &major, &minor,
                   &inode) != 7)
            continue;
        if (from >= UPPER_END)
            break; /* the lower half's */
        struct mapping m = {from, to,
                            (perm[0] == 'r' ? PROT_READ : 0) | (perm[1] == 'w' ? PROT_WRITE : 0) |
                                (perm[2] == 'x' ? PROT_EXEC : 0),
                            perm[3] == 's'};
        rc = add_mapping(s, m);
        /* anonymous shared memory has an inode, too, but its untouched pages read as zero */
        if (rc == 0)
            rc = add_pages(s, &m, inode != 0, pagemap);
    }
    if (f)
        fclose(f);
    if (pagemap >= 0)
        close(pagemap);
    return rc;
}

int survey_take(struct survey *s, struct upper *u)
{
    *s = (struct survey){.meta = {.border_version = BORDER_VERSION,
                                  .rank = (uint32_t)u->rank,
                                  .size = (uint32_t)u->size,
                                  .arch = ARCH_NAME,
                                  .page_size = page_size,
                                  .upper = u,
                                  .steering = steering,
                                  .tid_address = lower.tid_address,
                                  .thread_level = u->thread_level}};
    machine_describe(s->meta.machine);
    syscall(SYS_get_robust_list, 0, &s->meta.robust_list, &s->meta.robust_length);
    return walk(s);
}

void survey_free(struct survey *s)
{
    free(s->mappings);
    free(s->stretches);
    *s = (struct survey){0};
}
