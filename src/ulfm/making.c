/* How Open MPI makes communicators, by names that its library exports but no header declares.
 *
 * It does so in steps of a special request. A step runs when the messages before it are complete; the library only tests
 * for that, not whether they can still complete. So the call waits forever for a process that is dead or has left, and no
 * revoke ends it. We interpose the function that appends a step, and those who make a communicator decide what becomes of
 * each (build.c, and creation.c of the capsule).
 *
 * The library chooses numbers for one parent communicator after the other, the lowest first, and a request that fails
 * does not end its turn. The world is the lowest, and a communicator of this process alone needs no message: making one
 * from the world ends any turn. */
#include <ulfm/making.h>

#include <dlfcn.h>
#include <stddef.h>

typedef int append_function(MPI_Request, mend_making_step *, MPI_Request *, int, uint32_t);
typedef int create_function(MPI_Comm, MPI_Group, int, MPI_Comm *);

static mend_making_see *seer;

static append_function *library_append(void)
{
    static union {
        void *symbol;
        append_function *append;
    } next;
    if (!next.symbol)
        next.symbol = dlsym(RTLD_NEXT, "ompi_comm_request_schedule_append_w_flags");
    return next.append;
}

__attribute__((weak, visibility("default"))) int ompi_comm_request_schedule_append_w_flags(
    MPI_Request request, mend_making_step *step, MPI_Request *parts, int count, uint32_t flags);
int ompi_comm_request_schedule_append_w_flags(MPI_Request request, mend_making_step *step,
                                              MPI_Request *parts, int count, uint32_t flags)
{
    append_function *append = library_append();
    mend_making_see *see = seer;
    if (!append)
        return MAKING_FAILED;
    if (see && see(request, step, parts, count, flags))
        return 0;
    return append(request, step, parts, count, flags);
}

int mend_making_append(MPI_Request request, mend_making_step *step, MPI_Request *parts, int count,
                       uint32_t flags)
{
    append_function *append = library_append();
    return append ? append(request, step, parts, count, flags) : MAKING_FAILED;
}

mend_making_see *mend_making_show(mend_making_see *see)
{
    mend_making_see *before = seer;
    seer = see;
    return before;
}

static create_function *library_create(void)
{
    static union {
        void *symbol;
        create_function *create;
    } library;
    if (!library.symbol)
        library.symbol = dlsym(RTLD_DEFAULT, "ompi_comm_create_group");
    return library.create;
}

bool mend_making_known(void)
{
    return library_append() && library_create();
}

int mend_making_of_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *made)
{
    create_function *create = library_create();
    *made = MPI_COMM_NULL;
    return create ? create(comm, group, tag, made) : MPI_ERR_UNSUPPORTED_OPERATION;
}

void mend_making_end_turn(void)
{
    MPI_Group all, self;
    MPI_Comm one = MPI_COMM_NULL;
    int me;
    mend_making_see *before = mend_making_show(NULL);
    PMPI_Comm_rank(MPI_COMM_WORLD, &me);
    PMPI_Comm_group(MPI_COMM_WORLD, &all);
    PMPI_Group_incl(all, 1, &me, &self);
    if (mend_making_of_group(MPI_COMM_WORLD, self, 0, &one) == MPI_SUCCESS && one != MPI_COMM_NULL)
        PMPI_Comm_free(&one);
    PMPI_Group_free(&self);
    PMPI_Group_free(&all);
    mend_making_show(before);
}
