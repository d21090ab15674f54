/* core/attributes.c - what the program attaches to communicators, windows and datatypes: attributes, names,
 * hints. All of it lives above the border. */
#include "core/core.h"
#include "core/face.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
    struct keyval *list;
    int count;
} keyvals;

struct extra *extra_of(object *o)
{
    if (!o->extra)
        o->extra = need(calloc(1, sizeof *o->extra));
    if (o->kind == KIND_REQ)
        o->req.holds = 1;
    return o->extra;
}
void extra_free(object *o)
{
    struct extra *e = o->extra;
    if (!e)
        return;
    o->extra = NULL;
    free(e->name);
    if (e->info)
        core_Info_free(&e->info);
    topology_free(e->topology);
    channels_free(e->channels);
    if (e->free_kept)
        e->free_kept(e->kept);
    free(e);
}

int keyval_new(int kind, void *copy, void *delete, int dup, enum language language, void *extra,
               int *keyval)
{
    NEEDS_ARRAY(keyval, 1);
    int i = 0;
    while (i < keyvals.count && keyvals.list[i].used)
        i++;
    if (i == keyvals.count) {
        int n = keyvals.count ? 2 * keyvals.count : 16;
        struct keyval *bigger = realloc(keyvals.list, n * sizeof *bigger);
        if (!bigger)
            return NEUTRAL_MPI_ERR_NO_MEM;
        keyvals.list = bigger;
        memset(keyvals.list + keyvals.count, 0, (n - keyvals.count) * sizeof *keyvals.list);
        keyvals.count = n;
    }
    keyvals.list[i] =
        (struct keyval){1, 0, 1, kind, copy, delete, dup, language, extra, NULL, NULL};
    *keyval = KEYVAL_BASE + i;
    return 0;
}
struct keyval *keyval_at(int keyval)
{
    int i = keyval - KEYVAL_BASE;
    return i >= 0 && i < keyvals.count && keyvals.list[i].used ? &keyvals.list[i] : NULL;
}
/* A freed keyval lives until its last attribute is gone. */
static void keyval_unref(struct keyval *k)
{
    if (!--k->refs)
        k->used = 0;
}
int keyval_free(int *keyval)
{
    struct keyval *k = keyval_at(*keyval);
    if (!k)
        return NEUTRAL_MPI_ERR_KEYVAL;
    if (k->freed) /* while attributes keep it alive, their own function may free it once more */
        return 0;
    k->freed = 1;
    keyval_unref(k);
    return 0;
}

static struct attribute **find(object *o, int keyval)
{
    static struct attribute *none;
    if (!o->extra)
        return &none;
    struct attribute **p = &o->extra->attributes;
    while (*p && (*p)->keyval != keyval)
        p = &(*p)->next;
    return p;
}
static int call_delete(struct keyval *k, object *o, const struct attribute *a)
{
    return k->delete ? face_error_in(face_call_delete(k, o, a->keyval, a->value, a->set_in)) : 0;
}
static int drop(object *o, struct attribute **p)
{
    struct attribute *a = *p;
    int keyval = a->keyval;
    struct keyval *k = keyval_at(keyval);
    int rc = call_delete(k, o, a);
    if (rc)
        return rc;
    p = find(o, keyval); /* the function may have changed this list and that of the keyvals */
    a = *p;
    if (!a)
        return 0;
    *p = a->next;
    free(a);
    keyval_unref(keyval_at(keyval));
    return 0;
}
int attribute_set(object *o, int keyval, long value, enum language language)
{
    struct keyval *k = keyval_at(keyval);
    if (!k || k->kind != o->kind)
        return NEUTRAL_MPI_ERR_KEYVAL;
    extra_of(o);
    struct attribute **p = find(o, keyval);
    if (*p) {
        int rc = call_delete(k, o, *p);
        if (rc)
            return rc;
        p = find(o, keyval);
        k = keyval_at(keyval); /* the function may have moved the keyvals, or freed this one */
        if (!k)
            return NEUTRAL_MPI_ERR_KEYVAL;
    }
    if (!*p) {
        struct attribute *a = malloc(sizeof *a);
        if (!a)
            return NEUTRAL_MPI_ERR_NO_MEM;
        *a = (struct attribute){o->extra->attributes, keyval, language, value};
        o->extra->attributes = a;
        k->refs++;
        return 0;
    }
    (*p)->value = value;
    (*p)->set_in = language;
    return 0;
}
int attribute_get(object *o, int keyval, long *value, long **place, enum language *set_in,
                  int *flag)
{
    struct keyval *k = keyval_at(keyval);
    if (!k || k->kind != o->kind)
        return NEUTRAL_MPI_ERR_KEYVAL;
    struct attribute *a = *find(o, keyval);
    *flag = a != NULL;
    if (a) {
        *value = a->value;
        *place = &a->value;
        *set_in = a->set_in;
    }
    return 0;
}
int attribute_delete(object *o, int keyval)
{
    if (!keyval_at(keyval))
        return NEUTRAL_MPI_ERR_KEYVAL;
    struct attribute **p = find(o, keyval);
#ifdef MPICH_ABI /* no error if the object does not have the attribute */
    return *p ? drop(o, p) : 0;
#else
    return *p ? drop(o, p) : NEUTRAL_MPI_ERR_KEYVAL;
#endif
}
/* In the order of creation, as in both libraries. */
int attributes_copy(object *from, object *to)
{
    int n = 0, rc = 0;
    if (!from->extra)
        return 0;
    for (struct attribute *a = from->extra->attributes; a; a = a->next)
        n++;
    ARRAY_OF(struct attribute *, list, n);
    n = 0;
    for (struct attribute *a = from->extra->attributes; a; a = a->next)
        list[n++] = a;
    while (n-- > 0 && !rc) {
        struct attribute *a = list[n];
        struct keyval *k = keyval_at(a->keyval);
        long out = a->value;
        int flag = k->dup;
        int as_it_was =
            !k->copy || k->copy_proxy; /* a proxy answers in the language of the value */
        enum language set_in = as_it_was ? a->set_in : k->language;
        if (k->copy) /* may move the keyvals: k is not valid after it */
            rc =
                face_error_in(face_call_copy(k, from, a->keyval, a->value, a->set_in, &out, &flag));
        if (rc || !flag)
            continue;
        struct attribute *b = malloc(sizeof *b);
        if (!b)
            return NEUTRAL_MPI_ERR_NO_MEM;
        extra_of(to);
        *b = (struct attribute){to->extra->attributes, a->keyval, set_in, out};
        to->extra->attributes = b;
        keyval_at(a->keyval)->refs++;
    }
    return rc;
}
/* Newest first, as the standard requires for MPI_COMM_SELF. */
int attributes_delete_all(object *o)
{
    while (o->extra && o->extra->attributes) {
        int rc = drop(o, &o->extra->attributes);
        if (rc)
            return rc;
    }
    return 0;
}

/* --- names --- */
static int set_name(object *o, const char *name)
{
    NEEDS_ARRAY(name, 1);
    struct extra *e = extra_of(o);
    free(e->name);
    e->name = strdup(name);
    return e->name ? 0 : NEUTRAL_MPI_ERR_NO_MEM;
}
static const char *const predefined_names[] = {
#define PREDEFINED(kind, symbol, name, fortran) #name,
#include "table/predefined.def"
#undef PREDEFINED
};
static int get_name(object *o, char *name, int *len)
{
    const char *s = "";
    if (o->extra && o->extra->name)
        s = o->extra->name;
    else
        for (int i = 0; i < N_PREDEFINED; i++)
            if (predef[i] == o)
                s = predefined_names[i];
    *len = (int)strlen(s);
    if (*len > 255)
        *len = 255;
    memcpy(name, s, *len);
    name[*len] = 0;
    return 0;
}
int core_Comm_set_name(object *c, const char *name)
{
    return set_name(c, name);
}
int core_Comm_get_name(object *c, char *name, int *len)
{
    return get_name(c, name, len);
}
int core_Type_set_name(object *t, const char *name)
{
    return set_name(t, name);
}
int core_Type_get_name(object *t, char *name, int *len)
{
#ifndef MPICH_ABI /* Open MPI has no name for the null handle */
    if (t == predef[PRE_MPI_DATATYPE_NULL])
        return NEUTRAL_MPI_ERR_TYPE;
#endif
    return get_name(t, name, len);
}
int core_Win_set_name(object *w, const char *name)
{
    return set_name(w, name);
}
int core_Win_get_name(object *w, char *name, int *len)
{
    return get_name(w, name, len);
}

/* --- hints: all are kept; those of files are passed on when a file is opened. The program sees what the library below
 * reports, and what it gave itself if the library or the standard knows it. Sessions exist above only. --- */
static int is_known_hint(const char *key)
{
    static const char *const known[] = {"mpi_assert_no_any_tag",
                                        "mpi_assert_no_any_source",
                                        "mpi_assert_exact_length",
                                        "mpi_assert_allow_overtaking",
                                        "mpi_assert_strict_start_ordering",
                                        "mpi_assert_memory_alloc_kinds",
                                        "no_locks",
                                        "accumulate_ordering",
                                        "accumulate_ops",
                                        "mpi_accumulate_granularity",
                                        "same_size",
                                        "same_disp_unit",
                                        "alloc_shared_noncontig",
                                        "mpi_hw_resource_type",
                                        "mpi_minimum_memory_alignment",
                                        "thread_level"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(key, known[i]))
            return 1;
    return 0;
}
void info_take(object *holder, object *info)
{
    struct extra *e = extra_of(holder);
    if (!e->info)
        core_Info_create(&e->info);
    if (info)
        for (int k = 0; k < info->info.n; k += 2)
            word_set(e->info, info->info.words[k], info->info.words[k + 1]);
}
/* There is room for any command line, which MPI_INFO_ENV has. */
enum { HINTS_ROOM = 32768, MOST_HINTS = 64 << 20 };
static int library_tells(const object *holder, object *out)
{
    enum hints_of kind = holder->kind == KIND_COMM   ? HINTS_OF_COMM
                         : holder->kind == KIND_WIN  ? HINTS_OF_WIN
                         : holder->kind == KIND_FILE ? HINTS_OF_FILE
                                                     : HINTS_OF_ENV;
    char *words = NULL;
    int rc = NEUTRAL_MPI_ERR_NO_MEM;
    for (size_t room = HINTS_ROOM; rc == NEUTRAL_MPI_ERR_NO_MEM && room <= MOST_HINTS; room *= 2) {
        free(words);
        words = malloc(room);
        if (words)
            rc = LOWER(hints, kind, holder->real, words, room);
    }
    for (char *key = words; !rc && *key;) {
        char *value = key + strlen(key) + 1;
        rc = word_set(out, key, value);
        key = value + strlen(value) + 1;
    }
    free(words);
    return rc;
}
static int info_tell(object *holder, object **out)
{
    const object *given = extra_of(holder)->info;
    int rc = core_Info_create(out);
    if (!rc && holder->kind != KIND_SESSION)
        rc = library_tells(holder, *out);
    for (int k = 0; !rc && given && k < given->info.n; k += 2) {
        const char *key = given->info.words[k];
        if (holder->kind == KIND_FILE || is_known_hint(key) || word_get(*out, key))
            rc = word_set(*out, key, given->info.words[k + 1]);
    }
    return rc;
}
/* --- MPI_INFO_ENV and MPI_Info_create_env: how the job was started, as the library below knows it. Its command line is that
 * of the capsule, and its thread level is ours: here they are the program's. --- */
static int words_joined(object *env, const char *key, int n, char *const *words)
{
    size_t bytes = 1;
    for (int i = 0; i < n; i++)
        bytes += strlen(words[i]) + 1;
    char *all = need(calloc(1, bytes)), *at = all;
    for (int i = 0; i < n; i++)
        at += sprintf(at, i ? " %s" : "%s", words[i]);
    int rc = word_set(env, key, all);
    free(all);
    return rc;
}
int info_env_fill(object *env, int argc, char *const *argv, int thread_level)
{
    static const char *const levels[] = {"MPI_THREAD_SINGLE", "MPI_THREAD_FUNNELED",
                                         "MPI_THREAD_SERIALIZED", "MPI_THREAD_MULTIPLE"};
    int rc = library_tells(env, env);
    if (!rc && argc && word_get(env, "command"))
        rc = word_set(env, "command", argv[0]);
    if (!rc && argc && word_get(env, "argv")) /* without arguments Open MPI gives the command */
        rc = words_joined(env, "argv", argc > 1 ? argc - 1 : 1, argc > 1 ? argv + 1 : argv);
    if (!rc && word_get(env, "thread_level"))
        rc = word_set(env, "thread_level", levels[thread_level & 3]);
    return rc;
}
int core_Info_create_env(int argc, char *const *argv, object **out)
{
    int rc = core_Info_create(out), given = argc > 0 && argv != NULL;
    return rc ? rc
              : info_env_fill(*out, given ? argc : core.argc, given ? argv : core.argv,
                              upper.thread_level);
}

#define HINTS(What)                                     \
    int core_##What##_set_info(object *o, object *info) \
    {                                                   \
        info_take(o, info);                             \
        return 0;                                       \
    }                                                   \
    int core_##What##_get_info(object *o, object **out) \
    {                                                   \
        return info_tell(o, out);                       \
    }
HINTS(Comm)
HINTS(Win)
HINTS(File)
HINTS(Session)
