/* faces/newer.h - the C ABIs of MPICH and of the standard: functions of MPI-4.1: those that ask about several requests
 * and complete none, and fields of a status.
 */

/* One of them: is it complete, and with which status? */
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

/* Fields of a status by functions. */
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
