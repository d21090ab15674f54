/* What bindings/fortran/mend.f90 cannot say itself: MPI handles are integers in Fortran, and the
 * structures of options stay a matter of C. All else the module binds to directly. */
#include <mend/fortran.h>

/* Empty strings stand for "not given". */
static const char *given(const char *text)
{
    return text && *text ? text : NULL;
}

int mend_store_open_fortran(MPI_Fint comm, int logical_rank, const char *name,
                            const char *local_dir, const char *global_dir, mend_store **store)
{
    mend_store_options options;
    int rc = mend_store_defaults(&options);
    if (rc != 0)
        return rc;
    if (given(local_dir))
        options.local_dir = local_dir;
    if (given(global_dir))
        options.global_dir = global_dir;
    return mend_store_open(MPI_Comm_f2c(comm), logical_rank, name, &options, store);
}

int mend_store_rebind_fortran(mend_store *store, MPI_Fint comm, int logical_rank)
{
    return mend_store_rebind(store, MPI_Comm_f2c(comm), logical_rank);
}

/* Mode MANUAL: a jump over Fortran frames would skip what the compiler does at their end. */
int mend_process_open_fortran(MPI_Fint base, int spares, int first_policy, int second_policy,
                              mend_process **process)
{
    mend_process_options options = {
        .spares = spares,
        .resume = MEND_RESUME_MANUAL,
        .order = {(mend_policy)first_policy, (mend_policy)second_policy},
    };
    return mend_process_open(MPI_Comm_f2c(base), &options, process);
}

void mend_process_state_fortran(const mend_process *p, MPI_Fint *comm, int *role, int *rank,
                                int *size, int *generation, int *spares)
{
    const mend_repair *now = mend_process_state(p);
    *comm = MPI_Comm_c2f(now ? now->comm : MPI_COMM_NULL);
    *role = now ? (int)now->role : (int)MEND_ROLE_RELEASED;
    *rank = now ? now->rank : -1;
    *size = now ? now->size : 0;
    *generation = now ? now->generation : -1;
    *spares = now ? now->spares : 0;
}
