/* life/session.c - sessions: handles with an error handler and hints, above only. An image holds them like any other memory.
 *
 * All sessions share one MPI, that of MPI_COMM_WORLD: its processes are the ranks of the job, in that order. There are two
 * process sets, mpi://WORLD and mpi://SELF. MPI_Comm_create_from_group works like MPI_Comm_create_group, with a hash of the
 * string tag as its tag; a resume rebuilds such a communicator like all others.
 */
#include "life/life.h"
#include "comm/comm.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static int wanted_threads(const object *info)
{
    static const char *const levels[] = {"MPI_THREAD_SINGLE", "MPI_THREAD_FUNNELED",
                                         "MPI_THREAD_SERIALIZED", "MPI_THREAD_MULTIPLE"};
    const char *wanted = info ? word_get(info, "thread_level") : NULL;
    for (int k = 3; wanted && k > 0; k--)
        if (!strcmp(wanted, levels[k]))
            return k;
    return 0;
}
int core_Session_init(object *info, object *errhandler, object **session)
{
    int provided, rc = session_begins(wanted_threads(info), &provided);
    if (rc)
        return rc;
    object *s = object_new(KIND_SESSION);
    s->session.open = 1;
    errhandler_attach(s, errhandler);
    info_take(s, info);
    *session = s;
    return 0;
}
int core_Session_finalize(object **session)
{
    object *s = *session;
    if (!s || !s->session.open)
        return NEUTRAL_MPI_ERR_SESSION;
    errhandler_attach(s, NULL);
    s->session.open = 0;
    session_ends();
    object_delete(s);
    *session = predef[PRE_MPI_SESSION_NULL];
    return 0;
}

/* --- process sets --- */
static const char *const psets[] = {"mpi://WORLD", "mpi://SELF"};
enum { WORLD, SELF, N_PSETS };

static int pset_at(const char *name)
{
    for (int k = 0; k < N_PSETS; k++)
        if (!strcasecmp(name, psets[k]))
            return k;
    return N_PSETS;
}
static const object *comm_of(int pset)
{
    return pset == WORLD ? COMM_WORLD : COMM_SELF;
}
int core_Session_get_num_psets(object *s, object *info, int *n)
{
    (void)s;
    (void)info;
    *n = N_PSETS;
    return 0;
}
/* *len: size of `name`, including the NUL; 0: returns the length that it needs */
int core_Session_get_nth_pset(object *s, object *info, int n, int *len, char *name)
{
    (void)s;
    (void)info;
    if (n < 0 || n >= N_PSETS)
        return NEUTRAL_MPI_ERR_ARG;
    if (*len)
        snprintf(name, (size_t)*len, "%s", psets[n]);
    else
        *len = (int)strlen(psets[n]) + 1;
    return 0;
}
int core_Session_get_pset_info(object *s, const char *name, object **info)
{
    int pset = pset_at(name);
    char size[16];
    (void)s;
    if (pset == N_PSETS)
        return NEUTRAL_MPI_ERR_ARG;
    snprintf(size, sizeof size, "%d", comm_of(pset)->comm.size);
    int rc = core_Info_create(info);
    return rc ? rc : word_set(*info, "mpi_size", size);
}
int core_Group_from_session_pset(object *s, const char *name, object **group)
{
    int pset = pset_at(name);
    (void)s;
    if (pset == N_PSETS)
        return NEUTRAL_MPI_ERR_ARG;
    *group = new_group(comm_of(pset)->comm.size, comm_of(pset)->comm.ranks);
    return 0;
}

/* --- communicators of groups --- */
/* A tag that every library allows, and that none of our own messages on own_channel uses. */
static int tag_of(const char *text)
{
    enum { FIRST = 0x10000, N = 0x20000 };
    unsigned hash = 2166136261u;
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 16777619u;
    return FIRST + (int)(hash % N);
}
static void take_hints(object *comm, object *info, object *errhandler)
{
    if (comm == predef[PRE_MPI_COMM_NULL])
        return;
    errhandler_attach(comm, errhandler);
    info_take(comm, info);
}
static int needs_members(const object *group)
{
    if (!group || group == predef[PRE_MPI_GROUP_NULL])
        return NEUTRAL_MPI_ERR_GROUP;
    return group->group.size && index_of(group->group.size, group->group.ranks, upper.rank) < 0
               ? NEUTRAL_MPI_ERR_GROUP
               : 0;
}
int core_Comm_create_from_group(object *group, const char *stringtag, object *info,
                                object *errhandler, object **newcomm)
{
    int rc = needs_members(group);
    if (!rc && !group->group.size)
        *newcomm = predef[PRE_MPI_COMM_NULL];
    else if (!rc)
        rc = core_Comm_create_group(COMM_WORLD, group, tag_of(stringtag), newcomm);
    if (!rc)
        take_hints(*newcomm, info, errhandler);
    return rc;
}
/* The leaders meet on our own channel: a program that uses only sessions does not have MPI_COMM_WORLD. */
int core_Intercomm_create_from_groups(object *local, int local_leader, object *remote,
                                      int remote_leader, const char *stringtag, object *info,
                                      object *errhandler, object **newintercomm)
{
    object *side;
    int there = 0, tag = tag_of(stringtag), rc = needs_members(local);
    if (rc || !local->group.size)
        return rc ? rc : NEUTRAL_MPI_ERR_GROUP;
    if (local_leader < 0 || local_leader >= local->group.size)
        return NEUTRAL_MPI_ERR_RANK;
    if (local->group.ranks[local_leader] == upper.rank) {
        if (!remote || remote_leader < 0 || remote_leader >= remote->group.size)
            return NEUTRAL_MPI_ERR_GROUP;
        there = remote->group.ranks[remote_leader];
    }
    rc = core_Comm_create_group(COMM_WORLD, local, tag, &side);
    if (rc)
        return rc;
    rc = core_Intercomm_create(side, local_leader, core.own_channel, there, tag, newintercomm);
    int freed = core_Comm_free(&side);
    if (!rc)
        take_hints(*newintercomm, info, errhandler);
    return rc ? rc : freed;
}
