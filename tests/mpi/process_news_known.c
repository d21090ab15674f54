/* Preloaded: how many deaths each process knows when it enters the first shrink after one, into the file `known` of the
 * test's folder; and the file `revoked` when the first communicator is revoked after a death. */
#include <dlfcn.h>
#include <fcntl.h>
#include <mpi.h>
#include <mpi-ext.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void append(const char *name, const char *text, int length)
{
    char path[4200];
    snprintf(path, sizeof path, "%s/%s", getenv("MEND_TEST_DIR"), name);
    int fd = open(path, O_CREAT | O_WRONLY | O_APPEND, 0600);
    if (fd < 0 || write(fd, text, (size_t)length) != length)
        abort();
    close(fd);
}

static int first_has_died(void)
{
    char path[4200];
    snprintf(path, sizeof path, "%s/dead", getenv("MEND_TEST_DIR"));
    return access(path, F_OK) == 0;
}

int PMPIX_Comm_shrink(MPI_Comm comm, MPI_Comm *alive)
{
    static int told;
    MPI_Group failed;
    int known = 0;
    int (*next)(MPI_Comm, MPI_Comm *) =
        (int (*)(MPI_Comm, MPI_Comm *))dlsym(RTLD_NEXT, "PMPIX_Comm_shrink");
    if (first_has_died() && !told++) {
        char line[32];
        PMPIX_Comm_get_failed(comm, &failed);
        PMPI_Group_size(failed, &known);
        PMPI_Group_free(&failed);
        append("known", line, snprintf(line, sizeof line, "repair %d\n", known));
    }
    return next(comm, alive);
}

int PMPIX_Comm_revoke(MPI_Comm comm)
{
    int (*next)(MPI_Comm) = (int (*)(MPI_Comm))dlsym(RTLD_NEXT, "PMPIX_Comm_revoke");
    int rc = next(comm);
    if (first_has_died())
        append("revoked", "x", 1);
    return rc;
}
