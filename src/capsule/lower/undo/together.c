/* undo/together.c - all ranks put files back; see the list in undo/apply.c. */
#include "output/output.h"
#include "undo/together.h"
#include "undo/undo.h"

#include <base/event.h>

#include <stdio.h>
#include <unistd.h>

/* Upon the event `mend run` ends the job; several ranks aborting at once would hang the launcher. */
void end_refused_job(mend_version_t version, const char *file)
{
    output_last();
    if (version < 0)
        mend_event("recover.refused", ev_str("file", file));
    else
        mend_event("recover.refused", ev_int("version", version), ev_str("file", file));
    if (ground.recovering || relaunch_active())
        sleep(10);
    MPI_Abort(MPI_COMM_WORLD, EXIT_REFUSED);
    _exit(EXIT_REFUSED);
}

/* A file was changed since the version and its old content is unknown: to continue would mean a wrong result.
 */
static void refuse(int rank, mend_version_t version, const char *file) __attribute__((noreturn));
static void refuse(int rank, mend_version_t version, const char *file)
{
    fprintf(
        stderr,
        "mend: rank %d cannot go back to version %lld: %s has changed since, and its old content "
        "was not kept (too large for MEND_ONLINE_UNDO, no room in DIR, or ranks share the file "
        "and DIR has no file locks)\n",
        rank, (long long)version, file);
    end_refused_job(version, file);
}

int files_can_go_back(int rank, mend_version_t version, MPI_Comm comm)
{
    const char *file = undo_impossible(rank, version);
    int here = file != NULL, anywhere = 0;
    int ok = TRY(MPI_Allreduce(&here, &anywhere, 1, MPI_INT, MPI_MAX, comm));
    if (ok && file)
        refuse(rank, version, file);
    if (ok && anywhere)
        sleep(30); /* the rank that refuses ends the job */
    return ok && !anywhere;
}

int put_files_back(int rank, mend_version_t version, MPI_Comm comm)
{
    mend_version_t newest = undo_newest(rank), v = -1;
    int ok = TRY(MPI_Allreduce(&newest, &v, 1, MPI_INT64_T, MPI_MAX, comm));
    for (; ok && v >= version; v--) {
        undo_contents(rank, v);
        ok = TRY(MPI_Barrier(comm));
        if (ok)
            undo_others(rank, v);
        ok = ok && TRY(MPI_Barrier(comm));
        if (ok)
            undo_lengths(rank, v);
        ok = ok && TRY(MPI_Barrier(comm));
        if (ok && v > version)
            undo_remove(rank, v);
    }
    return ok;
}
