/* objects.c - the objects behind the application's handles, and their tables. */
#include "core/core.h"
#include <stdlib.h>
#include <string.h>
struct upper upper;
__thread volatile int in_library;
object *predef[N_PREDEFINED];
struct core core;

static void table_put(object *o)
{
    int k = o->kind;
    if (o->index >= core.table[k].cap) {
        int cap = core.table[k].cap ? 2 * core.table[k].cap : 2 * FIRST_DYNAMIC;
        object **at = need(calloc((size_t)cap, sizeof(object *)));
        if (core.table[k].cap)
            memcpy(at, core.table[k].at, (size_t)core.table[k].cap * sizeof(object *));
        /* The old table stays: another thread may be reading it (object_at runs outside INSIDE). */
        __atomic_store_n(&core.table[k].at, at, __ATOMIC_RELEASE);
        __atomic_store_n(&core.table[k].cap, cap, __ATOMIC_RELEASE);
    }
    core.table[k].at[o->index] = o;
}
object *object_at(int kind, int idx)
{
    int cap = __atomic_load_n(&core.table[kind].cap, __ATOMIC_ACQUIRE);
    return idx >= 0 && idx < cap ? core.table[kind].at[idx] : NULL;
}
void object_fix(object *o, int kind, int idx)
{
    o->kind = kind;
    o->index = idx;
    o->predefined = 1;
    o->refs = 1;
    if (kind == KIND_TYPE)
        o->type.bytes = -1;
    if (kind == KIND_REQ)
        o->req.done = 1; /* nobody waits for the null request */
    table_put(o);
}

object *object_new(int kind)
{
    object *o = core.spare[kind];
    if (o) {
        core.spare[kind] = o->next;
        int i = o->index;
        memset(o, 0, sizeof *o);
        o->index = i;
        o->kind = kind;
    } else {
        o = need(calloc(1, sizeof *o));
        object_adopt(o, kind);
    }
    o->refs = 1;
    object_live(o);
    return o;
}

void object_adopt(object *o, int kind)
{
    o->kind = kind;
    o->refs = 1;
    if (core.table[kind].n < FIRST_DYNAMIC)
        core.table[kind].n = FIRST_DYNAMIC;
    o->index = core.table[kind].n++;
    table_put(o);
}

void object_delete(object *o)
{
    extra_free(o);
    object_spare(o);
}
void objects_init(void)
{
    for (int k = 0; k < N_KINDS; k++)
        core.live[k].next = core.live[k].prev = &core.live[k];
}
void choose_short_way(void)
{
    upper.fast.off = upper.several || !upper.lower->thread_pointer_fast;
    upper.later_end = upper.fast.off || upper.thread_level >= NEUTRAL_THREAD_SERIALIZED ||
                              !upper.lower->predef[PRE_MPI_REQUEST_NULL]
                          ? NULL
                          : &upper.later;
}

void bind_predefined(void)
{
    for (int i = 0; i < N_PREDEFINED; i++)
        predef[i]->real = upper.lower->predef[i];
    upper.fast.thread_pointer = upper.lower->thread_pointer;
    upper.fast.sent_at_once = upper.lower->sent_at_once;
    upper.fast.checks = upper.lower->checks;
    *upper.fast.checks = 1; /* a call that a repair has ended may have left 0 there */
    upper.fast.right = NULL;
    upper.fast.no_request = upper.lower->predef[PRE_MPI_REQUEST_NULL];
    choose_short_way();
#define COPY(function) upper.fast.function = upper.lower->function
    COPY(Send);
    COPY(Isend);
    COPY(Irecv);
    COPY(recv_or_stop);
    COPY(begin_receives);
    COPY(finish_receive);
    COPY(Barrier);
    COPY(Bcast);
    COPY(Reduce);
    COPY(Allreduce);
#undef COPY
}
