/* Communicators that the process layer cannot see being made. */
#include "flow.h"

#include <base/fail.h>
#include <mend/process.h>

int mend_flow_watch(mend_flow *flow, MPI_Comm comm)
{
    const mend_flow *f = flow_of(flow);
    if (!f->open)
        return mend_fail(MEND_ERR_STATE, "no communicator can be watched before MPI_Init");
    return f->process ? mend_process_watch(f->process, comm) : MEND_OK;
}
