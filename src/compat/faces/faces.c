/* What the faces of VeloC, FTI and SCR have in common. */
#include <base/fail.h>
#include <faces/faces.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int mend_face_agree(MPI_Comm comm, int code)
{
    int mine = code == MEND_OK, all = 0;
    if (comm == MPI_COMM_NULL)
        return code;
    if (MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, comm) != MPI_SUCCESS)
        return mend_fail(MEND_ERR_PEER_FAILED, "a rank died, or MPI failed, while all agreed");
    if (!code && !all)
        return mend_fail(MEND_ERR_CANCELLED, "another rank could not take part");
    return code;
}

int mend_face_domains(MPI_Comm comm, const char *own, int *domains)
{
    enum { LENGTH = 256 };
    int size;
    MPI_Comm_size(comm, &size);
    char *names = malloc((size_t)size * LENGTH), name[LENGTH] = "";
    snprintf(name, sizeof name, "%s", own);
    int code = mend_face_agree(
        comm,
        names ? MEND_OK : mend_fail(MEND_ERR_NO_MEMORY, "no memory for %d domain names", size));
    if (!code &&
        MPI_Allgather(name, LENGTH, MPI_CHAR, names, LENGTH, MPI_CHAR, comm) != MPI_SUCCESS)
        code =
            mend_fail(MEND_ERR_PEER_FAILED, "the ranks could not exchange their failure domains");
    *domains = 0;
    for (int i = 0; i < size && !code; i++) {
        int first = 0;
        while (strcmp(names + (size_t)first * LENGTH, names + (size_t)i * LENGTH) != 0)
            first++;
        *domains += first == i;
    }
    free(names);
    return code;
}

void mend_face_parity(int domains, int group, int losses, mend_store_options *options)
{
    options->erasure_m = domains >= group ? losses : 1;
    options->erasure_k = (domains >= group ? group : domains) - options->erasure_m;
    if (options->erasure_k < 1)
        options->erasure_k = 1;
}
