/* A program with a static MPI library: behind the wrappers of intercept.c there is no next definition.
 * Mend refuses to start, with a sentence, and a wrapped call fails instead of crashing. This program has
 * no MPI library at all, which looks the same from there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <mend/error.h>
#include <string.h>

int mend_comms_intercept(void);
int MPI_Comm_dup(void *comm, void *made);
int PMPI_Comm_create_group(void *comm, void *group, int tag, void *made);

/* what intercept.c needs, and is not reached */
char ompi_mpi_comm_null[1024];
void *mend_comms_of(void *comm)
{
    (void)comm;
    return NULL;
}
void mend_comms_assemble(void)
{
    fail();
}
void mend_comms_join(void)
{
    fail();
}
void mend_comms_join_later(void)
{
    fail();
}
void mend_comms_made(void)
{
    fail();
}

static void refused(void **state)
{
    (void)state;
    assert_int_equal(mend_comms_intercept(), MEND_ERR_MPI);
    assert_non_null(strstr(mend_error_text(), "linked statically"));
    assert_int_not_equal(MPI_Comm_dup(NULL, NULL), 0);
    assert_int_not_equal(PMPI_Comm_create_group(NULL, NULL, 0, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
