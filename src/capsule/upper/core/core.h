/* core/core.h - what objects carry besides their handle: attributes, names, hints; error handlers.
 * No room of the upper half except the faces includes mpi.h: objects are struct object *, and special
 * values are the neutral ones of border.h.
 */
#ifndef CAPSULE_CORE_H
#define CAPSULE_CORE_H
#include "core/functions.h"
#include "core/object.h"
#pragma GCC visibility push(hidden)

/* An array of n that the program must give. */
#define NEEDS_ARRAY(array, n)           \
    do {                                \
        if (!(array) && (n) > 0)        \
            return NEUTRAL_MPI_ERR_ARG; \
    } while (0)

/* --- core/attributes.c: attributes, names, hints --- */
enum language { LANGUAGE_C, LANGUAGE_FORTRAN, LANGUAGE_FORTRAN_OLD, LANGUAGE_CXX };
struct keyval {
    int used, freed, refs, kind; /* kind: of the objects that may carry it */
    void *copy, *delete;         /* the program's functions; NULL: none */
    int dup;                     /* copy is MPI_*_DUP_FN */
    enum language language;
    void *extra;                     /* the program's extra state; by value for Fortran */
    void *copy_proxy, *delete_proxy; /* MPICH's Fortran and C++ libraries call them through these */
};
struct attribute {
    struct attribute *next;
    int keyval;
    enum language set_in; /* C sees a Fortran integer as a pointer to it */
    long value;
};
struct extra {
    struct attribute *attributes; /* newest first */
    char *name;
    object *info; /* hints from the program */
    struct topology *topology;
    struct channels *channels;
    void *kept; /* lives as long as the object */
    void (*free_kept)(void *);
    struct send_buffer *buffer; /* of a communicator (messages/buffers.c) */
};
struct extra *extra_of(object *o);
void topology_free(struct topology *t); /* comm/graph.c */
void channels_free(struct channels *k); /* comm/channels.c */
void channel_give(object *comm, object *channel);
void buffer_of_comm_ends(object *comm); /* messages/buffers.c */
void windows_of_comm_end(object *comm); /* windows/common.c */
void extra_free(object *o);             /* after its attributes were deleted */
#define KEYVAL_BASE 0x1000              /* the program's first keyval */
int keyval_new(int kind, void *copy, void *delete, int dup, enum language language, void *extra,
               int *keyval);
struct keyval *keyval_at(int keyval);
int keyval_free(int *keyval);
int attribute_set(object *o, int keyval, long value, enum language language);
/* *place: where the value is stored, because MPI returns some attributes as pointers to integers */
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
#if defined(MPICH_ABI) && !defined(STANDARD_ABI) /* beyond MPI_ERR_LASTCODE */
#define FIRST_USER_ERROR 0x40000000
#else
#define FIRST_USER_ERROR 0x4000
#endif
extern __thread object *error_holder;        /* a failed request's communicator */
void request_failed(int code, object *comm); /* the call that finds it raises the error */
/* Run the error handler of `holder` (NULL: of no object), as MPI does when a function fails.
 * `code` is neutral; returns it in the encoding of the face's ABI. */
int raise_error(int code, object *holder, const char *function);
object *errhandler_of(object *holder);
void errhandler_attach(object *holder, object *errh);
object *new_errhandler(int kind, void *fn, enum language language);
int last_user_error(void);
int remove_error_class(int class);
int remove_error_code(int code);
int remove_error_string(int code);
int refuse(const char *function, const char *why); /* prints why, returns the error */

int core_Info_get_string(object *i, const char *key, int *buflen, char *value, int *flag);
int core_Info_create_env(int argc, char *const *argv, object **out);
int info_env_fill(object *env, int argc, char *const *argv, int thread_level);
int word_set(object *info, const char *key, const char *value);
const char *word_get(const object *info, const char *key);
void info_take(object *holder, object *info);
int core_Session_set_info(object *s, object *info);

/* --- tool.c --- */
void rebind_tool(void);

#pragma GCC visibility pop
#endif
