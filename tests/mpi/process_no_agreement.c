/* Preloaded: an agreement of the MPI library ends the process. A repair must not need one. The file `preloaded` of the
 * test's folder shows that this library was there. */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

__attribute__((constructor)) static void tell(void)
{
    char path[4200];
    const char *folder = getenv("MEND_TEST_DIR");
    snprintf(path, sizeof path, "%s/preloaded", folder ? folder : ".");
    if (getenv("PMIX_RANK"))
        close(open(path, O_CREAT | O_WRONLY, 0600));
}

static void refuse(const char *call)
{
    char text[100];
    int n = snprintf(text, sizeof text, "%s was called\n", call);
    (void)!write(2, text, (size_t)n);
    abort();
}

#define REFUSE(call, ...)            \
    int call(MPI_Comm, __VA_ARGS__); \
    int call(MPI_Comm comm, __VA_ARGS__)

REFUSE(PMPIX_Comm_shrink, MPI_Comm *alive)
{
    (void)comm;
    (void)alive;
    refuse("MPIX_Comm_shrink");
    return MPI_ERR_OTHER;
}

REFUSE(PMPIX_Comm_ishrink, MPI_Comm *alive, MPI_Request *request)
{
    (void)comm;
    (void)alive;
    (void)request;
    refuse("MPIX_Comm_ishrink");
    return MPI_ERR_OTHER;
}

REFUSE(PMPIX_Comm_agree, int *flags)
{
    (void)comm;
    (void)flags;
    refuse("MPIX_Comm_agree");
    return MPI_ERR_OTHER;
}

REFUSE(PMPIX_Comm_iagree, int *flags, MPI_Request *request)
{
    (void)comm;
    (void)flags;
    (void)request;
    refuse("MPIX_Comm_iagree");
    return MPI_ERR_OTHER;
}
