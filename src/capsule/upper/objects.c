/* objects.c - the objects that handles of the application stand for, and their tables. */
#include "core.h"
#include <stdlib.h>
#include <string.h>
struct upper upper;
__thread volatile int in_library;
object *predef[N_PREDEFINED];
object live[N_KINDS];
static struct {
    object **at;
    int n, cap;
} table[N_KINDS];
static object *spare[N_KINDS]; /* freed objects keep their index */

static void table_put(object *o)
{
    int k = o->kind;
    if (o->index >= table[k].cap) {
        int cap = table[k].cap ? 2 * table[k].cap : 2 * FIRST_DYNAMIC;
        table[k].at = realloc(table[k].at, cap * sizeof(object *));
        memset(table[k].at + table[k].cap, 0, (cap - table[k].cap) * sizeof(object *));
        table[k].cap = cap;
    }
    table[k].at[o->index] = o;
}
object *object_at(int kind, int idx)
{
    return idx >= 0 && idx < table[kind].cap ? table[kind].at[idx] : NULL;
}
void object_fix(object *o, int kind, int idx)
{
    o->kind = kind;
    o->index = idx;
    o->predefined = 1;
    o->refs = 1;
    if (kind == KIND_TYPE)
        o->type.bytes = -1;
    table_put(o);
}

object *object_new(int kind)
{
    object *o = spare[kind];
    if (o) {
        spare[kind] = o->next;
        int i = o->index;
        memset(o, 0, sizeof *o);
        o->index = i;
    } else {
        o = calloc(1, sizeof *o);
        if (table[kind].n < FIRST_DYNAMIC)
            table[kind].n = FIRST_DYNAMIC;
        o->index = table[kind].n++;
    }
    o->kind = kind;
    o->refs = 1;
    table_put(o);
    object *list = &live[kind];
    o->prev = list->prev;
    o->next = list;
    o->prev->next = o;
    list->prev = o;
    return o;
}
void object_delete(object *o)
{
    extra_free(o);
    o->prev->next = o->next;
    o->next->prev = o->prev;
    o->next = spare[o->kind];
    spare[o->kind] = o;
}
void objects_init(void)
{
    for (int k = 0; k < N_KINDS; k++)
        live[k].next = live[k].prev = &live[k];
}
void bind_predefined(void)
{
    for (int i = 0; i < N_PREDEFINED; i++)
        predef[i]->real = upper.lower->predef[i];
}
