/* What `mend run` makes of Slurm's variables. */
#include "slurm/hostlist.h"
#include "slurm/slurm.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <mend/error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void expect(const char *text, const char *names)
{
    struct hostlist list = {0};
    char all[1024] = "";
    assert_true(hostlist_expand(text, &list));
    for (int i = 0; i < list.count; i++)
        snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", i ? " " : "", list.name[i]);
    assert_string_equal(all, names);
    hostlist_free(&list);
}

static void test_names(void **state)
{
    (void)state;
    expect("node7", "node7");
    expect("node[1-3]", "node1 node2 node3");
    expect("n[008-011,20],login", "n008 n009 n010 n011 n20 login");
    expect("r[1-2]n[1-2]x,y", "r1n1x r1n2x r2n1x r2n2x y");
}

static void test_refused_names(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",      ",",   "n[",    "n]",    "n[a-b]",        "n[3-1]",
        "n[1-]", "n[]", "n[1-2", "n[-2]", "n[1-99999999]", "n[0-999][0-999]"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct hostlist list = {0};
        assert_false(hostlist_expand(bad[i], &list));
        hostlist_free(&list);
    }
}

static void test_numbers(void **state)
{
    (void)state;
    int n[4];
    assert_true(hostlist_numbers("4(x2),1", n, 3));
    assert_true(n[0] == 4 && n[1] == 4 && n[2] == 1);
    assert_true(hostlist_numbers("2", n, 4));
    assert_int_equal(n[3], 2);
    assert_false(hostlist_numbers("", n, 1));
    assert_false(hostlist_numbers("x", n, 1));
    assert_false(hostlist_numbers("2(x3", n, 1));
    assert_false(hostlist_numbers("0", n, 1));
    assert_false(hostlist_numbers("3;", n, 1));
}

static void set(const char *nodes, const char *tasks, const char *per_node, const char *processors)
{
    const char *const pairs[][2] = {{"SLURM_JOB_ID", "12"},
                                    {"SLURM_JOB_NODELIST", nodes},
                                    {"SLURM_NTASKS", tasks},
                                    {"SLURM_TASKS_PER_NODE", per_node},
                                    {"SLURM_JOB_CPUS_PER_NODE", processors}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (pairs[i][1])
            setenv(pairs[i][0], pairs[i][1], 1);
        else
            unsetenv(pairs[i][0]);
}

static void expect_hosts(const char *hosts)
{
    struct slurm_allocation a;
    assert_true(slurm_find(&a));
    assert_string_equal(a.hosts, hosts);
    free(a.hosts);
}

static void test_slots(void **state)
{
    (void)state;
    set("n[1-3]", "7", "3,2(x2)", "4(x3)");
    expect_hosts("n1:3,n2:2,n3:2");
    set("n[1-2]", NULL, "1(x2)", "16(x2)"); /* nobody said how many: the processors count */
    expect_hosts("n1:16,n2:16");
    set("n[1-2]", "2", "1(x2)", "16(x2)");
    expect_hosts("n1:1,n2:1");
}

static void test_job(void **state)
{
    (void)state;
    struct slurm_allocation a;
    set("n1", "1", "1", "1");
    setenv("SLURM_RESTART_COUNT", "2", 1);
    setenv("SLURM_JOB_END_TIME", "1900000000", 1);
    assert_true(slurm_find(&a));
    assert_string_equal(a.job, "12");
    assert_int_equal(a.life, 2);
    assert_true(a.ends_at == 1900000000.0);
    free(a.hosts);
    setenv("SLURM_ARRAY_JOB_ID", "11", 1);
    setenv("SLURM_ARRAY_TASK_ID", "4", 1);
    assert_true(slurm_find(&a));
    assert_string_equal(a.job, "11_4");
    free(a.hosts);
    setenv("SLURM_JOB_NODELIST", "n[", 1);
    assert_false(slurm_find(&a));
    assert_non_null(strstr(mend_error_text(), "SLURM_JOB_NODELIST"));
    free(a.hosts);
    unsetenv("SLURM_JOB_ID");
    assert_true(slurm_find(&a));
    assert_string_equal(a.job, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names), cmocka_unit_test(test_refused_names),
        cmocka_unit_test(test_numbers), cmocka_unit_test(test_slots), cmocka_unit_test(test_job)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
