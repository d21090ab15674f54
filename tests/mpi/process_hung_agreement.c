/* Preloaded: an agreement of the MPI library that does not end, as seen on overloaded machines.
 *
 * HUNG_CALL shrink: in the HUNG_HIT-th call of MPIX_Comm_shrink (a list, as "2,5") the ranks HUNG_RANKS ("all", or a
 * list) wait for ever, without having taken part. HUNG_CALL agree: in the HUNG_HIT-th call of MPIX_Comm_agree they
 * take part, and then wait for ever for a result that is lost. HUNG_LAST: so do the calls that follow, up to that one.
 * The library may get the result of a call that was left, late, and write it to where the caller had told it, which
 * is on the stack of that call. So do we: the next call writes there, and more than the library would.
 * HUNG_ONCE, a path: in the first launch of the job only, whose name stays there. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_first_launch(void)
{
    const char *path = getenv("HUNG_ONCE"), *launch = getenv("MEND_RUN_MEETING");
    char first[64] = "";
    if (!path || !launch)
        return true;
    if (symlink(launch, path) == 0)
        return true;
    return readlink(path, first, sizeof first - 1) > 0 && strcmp(first, launch) == 0;
}

static bool is_in(const char *list, int number)
{
    for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        if (atoi(at) == number)
            return true;
    return false;
}

static bool hangs(const char *call)
{
    static int hits;
    const char *which = getenv("HUNG_CALL"), *ranks = getenv("HUNG_RANKS"),
               *hit = getenv("HUNG_HIT"), *last = getenv("HUNG_LAST"),
               *me = getenv("OMPI_COMM_WORLD_RANK");
    if (!which || strcmp(which, call))
        return false;
    hits++;
    if (!is_in(hit, hits) && !(last && hits >= atoi(hit) && hits <= atoi(last)))
        return false;
    return is_first_launch() && (!strcmp(ranks, "all") || is_in(ranks, atoi(me)));
}

static volatile char *late; /* on the stack of a call that hangs */
enum { LATE = 4096 };

static void write_late(void)
{
    for (int i = 0; late && i < LATE; i++)
        late[i] = 0x5a;
    late = NULL;
}

static void for_ever(void)
{
    volatile char mine[LATE];
    late = mine;
    for (int flag;;)
        PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
}

int PMPIX_Comm_shrink(MPI_Comm comm, MPI_Comm *alive);
int PMPIX_Comm_shrink(MPI_Comm comm, MPI_Comm *alive)
{
    int (*next)(MPI_Comm, MPI_Comm *) =
        (int (*)(MPI_Comm, MPI_Comm *))dlsym(RTLD_NEXT, "PMPIX_Comm_shrink");
    write_late();
    if (hangs("shrink"))
        for_ever();
    return next(comm, alive);
}

int PMPIX_Comm_agree(MPI_Comm comm, int *flags);
int PMPIX_Comm_agree(MPI_Comm comm, int *flags)
{
    int (*next)(MPI_Comm, int *) = (int (*)(MPI_Comm, int *))dlsym(RTLD_NEXT, "PMPIX_Comm_agree");
    write_late();
    int rc = next(comm, flags);
    if (hangs("agree"))
        for_ever();
    return rc;
}
