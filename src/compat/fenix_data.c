/* Fenix' data functions. They need the store; until they are carried out by it, each returns an
 * error that names itself. */
#include "fenix_internal.h"

#include <compat/fenix.h>

#include <base/fail.h>
#include <base/log.h>

#define API __attribute__((visibility("default")))

void mend_fenix_data_rebind(const mend_repair *now)
{
    (void)now;
}

void mend_fenix_data_end(void)
{
}

static int missing(const char *call)
{
    mend_fail(MEND_ERR_UNSUPPORTED, "%s is not supported", call);
    mend_log(MEND_LOG_ERROR, "%s is not supported", call);
    return FENIX_ERROR_INTERN;
}

API const Fenix_Data_subset FENIX_DATA_SUBSET_FULL;
API const Fenix_Data_subset FENIX_DATA_SUBSET_EMPTY;
API const Fenix_Data_subset FENIX_DATA_SUBSET_PRESTAGED;
API Fenix_Data_subset *FENIX_DATA_SUBSET_IGNORE;

/* clang-format off */
#define MISSING(name, ...) API int name(__VA_ARGS__) { return missing(#name); }
#pragma GCC diagnostic ignored "-Wunused-parameter"
MISSING(Fenix_Data_group_create, int g, MPI_Comm c, int t, int d, int p, void *v, int *f)
MISSING(Fenix_Data_group_created, int g)
MISSING(Fenix_Data_member_create, int g, int m, void *b, int n, MPI_Datatype t)
MISSING(Fenix_Data_member_created, int g, int m)
MISSING(Fenix_Data_group_get_redundancy_policy, int g, int *n, void *v, int *f)
MISSING(Fenix_Data_wait, Fenix_Request r)
MISSING(Fenix_Data_test, Fenix_Request r, int *f)
MISSING(Fenix_Data_member_stage, int g, int m, const Fenix_Data_subset s)
MISSING(Fenix_Data_member_store, int g, int m, const Fenix_Data_subset s)
MISSING(Fenix_Data_member_storev, int g, int m, const Fenix_Data_subset s)
MISSING(Fenix_Data_member_istore, int g, int m, const Fenix_Data_subset s, Fenix_Request *r)
MISSING(Fenix_Data_member_istorev, int g, int m, const Fenix_Data_subset s, Fenix_Request *r)
MISSING(Fenix_Data_commit, int g, int *t)
MISSING(Fenix_Data_commit_barrier, int g, int *t)
MISSING(Fenix_Data_barrier, int g)
MISSING(Fenix_Data_member_restore, int g, int m, void *b, int n, int t, Fenix_Data_subset *s)
MISSING(Fenix_Data_member_lrestore, int g, int m, void *b, int n, int t, Fenix_Data_subset *s)
MISSING(Fenix_Data_member_restore_from_rank, int g, int m, void *b, int n, int t, Fenix_Data_subset *s, int r)
MISSING(Fenix_Data_subset_create, int n, int s, int e, int d, Fenix_Data_subset *x)
MISSING(Fenix_Data_subset_createv, int n, int *s, int *e, Fenix_Data_subset *x)
MISSING(Fenix_Data_subset_delete, Fenix_Data_subset *s)
MISSING(Fenix_Data_group_get_number_of_members, int g, int *n)
MISSING(Fenix_Data_group_get_member_at_position, int g, int *m, int p)
MISSING(Fenix_Data_group_get_number_of_snapshots, int g, int *n)
MISSING(Fenix_Data_group_get_snapshot_at_position, int g, int p, int *t)
MISSING(Fenix_Data_member_attr_get, int g, int m, int a, void *v, int *f, int r)
MISSING(Fenix_Data_member_attr_set, int g, int m, int a, void *v, int *f)
MISSING(Fenix_Data_snapshot_delete, int g, int t)
MISSING(Fenix_Data_group_delete, int g)
MISSING(Fenix_Data_member_delete, int g, int m)
