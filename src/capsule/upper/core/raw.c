/* raw.c - memory and messages without malloc and stdio, which a checkpoint may have interrupted. */
#include "core/inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* --- memory --------------------------------------------------------------------------------------
 * A checkpoint may have interrupted the application inside malloc, so this memory comes from mmap.
 */
struct chunk {
    size_t size, used;
    long live;
};
union kept { /* precedes each piece */
    struct chunk *chunk;
    max_align_t align;
};
enum { CHUNK = 1 << 20 };
static struct chunk *chunk_now; /* the one being filled; this file does not use core.h */

static struct chunk *chunk_new(size_t size)
{
    long p = raw_syscall(SYS_mmap, 0, (long)size, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p < 0)
        __builtin_trap();
    struct chunk *c = (struct chunk *)p;
    *c = (struct chunk){size, sizeof(union kept) + sizeof *c, 0};
    return c;
}

void *keep_alloc(size_t bytes)
{
    size_t need = (bytes + 2 * sizeof(union kept) - 1) / sizeof(union kept) * sizeof(union kept);
    struct chunk *c = chunk_now;
    if (need > CHUNK / 4)
        c = chunk_new(need + 4096);
    else if (!c || c->size - c->used < need)
        c = chunk_now = chunk_new(CHUNK);
    c->used = (c->used + sizeof(union kept) - 1) / sizeof(union kept) * sizeof(union kept);
    union kept *k = (union kept *)((char *)c + c->used);
    c->used += need;
    c->live++;
    k->chunk = c;
    return k + 1;
}

void keep_free(void *p)
{
    struct chunk *c = ((union kept *)p - 1)->chunk;
    if (--c->live)
        return;
    if (c == chunk_now)
        c->used = sizeof(union kept) + sizeof *c;
    else
        raw_syscall(SYS_munmap, (long)c, (long)c->size, 0, 0, 0, 0);
}

void file_say(const char *what, const char *path)
{
    char line[4400]; /* fits any path and a sentence */
    int n = snprintf(line, sizeof line, "mend: %s: %s\n", path, what);
    if (n >= (int)sizeof line)
        n = (int)sizeof line - 1;
    int to = upper.lower ? upper.lower->standard_error : STDERR_FILENO;
    raw_syscall(SYS_write, to, (long)line, n, 0, 0, 0);
}

void *need(void *memory)
{
    if (__builtin_expect(!memory, 0)) {
        file_say("no memory is left", "MPI");
        abort();
    }
    return memory;
}
