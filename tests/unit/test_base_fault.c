/* Fault points: parsed, counted, carried out. */
#include <base/fault.h>
#include <mend/error.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static void test_hits_are_counted(void **state)
{
    (void)state;
    assert_int_equal(mend_fault_configure("io.write:hit=3:eio,io.read:hit=2+:short"), MEND_OK);
    assert_int_equal(MEND_FAULT_POINT(io_write), MEND_FAULT_NONE);
    assert_int_equal(MEND_FAULT_POINT(io_write), MEND_FAULT_NONE);
    assert_int_equal(MEND_FAULT_POINT(io_write), MEND_FAULT_EIO);
    assert_int_equal(MEND_FAULT_POINT(io_write), MEND_FAULT_NONE);
    assert_int_equal(MEND_FAULT_POINT(io_read), MEND_FAULT_NONE);
    assert_int_equal(MEND_FAULT_POINT(io_read), MEND_FAULT_SHORT);
    assert_int_equal(MEND_FAULT_POINT(io_read), MEND_FAULT_SHORT);
}

static void test_other_ranks_are_spared(void **state)
{
    (void)state;
    mend_fault_set_rank(1);
    assert_int_equal(mend_fault_configure("io.write:rank=2:enospc"), MEND_OK);
    assert_int_equal(MEND_FAULT_POINT(io_write), MEND_FAULT_NONE);
    mend_fault_set_rank(2);
    assert_int_equal(MEND_FAULT_POINT(io_write), MEND_FAULT_ENOSPC);
}

static void test_kill_is_real(void **state)
{
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        mend_fault_configure("io.rename:kill");
        (void)MEND_FAULT_POINT(io_rename);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static void test_nonsense_is_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {"nowhere:kill",         "io.write",
                                        "io.write:explode",     "io.write:hit=0:kill",
                                        "io.write:rank=x:kill", "io.write:delay=:kill"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_int_equal(mend_fault_configure(texts[i]), MEND_ERR_CONFIG);
        assert_false(mend_fault_armed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hits_are_counted), cmocka_unit_test(test_other_ranks_are_spared),
        cmocka_unit_test(test_kill_is_real), cmocka_unit_test(test_nonsense_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
