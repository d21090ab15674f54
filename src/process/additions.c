/* What a program adds to its recovery: callbacks, communicators to watch, and builders of communicators. */
#include "internal.h"

#include <base/fail.h>

#include <stdlib.h>

static int grow(void **array, int *max, int needed, size_t size)
{
    if (needed <= *max)
        return 0;
    int more = needed * 2 + 2;
    void *larger = realloc(*array, (size_t)more * size);
    if (!larger)
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for %d entries", more);
    *array = larger;
    *max = more;
    return 0;
}

int mend_process_callback_push(mend_process *p, mend_process_callback *callback, void *arg)
{
    int rc = mend_process_usable(p, "mend_process_callback_push");
    if (rc != 0)
        return rc;
    if (!callback)
        return mend_fail(MEND_ERR_ARGUMENT, "mend_process_callback_push: NULL");
    rc = grow((void **)&p->callbacks, &p->max_callbacks, p->n_callbacks + 1, sizeof *p->callbacks);
    if (rc == 0)
        p->callbacks[p->n_callbacks++] = (struct callback){callback, arg};
    return rc;
}

int mend_process_callback_pop(mend_process *p)
{
    int rc = mend_process_usable(p, "mend_process_callback_pop");
    if (rc != 0)
        return rc;
    if (p->n_callbacks == 0)
        return mend_fail(MEND_ERR_STATE, "mend_process_callback_pop: none was pushed");
    p->n_callbacks--;
    return 0;
}

int mend_process_settled(mend_process *p)
{
    int rc = mend_process_usable(p, "mend_process_settled");
    if (rc == 0)
        p->settled = p->now.generation;
    return rc;
}

int mend_process_watch(mend_process *p, MPI_Comm comm)
{
    int rc = mend_process_usable(p, "mend_process_watch");
    if (rc != 0)
        return rc;
    if (comm == MPI_COMM_NULL || !p->family)
        return mend_fail(MEND_ERR_ARGUMENT, "mend_process_watch: no communicator");
    if (mend_comms_join(p->family, comm) != MPI_SUCCESS)
        return mend_fail(MEND_ERR_MPI, "mend_process_watch: the communicator takes no attribute");
    return 0;
}

int mend_process_keep_builder(mend_process *p, const mend_process_builder *builder)
{
    int max_built = p->max_builders, max_building = p->max_builders, n = p->n_builders + 1;
    if (!builder->build || !builder->made)
        return mend_fail(MEND_ERR_ARGUMENT, "a builder without function or place");
    int rc = grow((void **)&p->built, &max_built, n, sizeof *p->built);
    if (rc == 0)
        rc = grow((void **)&p->building, &max_building, n, sizeof *p->building);
    if (rc == 0)
        rc = grow((void **)&p->builders, &p->max_builders, n, sizeof *p->builders);
    if (rc != 0)
        return rc;
    p->built[n - 1] = p->building[n - 1] = *builder->made = MPI_COMM_NULL;
    p->builders[n - 1] = *builder;
    p->n_builders = n;
    return 0;
}

int mend_process_builder_add(mend_process *p, mend_process_build *build, void *arg, MPI_Comm *made)
{
    int rc = mend_process_usable(p, "mend_process_builder_add"), at = 0;
    if (rc != 0)
        return rc;
    if (p->stage != STAGE_WORKING)
        return mend_fail(MEND_ERR_STATE, "mend_process_builder_add: not at work");
    mend_process_builder builder = {build, arg, made};
    if (!build || !made)
        return mend_fail(MEND_ERR_ARGUMENT, "mend_process_builder_add: NULL");
    MPI_Comm comm;
    int code = build(p->now.comm, &comm, arg); /* may jump: nothing has changed yet */
    if (code != MPI_SUCCESS)
        return mend_fail(mend_process_comes_from_failure(p, p->now.comm, code)
                             ? MEND_ERR_PEER_FAILED
                             : MEND_ERR_MPI,
                         "mend_process_builder_add: the builder returned %d", code);
    while (at < p->n_builders && p->builders[at].made != made)
        at++;
    if (at == p->n_builders)
        rc = mend_process_keep_builder(p, &builder);
    if (rc != 0)
        return rc;
    p->builders[at] = builder;
    mend_process_retire(p, p->built[at]);
    p->built[at] = *made = comm;
    return 0;
}
