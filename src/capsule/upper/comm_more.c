/* comm_more.c - inter-communicators, duplicates with hints, the end of a communicator. */
#include "core.h"
#include <stdlib.h>
#include <string.h>

int core_Comm_remote_size(object *c, int *n)
{
    if (!c->comm.remote_size)
        return NEUTRAL_MPI_ERR_COMM;
    *n = c->comm.remote_size;
    return 0;
}
int core_Comm_remote_group(object *c, object **g)
{
    if (!c->comm.remote_size)
        return NEUTRAL_MPI_ERR_COMM;
    *g = new_group(c->comm.remote_size, c->comm.remote_ranks);
    return 0;
}
int core_Comm_dup_with_info(object *c, object *info, object **out)
{
    int rc = core_Comm_dup(c, out);
    if (!rc)
        info_take(*out, info);
    return rc;
}
int core_Comm_idup_with_info(object *c, object *info, object **out, object **request)
{
    int rc = core_Comm_idup(c, out, request);
    if (!rc)
        info_take(*out, info);
    return rc;
}
int core_Comm_disconnect(object **c)
{
    return core_Comm_free(c);
}
int core_Comm_get_parent(object **parent)
{
    *parent = predef[PRE_MPI_COMM_NULL];
    return 0;
}
int core_Comm_idup(object *c, object **out, object **request)
{
    int rc = core_Comm_dup(c, out);
    *request = new_request(0, NULL, 0, TYPE_BYTE, NEUTRAL_PROC_NULL, 0, c);
    (*request)->req.done = 1;
    (*request)->req.status = empty_status;
    return rc;
}
int core_Intercomm_create(object *l, int ll, object *p, int rl, int tag, object **out)
{
    (void)l, (void)ll, (void)p, (void)rl, (void)tag, (void)out;
    return refuse("MPI_Intercomm_create", "not yet");
}
int core_Intercomm_merge(object *c, int high, object **out)
{
    (void)c, (void)high, (void)out;
    return refuse("MPI_Intercomm_merge", "not yet");
}
