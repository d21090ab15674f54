/* faces/standard_by_hand.h - the standard's C ABI: functions that are new in MPI-5.0, and calls of the program's functions. */

void face_call_op(object *op, void *in_, void *inout, int *n, object *type)
{
    MPI_Datatype t = OUT_TYPE(type);
    MPI_Count wide = *n;
    if (op->op.fortran == OP_LARGE)
        ((MPI_User_function_c *)op->op.fn)(in_, inout, &wide, &t);
    else
        ((MPI_User_function *)op->op.fn)(in_, inout, n, &t);
}
/* All kinds of handles are passed alike, so one function type serves for all. */
int face_call_copy(struct keyval *k, object *o, int key, long value, enum language set_in,
                   long *out, int *flag)
{
    void *result = (void *)value;
    (void)set_in;
    int rc = ((MPI_Comm_copy_attr_function *)k->copy)(OUT_COMM(o), key, k->extra, (void *)value,
                                                      &result, flag);
    *out = (long)result;
    return rc;
}
int face_call_delete(struct keyval *k, object *o, int key, long value, enum language set_in)
{
    (void)set_in;
    return ((MPI_Comm_delete_attr_function *)k->delete)(OUT_COMM(o), key, (void *)value, k->extra);
}
void face_call_errhandler(object *e, object *holder, int code)
{
    call_c_errhandler(e, holder, code);
}
int face_call_query(struct special_request *s, struct status *st)
{
    return call_c_query(s, st);
}
int face_call_free(struct special_request *s)
{
    return ((MPI_Grequest_free_function *)s->free_fn)(s->extra);
}
int face_call_cancel(struct special_request *s, int complete)
{
    return ((MPI_Grequest_cancel_function *)s->cancel)(s->extra, complete);
}

/* Handles as integers: a predefined handle is its own value; the others follow the values that the standard reserves. */
static int to_int(const object *o)
{
    return o->predefined ? (int)value_of[o - storage] : RESERVED + o->index;
}
static void *from_int(int kind, int i)
{
    object *o = i < RESERVED ? obj_of(kind, (void *)(intptr_t)i) : object_at(kind, i - RESERVED);
    return handle_of(o ? o : null_of[kind]);
}
#define AS_INT(What, KIND, Type)               \
    int PMPI_##What##_toint(Type h)            \
    {                                          \
        return to_int(IN_##KIND(h));           \
    }                                          \
    WEAK(What##_toint)                         \
    Type PMPI_##What##_fromint(int i)          \
    {                                          \
        return (Type)from_int(KIND_##KIND, i); \
    }                                          \
    WEAK(What##_fromint)
AS_INT(Comm, COMM, MPI_Comm)
AS_INT(Errhandler, ERRH, MPI_Errhandler)
AS_INT(File, FILE, MPI_File)
AS_INT(Group, GROUP, MPI_Group)
AS_INT(Info, INFO, MPI_Info)
AS_INT(Message, MSG, MPI_Message)
AS_INT(Op, OP, MPI_Op)
AS_INT(Request, REQ, MPI_Request)
AS_INT(Session, SESSION, MPI_Session)
AS_INT(Type, TYPE, MPI_Datatype)
AS_INT(Win, WIN, MPI_Win)

/* --- queries about the ABI, also allowed before MPI_Init and after MPI_Finalize --- */
int PMPI_Abi_get_version(int *major, int *minor)
{
    if (!major || !minor)
        return FACE_RAISE(NEUTRAL_MPI_ERR_ARG, NULL, Abi_get_version);
    *major = MPI_ABI_VERSION;
    *minor = MPI_ABI_SUBVERSION;
    return MPI_SUCCESS;
}
WEAK(Abi_get_version)
static int set_size(MPI_Info info, const char *key, size_t bytes)
{
    char text[8];
    snprintf(text, sizeof text, "%zu", bytes);
    return PMPI_Info_set(info, key, text);
}
int PMPI_Abi_get_info(MPI_Info *info)
{
    int rc = PMPI_Info_create(info);
    if (!rc)
        rc = set_size(*info, "mpi_aint_size", sizeof(MPI_Aint));
    if (!rc)
        rc = set_size(*info, "mpi_count_size", sizeof(MPI_Count));
    if (!rc)
        rc = set_size(*info, "mpi_offset_size", sizeof(MPI_Offset));
    return rc;
}
WEAK(Abi_get_info)
/* This face has no Fortran, so it has no such information. The functions that set it are refused (table/refused.def). */
int PMPI_Abi_get_fortran_info(MPI_Info *info)
{
    if (!info)
        return FACE_RAISE(NEUTRAL_MPI_ERR_ARG, NULL, Abi_get_fortran_info);
    *info = MPI_INFO_NULL;
    return MPI_SUCCESS;
}
WEAK(Abi_get_fortran_info)
int PMPI_Abi_get_fortran_booleans(int size, void *yes, void *no, int *is_set)
{
    (void)size, (void)yes, (void)no;
    if (!is_set)
        return FACE_RAISE(NEUTRAL_MPI_ERR_ARG, NULL, Abi_get_fortran_booleans);
    *is_set = 0;
    return MPI_SUCCESS;
}
WEAK(Abi_get_fortran_booleans)

/* Not in the standard, where MPI_Psend_init has a large count already; but the MPI Forum's stubs have them. */
int PMPI_Psend_init_c(const void *buf, int parts, MPI_Count n, MPI_Datatype type, int dest, int tag,
                      MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return PMPI_Psend_init(buf, parts, n, type, dest, tag, comm, info, request);
}
WEAK(Psend_init_c)
int PMPI_Precv_init_c(void *buf, int parts, MPI_Count n, MPI_Datatype type, int source, int tag,
                      MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return PMPI_Precv_init(buf, parts, n, type, source, tag, comm, info, request);
}
WEAK(Precv_init_c)

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
