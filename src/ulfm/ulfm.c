/* The ULFM calls. */
#include <ulfm/ulfm.h>

#include <base/event.h>
#include <base/fail.h>

#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

#if defined(OMPI_HAVE_MPI_EXT_FTMPI) && OMPI_HAVE_MPI_EXT_FTMPI

bool mend_ulfm_built(void)
{
    return true;
}

int mend_ulfm_require(void)
{
    int *enabled = NULL, found = 0;
    mend_ulfm_set_parameters(); /* keeps it linked (settings.c); it has run before MPI_Init */
    if (PMPI_Comm_get_attr(MPI_COMM_WORLD, MPIX_FT, &enabled, &found) != MPI_SUCCESS || !found ||
        !*enabled)
        return mend_fail(MEND_ERR_NO_ULFM, "this MPI library has ULFM, but the job was started "
                                           "without it: use mpirun --with-ft ulfm");
    return 0;
}

static int class_of(int mpi_code)
{
    int class = MPI_SUCCESS;
    if (mpi_code != MPI_SUCCESS)
        PMPI_Error_class(mpi_code, &class);
    return class;
}

bool mend_ulfm_is_failure(int mpi_code)
{
    int class = class_of(mpi_code);
    return class == MPIX_ERR_PROC_FAILED || class == MPIX_ERR_PROC_FAILED_PENDING ||
           class == MPIX_ERR_REVOKED;
}

bool mend_ulfm_is_revocation(int mpi_code)
{
    return class_of(mpi_code) == MPIX_ERR_REVOKED;
}

bool mend_ulfm_is_pending(int mpi_code)
{
    return class_of(mpi_code) == MPIX_ERR_PROC_FAILED_PENDING;
}

int mend_ulfm_revoked_code(void)
{
    return MPIX_ERR_REVOKED;
}

int mend_ulfm_failed_code(void)
{
    return MPIX_ERR_PROC_FAILED;
}

void mend_ulfm_revoke(MPI_Comm comm)
{
    PMPIX_Comm_revoke(comm);
}

bool mend_ulfm_is_revoked(MPI_Comm comm)
{
    int flag = 0;
    return PMPIX_Comm_is_revoked(comm, &flag) == MPI_SUCCESS && flag;
}

/* The communicator may be the program's own, with a handler that ends the job. We retry a repair that fails. */
static MPI_Errhandler return_errors(MPI_Comm comm)
{
    MPI_Errhandler before;
    PMPI_Comm_get_errhandler(comm, &before);
    PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    return before;
}

static void handle_errors(MPI_Comm comm, MPI_Errhandler handler)
{
    PMPI_Comm_set_errhandler(comm, handler);
    PMPI_Errhandler_free(&handler);
}

int mend_ulfm_shrink(MPI_Comm comm, MPI_Comm *alive)
{
    MPI_Errhandler before = return_errors(comm);
    int rc = PMPIX_Comm_shrink(comm, alive);
    handle_errors(comm, before);
    return rc;
}

int mend_ulfm_agree(MPI_Comm comm, int *flags)
{
    MPI_Errhandler before = return_errors(comm);
    int rc = PMPIX_Comm_agree(comm, flags);
    handle_errors(comm, before);
    return rc;
}

int mend_ulfm_failed(MPI_Comm comm, bool *dead)
{
    MPI_Group failed, all;
    int n = 0, size = 0;
    if (PMPIX_Comm_get_failed(comm, &failed) != MPI_SUCCESS)
        return 0;
    PMPI_Group_size(failed, &n);
    if (dead) {
        PMPI_Comm_size(comm, &size);
        for (int i = 0; i < size; i++)
            dead[i] = false;
        PMPI_Comm_group(comm, &all);
        for (int i = 0; i < n; i++) {
            int rank;
            PMPI_Group_translate_ranks(failed, 1, &i, all, &rank);
            if (rank >= 0 && rank < size)
                dead[rank] = true;
        }
        PMPI_Group_free(&all);
    }
    PMPI_Group_free(&failed);
    return n;
}

void mend_ulfm_await_failure(MPI_Comm comm, double seconds)
{
    for (double limit = mend_now() + seconds; mend_now() < limit;) {
        if (mend_ulfm_failed(comm, NULL) > 0)
            return;
        mend_ulfm_progress(MPI_COMM_SELF);
    }
}

#else /* no ULFM in this library: mend_ulfm_require fails, and nobody calls the rest */

bool mend_ulfm_built(void)
{
    return false;
}

int mend_ulfm_require(void)
{
    return mend_fail(MEND_ERR_NO_ULFM, "Mend was built with an MPI library that has no ULFM; build "
                                       "it with Open MPI 5 or newer to survive failures");
}

bool mend_ulfm_is_failure(int mpi_code)
{
    (void)mpi_code;
    return false;
}

bool mend_ulfm_is_revocation(int mpi_code)
{
    (void)mpi_code;
    return false;
}

bool mend_ulfm_is_pending(int mpi_code)
{
    (void)mpi_code;
    return false;
}

int mend_ulfm_revoked_code(void)
{
    return MPI_ERR_OTHER;
}

int mend_ulfm_failed_code(void)
{
    return MPI_ERR_OTHER;
}

void mend_ulfm_revoke(MPI_Comm comm)
{
    (void)comm;
}

bool mend_ulfm_is_revoked(MPI_Comm comm)
{
    (void)comm;
    return false;
}

int mend_ulfm_shrink(MPI_Comm comm, MPI_Comm *alive)
{
    (void)comm;
    *alive = MPI_COMM_NULL;
    return MPI_ERR_OTHER;
}

int mend_ulfm_agree(MPI_Comm comm, int *flags)
{
    (void)comm;
    (void)flags;
    return MPI_ERR_OTHER;
}

int mend_ulfm_failed(MPI_Comm comm, bool *dead)
{
    (void)comm;
    (void)dead;
    return 0;
}

void mend_ulfm_await_failure(MPI_Comm comm, double seconds)
{
    (void)comm;
    (void)seconds;
}

#endif

void mend_ulfm_progress(MPI_Comm comm)
{
    int flag;
    PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, MPI_STATUS_IGNORE);
}
