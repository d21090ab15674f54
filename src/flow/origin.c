/* The program as it was when it called MPI_Init: its global variables and its stack.
 *
 * A process that has to run its set-up again must find what a new process would find: a counter
 * that was set to 0 before MPI_Init and has been counted up since would otherwise be a wrong
 * result. So the writable data of the executable and the stack from the caller of MPI_Init up are
 * copied once, and put back before the jump. The heap is not: set-up allocates anew. Libraries are
 * not: they are this library, MPI, and what they stand on.
 *
 * If this library is linked statically its own state is part of the executable; then nothing is
 * copied, and a program has to initialise its variables after MPI_Init. */
#include <base/log.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "flow.h"

enum { RANGES_MAX = 8, STACK_MAX = 64 << 20 };

struct range {
    char *address;
    size_t bytes;
    void *copy;
};

struct origin {
    struct range ranges[RANGES_MAX];
    int count;
};

static void add_range(struct origin *o, char *from, char *to)
{
    if (from < to && o->count < RANGES_MAX)
        o->ranges[o->count++] = (struct range){from, (size_t)(to - from), NULL};
}

/* Writable segments of the executable (the first object), without what the loader made read-only.
 */
static int note_segments(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct origin *o = arg;
    char *relro = NULL, *relro_end = NULL;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type == PT_GNU_RELRO) {
            relro = (char *)info->dlpi_addr + p->p_vaddr;
            relro_end = relro + p->p_memsz;
        }
    }
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        char *from = (char *)info->dlpi_addr + p->p_vaddr, *to = from + p->p_memsz;
        if (p->p_type != PT_LOAD || !(p->p_flags & PF_W))
            continue;
        if (relro && relro >= from && relro_end <= to) {
            add_range(o, from, relro);
            from = relro_end;
        }
        add_range(o, from, to);
    }
    return 1; /* the executable comes first; no more */
}

static bool holds(const struct origin *o, const void *address)
{
    for (int i = 0; i < o->count; i++)
        if ((char *)address >= o->ranges[i].address &&
            (char *)address < o->ranges[i].address + o->ranges[i].bytes)
            return true;
    return false;
}

/* `stack` is the caller's stack pointer: frames of calls that it makes later lie below. */
int origin_take(mend_flow *f, char *stack)
{
    struct origin *o = calloc(1, sizeof *o);
    char *top = (char *)getauxval(AT_EXECFN);
    if (!o)
        return 0;
    dl_iterate_phdr(note_segments, o);
    if (holds(o, f)) {
        mend_log(
            MEND_LOG_INFO,
            "libmend is linked statically: a program that starts over finds its variables changed");
        free(o);
        return 0;
    }
    if (top > stack && top - stack < STACK_MAX)
        add_range(o, stack, top);
    for (int i = 0; i < o->count; i++) {
        o->ranges[i].copy = malloc(o->ranges[i].bytes);
        if (!o->ranges[i].copy)
            o->ranges[i].bytes = 0;
        else
            memcpy(o->ranges[i].copy, o->ranges[i].address, o->ranges[i].bytes);
    }
    f->origin = o;
    return 0;
}

void origin_put(mend_flow *f)
{
    struct origin *o = f->origin;
    for (int i = 0; o && i < o->count; i++)
        memcpy(o->ranges[i].address, o->ranges[i].copy, o->ranges[i].bytes);
}

void origin_free(mend_flow *f)
{
    struct origin *o = f->origin;
    for (int i = 0; o && i < o->count; i++)
        free(o->ranges[i].copy);
    free(o);
    f->origin = NULL;
}
