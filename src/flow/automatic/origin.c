/* The program as it was when it called MPI_Init: its global variables and its stack.
 *
 * A process that runs its set-up again must find what a new process would find. For example, a counter that was 0
 * before MPI_Init and has counted up since would give a wrong result. So we copy the writable data of the executable
 * and the stack from the caller of MPI_Init up once, and put them back before the jump. We do not copy the heap,
 * because set-up allocates again (with MEND_STATE_ALL we do). Nor do we copy libraries, which are this library, MPI,
 * and what they depend on, or variables of libraries whose only copy the linker put into the executable.
 *
 * If this library is linked statically, its own state is part of the executable. Then we copy nothing, and a program
 * must initialise its variables after MPI_Init. */
#include <base/log.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "automatic/arena.h"
#include "automatic/auto.h"
#include "flow.h"

enum { RANGES_MAX = AUTO_DATA_MAX + 3, STACK_MAX = 64 << 20 };

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

static void warn(const char *why)
{
    mend_log(MEND_LOG_WARNING, "a program that starts over will find some variables changed: %s",
             why);
}

static struct origin *the_origin; /* of the only context of the short forms */

/* `stack` is the caller's stack pointer: frames of its later calls are below it. */
int origin_take(mend_flow *f, char *stack)
{
    struct origin *o = calloc(1, sizeof *o);
    char *top = (char *)getauxval(AT_EXECFN);
    if (!o)
        return 0;
    if (layout_find()) {
        mend_log(MEND_LOG_INFO, "a program that starts over will find its variables changed: %s",
                 mend_error_text());
        free(o);
        return 0;
    }
    for (int i = 0; i < auto_program.data_count; i++)
        add_range(o, auto_program.data[i].from, auto_program.data[i].to);
    add_range(o, auto_program.tls, auto_program.tls + auto_program.tls_bytes);
    if (auto_on(f))
        add_range(o, arena_base(), arena_base() + arena_bytes());
    if (top > stack && top - stack < STACK_MAX)
        add_range(o, stack, top);
    else
        warn("its stack is not that of a process, or larger than 64 MiB");
    for (int i = 0; i < o->count; i++) {
        o->ranges[i].copy = malloc(o->ranges[i].bytes);
        if (!o->ranges[i].copy) {
            warn("no memory for a copy of them");
            o->ranges[i].bytes = 0;
        } else {
            memcpy(o->ranges[i].copy, o->ranges[i].address, o->ranges[i].bytes);
        }
    }
    the_origin = f->origin = o;
    return 0;
}

uint64_t origin_word(const uint64_t *at)
{
    const struct origin *o = the_origin;
    for (int i = 0; o && i < o->count; i++) {
        size_t inside = (size_t)((char *)at - o->ranges[i].address);
        if ((char *)at >= o->ranges[i].address && inside + sizeof *at <= o->ranges[i].bytes) {
            uint64_t word;
            memcpy(&word, (char *)o->ranges[i].copy + inside, sizeof word);
            return word;
        }
    }
    return ~*at;
}

void origin_put(mend_flow *f)
{
    struct origin *o = f->origin;
    for (int i = 0; o && i < o->count && auto_on(f); i++)
        if (arena_holds(o->ranges[i].address))
            arena_set_bytes(o->ranges[i].bytes);
    for (int i = 0; o && i < o->count; i++)
        memcpy(o->ranges[i].address, o->ranges[i].copy, o->ranges[i].bytes);
}

void origin_free(mend_flow *f)
{
    struct origin *o = f->origin;
    for (int i = 0; o && i < o->count; i++)
        free(o->ranges[i].copy);
    free(o);
    f->origin = the_origin = NULL;
}
