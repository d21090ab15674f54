/* Every call that makes a communicator passes through here. So the layer knows what was made from a resilient
 * communicator, without help from the user.
 *
 * Profiling tools put their MPI_X in front of the library's and call PMPI_X. To see every call and to hide none from
 * a tool, we wrap each call under both names, and each wrapper calls the *next* definition of the same name in the
 * dynamic linker's order:
 *
 *     program -> MPI_X (tool) -> PMPI_X (here) -> PMPI_X (library)      tool first
 *     program -> MPI_X (here) -> MPI_X (tool) -> PMPI_X (here) -> ...   Mend first
 *
 * A communicator that passes twice is added once. The symbols are weak, so a tool may also be linked statically. For
 * a communicator outside any family the cost is one attribute lookup. */
#include "comms.h"

#include <base/fail.h>
#include <base/log.h>

#include <dlfcn.h>

#define EXPORT __attribute__((weak, visibility("default")))

/* With a static MPI library there is no next definition to call. */
static void *find_next(const char *name)
{
    void *next = dlsym(RTLD_NEXT, name);
    if (!next)
        mend_log(MEND_LOG_ERROR,
                 "process: cannot find %s of the MPI library: Mend needs a shared MPI library "
                 "(libmpi.so), not a static one",
                 name);
    return next;
}

int mend_comms_intercept(void)
{
    return find_next("PMPI_Comm_dup") ? 0
                                      : mend_fail(MEND_ERR_MPI, "the MPI library is linked "
                                                                "statically; Mend needs a shared "
                                                                "one (libmpi.so)");
}

/* NAME, parameters, arguments, the parent communicator, where the new one goes */
#define COMMUNICATOR_MAKERS(X)                                                                    \
    X(Comm_dup, (MPI_Comm comm, MPI_Comm * made), (comm, made), comm, made)                       \
    X(Comm_dup_with_info, (MPI_Comm comm, MPI_Info info, MPI_Comm * made), (comm, info, made),    \
      comm, made)                                                                                 \
    X(Comm_create, (MPI_Comm comm, MPI_Group group, MPI_Comm * made), (comm, group, made), comm,  \
      made)                                                                                       \
    X(Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm *made), (comm, color, key, made),  \
      comm, made)                                                                                 \
    X(Comm_split_type, (MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *made),         \
      (comm, type, key, info, made), comm, made)                                                  \
    X(Cart_create,                                                                                \
      (MPI_Comm comm, int n, const int dims[], const int periods[], int reorder, MPI_Comm *made), \
      (comm, n, dims, periods, reorder, made), comm, made)                                        \
    X(Cart_sub, (MPI_Comm comm, const int remain[], MPI_Comm *made), (comm, remain, made), comm,  \
      made)                                                                                       \
    X(Graph_create,                                                                               \
      (MPI_Comm comm, int n, const int index[], const int edges[], int reorder, MPI_Comm *made),  \
      (comm, n, index, edges, reorder, made), comm, made)                                         \
    X(Dist_graph_create,                                                                          \
      (MPI_Comm comm, int n, const int nodes[], const int degrees[], const int targets[],         \
       const int weights[], MPI_Info info, int reorder, MPI_Comm *made),                          \
      (comm, n, nodes, degrees, targets, weights, info, reorder, made), comm, made)               \
    X(Dist_graph_create_adjacent,                                                                 \
      (MPI_Comm comm, int in, const int sources[], const int in_weights[], int out,               \
       const int destinations[], const int out_weights[], MPI_Info info, int reorder,             \
       MPI_Comm *made),                                                                           \
      (comm, in, sources, in_weights, out, destinations, out_weights, info, reorder, made), comm, \
      made)                                                                                       \
    X(Intercomm_create,                                                                           \
      (MPI_Comm comm, int leader, MPI_Comm peer, int remote, int tag, MPI_Comm *made),            \
      (comm, leader, peer, remote, tag, made), comm, made)                                        \
    X(Intercomm_merge, (MPI_Comm comm, int high, MPI_Comm *made), (comm, high, made), comm, made)

#define WRAP(prefix, name, parameters, arguments, parent, made)        \
    EXPORT int prefix##name parameters                                 \
    {                                                                  \
        static int(*next) parameters;                                  \
        if (!next)                                                     \
            next = (int(*) parameters)find_next(#prefix #name);        \
        int rc = next ? next arguments : MPI_ERR_OTHER;                \
        return rc == MPI_SUCCESS ? mend_comms_made(parent, made) : rc; \
    }
#define WRAP_BOTH(name, parameters, arguments, parent, made) \
    WRAP(MPI_, name, parameters, arguments, parent, made)    \
    WRAP(PMPI_, name, parameters, arguments, parent, made)
COMMUNICATOR_MAKERS(WRAP_BOTH)

/* Duplicates made in the background join when they are complete. */
#define WRAP_LATER(prefix, name, parameters, arguments)         \
    EXPORT int prefix##name parameters                          \
    {                                                           \
        static int(*next) parameters;                           \
        if (!next)                                              \
            next = (int(*) parameters)find_next(#prefix #name); \
        int rc = next ? next arguments : MPI_ERR_OTHER;         \
        struct mend_family *family = mend_comms_of(comm);       \
        if (rc == MPI_SUCCESS && family)                        \
            mend_comms_join_later(family, *made, *request);     \
        return rc;                                              \
    }
#define IDUP      (MPI_Comm comm, MPI_Comm * made, MPI_Request * request)
#define IDUP_INFO (MPI_Comm comm, MPI_Info info, MPI_Comm * made, MPI_Request * request)
WRAP_LATER(MPI_, Comm_idup, IDUP, (comm, made, request))
WRAP_LATER(PMPI_, Comm_idup, IDUP, (comm, made, request))
WRAP_LATER(MPI_, Comm_idup_with_info, IDUP_INFO, (comm, info, made, request))
WRAP_LATER(PMPI_, Comm_idup_with_info, IDUP_INFO, (comm, info, made, request))

/* Communicators that include processes from outside the family: they join, but there is nobody to confirm with. */
static void made_with_others(MPI_Comm parent, MPI_Comm *made)
{
    struct mend_family *family = mend_comms_of(parent);
    if (family && made && *made != MPI_COMM_NULL)
        mend_comms_join(family, *made);
}

#define WRAP_OTHERS(prefix, name, parameters, arguments, parent, made) \
    EXPORT int prefix##name parameters                                 \
    {                                                                  \
        static int(*next) parameters;                                  \
        if (!next)                                                     \
            next = (int(*) parameters)find_next(#prefix #name);        \
        int rc = next ? next arguments : MPI_ERR_OTHER;                \
        if (rc == MPI_SUCCESS)                                         \
            made_with_others(parent, made);                            \
        return rc;                                                     \
    }
#define SPAWN                                                                          \
    (const char *command, char *argv[], int n, MPI_Info info, int root, MPI_Comm comm, \
     MPI_Comm *made, int codes[])
#define CONNECT (const char *port, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *made)
WRAP_OTHERS(MPI_, Comm_spawn, SPAWN, (command, argv, n, info, root, comm, made, codes), comm, made)
WRAP_OTHERS(PMPI_, Comm_spawn, SPAWN, (command, argv, n, info, root, comm, made, codes), comm, made)
WRAP_OTHERS(MPI_, Comm_accept, CONNECT, (port, info, root, comm, made), comm, made)
WRAP_OTHERS(PMPI_, Comm_accept, CONNECT, (port, info, root, comm, made), comm, made)
WRAP_OTHERS(MPI_, Comm_connect, CONNECT, (port, info, root, comm, made), comm, made)
WRAP_OTHERS(PMPI_, Comm_connect, CONNECT, (port, info, root, comm, made), comm, made)

/* Open MPI's MPI_Comm_create_group waits in the run-time system, forever if a member dies, and no revoke ends it. So
 * on a resilient communicator we build the group's communicator pairwise, from calls that a revoke ends
 * (mend_comms_assemble). */
#define CREATE_GROUP (MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *made)
#define WRAP_CREATE_GROUP(prefix)                                               \
    EXPORT int prefix##Comm_create_group CREATE_GROUP                           \
    {                                                                           \
        static int(*next) CREATE_GROUP;                                         \
        if (!next)                                                              \
            next = (int(*) CREATE_GROUP)find_next(#prefix "Comm_create_group"); \
        if (mend_comms_of(comm))                                                \
            return mend_comms_assemble(comm, group, tag, made);                 \
        return next ? next(comm, group, tag, made) : MPI_ERR_OTHER;             \
    }
WRAP_CREATE_GROUP(MPI_)
WRAP_CREATE_GROUP(PMPI_)
