/* wipe.c - nothing of an upper half remains in this process: signals, files, memory. */
#include "images/load.h"
#include "start/discard.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

static uint64_t ignored; /* signals that are, in the lower half only */

/* Without an upper half: see os/signals.c. */
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

/* A signal may still come, to any thread: the old handlers must not run once their code is gone. */
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
    syscall(SYS_close_range, UPPER_FILES, ~0u, 0);
    syscall(SYS_set_robust_list, NULL, sizeof(void *) * 3);
}

/* This very mapping is in the image, too: filling pages that are there is several times faster than
 * faulting in new ones. What the image has no content for becomes zero again. */
static int keep_mapping(struct loaded *l, uint64_t from, uint64_t to)
{
    uint32_t i = 0;
    while (i < l->meta.mappings && l->mappings[i].from < from)
        i++;
    if (i == l->meta.mappings || l->mappings[i].from != from || l->mappings[i].to != to ||
        l->mappings[i].shared || mprotect((void *)from, to - from, PROT_READ | PROT_WRITE))
        return 0;
    uint64_t r = 0, high = l->meta.runs;
    while (r < high) { /* the first run that ends behind `from` */
        uint64_t middle = (r + high) / 2;
        if (l->runs[middle].to <= from)
            r = middle + 1;
        else
            high = middle;
    }
    uint64_t at = from;
    for (; r < l->meta.runs && l->runs[r].from < to; r++) {
        if (l->runs[r].from > at && !discard(at, l->runs[r].from - at))
            return 0;
        at = l->runs[r].to;
    }
    if (at < to && !discard(at, to - at))
        return 0;
    return l->kept[i] = 1;
}

/* Nothing of the old upper half's memory remains, but mappings that `l` (if any) has as well. */
void upper_unmap(struct loaded *l)
{
    struct piece {
        uint64_t from, to;
        int anonymous;
    } *piece = NULL;
    size_t n = 0;
    char line[4352], perm[8];
    unsigned long from, to, offset, inode;
    unsigned major, minor;
    FILE *f = fopen("/proc/self/maps", "re");
    if (!f)
        die("cannot read /proc/self/maps: %s", strerror(errno));
    while (fgets(line, sizeof line, f) &&
           sscanf(line, "%lx-%lx %7s %lx %x:%x %lu", &from, &to, perm, &offset, &major, &minor,
                  &inode) == 7 &&
           from < UPPER_END) {
        piece = realloc(piece, (n + 1) * sizeof *piece);
        if (!piece)
            die("no memory to list the mappings");
        piece[n++] = (struct piece){from, to, inode == 0 && perm[3] == 'p'};
    }
    fclose(f);
    discard_wait();
    for (size_t i = 0; i < n; i++) {
        if (piece[i].anonymous && l && keep_mapping(l, piece[i].from, piece[i].to))
            continue;
        if (piece[i].anonymous)
            discard(piece[i].from, piece[i].to - piece[i].from);
        munmap((void *)piece[i].from, piece[i].to - piece[i].from);
    }
    free(piece);
}

void upper_wipe(void)
{
    upper_silence();
    upper_unmap(NULL);
    steering = (struct steering){UPPER_ARENA, UPPER_BREAK};
}
