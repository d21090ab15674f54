/* snapshot.c - writing the upper half into an image. */
#include "agent.h"
#include "image.h"

#include <base/config.h>
#include <base/fail.h>
#include <base/fault.h>
#include <base/io.h>
#include <errno.h>
#include <fcntl.h>
#include <image/folder.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

struct survey { /* what there is to write */
    struct image_meta meta;
    struct mapping *mappings;
    struct run *runs;
    size_t mapping_room, run_room;
    /* the stream: meta bytes, then the runs */
    uint8_t *head;
    size_t head_bytes;
    uint64_t memory_offset;
    size_t run_now; /* of the fetch */
    uint64_t run_at;
    uint8_t *scratch;
};

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

static int add_page(struct survey *s, uint64_t at, int first)
{
    s->meta.bytes += page_size;
    if (s->meta.runs && s->runs[s->meta.runs - 1].to == at && !first) {
        s->runs[s->meta.runs - 1].to += page_size;
        return 0;
    }
    if (s->meta.runs == s->run_room) {
        s->run_room = 2 * s->run_room + 256;
        void *more = realloc(s->runs, s->run_room * sizeof *s->runs);
        if (!more)
            return mend_fail(MEND_ERR_NO_MEMORY, "no memory to list the pages");
        s->runs = more;
    }
    s->runs[s->meta.runs++] = (struct run){at, at + page_size};
    return 0;
}

/* A shared mapping of a file may be longer than the file: touching the rest is an error. */
static int readable(uint64_t at)
{
    char byte;
    struct iovec to = {&byte, 1}, from = {(void *)at, 1};
    return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == 1;
}

/* The pages of one mapping that have content. Those of an anonymous mapping that were never touched
 * are zero and are left out (as are those of a private file mapping behind PROT_NONE: gaps between
 * the segments of a library).
 */
static int add_pages(struct survey *s, const struct mapping *m, int is_file, int pagemap)
{
    uint64_t entry[512];
    size_t pages = (m->to - m->from) / page_size;
    if (is_file && !(m->prot & PROT_READ))
        return 0;
    for (size_t i = 0; i < pages; i++) {
        if (i % 512 == 0) {
            size_t want = (pages - i < 512 ? pages - i : 512) * 8;
            if (pread(pagemap, entry, want, (off_t)((m->from / page_size + i) * 8)) !=
                (ssize_t)want)
                memset(entry, 0xff, sizeof entry);
        }
        int touched = entry[i % 512] >> 62 != 0; /* present or swapped */
        if ((!is_file && !touched) ||
            (is_file && !touched && m->shared && !readable(m->from + i * page_size)))
            continue;
        int rc = add_page(s, m->from + i * page_size, i == 0);
        if (rc)
            return rc;
    }
    return 0;
}

static int survey(struct survey *s)
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

/* Content behind PROT_NONE must be made readable for a moment. */
static void reveal(const struct survey *s, int yes)
{
    size_t m = 0;
    for (size_t i = 0; i < s->meta.runs; i++) {
        while (s->mappings[m].to <= s->runs[i].from)
            m++;
        if (!(s->mappings[m].prot & PROT_READ))
            mprotect((void *)s->runs[i].from, s->runs[i].to - s->runs[i].from,
                     yes ? PROT_READ : s->mappings[m].prot);
    }
}

static int build_head(struct survey *s)
{
    size_t maps = s->meta.mappings * sizeof *s->mappings, runs = s->meta.runs * sizeof *s->runs;
    s->head_bytes = sizeof s->meta + maps + runs;
    s->memory_offset = ROUND_UP(s->head_bytes, IMAGE_BLOCK);
    s->head = calloc(1, s->memory_offset);
    s->scratch = malloc(IMAGE_BLOCK);
    if (!s->head || !s->scratch)
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for the table of pages");
    memcpy(s->head, &s->meta, sizeof s->meta);
    memcpy(s->head + sizeof s->meta, s->mappings, maps);
    memcpy(s->head + sizeof s->meta + maps, s->runs, runs);
    return 0;
}

static const uint8_t *fetch(void *context, uint64_t at, size_t count)
{
    struct survey *s = context;
    if (at < s->memory_offset)
        return s->head + at;
    uint64_t place = at - s->memory_offset, done = 0;
    while (s->run_at + (s->runs[s->run_now].to - s->runs[s->run_now].from) <= place)
        s->run_at += s->runs[s->run_now].to - s->runs[s->run_now].from, s->run_now++;
    const struct run *r = &s->runs[s->run_now];
    if (r->to - r->from - (place - s->run_at) >= count)
        return (const uint8_t *)(r->from + (place - s->run_at));
    for (uint64_t skip = place - s->run_at; done < count; r++, skip = 0) {
        uint64_t n = r->to - r->from - skip;
        n = n < count - done ? n : count - done;
        memcpy(s->scratch + done, (void *)(r->from + skip), n);
        done += n;
    }
    return s->scratch;
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

static int write_image(struct survey *s, int64_t version, uint64_t save_id, int fd,
                       const char *path, uint64_t *bytes)
{
    mend_image_region regions[2] = {
        {.id = IMAGE_META, .offset = 0, .bytes = s->head_bytes, .label = "capsule"},
        {.id = IMAGE_MEMORY,
         .offset = s->memory_offset,
         .bytes = s->meta.bytes,
         .label = "memory"}};
    mend_image_head head = {.kind = MEND_IMAGE_DATA,
                            .name = IMAGE_NAME,
                            .version = version,
                            .save_id = save_id,
                            .rank = (int32_t)s->meta.rank,
                            .ranks = (int32_t)s->meta.size,
                            .base_version = -1,
                            .block = IMAGE_BLOCK,
                            .region_count = 2,
                            .stream_bytes = s->memory_offset + s->meta.bytes,
                            .regions = regions};
    mend_image_write_options options = {.fetch = fetch, .fetch_context = s};
    struct file_sink f = {fd, path};
    reveal(s, 1);
    int rc = mend_image_write(&head, NULL, &options, (mend_sink){sink_write, &f}, bytes);
    reveal(s, 0);
    return rc;
}

static int survey_all(struct survey *s, struct upper *u)
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
    int rc = survey(s);
    return rc ? rc : build_head(s);
}

static void survey_free(struct survey *s)
{
    free(s->mappings);
    free(s->runs);
    free(s->head);
    free(s->scratch);
}

static int write_file(struct survey *s, int64_t version, uint64_t save_id, uint64_t *bytes)
{
    char name[MEND_FILE_NAME_MAX], path[4500];
    mend_file file = {MEND_FILE_GLOBAL, (int)s->meta.rank, version, save_id};
    mend_io_replacement replacement;
    mend_file_name(&file, name);
    snprintf(path, sizeof path, "%s/versions/%s", settings.dir, name);
    int rc = mend_io_replace_begin(&replacement, path);
    if (rc)
        return rc;
    rc = write_image(s, version, save_id, replacement.fd, path, bytes);
    if (rc == 0)
        rc = mend_io_replace_commit(&replacement);
    mend_io_replace_abort(&replacement);
    return rc;
}

int snapshot_write(struct upper *u, int64_t version, uint64_t save_id, uint64_t *bytes)
{
    struct survey s;
    int rc = survey_all(&s, u);
    if (rc == 0)
        rc = write_file(&s, version, save_id, bytes);
    if (rc)
        fprintf(stderr, "mend: rank %d: no image of version %lld: %s\n", u->rank,
                (long long)version, mend_error_text());
    survey_free(&s);
    return rc;
}

size_t snapshot_to(struct upper *u, int fd)
{
    struct survey s;
    struct image_prefix prefix = {IMAGE_PREFIX, 0};
    int rc = survey_all(&s, u);
    if (rc == 0)
        rc = mend_io_write(fd, &prefix, sizeof prefix, "an image in memory");
    if (rc == 0)
        rc = write_image(&s, 0, 0, fd, "an image in memory", &prefix.bytes);
    if (rc == 0)
        rc = mend_io_pwrite(fd, &prefix, sizeof prefix, 0, "an image in memory");
    if (rc)
        die("rank %d: no image: %s", u->rank, mend_error_text());
    survey_free(&s);
    return sizeof prefix + prefix.bytes;
}
