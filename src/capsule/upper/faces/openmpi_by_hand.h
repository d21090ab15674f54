/* faces/openmpi_by_hand.h - Open MPI's C ABI: names that only it has, and calls of the program's functions. */

#define NULL_FUNCTIONS(WHAT, Type)                                                               \
    int OMPI_C_MPI_##WHAT##_NULL_DELETE_FN(Type o, int key, void *value, void *extra)            \
    {                                                                                            \
        (void)o, (void)key, (void)value, (void)extra;                                            \
        return MPI_SUCCESS;                                                                      \
    }                                                                                            \
    int OMPI_C_MPI_##WHAT##_NULL_COPY_FN(Type o, int key, void *extra, void *in, void *out,      \
                                         int *flag)                                              \
    {                                                                                            \
        (void)o, (void)key, (void)extra, (void)in, (void)out;                                    \
        *flag = 0;                                                                               \
        return MPI_SUCCESS;                                                                      \
    }                                                                                            \
    int OMPI_C_MPI_##WHAT##_DUP_FN(Type o, int key, void *extra, void *in, void *out, int *flag) \
    {                                                                                            \
        (void)o, (void)key, (void)extra;                                                         \
        *flag = 1;                                                                               \
        *(void **)out = in;                                                                      \
        return MPI_SUCCESS;                                                                      \
    }
NULL_FUNCTIONS(COMM, MPI_Comm)
NULL_FUNCTIONS(TYPE, MPI_Datatype)
NULL_FUNCTIONS(WIN, MPI_Win)
int OMPI_C_MPI_NULL_DELETE_FN(MPI_Comm, int, void *, void *)
    __attribute__((alias("OMPI_C_MPI_COMM_NULL_DELETE_FN")));
int OMPI_C_MPI_NULL_COPY_FN(MPI_Comm, int, void *, void *, void *, int *)
    __attribute__((alias("OMPI_C_MPI_COMM_NULL_COPY_FN")));
int OMPI_C_MPI_DUP_FN(MPI_Comm, int, void *, void *, void *, int *)
    __attribute__((alias("OMPI_C_MPI_COMM_DUP_FN")));

/* --- the program's functions, in C and Fortran. A C handle is the object's address, a Fortran handle
 * its index. --- */
typedef int copy_c(void *, int, void *, void *, void *, int *);
typedef int delete_c(void *, int, void *, void *);
typedef void copy_f(int *, int *, long *, long *, long *, int *, int *);
typedef void delete_f(int *, int *, long *, long *, int *);
typedef void copy_old(int *, int *, int *, int *, int *, int *, int *);
typedef void delete_old(int *, int *, int *, int *, int *);

int face_call_copy(struct keyval *k, object *o, int key, long value, enum language set_in,
                   long *out, int *flag)
{
    int rc = 0, index = o->index;
    long extra = (long)k->extra;
    switch (k->language) {
    case LANGUAGE_C: {
        void *result = (void *)value;
        rc = ((copy_c *)k->copy)(o, key, k->extra, set_in == LANGUAGE_C ? (void *)value : &value,
                                 &result, flag);
        *out = (long)result;
        break;
    }
    case LANGUAGE_FORTRAN: ((copy_f *)k->copy)(&index, &key, &extra, &value, out, flag, &rc); break;
    default: {
        int e = (int)extra, v = (int)value, w = v;
        ((copy_old *)k->copy)(&index, &key, &e, &v, &w, flag, &rc);
        *out = w;
    }
    }
    return rc;
}
int face_call_delete(struct keyval *k, object *o, int key, long value, enum language set_in)
{
    int rc = 0, index = o->index;
    long extra = (long)k->extra;
    switch (k->language) {
    case LANGUAGE_C:
        return ((delete_c *)k->delete)(o, key, set_in == LANGUAGE_C ? (void *)value : &value,
                                       k->extra);
    case LANGUAGE_FORTRAN: ((delete_f *)k->delete)(&index, &key, &value, &extra, &rc); break;
    default: {
        int e = (int)extra, v = (int)value;
        ((delete_old *)k->delete)(&index, &key, &v, &e, &rc);
    }
    }
    return rc;
}
void face_call_errhandler(object *e, object *holder, int code)
{
    int index = holder->index;
    if (e->errh.language == LANGUAGE_C)
        call_c_errhandler(e, holder, code);
    else
        ((void (*)(int *, int *))e->errh.fn)(&index, &code);
}
int face_call_query(struct special_request *s, struct status *st)
{
    int rc = 0;
    if (s->language == LANGUAGE_C)
        return call_c_query(s, st);
    ((void (*)(void *, struct status *, int *))s->query)(&s->extra, st, &rc);
    return rc;
}
int face_call_free(struct special_request *s)
{
    int rc = 0;
    if (s->language == LANGUAGE_C)
        return ((MPI_Grequest_free_function *)s->free_fn)(s->extra);
    ((void (*)(void *, int *))s->free_fn)(&s->extra, &rc);
    return rc;
}
int face_call_cancel(struct special_request *s, int complete)
{
    int rc = 0;
    if (s->language == LANGUAGE_C)
        return ((MPI_Grequest_cancel_function *)s->cancel)(s->extra, complete);
    ((void (*)(void *, int *, int *))s->cancel)(&s->extra, &complete, &rc);
    return rc;
}

/* --- Fortran statuses: the same six words --- */
MPI_Fint *MPI_F_STATUS_IGNORE, *MPI_F_STATUSES_IGNORE;
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
MPI_Fint *MPI_F08_STATUS_IGNORE, *MPI_F08_STATUSES_IGNORE;
int PMPI_Status_c2f08(const MPI_Status *c, MPI_F08_status *f)
{
    memcpy(f, c, sizeof *c);
    return MPI_SUCCESS;
}
WEAK(Status_c2f08)
int PMPI_Status_f082c(const MPI_F08_status *f, MPI_Status *c)
{
    memcpy(c, f, sizeof *c);
    return MPI_SUCCESS;
}
WEAK(Status_f082c)
int PMPI_Status_f082f(const MPI_F08_status *f08, MPI_Fint *f)
{
    memcpy(f, f08, sizeof(MPI_Status));
    return MPI_SUCCESS;
}
WEAK(Status_f082f)
int PMPI_Status_f2f08(const MPI_Fint *f, MPI_F08_status *f08)
{
    memcpy(f08, f, sizeof(MPI_Status));
    return MPI_SUCCESS;
}
WEAK(Status_f2f08)
/* not in the standard */
int PMPI_Session_set_info(MPI_Session session, MPI_Info info)
{
    object *s = IN_SESSION(session);
    int rc = no_holder(s) ?: INSIDE(core_Session_set_info(s, IN_INFO(info)));
    return FACE_RAISE(rc, s, Session_set_info);
}
WEAK(Session_set_info)
