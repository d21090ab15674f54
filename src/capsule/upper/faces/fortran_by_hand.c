/* faces/fortran_by_hand.c - Fortran on Open MPI's ABI: callbacks, attributes, addresses, and functions
 * that MPI-3.0 removed. Every name exists in all forms of fortran_names.h.
 */
#include "comm/comm.h"
#include "core/core.h"
#include "core/face.h"
#include "io/io.h"
#include "messages/messages.h"
#include "types/types.h"
#include "windows/windows.h"

#include "faces/inside.h"
#include "faces/fortran_names.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* clang-format off */
#define BOTH(name, PARAMS, ...) \
    void mpi_##name##_ PARAMS;  \
    void mpi_##name##_ PARAMS   \
    {                           \
        __VA_ARGS__             \
    }                           \
    OTHER_NAMES(void, name, PARAMS)
/* clang-format on */

static void result(int *ierr, int rc, object *holder, const char *function)
{
    if (rc)
        rc = raise_error(rc, holder, function);
    if (ierr)
        *ierr = rc;
}
static object *at(int kind, int f)
{
    return object_at(kind, f);
}
static object *holder_of(object *o)
{
    return o && o->kind != KIND_TYPE ? o : NULL;
}

/* --- attributes. In Open MPI, Fortran's predefined keys have the same numbers as C's. --- */
static const int key_of[] = {ATTR_TAG_UB,          ATTR_HOST,       ATTR_IO,
                             ATTR_WTIME_IS_GLOBAL, ATTR_APPNUM,     ATTR_LASTUSEDCODE,
                             ATTR_UNIVERSE_SIZE,   ATTR_WIN_BASE,   ATTR_WIN_SIZE,
                             ATTR_WIN_DISP_UNIT,   ATTR_WIN_FLAVOR, ATTR_WIN_MODEL};
static int get_attribute(object *o, int key, long *value, int *flag)
{
    long *place;
    enum language set_in;
    void *p;
    if (key >= 0 && key < (int)(sizeof key_of / sizeof *key_of)) {
        int which = key_of[key], rc = predefined_attribute(o, which, &p, flag);
        if (!rc && *flag)
            *value = which == ATTR_WIN_BASE   ? (long)p
                     : which == ATTR_WIN_SIZE ? *(long *)p
                                              : *(int *)p;
        return rc;
    }
    return attribute_get(o, key, value, &place, &set_in, flag);
}

void mpi_comm_null_copy_fn_(int *, int *, long *, long *, long *, int *, int *);
void mpi_comm_dup_fn_(int *, int *, long *, long *, long *, int *, int *);
void mpi_comm_null_delete_fn_(int *, int *, long *, long *, int *);
BOTH(comm_create_keyval, (void *copy, void *delete, int *key, long *extra, int *ierr),
     int dup = copy == (void *)mpi_comm_dup_fn_;
     result(ierr,
            keyval_new(KIND_COMM, dup || copy == (void *)mpi_comm_null_copy_fn_ ? NULL : copy,
                       delete == (void *)mpi_comm_null_delete_fn_ ? NULL : delete, dup,
                       LANGUAGE_FORTRAN, (void *)*extra, key),
            NULL, "MPI_COMM_CREATE_KEYVAL");)
BOTH(comm_free_keyval, (int *key, int *ierr), int rc = keyval_free(key); *key = -1;
     result(ierr, rc, NULL, "MPI_COMM_FREE_KEYVAL");)
BOTH(comm_set_attr, (int *o, int *key, long *value, int *ierr),
     result(ierr, attribute_set(at(KIND_COMM, *o), *key, *value, LANGUAGE_FORTRAN),
            holder_of(at(KIND_COMM, *o)), "MPI_COMM_SET_ATTR");)
BOTH(comm_get_attr, (int *o, int *key, long *value, int *flag, int *ierr),
     result(ierr, get_attribute(at(KIND_COMM, *o), *key, value, flag), holder_of(at(KIND_COMM, *o)),
            "MPI_COMM_GET_ATTR");)
BOTH(comm_delete_attr, (int *o, int *key, int *ierr),
     result(ierr, attribute_delete(at(KIND_COMM, *o), *key), holder_of(at(KIND_COMM, *o)),
            "MPI_COMM_DELETE_ATTR");)

void mpi_type_null_copy_fn_(int *, int *, long *, long *, long *, int *, int *);
void mpi_type_dup_fn_(int *, int *, long *, long *, long *, int *, int *);
void mpi_type_null_delete_fn_(int *, int *, long *, long *, int *);
BOTH(type_create_keyval, (void *copy, void *delete, int *key, long *extra, int *ierr),
     int dup = copy == (void *)mpi_type_dup_fn_;
     result(ierr,
            keyval_new(KIND_TYPE, dup || copy == (void *)mpi_type_null_copy_fn_ ? NULL : copy,
                       delete == (void *)mpi_type_null_delete_fn_ ? NULL : delete, dup,
                       LANGUAGE_FORTRAN, (void *)*extra, key),
            NULL, "MPI_TYPE_CREATE_KEYVAL");)
BOTH(type_free_keyval, (int *key, int *ierr), int rc = keyval_free(key); *key = -1;
     result(ierr, rc, NULL, "MPI_TYPE_FREE_KEYVAL");)
BOTH(type_set_attr, (int *o, int *key, long *value, int *ierr),
     result(ierr, attribute_set(at(KIND_TYPE, *o), *key, *value, LANGUAGE_FORTRAN),
            holder_of(at(KIND_TYPE, *o)), "MPI_TYPE_SET_ATTR");)
BOTH(type_get_attr, (int *o, int *key, long *value, int *flag, int *ierr),
     result(ierr, get_attribute(at(KIND_TYPE, *o), *key, value, flag), holder_of(at(KIND_TYPE, *o)),
            "MPI_TYPE_GET_ATTR");)
BOTH(type_delete_attr, (int *o, int *key, int *ierr),
     result(ierr, attribute_delete(at(KIND_TYPE, *o), *key), holder_of(at(KIND_TYPE, *o)),
            "MPI_TYPE_DELETE_ATTR");)

void mpi_win_null_copy_fn_(int *, int *, long *, long *, long *, int *, int *);
void mpi_win_dup_fn_(int *, int *, long *, long *, long *, int *, int *);
void mpi_win_null_delete_fn_(int *, int *, long *, long *, int *);
BOTH(win_create_keyval, (void *copy, void *delete, int *key, long *extra, int *ierr),
     int dup = copy == (void *)mpi_win_dup_fn_;
     result(ierr,
            keyval_new(KIND_WIN, dup || copy == (void *)mpi_win_null_copy_fn_ ? NULL : copy,
                       delete == (void *)mpi_win_null_delete_fn_ ? NULL : delete, dup,
                       LANGUAGE_FORTRAN, (void *)*extra, key),
            NULL, "MPI_WIN_CREATE_KEYVAL");)
BOTH(win_free_keyval, (int *key, int *ierr), int rc = keyval_free(key); *key = -1;
     result(ierr, rc, NULL, "MPI_WIN_FREE_KEYVAL");)
BOTH(win_set_attr, (int *o, int *key, long *value, int *ierr),
     result(ierr, attribute_set(at(KIND_WIN, *o), *key, *value, LANGUAGE_FORTRAN),
            holder_of(at(KIND_WIN, *o)), "MPI_WIN_SET_ATTR");)
BOTH(win_get_attr, (int *o, int *key, long *value, int *flag, int *ierr),
     result(ierr, get_attribute(at(KIND_WIN, *o), *key, value, flag), holder_of(at(KIND_WIN, *o)),
            "MPI_WIN_GET_ATTR");)
BOTH(win_delete_attr, (int *o, int *key, int *ierr),
     result(ierr, attribute_delete(at(KIND_WIN, *o), *key), holder_of(at(KIND_WIN, *o)),
            "MPI_WIN_DELETE_ATTR");)

BOTH(comm_null_copy_fn, (int *o, int *key, long *extra, long *in, long *out, int *flag, int *ierr),
     (void)o;
     (void)key; (void)extra; (void)in; (void)out; *flag = 0; *ierr = 0;)
BOTH(comm_dup_fn, (int *o, int *key, long *extra, long *in, long *out, int *flag, int *ierr),
     (void)o;
     (void)key; (void)extra; *out = *in; *flag = 1; *ierr = 0;)
BOTH(comm_null_delete_fn, (int *o, int *key, long *value, long *extra, int *ierr), (void)o;
     (void)key; (void)value; (void)extra; *ierr = 0;)

BOTH(type_null_copy_fn, (int *o, int *key, long *extra, long *in, long *out, int *flag, int *ierr),
     (void)o;
     (void)key; (void)extra; (void)in; (void)out; *flag = 0; *ierr = 0;)
BOTH(type_dup_fn, (int *o, int *key, long *extra, long *in, long *out, int *flag, int *ierr),
     (void)o;
     (void)key; (void)extra; *out = *in; *flag = 1; *ierr = 0;)
BOTH(type_null_delete_fn, (int *o, int *key, long *value, long *extra, int *ierr), (void)o;
     (void)key; (void)value; (void)extra; *ierr = 0;)

BOTH(win_null_copy_fn, (int *o, int *key, long *extra, long *in, long *out, int *flag, int *ierr),
     (void)o;
     (void)key; (void)extra; (void)in; (void)out; *flag = 0; *ierr = 0;)
BOTH(win_dup_fn, (int *o, int *key, long *extra, long *in, long *out, int *flag, int *ierr),
     (void)o;
     (void)key; (void)extra; *out = *in; *flag = 1; *ierr = 0;)
BOTH(win_null_delete_fn, (int *o, int *key, long *value, long *extra, int *ierr), (void)o;
     (void)key; (void)value; (void)extra; *ierr = 0;)

BOTH(null_copy_fn, (int *o, int *key, int *extra, int *in, int *out, int *flag, int *ierr), (void)o;
     (void)key; (void)extra; (void)in; (void)out; *flag = 0; *ierr = 0;)
BOTH(dup_fn, (int *o, int *key, int *extra, int *in, int *out, int *flag, int *ierr), (void)o;
     (void)key; (void)extra; *out = *in; *flag = 1; *ierr = 0;)
BOTH(null_delete_fn, (int *o, int *key, int *value, int *extra, int *ierr), (void)o; (void)key;
     (void)value; (void)extra; *ierr = 0;)

/* the old names, with plain integers */
BOTH(keyval_create, (void *copy, void *delete, int *key, int *extra, int *ierr),
     int dup = copy == (void *)mpi_dup_fn_;
     result(ierr,
            keyval_new(KIND_COMM, dup || copy == (void *)mpi_null_copy_fn_ ? NULL : copy,
                       delete == (void *)mpi_null_delete_fn_ ? NULL : delete, dup,
                       LANGUAGE_FORTRAN_OLD, (void *)(long)*extra, key),
            NULL, "MPI_KEYVAL_CREATE");)
BOTH(keyval_free, (int *key, int *ierr), int rc = keyval_free(key); *key = -1;
     result(ierr, rc, NULL, "MPI_KEYVAL_FREE");)
BOTH(attr_put, (int *c, int *key, int *value, int *ierr),
     result(ierr, attribute_set(at(KIND_COMM, *c), *key, *value, LANGUAGE_FORTRAN_OLD),
            at(KIND_COMM, *c), "MPI_ATTR_PUT");)
BOTH(attr_get, (int *c, int *key, int *value, int *flag, int *ierr), long v = 0;
     int rc = get_attribute(at(KIND_COMM, *c), *key, &v, flag); if (!rc && *flag) *value = (int)v;
     result(ierr, rc, at(KIND_COMM, *c), "MPI_ATTR_GET");)
BOTH(attr_delete, (int *c, int *key, int *ierr),
     result(ierr, attribute_delete(at(KIND_COMM, *c), *key), at(KIND_COMM, *c), "MPI_ATTR_DELETE");)

/* --- error handlers, generalized requests --- */
#define HANDLER(name, KIND)                                          \
    BOTH(name##_create_errhandler, (void *fn, int *errh, int *ierr), \
         *errh = new_errhandler(KIND, fn, LANGUAGE_FORTRAN)->index;  \
         if (ierr) *ierr = 0;)
HANDLER(comm, KIND_COMM)
HANDLER(win, KIND_WIN)
HANDLER(file, KIND_FILE)
HANDLER(session, KIND_SESSION)
BOTH(errhandler_create, (void *fn, int *errh, int *ierr),
     mpi_comm_create_errhandler_(fn, errh, ierr);)
BOTH(errhandler_get, (int *c, int *errh, int *ierr), object *e = NULL;
     int rc = core_Comm_get_errhandler(at(KIND_COMM, *c), &e); if (e) *errh = e->index;
     result(ierr, rc, NULL, "MPI_ERRHANDLER_GET");)
BOTH(errhandler_set, (int *c, int *errh, int *ierr),
     result(ierr, core_Comm_set_errhandler(at(KIND_COMM, *c), at(KIND_ERRH, *errh)), NULL,
            "MPI_ERRHANDLER_SET");)
BOTH(grequest_start,
     (void *query, void *free_fn, void *cancel, long *extra, int *request, int *ierr),
     object *r = NULL;
     int rc = core_Grequest_start(query, free_fn, cancel, LANGUAGE_FORTRAN, (void *)*extra, &r);
     if (r) *request = r->index; result(ierr, rc, NULL, "MPI_GREQUEST_START");)

/* --- datatypes --- */
BOTH(type_get_contents,
     (int *type, int *max_i, int *max_a, int *max_t, int *i, long *a, int *types, int *ierr),
     int how = 0;
     int n = 0; int ni; int na; int nt; int combiner; object *t = at(KIND_TYPE, *type);
     core_Type_get_envelope(t, &ni, &na, &nt, &combiner);
     object **o = need(calloc(nt + 1, sizeof *o));
     int rc = core_Type_get_contents(t, *max_i, *max_a, *max_t, i, a, o, &how, &n);
     for (int k = 0; k < nt && !rc; k++) types[k] = o[k]->index; free(o);
     result(ierr, rc, NULL, "MPI_TYPE_GET_CONTENTS");)
BOTH(type_extent, (int *type, int *extent, int *ierr), long lb; long e = 0;
     int rc = core_Type_get_extent(at(KIND_TYPE, *type), &lb, &e); *extent = (int)e;
     result(ierr, rc, NULL, "MPI_TYPE_EXTENT");)
BOTH(type_lb, (int *type, int *out, int *ierr), long lb = 0; long e;
     int rc = core_Type_get_extent(at(KIND_TYPE, *type), &lb, &e); *out = (int)lb;
     result(ierr, rc, NULL, "MPI_TYPE_LB");)
BOTH(type_ub, (int *type, int *out, int *ierr), long lb = 0; long e = 0;
     int rc = core_Type_get_extent(at(KIND_TYPE, *type), &lb, &e); *out = (int)(lb + e);
     result(ierr, rc, NULL, "MPI_TYPE_UB");)
static void made(object *t, int rc, int *out, int *ierr, const char *function)
{
    if (t)
        *out = t->index;
    result(ierr, rc, NULL, function);
}
BOTH(type_hvector, (int *n, int *len, int *stride, int *type, int *out, int *ierr),
     object *t = NULL;
     int rc = core_Type_create_hvector(*n, *len, *stride, at(KIND_TYPE, *type), &t);
     made(t, rc, out, ierr, "MPI_TYPE_HVECTOR");)
BOTH(type_hindexed, (int *n, int *lens, int *disps, int *type, int *out, int *ierr),
     object *t = NULL;
     long *d = need(malloc((*n + 1) * sizeof *d)); for (int k = 0; k < *n; k++) d[k] = disps[k];
     int rc = core_Type_create_hindexed(*n, lens, d, at(KIND_TYPE, *type), &t); free(d);
     made(t, rc, out, ierr, "MPI_TYPE_HINDEXED");)
BOTH(
    type_struct, (int *n, int *lens, int *disps, int *types, int *out, int *ierr), object *t = NULL;
    long *d = need(malloc((*n + 1) * sizeof *d)); object **o = need(malloc((*n + 1) * sizeof *o));
    for (int k = 0; k < *n; k++) {
        d[k] = disps[k];
        o[k] = at(KIND_TYPE, types[k]);
    } int rc = core_Type_create_struct(*n, lens, d, o, &t);
    free(d); free(o); made(t, rc, out, ierr, "MPI_TYPE_STRUCT");)

/* --- addresses and memory --- */
BOTH(address, (void *where, int *address, int *ierr), *address = (int)(long)where;
     if (ierr) *ierr = 0;)
#define AINT_FUNCTION(name, OP)          \
    long mpi_##name##_(long *, long *);  \
    long mpi_##name##_(long *a, long *b) \
    {                                    \
        return *a OP * b;                \
    }                                    \
    OTHER_NAMES(long, name, (long *, long *))
AINT_FUNCTION(aint_add, +)
AINT_FUNCTION(aint_diff, -)
BOTH(buffer_attach, (void *buf, int *size, int *ierr),
     result(ierr, core_buffer_attach(NULL, buf, *size), NULL, "MPI_BUFFER_ATTACH");)
BOTH(buffer_detach, (void *buf, int *size, int *ierr), void *p; (void)buf; long n = 0;
     int rc = core_buffer_detach(NULL, &p, &n); if (!rc) *size = (int)n;
     result(ierr, rc, NULL, "MPI_BUFFER_DETACH");)
BOTH(f_sync_reg, (void *buf), (void)buf;)
BOTH(pcontrol, (int *level), (void)level;)
void mpi_win_allocate_(long *, int *, int *, int *, void *, int *, int *);
void mpi_win_allocate_shared_(long *, int *, int *, int *, void *, int *, int *);
void mpi_win_shared_query_(int *, int *, long *, int *, void *, int *);
BOTH(win_allocate_cptr,
     (long *size, int *unit, int *info, int *comm, void *base, int *win, int *ierr),
     mpi_win_allocate_(size, unit, info, comm, base, win, ierr);)
BOTH(win_allocate_shared_cptr,
     (long *size, int *unit, int *info, int *comm, void *base, int *win, int *ierr),
     mpi_win_allocate_shared_(size, unit, info, comm, base, win, ierr);)
BOTH(win_shared_query_cptr, (int *win, int *rank, long *size, int *unit, void *base, int *ierr),
     mpi_win_shared_query_(win, rank, size, unit, base, ierr);)
BOTH(status_f082f, (void *f08, void *f, int *ierr), memcpy(f, f08, sizeof(struct status));
     if (ierr) *ierr = 0;)
BOTH(status_f2f08, (void *f, void *f08, int *ierr), memcpy(f08, f, sizeof(struct status));
     if (ierr) *ierr = 0;)

/* --- info --- */
BOTH(info_create_env, (int *info, int *ierr), object *o = NULL;
     int rc = core_Info_create_env(0, NULL, &o); *info = o->index;
     result(ierr, rc, NULL, "MPI_INFO_CREATE_ENV");)
static void info_get_string(int *info, const char *key, int *buflen, char *value, int *flag,
                            int *ierr, int key_len, int value_len)
{
    char name[300], *tmp = need(calloc(1, value_len + 2));
    while (key_len && key[key_len - 1] == ' ')
        key_len--;
    for (; key_len && *key == ' '; key_len--)
        key++;
    if (key_len > 299)
        key_len = 299;
    memcpy(name, key, key_len);
    name[key_len] = 0;
    int room = *buflen ? (int)value_len + 1 : 0, want = *buflen;
    int rc = core_Info_get_string(at(KIND_INFO, *info), name, &room, tmp, flag);
    if (!rc && *flag) {
        *buflen = room - 1;
        if (want) {
            int n = (int)strlen(tmp);
            memcpy(value, tmp, n < value_len ? n : value_len);
            if (n < value_len)
                memset(value + n, ' ', value_len - n);
        }
    }
    free(tmp);
    result(ierr, rc, NULL, "MPI_INFO_GET_STRING");
}
BOTH(info_get_string,
     (int *info, const char *key, int *buflen, char *value, int *flag, int *ierr, int key_len,
      int value_len),
     info_get_string(info, key, buflen, value, flag, ierr, key_len, value_len);)

/* --- MPI_SIZEOF: one name for each type and array rank --- */
#define SIZEOF_ONE(type, shape, bytes)                                 \
    void mpi_sizeof_##type##_##shape##_(void *, int *, int *);         \
    void mpi_sizeof_##type##_##shape##_(void *x, int *size, int *ierr) \
    {                                                                  \
        (void)x;                                                       \
        *size = bytes;                                                 \
        if (ierr)                                                      \
            *ierr = 0;                                                 \
    }                                                                  \
    OTHER_NAMES(void, sizeof_##type##_##shape, (void *, int *, int *))
#define SIZEOF(t, b)         \
    SIZEOF_ONE(t, scalar, b) \
    SIZEOF_ONE(t, r1, b)     \
    SIZEOF_ONE(t, r2, b)     \
    SIZEOF_ONE(t, r3, b)     \
    SIZEOF_ONE(t, r4, b)     \
    SIZEOF_ONE(t, r5, b)     \
    SIZEOF_ONE(t, r6, b)     \
    SIZEOF_ONE(t, r7, b)     \
    SIZEOF_ONE(t, r8, b)     \
    SIZEOF_ONE(t, r9, b)     \
    SIZEOF_ONE(t, r10, b)    \
    SIZEOF_ONE(t, r11, b)    \
    SIZEOF_ONE(t, r12, b) SIZEOF_ONE(t, r13, b) SIZEOF_ONE(t, r14, b) SIZEOF_ONE(t, r15, b)
SIZEOF(character, 1)
SIZEOF(logical, 4)
SIZEOF(int8, 1)
SIZEOF(int16, 2)
SIZEOF(int32, 4)
SIZEOF(int64, 8)
SIZEOF(real32, 4)
SIZEOF(real64, 8)
SIZEOF(real128, 16)
SIZEOF(complex32, 8)
SIZEOF(complex64, 16)
SIZEOF(complex128, 32)
