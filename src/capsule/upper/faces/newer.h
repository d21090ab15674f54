/* faces/newer.h - the C ABIs of MPICH and of the standard: functions of MPI-4.1 that query several requests without completing
 * any, access the fields of a status, attach buffers to communicators, and remove error classes.
 */

/* Is this request complete, and with which status? */
static int ask(MPI_Request request, int *flag, MPI_Status *status)
{
    struct status s = empty_status;
    int rc = INSIDE(core_Request_get_status(IN_REQ(request), flag, &s));
    if (!rc && *flag && status)
        status_out(&s, status);
    return rc;
}
static int is_active(MPI_Request request)
{
    return !request_idle(IN_REQ(request));
}

int PMPI_Request_get_status_all(int n, MPI_Request *requests, int *flag, MPI_Status *statuses)
{
    int rc = n < 0 ? NEUTRAL_MPI_ERR_COUNT : !flag || (n && !requests) ? NEUTRAL_MPI_ERR_ARG : 0;
    int all = 1, one;
    for (int i = 0; i < n && !rc; i++) {
        rc = ask(requests[i], &one, NULL);
        all &= rc || one;
    }
    for (int i = 0; i < n && !rc && all && statuses != MPI_STATUSES_IGNORE; i++)
        rc = ask(requests[i], &one, &statuses[i]);
    if (!rc)
        *flag = all;
    return FACE_RAISE(rc, NULL, Request_get_status_all);
}
WEAK(Request_get_status_all)

int PMPI_Request_get_status_any(int n, MPI_Request *requests, int *index, int *flag,
                                MPI_Status *status)
{
    int rc = n < 0                                 ? NEUTRAL_MPI_ERR_COUNT
             : !index || !flag || (n && !requests) ? NEUTRAL_MPI_ERR_ARG
                                                   : 0;
    int active = 0, done = 0, at = MPI_UNDEFINED;
    for (int i = 0; i < n && !rc && !done; i++)
        if (is_active(requests[i])) {
            active = 1;
            rc = ask(requests[i], &done, status == MPI_STATUS_IGNORE ? NULL : status);
            at = done ? i : at;
        }
    if (!rc && !active && status != MPI_STATUS_IGNORE)
        status_out(&empty_status, status);
    if (!rc) {
        *index = at;
        *flag = done || !active;
    }
    return FACE_RAISE(rc, NULL, Request_get_status_any);
}
WEAK(Request_get_status_any)

int PMPI_Request_get_status_some(int n, MPI_Request *requests, int *count, int *indices,
                                 MPI_Status *statuses)
{
    int rc = n < 0 ? NEUTRAL_MPI_ERR_COUNT : !count || (n && !requests) ? NEUTRAL_MPI_ERR_ARG : 0;
    int active = 0, done, found = 0;
    for (int i = 0; i < n && !rc; i++)
        if (is_active(requests[i])) {
            active = 1;
            rc = ask(requests[i], &done, statuses == MPI_STATUSES_IGNORE ? NULL : &statuses[found]);
            if (!rc && done)
                indices[found++] = i;
        }
    if (!rc)
        *count = active ? found : MPI_UNDEFINED;
    return FACE_RAISE(rc, NULL, Request_get_status_some);
}
WEAK(Request_get_status_some)

/* the fields of a status */
#define STATUS_FIELD(what, FIELD)                     \
    int PMPI_Status_get_##what(MPI_Status *s, int *v) \
    {                                                 \
        *v = s->FIELD;                                \
        return MPI_SUCCESS;                           \
    }                                                 \
    WEAK(Status_get_##what)                           \
    int PMPI_Status_set_##what(MPI_Status *s, int v)  \
    {                                                 \
        s->FIELD = v;                                 \
        return MPI_SUCCESS;                           \
    }                                                 \
    WEAK(Status_set_##what)
STATUS_FIELD(source, MPI_SOURCE)
STATUS_FIELD(tag, MPI_TAG)
STATUS_FIELD(error, MPI_ERROR)

/* --- buffers of communicators; flushes --- */
int PMPI_Buffer_flush(void)
{
    int rc = core_buffer_flush(NULL);
    return FACE_RAISE(rc, NULL, Buffer_flush);
}
WEAK(Buffer_flush)
int PMPI_Buffer_iflush(MPI_Request *request)
{
    object *r = NULL;
    int rc = core_buffer_iflush(NULL, &r);
    *request = OUT_REQ(r);
    return FACE_RAISE(rc, NULL, Buffer_iflush);
}
WEAK(Buffer_iflush)
#define NO_COMM(c) (!(c) || !(c)->comm.card ? NEUTRAL_MPI_ERR_COMM : 0)
static int attach_to(MPI_Comm comm, void *buf, MPI_Count size, const char *name)
{
    object *c = IN_COMM(comm);
    int rc = NO_COMM(c);
    if (!rc)
        rc = core_buffer_attach(c, BUFFER_IN(buf), size);
    return rc ? raise_error(rc, c, name) : MPI_SUCCESS;
}
static int detach_from(MPI_Comm comm, void *buf, long *size, const char *name)
{
    object *c = IN_COMM(comm);
    int rc = NO_COMM(c);
    if (!rc)
        rc = detach_buffer(c, buf, size);
    return rc ? raise_error(rc, c, name) : MPI_SUCCESS;
}
int PMPI_Comm_attach_buffer(MPI_Comm comm, void *buf, int size)
{
    return attach_to(comm, buf, size, "MPI_Comm_attach_buffer");
}
WEAK(Comm_attach_buffer)
int PMPI_Comm_attach_buffer_c(MPI_Comm comm, void *buf, MPI_Count size)
{
    return attach_to(comm, buf, size, "MPI_Comm_attach_buffer_c");
}
WEAK(Comm_attach_buffer_c)
int PMPI_Comm_detach_buffer(MPI_Comm comm, void *buf, int *size)
{
    long n = 0;
    int rc = detach_from(comm, buf, &n, "MPI_Comm_detach_buffer");
    if (!rc)
        *size = int_or_undefined(n);
    return rc;
}
WEAK(Comm_detach_buffer)
int PMPI_Comm_detach_buffer_c(MPI_Comm comm, void *buf, MPI_Count *size)
{
    long n = 0;
    int rc = detach_from(comm, buf, &n, "MPI_Comm_detach_buffer_c");
    if (!rc)
        *size = n;
    return rc;
}
WEAK(Comm_detach_buffer_c)
int PMPI_Comm_flush_buffer(MPI_Comm comm)
{
    object *c = IN_COMM(comm);
    int rc = NO_COMM(c);
    if (!rc)
        rc = core_buffer_flush(c);
    return FACE_RAISE(rc, c, Comm_flush_buffer);
}
WEAK(Comm_flush_buffer)
int PMPI_Comm_iflush_buffer(MPI_Comm comm, MPI_Request *request)
{
    object *c = IN_COMM(comm), *r = NULL;
    int rc = NO_COMM(c);
    if (!rc)
        rc = core_buffer_iflush(c, &r);
    if (r)
        *request = OUT_REQ(r);
    return FACE_RAISE(rc, c, Comm_iflush_buffer);
}
WEAK(Comm_iflush_buffer)

/* --- error classes, codes and their sentences are taken back --- */
#define REMOVE(what)                                      \
    int PMPI_Remove_error_##what(int code)                \
    {                                                     \
        int rc = remove_error_##what(code);               \
        return FACE_RAISE(rc, NULL, Remove_error_##what); \
    }                                                     \
    WEAK(Remove_error_##what)
REMOVE(class)
REMOVE(code)
REMOVE(string)

int PMPI_Type_get_value_index(MPI_Datatype value, MPI_Datatype index, MPI_Datatype *pair)
{
    object *p = index == MPI_INT ? pair_with_int(IN_TYPE(value)) : NULL;
    *pair = p ? OUT_TYPE(p) : MPI_DATATYPE_NULL;
    return MPI_SUCCESS;
}
WEAK(Type_get_value_index)
