/* info.c - info objects: lists of keys and values, which live above only. */
#include "core/core.h"
#include <stdlib.h>
#include <string.h>

static int place_of(const object *i, const char *key)
{
    for (int k = 0; k < i->info.n; k += 2)
        if (!strcmp(i->info.words[k], key))
            return k;
    return -1;
}
int word_set(object *i, const char *key, const char *value)
{
    int k = place_of(i, key);
    char *v = strdup(value);
    if (!v)
        return NEUTRAL_MPI_ERR_NO_MEM;
    if (k >= 0) {
        free(i->info.words[k + 1]);
        i->info.words[k + 1] = v;
        return 0;
    }
    char **more = realloc(i->info.words, (i->info.n + 2) * sizeof(char *)), *copy = strdup(key);
    if (more)
        i->info.words = more;
    if (!more || !copy) {
        free(v);
        free(copy);
        return NEUTRAL_MPI_ERR_NO_MEM;
    }
    i->info.words[i->info.n++] = copy;
    i->info.words[i->info.n++] = v;
    return 0;
}
const char *word_get(const object *i, const char *key)
{
    int k = place_of(i, key);
    return k < 0 ? NULL : i->info.words[k + 1];
}

/* LONGEST_KEY, LONGEST_VALUE: what the library with this ABI accepts, without the NUL. KEY_ROOM: the program's buffer for
 * a key, MPI_MAX_INFO_KEY. */
#ifdef MPICH_ABI
enum {
    NO_INFO = NEUTRAL_MPI_ERR_ARG,
    NO_NTH_KEY = NEUTRAL_MPI_ERR_ARG,
    NO_VALUE = NEUTRAL_MPI_ERR_ARG
};
enum { LONGEST_KEY = 255, LONGEST_VALUE = 1024 };
#ifdef STANDARD_ABI
enum { KEY_ROOM = 256 };
#else
enum { KEY_ROOM = 255 };
#endif
#else
enum {
    NO_INFO = NEUTRAL_MPI_ERR_INFO,
    NO_NTH_KEY = NEUTRAL_MPI_ERR_INFO_KEY,
    NO_VALUE = NEUTRAL_MPI_ERR_INFO_VALUE
};
enum { LONGEST_KEY = 35, LONGEST_VALUE = 255, KEY_ROOM = 36 };
#endif
#define NEEDS_INFO(i)                                 \
    do {                                              \
        if (!(i) || (i) == predef[PRE_MPI_INFO_NULL]) \
            return NO_INFO;                           \
    } while (0)
#define NEEDS_KEY(key)                       \
    do {                                     \
        if (!(key))                          \
            return NEUTRAL_MPI_ERR_INFO_KEY; \
    } while (0)

int core_Info_create(object **i)
{
    *i = object_new(KIND_INFO);
    return 0;
}
int core_Info_set(object *i, const char *k, const char *v)
{
    NEEDS_INFO(i);
    NEEDS_KEY(k);
    if (!v)
        return NO_VALUE;
    if (!*k || strlen(k) > LONGEST_KEY)
        return NEUTRAL_MPI_ERR_INFO_KEY;
    return strlen(v) > LONGEST_VALUE ? NEUTRAL_MPI_ERR_INFO_VALUE : word_set(i, k, v);
}
int core_Info_delete(object *i, const char *key)
{
    NEEDS_INFO(i);
    NEEDS_KEY(key);
    int k = place_of(i, key);
    if (k < 0)
        return NEUTRAL_MPI_ERR_INFO_NOKEY;
    free(i->info.words[k]);
    free(i->info.words[k + 1]);
    memmove(i->info.words + k, i->info.words + k + 2, (i->info.n - k - 2) * sizeof(char *));
    i->info.n -= 2;
    return 0;
}
int core_Info_dup(object *i, object **out)
{
    NEEDS_INFO(i);
    int rc = core_Info_create(out);
    for (int k = 0; k < i->info.n && !rc; k += 2)
        rc = word_set(*out, i->info.words[k], i->info.words[k + 1]);
    return rc;
}
int core_Info_get_nkeys(object *i, int *n)
{
    NEEDS_INFO(i);
    *n = i->info.n / 2;
    return 0;
}
int core_Info_get_nthkey(object *i, int n, char *key)
{
    NEEDS_INFO(i);
    if (!key || n < 0 || 2 * n >= i->info.n)
        return NO_NTH_KEY;
    size_t len = strlen(i->info.words[2 * n]);
    if (len > KEY_ROOM - 1)
        len = KEY_ROOM - 1;
    memcpy(key, i->info.words[2 * n], len);
    key[len] = 0;
    return 0;
}
int core_Info_get_valuelen(object *i, const char *key, int *len, int *flag)
{
    NEEDS_INFO(i);
    NEEDS_KEY(key);
    const char *v = word_get(i, key);
    *flag = v != NULL;
    if (v)
        *len = (int)strlen(v);
    return 0;
}
int core_Info_get(object *i, const char *key, int room, char *value, int *flag)
{
    NEEDS_INFO(i);
    NEEDS_KEY(key);
    const char *v = word_get(i, key);
    *flag = v != NULL;
    if (!v)
        return 0;
    if (room < 0)
        return NEUTRAL_MPI_ERR_ARG;
    size_t len = strlen(v), fits = len > (size_t)room ? (size_t)room : len;
    memcpy(value, v, fits);
    value[fits] = 0;
#ifdef MPICH_ABI
    if (fits < len)
        return NEUTRAL_MPI_ERR_INFO_VALUE;
#endif
    return 0;
}
int core_Info_get_string(object *i, const char *key, int *buflen, char *value, int *flag)
{
    NEEDS_INFO(i);
    NEEDS_KEY(key);
    NEEDS_ARRAY(buflen, 1);
    NEEDS_ARRAY(flag, 1);
    if (!value && *buflen > 0)
        return NO_VALUE;
    const char *v = word_get(i, key);
    *flag = v != NULL;
    if (v) {
        size_t len = strlen(v), room = *buflen > 0 ? *buflen - 1 : 0;
        if (*buflen > 0) {
            memcpy(value, v, len < room ? len : room);
            value[len < room ? len : room] = 0;
        }
        *buflen = (int)len + 1;
    }
    return 0;
}
int core_Info_free(object **i)
{
    NEEDS_INFO(*i);
    if (!(*i)->predefined) {
        for (int k = 0; k < (*i)->info.n; k++)
            free((*i)->info.words[k]);
        free((*i)->info.words);
        object_delete(*i);
    }
    *i = predef[PRE_MPI_INFO_NULL];
    return 0;
}
