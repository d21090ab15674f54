/* The FTI face for Fortran: what the module in bindings/fortran/fti.f90 cannot say by itself. */
#include <fti.h>
#include <mend/fortran.h>

/* `comm` becomes FTI's communicator, as FTI's own module does it. */
int mend_fti_init_fortran(const char *config_file, MPI_Fint *comm)
{
    int code = FTI_Init(config_file, MPI_Comm_f2c(*comm));
    if (code != FTI_NSCS)
        *comm = MPI_Comm_c2f(FTI_COMM_WORLD);
    return code;
}
