/* info.c - info objects: key/value lists, above only. */
#include "core.h"
#include <stdlib.h>
#include <string.h>
int core_Info_create(object **i)
{
    *i = object_new(KIND_INFO);
    return 0;
}
int core_Info_set(object *i, const char *k, const char *v)
{
    i->info.words = realloc(i->info.words, (i->info.n + 2) * sizeof(char *));
    i->info.words[i->info.n++] = strdup(k);
    i->info.words[i->info.n++] = strdup(v);
    return 0;
}
int core_Info_free(object **i)
{
    for (int k = 0; k < (*i)->info.n; k++)
        free((*i)->info.words[k]);
    free((*i)->info.words);
    object_delete(*i);
    *i = predef[PRE_MPI_INFO_NULL];
    return 0;
}
