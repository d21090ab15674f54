/* load.c - an image becomes the upper half of this process: reads and checks its tables, maps and fills its
 * memory (images/fill.c), and brings back its threads. */
#include "images/load.h"
#include "output/output.h"

#include <base/fail.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct image_meta loaded;

static int check_machine(const struct image_meta *m, const char *path)
{
    if (strncmp(m->arch, ARCH_NAME, sizeof m->arch))
        return mend_fail(MEND_ERR_ARCHITECTURE,
                         "%s was taken on another CPU architecture (%.15s, here " ARCH_NAME ")",
                         path, m->arch);
    if (m->border_version != BORDER_VERSION)
        return mend_fail(MEND_ERR_FORMAT, "%s was written by another version of Mend", path);
    if (m->page_size != ground.page_size)
        return mend_fail(MEND_ERR_ARCHITECTURE, "%s has pages of %llu bytes, here %zu", path,
                         (unsigned long long)m->page_size, ground.page_size);
    const char *missing = machine_refuses(m->machine);
    if (!missing && machine_allow(m->machine))
        missing = "registers that this kernel does not let us use (AMX)";
    return missing ? mend_fail(MEND_ERR_ARCHITECTURE, "%s needs %s", path, missing) : 0;
}

/* Where the tables are. */
struct head {
    struct loaded *l;
    uint64_t offset, bytes; /* in the image */
};

static int find_head(struct loaded *l, struct head *head, const char *path)
{
    if (l->paged) {
        *head = (struct head){l, 0, l->paged->head_bytes};
        return paged_check(l->paged);
    }
    const mend_image_region *meta = mend_image_find_region(l->image, IMAGE_META);
    const mend_image_region *memory = mend_image_find_region(l->image, IMAGE_MEMORY);
    if (!meta || !memory || meta->bytes < sizeof l->meta)
        return mend_fail(MEND_ERR_FORMAT, "%s is not an image of a capsule", path);
    *head = (struct head){l, meta->offset, meta->bytes};
    l->memory_offset = memory->offset;
    l->memory_bytes = memory->bytes;
    return 0;
}

static int read_head(struct head *head, uint64_t at, void *to, size_t bytes)
{
    if (!head->l->paged)
        return mend_image_read(head->l->image, head->offset + at, to, bytes);
    memcpy(to, (const char *)head->l->paged->head + at, bytes);
    return 0;
}

static int load_one(struct loaded *l, const char *path)
{
    struct head head = {0};
    int rc = find_head(l, &head, path);
    if (rc == 0)
        rc = read_head(&head, 0, &l->meta, sizeof l->meta);
    if (rc == 0)
        rc = check_machine(&l->meta, path);
    if (rc)
        return rc;
    uint64_t maps = l->meta.mappings * sizeof *l->mappings, runs = l->meta.runs * sizeof *l->runs;
    uint64_t files = l->meta.files * sizeof *l->files, names = l->meta.names;
    if (l->meta.runs > head.bytes || names > head.bytes ||
        sizeof l->meta + maps + runs + files + names != head.bytes ||
        (!l->paged && l->memory_bytes != l->meta.bytes))
        return mend_fail(MEND_ERR_DAMAGED, "%s: the tables have wrong lengths", path);
    l->mappings = malloc(maps + 1);
    l->runs = malloc(runs + 1);
    l->files = malloc(files + 1);
    l->names = malloc(names + 1);
    if (!l->mappings || !l->runs || !l->files || !l->names)
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for the table of pages");
    uint64_t at = sizeof l->meta;
    rc = read_head(&head, at, l->mappings, maps);
    if (rc == 0)
        rc = read_head(&head, at += maps, l->runs, runs);
    if (rc == 0)
        rc = read_head(&head, at += runs, l->files, files);
    if (rc == 0)
        rc = read_head(&head, at + files, l->names, names);
    if (rc == 0)
        rc = image_meta_check(&l->meta, l->mappings, l->runs, l->files, l->names);
    return rc ? mend_fail_within(rc, "%s", path) : 0;
}

/* Is every page there that an image leaves to its base? Both are in ascending order. */
static int check_base(const struct loaded *l, const char *path)
{
    uint64_t k = 0;
    for (uint64_t i = 0; i < l->meta.runs; i++) {
        const struct run *r = &l->runs[i];
        for (uint64_t at = r->from; r->in_base && at < r->to; at = l->base->runs[k].to) {
            while (l->base && k < l->base->meta.runs && l->base->runs[k].to <= at)
                k++;
            if (!l->base || k == l->base->meta.runs || l->base->runs[k].from > at)
                return mend_fail(MEND_ERR_DAMAGED, "%s: a page is not in its base", path);
        }
    }
    return 0;
}

/* Bytes of the upper half as the image has them; zero outside all runs. */
static int peek(struct loaded *l, uint64_t from, void *to, size_t count)
{
    uint64_t offset = 0, end = from + count;
    memset(to, 0, count);
    for (uint64_t i = 0; i < l->meta.runs && l->runs[i].from < end; i++) {
        const struct run *r = &l->runs[i];
        uint64_t a = r->from > from ? r->from : from, b = r->to < end ? r->to : end;
        int rc = 0;
        if (a < b && r->in_base)
            rc = l->base ? peek(l->base, a, (char *)to + (a - from), b - a)
                         : mend_fail(MEND_ERR_DAMAGED, "a page is in no base");
        else if (a < b && l->paged)
            rc = paged_copy(l->paged, offset + (a - r->from), (char *)to + (a - from), b - a);
        else if (a < b)
            rc = mend_image_read(l->image, l->memory_offset + offset + (a - r->from),
                                 (char *)to + (a - from), b - a);
        if (rc)
            return rc;
        offset += r->in_base ? 0 : r->to - r->from;
    }
    return 0;
}

static int check_upper(struct loaded *l, const char *path)
{
    struct upper *u = malloc(sizeof *u);
    if (!u)
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory to read an image");
    int rc = peek(l, (uint64_t)l->meta.upper, u, sizeof *u);
    if (rc == 0)
        rc = image_upper_check(&l->meta, l->mappings, u);
    free(u);
    return rc ? mend_fail_within(rc, "%s", path) : 0;
}

int loaded_tables(struct loaded *l, const char *path)
{
    int rc = load_one(l, path);
    for (struct loaded *at = l; rc == 0 && at->image && mend_image_base(at->image); at = at->base) {
        at->base = calloc(1, sizeof *at->base);
        if (!at->base)
            return mend_fail(MEND_ERR_NO_MEMORY, "no memory for a chain of images");
        at->base->image = mend_image_base(at->image);
        rc = load_one(at->base, path);
    }
    for (struct loaded *at = l; rc == 0 && at; at = at->base)
        rc = check_base(at, path);
    return rc ? rc : check_upper(l, path);
}

void loaded_free(struct loaded *l)
{
    files_close(l);
    if (l->image)
        mend_image_close(l->image); /* closes the bases, too */
    for (struct loaded *at = l, *next; at; at = next) {
        next = at->base;
        free(at->mappings);
        free(at->runs);
        free(at->files);
        free(at->names);
        free(at->kept);
        free(at->clean);
        if (at != l)
            free(at);
    }
    *l = (struct loaded){0};
}

/* Brings back the parked threads: each starts on the signal frame that it was parked in, and returns through
 * it, which reloads every register. The upper half calls this when it is whole again. */
void bring_back_threads(struct upper *u)
{
    for (int i = 0; i < u->nthreads; i++) {
        struct upper_thread *t = &u->threads[i];
        if (!t->parked)
            continue;
        int *name = (int *)((char *)t->thread_pointer + u->tid_offset);
        long tid =
            clone_into_frame(CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
                                 CLONE_SYSVSEM | CLONE_SETTLS | CLONE_CHILD_CLEARTID,
                             t->frame, t->thread_pointer, name);
        if (tid < 0)
            die("cannot restore a thread: %s", strerror((int)-tid));
        t->tid = (int)tid;
    }
}

/* This thread takes the place of the thread that took the image. */
static void become_its_thread(struct upper *u)
{
    int *name = (int *)((char *)u->thread_pointer + u->tid_offset);
    int tid = (int)syscall(SYS_set_tid_address, name); /* joiners wait for a zero there */
    for (int i = 0; i < u->nthreads; i++)
        if (u->threads[i].thread_pointer == u->thread_pointer)
            u->threads[i].tid = tid;
    syscall(SYS_set_robust_list, loaded.robust_list, loaded.robust_length);
}

struct upper *loaded_become(struct loaded *l)
{
    loaded = l->meta;
    steering = loaded.steering;
    lower.tid_address = loaded.tid_address;
    loaded_free(l);
    return loaded.upper;
}

int image_load(const struct paged *image, int checked, const struct paged *was, const char *name)
{
    struct loaded l = {.paged = image, .checked = checked, .was = was};
    int rc = loaded_tables(&l, name); /* pages are verified when they are in place */
    if (rc == 0)
        rc = files_open(&l, 1);
    if (rc)
        die("%s", mend_error_text());
    l.kept = calloc(l.meta.mappings + 1, 1);
    upper_silence();
    upper_unmap(l.kept ? &l : NULL);
    clean_find(&l);
    if (loaded_fill(&l))
        die("%s", mend_error_text());
    int known = l.was != NULL;
    loaded_become(&l);
    return known;
}

static const int never_blocked[] = {SIGSYS, SIGNAL_LEAVE, SIGSEGV, SIGBUS, SIGILL,
                                    SIGFPE, SIGTRAP,      SIGABRT, SIGPIPE};

void image_resume(void)
{
    struct upper *u = loaded.upper;
    sigset_t all; /* no application handler before it is whole; stop.c restores its mask */
    sigfillset(&all);
    for (size_t i = 0; i < sizeof never_blocked / sizeof *never_blocked; i++)
        sigdelset(&all, never_blocked[i]);
    sigprocmask(SIG_SETMASK, &all, NULL);
    lower.upper = u;
    u->lower = &lower;
    if (!ground.recovering)
        output_resume(u->printed);
    steering_install();
    signals_default(1ul << (SIGPIPE - 1)); /* the upper half installs its own again */
    become_its_thread(u);
    machine_release_returns();
    context_resume(&u->context, u->thread_pointer);
}
