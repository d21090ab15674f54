/* faces/mpich_languages.h - what MPICH's own libraries for Fortran (libmpichfort.so.12) and C++ (libmpichcxx.so.12) want
 * from the C library, and calls of the program's functions. Handles are the same integers in all languages.
 */

/* --- C++: every program that MPICH's compiler for C++ links needs these, even if it calls C functions only --- */
/* Its functions that call those of the program, with arguments of C++. */
static struct {
    void (*call_op)(void *in, void *inout, int n, MPI_Datatype type, void *fn);
    void (*call_errhandler)(int kind, void *handle, int *code, void *fn);
} cxx;

void MPII_Op_set_cxx(MPI_Op op, void (*call)(void));
void MPII_Op_set_cxx(MPI_Op op, void (*call)(void))
{
    object *o = IN_OP(op);
    if (!o || o->predefined) /* it could not be made */
        return;
    o->op.fortran = OP_CXX;
    cxx.call_op = (void (*)(void *, void *, int, MPI_Datatype, void *))call;
}

void MPII_Errhandler_set_cxx(MPI_Errhandler e, void (*call)(void));
void MPII_Errhandler_set_cxx(MPI_Errhandler e, void (*call)(void))
{
    IN_ERRH(e)->errh.language = LANGUAGE_CXX;
    cxx.call_errhandler = (void (*)(int, void *, int *, void *))call;
}
static void call_cxx_errhandler(object *e, object *holder, int code)
{
    enum { OF_COMM, OF_FILE, OF_WIN };
    int handle = holder->kind == KIND_FILE ? 0 : handle_of(holder);
    MPI_File file = OUT_FILE(holder);
    if (holder->kind == KIND_FILE)
        cxx.call_errhandler(OF_FILE, &file, &code, e->errh.fn);
    else
        cxx.call_errhandler(holder->kind == KIND_WIN ? OF_WIN : OF_COMM, &handle, &code,
                            e->errh.fn);
}

/* --- Fortran --- */

/* how the program passed an attribute: as an address, an address-sized integer, an integer */
enum { GIVEN_POINTER = 0, GIVEN_AINT = 1, GIVEN_INT = 3 };
typedef int copy_proxy(void *fn, int handle, int key, void *extra, int given, void *value,
                       void **out, int *flag);
typedef int delete_proxy(void *fn, int handle, int key, int given, void *value, void *extra);

int MPIR_Dup_fn(MPI_Comm o, int key, void *extra, void *in, void *out, int *flag)
{
    (void)o, (void)key, (void)extra;
    *flag = 1;
    *(void **)out = in;
    return MPI_SUCCESS;
}
/* This keyval has functions of Fortran or C++; `copy` and `delete` know how to call them. */
void MPII_Keyval_set_proxy(int key, void *copy, void *delete);
void MPII_Keyval_set_proxy(int key, void *copy, void *delete)
{
    struct keyval *k = keyval_at(key);
    if (!k)
        return;
    k->copy_proxy = copy;
    k->delete_proxy = delete;
}
static int handle_for_c(object *o)
{
    return handle_of(o);
}
int face_call_copy(struct keyval *k, object *o, int key, long value, enum language set_in,
                   long *out, int *flag)
{
    void *result = (void *)value;
    int rc;
    if (k->copy_proxy)
        rc = ((copy_proxy *)k->copy_proxy)(k->copy, handle_for_c(o), key, k->extra,
                                           set_in == LANGUAGE_FORTRAN_OLD ? GIVEN_INT
                                           : set_in == LANGUAGE_FORTRAN   ? GIVEN_AINT
                                                                          : GIVEN_POINTER,
                                           (void *)value, &result, flag);
    else
        rc = ((MPI_Comm_copy_attr_function *)k->copy)(handle_for_c(o), key, k->extra,
                                                      set_in == LANGUAGE_C ? (void *)value : &value,
                                                      &result, flag);
    *out = (long)result;
    return rc;
}
int face_call_delete(struct keyval *k, object *o, int key, long value, enum language set_in)
{
    if (k->delete_proxy)
        return ((delete_proxy *)k->delete_proxy)(k->delete, handle_for_c(o), key,
                                                 set_in == LANGUAGE_FORTRAN_OLD ? GIVEN_INT
                                                 : set_in == LANGUAGE_FORTRAN   ? GIVEN_AINT
                                                                                : GIVEN_POINTER,
                                                 (void *)value, k->extra);
    return ((MPI_Comm_delete_attr_function *)k->delete)(
        handle_for_c(o), key, set_in == LANGUAGE_C ? (void *)value : &value, k->extra);
}
void face_call_errhandler(object *e, object *holder, int code)
{
    if (e->errh.language == LANGUAGE_CXX)
        call_cxx_errhandler(e, holder, code);
    else
        call_c_errhandler(e, holder, code);
}
static int query_of_fortran(struct special_request *s, struct status *st)
{
    MPI_Status own;
    int rc = 0;
    status_out(st, &own);
    ((void (*)(void *, MPI_Status *, int *))s->query)(s->extra, &own, &rc);
    status_in(&own, st);
    return rc;
}
int face_call_query(struct special_request *s, struct status *st)
{
    return s->language == LANGUAGE_C ? call_c_query(s, st) : query_of_fortran(s, st);
}
int face_call_free(struct special_request *s)
{
    int rc = 0;
    if (s->language == LANGUAGE_C)
        return ((MPI_Grequest_free_function *)s->free_fn)(s->extra);
    ((void (*)(void *, int *))s->free_fn)(s->extra, &rc);
    return rc;
}
int face_call_cancel(struct special_request *s, int complete)
{
    int rc = 0;
    if (s->language == LANGUAGE_C)
        return ((MPI_Grequest_cancel_function *)s->cancel)(s->extra, complete);
    ((void (*)(void *, int *, int *))s->cancel)(s->extra, &complete, &rc);
    return rc;
}
void MPII_Grequest_set_lang_f77(MPI_Request r);
void MPII_Grequest_set_lang_f77(MPI_Request r)
{
    object *o = IN_REQ(r);
    if (o && !o->predefined && o->req.special)
        o->req.special->language = LANGUAGE_FORTRAN;
}

/* Fortran sees attributes as integers. Its predefined keys are those of C plus one. */
static int get_integer(object *o, int key, void *value, int *flag, int given)
{
    long v = 0, *place;
    enum language set_in;
    void *p;
    int rc, which = predefined_key(key - 1);
    if (which >= 0) {
        rc = predefined_attribute(o, which, &p, flag);
        if (!rc && *flag)
            v = which == ATTR_WIN_BASE ? (long)p : which == ATTR_WIN_SIZE ? *(long *)p : *(int *)p;
    } else {
        rc = attribute_get(o, key, &v, &place, &set_in, flag);
    }
    if (!rc && *flag) {
        if (given == GIVEN_INT)
            *(MPI_Aint *)value = (int)v;
        else
            *(MPI_Aint *)value = v;
    }
    return rc;
}
#define ATTRIBUTE_OF_FORTRAN(What, WHAT, Type)                                      \
    int MPII_##What##_get_attr(Type o, int key, void *value, int *flag, int given); \
    int MPII_##What##_get_attr(Type o, int key, void *value, int *flag, int given)  \
    {                                                                               \
        int rc = get_integer(IN_##WHAT(o), key, value, flag, given);                \
        return FACE_RAISE(rc, HOLDER_OF_##WHAT(o), What##_get_attr);                \
    }                                                                               \
    int MPII_##What##_set_attr(Type o, int key, void *value, int given);            \
    int MPII_##What##_set_attr(Type o, int key, void *value, int given)             \
    {                                                                               \
        int rc = attribute_set(IN_##WHAT(o), key, (long)value,                      \
                               given == GIVEN_INT    ? LANGUAGE_FORTRAN_OLD         \
                               : given == GIVEN_AINT ? LANGUAGE_FORTRAN             \
                                                     : LANGUAGE_C);                 \
        return FACE_RAISE(rc, HOLDER_OF_##WHAT(o), What##_set_attr);                \
    }
ATTRIBUTE_OF_FORTRAN(Comm, COMM, MPI_Comm)
ATTRIBUTE_OF_FORTRAN(Type, TYPE, MPI_Datatype)
ATTRIBUTE_OF_FORTRAN(Win, WIN, MPI_Win)

/* file handles are pointers in C, integers in Fortran */
MPI_Fint PMPI_File_c2f(MPI_File f)
{
    object *o = IN_FILE(f);
    return o->predefined ? 0 : o->index;
}
WEAK(File_c2f)
MPI_File PMPI_File_f2c(MPI_Fint f)
{
    return f ? (MPI_File)object_at(KIND_FILE, f) : MPI_FILE_NULL;
}
WEAK(File_f2c)
#define SAME_INTEGER(What, Type)       \
    MPI_Fint PMPI_##What##_c2f(Type h) \
    {                                  \
        return h;                      \
    }                                  \
    WEAK(What##_c2f)                   \
    Type PMPI_##What##_f2c(MPI_Fint f) \
    {                                  \
        return f;                      \
    }                                  \
    WEAK(What##_f2c)
SAME_INTEGER(Comm, MPI_Comm)
SAME_INTEGER(Group, MPI_Group)
SAME_INTEGER(Type, MPI_Datatype)
SAME_INTEGER(Op, MPI_Op)
SAME_INTEGER(Request, MPI_Request)
SAME_INTEGER(Info, MPI_Info)
SAME_INTEGER(Errhandler, MPI_Errhandler)
SAME_INTEGER(Win, MPI_Win)
SAME_INTEGER(Message, MPI_Message)
SAME_INTEGER(Session, MPI_Session)
int PMPI_Status_c2f(const MPI_Status *c, MPI_Fint *f)
{
    memcpy(f, c, sizeof *c);
    return MPI_SUCCESS;
}
WEAK(Status_c2f)
int PMPI_Status_f2c(const MPI_Fint *f, MPI_Status *c)
{
    memcpy(c, f, sizeof *c);
    return MPI_SUCCESS;
}
WEAK(Status_f2c)
MPI_Aint PMPI_Aint_add(MPI_Aint base, MPI_Aint disp)
{
    return base + disp;
}
WEAK(Aint_add)
MPI_Aint PMPI_Aint_diff(MPI_Aint a, MPI_Aint b)
{
    return a - b;
}
WEAK(Aint_diff)
