/* env.c - environment: start, end, clocks, errors, predefined attributes. */
#include "core.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int initialized, finalized, provided_level;
static int tag_ub;

int core_Init_thread(int required, int *provided)
{
    int rc = LOWER(Init_thread, required, provided);
    upper.thread_level = required;
    if (*provided > 2)
        *provided = 2; /* MPI_THREAD_SERIALIZED: one lower-half TLS */
    provided_level = *provided;
    bind_predefined();
    know_comm(COMM_WORLD);
    know_comm(COMM_SELF);
    upper.rank = COMM_WORLD->comm.rank;
    upper.size = COMM_WORLD->comm.size;
    sent_to = calloc(upper.size, sizeof *sent_to);
    received_from = calloc(upper.size, sizeof *received_from);
    tag_ub = LOWER(tag_ub);
    if (tag_ub > 0x7ffff)
        tag_ub = 0x7ffff; /* a promise that any later lower half can keep */
    initialized = 1;
    return rc;
}
int core_Initialized(int *flag)
{
    *flag = initialized;
    return 0;
}
int core_Finalized(int *flag)
{
    *flag = finalized;
    return 0;
}
int core_Query_thread(int *provided)
{
    *provided = provided_level;
    return 0;
}
int core_Is_thread_main(int *flag)
{
    *flag = thread_pointer_get() == upper.thread_pointer;
    return 0;
}
int core_Finalize(void)
{
    checkpoint_summary();
    finalized = 1;
    return LOWER(Finalize);
}
double core_Wtime(void)
{
    return LOWER(Wtime) + wtime_shift;
}
int core_Get_version(int *v, int *s)
{
    *v = 3;
    *s = 1;
    return 0;
}
int core_Get_library_version(char *s, int *len)
{
    return LOWER(Get_library_version, s, len);
}
int core_Get_processor_name(char *s, int *len)
{
    return LOWER(Get_processor_name, s, len);
}
int core_Error_class(int code, int *class)
{
    return LOWER(Error_class, code, class);
}
int core_Error_string(int code, char *s, int *len)
{
    return LOWER(Error_string, code, s, len);
}
int core_Get_address(const void *p, long *a)
{
    *a = (long)p;
    return 0;
}
int core_Get_count(const struct status *s, object *t, int *count)
{
    int size;
    core_Type_size(t, &size);
    *count = !size ? 0 : s->bytes % size ? NEUTRAL_UNDEFINED : (int)(s->bytes / size);
    return 0;
}
int core_Test_cancelled(const struct status *s, int *flag)
{
    *flag = s->cancelled;
    return 0;
}
int core_Comm_get_attr(object *c, int which, int **value, int *flag)
{
    static int host = NEUTRAL_PROC_NULL, io = NEUTRAL_ANY_SOURCE, global;
    (void)c;
    *value = which == ATTR_TAG_UB ? &tag_ub
             : which == ATTR_HOST ? &host
             : which == ATTR_IO   ? &io
                                  : &global;
    *flag = which >= 0;
    return 0;
}
