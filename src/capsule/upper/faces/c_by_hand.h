/* faces/c_by_hand.h - a C face: functions whose arguments the table cannot describe: callbacks, attributes,
 * untyped addresses. faces/c.h includes this.
 */
#define FACE_RAISE(rc, holder, Name) ((rc) ? raise_error(rc, holder, "MPI_" #Name) : MPI_SUCCESS)

int face_error_out(int code)
{
    return error_out(code);
}
int face_error_in(int code)
{
    return error_in(code);
}
void face_version(int *version, int *subversion)
{
    *version = MPI_VERSION;
    *subversion = MPI_SUBVERSION;
}

/* --- attributes: MPI_Comm_*, MPI_Win_*, MPI_Type_* --- */
static int predefined_key(int key)
{
    switch (key) {
    case MPI_TAG_UB: return ATTR_TAG_UB;
    case MPI_HOST: return ATTR_HOST;
    case MPI_IO: return ATTR_IO;
    case MPI_WTIME_IS_GLOBAL: return ATTR_WTIME_IS_GLOBAL;
    case MPI_UNIVERSE_SIZE: return ATTR_UNIVERSE_SIZE;
    case MPI_APPNUM: return ATTR_APPNUM;
    case MPI_LASTUSEDCODE: return ATTR_LASTUSEDCODE;
    case MPI_WIN_BASE: return ATTR_WIN_BASE;
    case MPI_WIN_SIZE: return ATTR_WIN_SIZE;
    case MPI_WIN_DISP_UNIT: return ATTR_WIN_DISP_UNIT;
    case MPI_WIN_CREATE_FLAVOR: return ATTR_WIN_FLAVOR;
    case MPI_WIN_MODEL: return ATTR_WIN_MODEL;
    }
    return -1;
}
static int get_attribute(object *o, int key, void *out, int *flag)
{
    int which = predefined_key(key);
    NEEDS_ARRAY(out, 1);
    NEEDS_ARRAY(flag, 1);
    if (which >= 0)
        return predefined_attribute(o, which, out, flag);
    long value, *place;
    enum language set_in;
    int rc = attribute_get(o, key, &value, &place, &set_in, flag);
    if (!rc && *flag)
        *(void **)out = set_in == LANGUAGE_C ? (void *)value : (void *)place;
    return rc;
}
static int set_attribute(object *o, int key, void *value)
{
    return predefined_key(key) >= 0 ? NEUTRAL_MPI_ERR_KEYVAL
                                    : attribute_set(o, key, (long)value, LANGUAGE_C);
}
#define ATTRIBUTES(What, WHAT, Type)                                                            \
    int PMPI_##What##_create_keyval(MPI_##What##_copy_attr_function *copy,                      \
                                    MPI_##What##_delete_attr_function *delete, int *key,        \
                                    void *extra)                                                \
    {                                                                                           \
        int dup = copy == MPI_##WHAT##_DUP_FN;                                                  \
        int rc = keyval_new(KIND_##WHAT,                                                        \
                            dup || copy == MPI_##WHAT##_NULL_COPY_FN ? NULL : (void *)copy,     \
                            delete == MPI_##WHAT##_NULL_DELETE_FN ? NULL : (void *)delete, dup, \
                            LANGUAGE_C, extra, key);                                            \
        return FACE_RAISE(rc, NULL, What##_create_keyval);                                      \
    }                                                                                           \
    WEAK(What##_create_keyval)                                                                  \
    int PMPI_##What##_free_keyval(int *key)                                                     \
    {                                                                                           \
        int rc = key ? keyval_free(key) : NEUTRAL_MPI_ERR_ARG;                                  \
        if (key)                                                                                \
            *key = MPI_KEYVAL_INVALID;                                                          \
        return FACE_RAISE(rc, NULL, What##_free_keyval);                                        \
    }                                                                                           \
    WEAK(What##_free_keyval)                                                                    \
    int PMPI_##What##_set_attr(Type o, int key, void *value)                                    \
    {                                                                                           \
        int rc = set_attribute(IN_##WHAT(o), key, value);                                       \
        return FACE_RAISE(rc, HOLDER_OF_##WHAT(o), What##_set_attr);                            \
    }                                                                                           \
    WEAK(What##_set_attr)                                                                       \
    int PMPI_##What##_get_attr(Type o, int key, void *value, int *flag)                         \
    {                                                                                           \
        int rc = get_attribute(IN_##WHAT(o), key, value, flag);                                 \
        return FACE_RAISE(rc, HOLDER_OF_##WHAT(o), What##_get_attr);                            \
    }                                                                                           \
    WEAK(What##_get_attr)                                                                       \
    int PMPI_##What##_delete_attr(Type o, int key)                                              \
    {                                                                                           \
        int rc = attribute_delete(IN_##WHAT(o), key);                                           \
        return FACE_RAISE(rc, HOLDER_OF_##WHAT(o), What##_delete_attr);                         \
    }                                                                                           \
    WEAK(What##_delete_attr)
#define HOLDER_OF_COMM(o) IN_COMM(o)
#define HOLDER_OF_WIN(o)  IN_WIN(o)
#define HOLDER_OF_TYPE(o) NULL
ATTRIBUTES(Comm, COMM, MPI_Comm)
ATTRIBUTES(Win, WIN, MPI_Win)
ATTRIBUTES(Type, TYPE, MPI_Datatype)

/* the old names */
int PMPI_Keyval_create(MPI_Copy_function *copy, MPI_Delete_function *delete, int *key, void *extra)
{
    int dup = copy == MPI_DUP_FN;
    int rc = keyval_new(KIND_COMM, dup || copy == MPI_NULL_COPY_FN ? NULL : (void *)copy,
                        delete == MPI_NULL_DELETE_FN ? NULL : (void *)delete, dup, LANGUAGE_C,
                        extra, key);
    return FACE_RAISE(rc, NULL, Keyval_create);
}
WEAK(Keyval_create)
int PMPI_Keyval_free(int *key)
{
    return PMPI_Comm_free_keyval(key);
}
WEAK(Keyval_free)
int PMPI_Attr_put(MPI_Comm c, int key, void *value)
{
    return PMPI_Comm_set_attr(c, key, value);
}
WEAK(Attr_put)
int PMPI_Attr_get(MPI_Comm c, int key, void *value, int *flag)
{
    return PMPI_Comm_get_attr(c, key, value, flag);
}
WEAK(Attr_get)
int PMPI_Attr_delete(MPI_Comm c, int key)
{
    return PMPI_Comm_delete_attr(c, key);
}
WEAK(Attr_delete)

void face_window_constants(int flavor, int *flavor_out, int *model)
{
    *flavor_out = flavor == FLAVOR_CREATE     ? MPI_WIN_FLAVOR_CREATE
                  : flavor == FLAVOR_ALLOCATE ? MPI_WIN_FLAVOR_ALLOCATE
                  : flavor == FLAVOR_DYNAMIC  ? MPI_WIN_FLAVOR_DYNAMIC
                                              : MPI_WIN_FLAVOR_SHARED;
    *model = MPI_WIN_UNIFIED;
}

/* MPICH makes one grid without a dimension, which has room for one rank; Open MPI makes one for each rank. */
int face_leaves_out_of_empty_grid(void)
{
#ifdef MPICH_ABI
    return 1;
#else
    return 0;
#endif
}

/* --- error handlers --- */
#define HANDLER(What, KIND, Type)                                                                  \
    int PMPI_##What##_create_errhandler(MPI_##What##_errhandler_function *fn, MPI_Errhandler *out) \
    {                                                                                              \
        if (!fn || !out)                                                                           \
            return raise_error(NEUTRAL_MPI_ERR_ARG, NULL, "MPI_" #What "_create_errhandler");      \
        *out = OUT_ERRH(new_errhandler(KIND, (void *)fn, LANGUAGE_C));                             \
        return MPI_SUCCESS;                                                                        \
    }                                                                                              \
    WEAK(What##_create_errhandler)
HANDLER(Comm, KIND_COMM, MPI_Comm)
HANDLER(Win, KIND_WIN, MPI_Win)
HANDLER(File, KIND_FILE, MPI_File)
HANDLER(Session, KIND_SESSION, MPI_Session)

static void call_c_errhandler(object *e, object *holder, int code)
{
    if (holder->kind == KIND_COMM) {
        MPI_Comm c = OUT_COMM(holder);
        ((MPI_Comm_errhandler_function *)e->errh.fn)(&c, &code);
    } else if (holder->kind == KIND_WIN) {
        MPI_Win w = OUT_WIN(holder);
        ((MPI_Win_errhandler_function *)e->errh.fn)(&w, &code);
    } else if (holder->kind == KIND_SESSION) {
        MPI_Session s = OUT_SESSION(holder);
        ((MPI_Session_errhandler_function *)e->errh.fn)(&s, &code);
    } else {
        MPI_File f = OUT_FILE(holder);
        ((MPI_File_errhandler_function *)e->errh.fn)(&f, &code);
    }
}

/* --- generalized requests --- */
int PMPI_Grequest_start(MPI_Grequest_query_function *query, MPI_Grequest_free_function *free_fn,
                        MPI_Grequest_cancel_function *cancel, void *extra, MPI_Request *out)
{
    object *r = NULL;
    int rc = !out ? NULL_ERROR(REQUEST)
                  : core_Grequest_start((void *)query, (void *)free_fn, (void *)cancel, LANGUAGE_C,
                                        extra, &r);
    if (r)
        *out = OUT_REQ(r);
    return FACE_RAISE(rc, NULL, Grequest_start);
}
WEAK(Grequest_start)
static int call_c_query(struct special_request *s, struct status *st)
{
    MPI_Status own;
    STATUS_OUT(st, &own);
    int rc = ((MPI_Grequest_query_function *)s->query)(s->extra, &own);
    STATUS_IN(&own, st);
    return rc;
}

/* --- datatypes --- */
int PMPI_Type_get_contents(MPI_Datatype t, int max_i, int max_a, int max_t, int *i, MPI_Aint *a,
                           MPI_Datatype *types)
{
    int how = 0, n = 0, ni, na, nt, combiner;
    core_Type_get_envelope(IN_TYPE(t), &ni, &na, &nt, &combiner);
    object **o = need(calloc(nt + 1, sizeof *o));
    int rc = nt && !types ? NEUTRAL_MPI_ERR_ARG
                          : core_Type_get_contents(IN_TYPE(t), max_i, max_a, max_t, i, (long *)a, o,
                                                   &how, &n);
    if (!rc) {
        for (int k = 0; k < nt; k++)
            types[k] = OUT_TYPE(o[k]);
        if (how == RECIPE_SUBARRAY)
            i[3 * n + 1] = order_out(i[3 * n + 1]);
        if (how == RECIPE_DARRAY) {
            for (int k = 0; k < n; k++) {
                i[3 + n + k] = distrib_out(i[3 + n + k]);
                i[3 + 2 * n + k] = darg_out(i[3 + 2 * n + k]);
            }
            i[3 + 4 * n] = order_out(i[3 + 4 * n]);
        }
    }
    free(o);
    return FACE_RAISE(rc, NULL, Type_get_contents);
}
WEAK(Type_get_contents)

/* --- info, buffers, the rest --- */
int PMPI_Info_get_string(MPI_Info info, const char *key, int *buflen, char *value, int *flag)
{
    int rc = core_Info_get_string(IN_INFO(info), key, buflen, value, flag);
    return FACE_RAISE(rc, NULL, Info_get_string);
}
WEAK(Info_get_string)
int PMPI_Info_create_env(int argc, char *argv[], MPI_Info *info)
{
    object *o = NULL;
    int rc = core_Info_create_env(argc, argv, &o);
    *info = OUT_INFO(o);
    return FACE_RAISE(rc, NULL, Info_create_env);
}
WEAK(Info_create_env)
#ifdef MPI_BUFFER_AUTOMATIC
#define BUFFER_IN(buf)  ((buf) == MPI_BUFFER_AUTOMATIC ? BUFFER_AUTOMATIC : (buf))
#define BUFFER_OUT(buf) ((buf) == BUFFER_AUTOMATIC ? MPI_BUFFER_AUTOMATIC : (buf))
#else
#define BUFFER_IN(buf)  (buf)
#define BUFFER_OUT(buf) (buf)
#endif
static int detach_buffer(object *comm, void *buf, long *size)
{
    void *at = NULL;
    NEEDS_ARRAY(buf, 1);
    int rc = core_buffer_detach(comm, &at, size);
    *(void **)buf = BUFFER_OUT(at);
    return rc;
}
static int int_or_undefined(long n)
{
    return n > INT_MAX ? MPI_UNDEFINED : (int)n;
}
int PMPI_Buffer_attach(void *buf, int size)
{
    int rc = core_buffer_attach(NULL, BUFFER_IN(buf), size);
    return FACE_RAISE(rc, NULL, Buffer_attach);
}
WEAK(Buffer_attach)
int PMPI_Buffer_detach(void *buf, int *size)
{
    long n = 0;
    int rc = size ? detach_buffer(NULL, buf, &n) : NEUTRAL_MPI_ERR_ARG;
    if (!rc)
        *size = int_or_undefined(n);
    return FACE_RAISE(rc, NULL, Buffer_detach);
}
WEAK(Buffer_detach)
int PMPI_Pcontrol(const int level, ...)
{
    (void)level;
    return MPI_SUCCESS;
}
WEAK(Pcontrol)

#include "faces/tool.h"
