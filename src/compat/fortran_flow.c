/* Safe points for Fortran. A jump needs a frame that is still there, and may pass over Fortran procedures but not into
 * one: so the program's main procedure is called from here, and the bodies of its loops from flow/loop.c. */
#define MEND_FLOW_NO_WORLD
#include <base/fail.h>
#include <mend/flow.h>
#include <mend/fortran.h>

#include <stdlib.h>

int mend_flow_main_fortran(mend_fortran_main *work)
{
    if (mend_flow_init(NULL, NULL, NULL, NULL, __builtin_frame_address(0),
                       _setjmp(*mend_flow_buffer(NULL))) != MPI_SUCCESS)
        return mend_flow_status(NULL);
    work();
    if (mend_flow_finalize(_setjmp(*mend_flow_buffer(NULL))) != MPI_SUCCESS)
        return mend_flow_status(NULL);
    return MEND_OK;
}

/* ---- views, builders, communicators ---------------------------------------------------------- */

int mend_flow_view_fortran(const char *label, void *address, size_t bytes, int contiguous,
                           int flags)
{
    int code = contiguous ? mend_flow_view(NULL, label, address, bytes, MPI_BYTE, (unsigned)flags)
                          : mend_fail(MEND_ERR_VIEW, "view %s: the array is not contiguous", label);
    return mend_flow_checked(code);
}

int mend_flow_view_global_fortran(const char *label, void *address, size_t bytes, int contiguous,
                                  int64_t offset, int64_t total, size_t element, int flags)
{
    if (!contiguous || offset < 0 || total < 0)
        return mend_flow_checked(
            mend_fail(MEND_ERR_VIEW, "view %s: %s", label,
                      contiguous ? "a negative offset or total" : "the array is not contiguous"));
    return mend_flow_checked(mend_flow_view_global(NULL, label, address, bytes, MPI_BYTE,
                                                   (uint64_t)offset * element,
                                                   (uint64_t)total * element, (unsigned)flags));
}

struct builder {
    mend_fortran_main *build;
    struct builder *next;
};

static int call_builder(void *arg)
{
    struct builder *builder = arg;
    builder->build();
    return 0;
}

/* The same procedure again replaces itself, so that it is named by one address. */
int mend_flow_rebuild_fortran(mend_fortran_main *build)
{
    static struct builder *builders;
    struct builder *b = builders;
    while (b && b->build != build)
        b = b->next;
    if (!b) {
        b = malloc(sizeof *b);
        if (!b)
            return mend_flow_checked(mend_fail(MEND_ERR_NO_MEMORY, "no memory for a builder"));
        *b = (struct builder){build, builders};
        builders = b;
    }
    return mend_flow_checked(mend_flow_rebuild(NULL, call_builder, b));
}

MPI_Fint mend_flow_world_fortran(void)
{
    return MPI_Comm_c2f(mend_flow_world(NULL));
}

int mend_flow_watch_fortran(MPI_Fint comm)
{
    return mend_flow_checked(mend_flow_watch(NULL, MPI_Comm_f2c(comm)));
}
