/* wipe.c - removes everything of an upper half from this process: signals, files, memory. */
#include "images/load.h"
#include "start/start.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

static uint64_t ignored; /* signals that only the lower half ignores */

/* For a process without an upper half: see os/signals.c. */
void signals_ignore_broken_pipes(void)
{
    struct sigaction now;
    if (sigaction(SIGPIPE, NULL, &now) || now.sa_handler != SIG_DFL)
        return;
    signal(SIGPIPE, SIG_IGN);
    ignored |= 1ul << (SIGPIPE - 1);
}

void signals_default(uint64_t except)
{
    for (int s = 1; s <= 64; s++)
        if ((ignored & ~except) >> (s - 1) & 1)
            signal(s, SIG_DFL);
    ignored = 0;
}

/* All that the upper half has open. Its standard input, output and error are those of the launcher again. */
static void close_files(void)
{
    syscall(SYS_close_range, UPPER_FILES, ~0u, 0);
    for (int i = 0; lower.upper && i < LOW_FILES; i++)
        if (lower.upper->low_files[i])
            close(lower.upper->low_files[i] - 1);
    standard_again();
}

/* A signal may still arrive, at any thread: the old handlers must not run once their code is gone. */
void upper_silence(void)
{
    struct itimerval off = {0};
    agent_abandon();
    for (int i = 0; i < 3; i++)
        setitimer(i, &off, NULL);
    for (int s = 1; s <= 64; s++) {
        struct sigaction sa;
        if (s == SIGNAL_LEAVE || sigaction(s, NULL, &sa))
            continue;
        uintptr_t handler = (uintptr_t)sa.sa_handler;
        if (handler <= (uintptr_t)SIG_IGN || handler >= UPPER_END)
            continue;
        signal(s, SIG_IGN);
        ignored |= 1ul << (s - 1);
    }
    close_files();
    syscall(SYS_set_robust_list, NULL, sizeof(void *) * 3);
    lower.upper = NULL; /* its memory goes, too */
}

struct old_mapping { /* of the old upper half's memory */
    uint64_t from, to, inode, offset;
    int private, prot;
    char *path;
};

static uint32_t mapping_at(const struct loaded *l, uint64_t from)
{
    uint32_t i = 0;
    while (i < l->meta.mappings && l->mappings[i].from < from)
        i++;
    return i;
}

/* The pages of [from, to) for which the image has no content. */
struct gaps {
    const struct loaded *l;
    int (*forget)(uint64_t from, size_t bytes); /* 0: failed */
};

static int forget_gaps(void *context, uint64_t from, uint64_t to)
{
    const struct gaps *g = context;
    const struct loaded *l = g->l;
    uint64_t r = 0, high = l->meta.runs;
    while (r < high) { /* the first run that ends behind `from` */
        uint64_t middle = (r + high) / 2;
        if (l->runs[middle].to <= from)
            r = middle + 1;
        else
            high = middle;
    }
    for (; r < l->meta.runs && l->runs[r].from < to; r++) {
        if (l->runs[r].from > from && !g->forget(from, l->runs[r].from - from))
            return -1;
        from = l->runs[r].to;
    }
    return from < to && !g->forget(from, to - from) ? -1 : 0;
}

/* The image has exactly this mapping, too: filling present pages is several times faster than faulting in new
 * ones. Pages for which the image has no content become zero again. */
static int keep_anonymous(struct loaded *l, const struct old_mapping *p)
{
    uint32_t i = mapping_at(l, p->from);
    const struct mapping *m = &l->mappings[i];
    if (i == l->meta.mappings || m->from != p->from || m->to != p->to || m->shared || m->file ||
        mprotect((void *)p->from, p->to - p->from, PROT_READ | PROT_WRITE))
        return 0;
    struct gaps zero = {l, discard};
    return l->kept[i] = !forget_gaps(&zero, p->from, p->to);
}

static int as_in_file(uint64_t from, size_t bytes)
{
    return madvise((void *)from, bytes, MADV_DONTNEED) == 0;
}

/* The same for a mapping of a file: pages that were written and are not in the image become what the file
 * has. */
static int keep_file(struct loaded *l, const struct old_mapping *p, int pagemap)
{
    uint32_t i = mapping_at(l, p->from);
    const struct mapping *m = &l->mappings[i];
    if (i == l->meta.mappings || m->from != p->from || m->to != p->to || !m->file ||
        m->offset != p->offset || l->files[m->file - 1].inode != p->inode)
        return 0;
    const char *name = l->names + l->files[m->file - 1].name;
    size_t n = strlen(name);
    int deleted = !strncmp(p->path, name, n) && !strcmp(p->path + n, " (deleted)");
    if (!deleted && (strcmp(p->path, name) || !l->ready[i])) /* it exists, but was refused */
        return 0;
    struct gaps again = {l, as_in_file};
    int rc = pagemap < 0
                 ? forget_gaps(&again, p->from, p->to)
                 : pagemap_pages(pagemap, p->from, p->to, PAGES_WRITTEN, forget_gaps, &again);
    return l->kept[i] = rc == 0;
}

/* As in images/survey.c: the kernel splits a mapping of which it watches only a part; to us it is one. */
static int continues(const struct old_mapping *last, const struct old_mapping *p)
{
    return last->to == p->from && last->private && p->private && !last->inode && !p->inode &&
           last->prot == p->prot;
}

/* All mappings below UPPER_END. */
static struct old_mapping *pieces(size_t *count)
{
    struct old_mapping *piece = NULL;
    size_t n = 0;
    char line[4352], perm[8];
    unsigned long from, to, offset, inode;
    unsigned major, minor;
    int path;
    FILE *f = fopen("/proc/self/maps", "re");
    if (!f)
        die("cannot read /proc/self/maps: %s", strerror(errno));
    while (fgets(line, sizeof line, f) &&
           sscanf(line, "%lx-%lx %7s %lx %x:%x %lu %n", &from, &to, perm, &offset, &major, &minor,
                  &inode, &path) == 7 &&
           from < UPPER_END) {
        line[strcspn(line, "\n")] = 0;
        struct old_mapping p = {from,
                                to,
                                inode,
                                offset,
                                perm[3] == 'p',
                                (perm[0] == 'r') | (perm[1] == 'w') << 1 | (perm[2] == 'x') << 2,
                                NULL};
        if (n && continues(&piece[n - 1], &p)) {
            piece[n - 1].to = to;
            continue;
        }
        p.path = inode ? need(strdup(line + path)) : NULL;
        piece = need(realloc(piece, (n + 1) * sizeof *piece));
        piece[n++] = p;
    }
    fclose(f);
    *count = n;
    return piece;
}

/* Unmaps all memory of the old upper half, except mappings that `l` (if any) has as well. */
void upper_unmap(struct loaded *l)
{
    size_t n;
    struct old_mapping *piece = pieces(&n);
    int pagemap = l ? pagemap_open() : -1;
    discard_wait();
    for (size_t i = 0; i < n; i++) {
        const struct old_mapping *p = &piece[i];
        int anonymous = p->private && !p->inode;
        if (!l || !p->private || !(anonymous ? keep_anonymous(l, p) : keep_file(l, p, pagemap))) {
            if (anonymous)
                discard(p->from, p->to - p->from);
            munmap((void *)p->from, p->to - p->from);
        }
        free(p->path);
    }
    free(piece);
    if (pagemap >= 0)
        close(pagemap);
}

void upper_wipe(void)
{
    upper_silence();
    upper_unmap(NULL);
    steering = (struct steering){UPPER_ARENA, UPPER_BREAK};
}
