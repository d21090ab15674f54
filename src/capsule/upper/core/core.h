/* core/core.h - what objects carry besides their handle: attributes, names, hints; error handlers.
 * The rooms of the upper half know no mpi.h: objects are struct object *, special values are the
 * neutral ones of border.h.
 */
#ifndef CAPSULE_CORE_H
#define CAPSULE_CORE_H
#include "core/functions.h"
#include "core/object.h"
#pragma GCC visibility push(hidden)

/* --- core/attributes.c: attributes, names, hints --- */
enum language { LANGUAGE_C, LANGUAGE_FORTRAN, LANGUAGE_FORTRAN_OLD };
struct keyval {
    int used, freed, refs, kind; /* kind: of the objects it may be attached to */
    void *copy, *delete;         /* the program's functions; NULL: none */
    int dup;                     /* copy is MPI_*_DUP_FN */
    enum language language;
    void *extra;                     /* the program's extra state; by value for Fortran */
    void *copy_proxy, *delete_proxy; /* MPICH's Fortran library calls the functions through these */
};
struct attribute {
    struct attribute *next;
    int keyval;
    enum language set_in; /* an integer of Fortran is seen by C as an address of it */
    long value;
};
struct extra {
    struct attribute *attributes; /* newest first */
    char *name;
    object *info; /* hints, as the program gave them */
    struct topology *topology;
    struct channels *channels;
    void *kept; /* freed with the object */
    void (*free_kept)(void *);
};
struct extra *extra_of(object *o);
void topology_free(struct topology *t); /* comm/graph.c */
void channels_free(struct channels *k); /* comm/channels.c */
void channel_give(object *comm, object *channel);
void extra_free(object *o); /* attributes must be deleted before */
#define KEYVAL_BASE 0x1000  /* keyvals of the program count from here */
int keyval_new(int kind, void *copy, void *delete, int dup, enum language language, void *extra,
               int *keyval);
struct keyval *keyval_at(int keyval);
int keyval_free(int *keyval);
int attribute_set(object *o, int keyval, long value, enum language language);
/* *place: where the value is kept, for what MPI calls an address of an integer */
int attribute_get(object *o, int keyval, long *value, long **place, enum language *set_in,
                  int *flag);
int attribute_delete(object *o, int keyval);
int attributes_copy(object *from, object *to);
int attributes_delete_all(object *o);

/* --- predefined attributes, the same numbers for all faces --- */
enum {
    ATTR_UNIVERSE_SIZE = 4,
    ATTR_APPNUM,
    ATTR_LASTUSEDCODE,
    ATTR_WIN_BASE,
    ATTR_WIN_SIZE,
    ATTR_WIN_DISP_UNIT,
    ATTR_WIN_FLAVOR,
    ATTR_WIN_MODEL
};
int predefined_attribute(object *o, int which, void **value, int *flag);

/* --- error.c --- */
enum {
#define ERROR_CLASS(name, value, ...) NEUTRAL_##name = value,
#include "table/errors.def"
#undef ERROR_CLASS
};
#define FIRST_USER_ERROR 0x4000
extern __thread object *error_holder;        /* set by a request that failed: its communicator */
void request_failed(int code, object *comm); /* the call that finds it raises the error */
/* What MPI does when a function fails: the handler of `holder` (NULL: of MPI_COMM_WORLD) runs. code
 * is neutral; returns the code as the ABI of the face spells it. */
int raise_error(int code, object *holder, const char *function);
object *errhandler_of(object *holder);
void errhandler_attach(object *holder, object *errh);
object *new_errhandler(int kind, void *fn, enum language language);
int last_user_error(void);
int refuse(const char *function, const char *why); /* says it once, returns the error */

int core_Info_get_string(object *i, const char *key, int *buflen, char *value, int *flag);
int core_Info_create_env(object **out);
int word_set(object *info, const char *key, const char *value);
const char *word_get(const object *info, const char *key);
void info_take(object *holder, object *info);
int core_Session_set_info(object *s, object *info);

/* --- tool.c --- */
void rebind_tool(void);

#pragma GCC visibility pop
#endif
