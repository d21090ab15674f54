/* Which processors a rank is bound to, on machines whose files of the kernel are written here. */
#include "binding.h"
#include "scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static void say(const char *root, const char *name, const char *text)
{
    char path[512], *slash = path;
    snprintf(path, sizeof path, "%s/%s", root, name);
    while ((slash = strchr(slash + 1, '/'))) {
        *slash = 0;
        mkdir(path, 0755);
        *slash = '/';
    }
    put_file(path, text);
}

/* Two domains of four cores each, two threads a core: processors i and i + 8. */
static const char *two_domains(void)
{
    const char *root = in_scratch("two");
    char name[64], text[64];
    say(root, "node/online", "0-1\n");
    say(root, "node/node0/cpulist", "0-3,8-11\n");
    say(root, "node/node1/cpulist", "4-7,12-15\n");
    for (int cpu = 0; cpu < 16; cpu++) {
        snprintf(name, sizeof name, "cpu/cpu%d/topology/core_cpus_list", cpu);
        snprintf(text, sizeof text, "%d,%d\n", cpu % 8, cpu % 8 + 8);
        say(root, name, text);
    }
    return root;
}

static struct processors first(int count)
{
    struct processors p = {0};
    for (int i = 0; i < count; i++)
        CPU_SET_S((size_t)i, sizeof p.part, p.part);
    return p;
}

/* As bits of the first 64. */
static unsigned long long bits(const struct processors *p)
{
    unsigned long long set = 0;
    for (int i = 0; i < 64; i++)
        set |= (unsigned long long)(CPU_ISSET_S((size_t)i, sizeof p->part, p->part) != 0) << i;
    return set;
}

static unsigned long long chosen(const char *root, int processors, enum binding binding,
                                 uint32_t local, uint32_t count)
{
    struct processors allowed = first(processors), one;
    struct topology t;
    topology_read(&t, root, &allowed);
    unsigned long long set = binding_choose(&t, binding, local, count, &one) ? bits(&one) : 0;
    topology_free(&t);
    return set;
}

static void a_core_each(void **state)
{
    (void)state;
    const char *root = two_domains();
    for (uint32_t i = 0; i < 8; i++)
        assert_true(chosen(root, 16, BINDING_CORE, i, 8) == (0x101ULL << i));
    assert_true(chosen(root, 16, BINDING_CORE, 0, 9) == 0);   /* more ranks than cores */
    assert_true(chosen(root, 8, BINDING_CORE, 5, 8) == 0x20); /* one thread of each is allowed */
    assert_true(chosen(root, 3, BINDING_CORE, 2, 3) == 4);    /* by a cgroup, or taskset */
    assert_true(chosen(root, 3, BINDING_CORE, 0, 4) == 0);
}

static void a_domain_each(void **state)
{
    (void)state;
    const char *root = two_domains();
    for (uint32_t i = 0; i < 4; i++)
        assert_true(chosen(root, 16, BINDING_AUTO, i, 4) == (i < 2 ? 0x0f0f : 0xf0f0));
    assert_true(chosen(root, 16, BINDING_NUMA, 0, 1) == 0x0f0f);
    assert_true(chosen(root, 16, BINDING_NUMA, 7, 8) == 0xf0f0);
    assert_true(chosen(root, 6, BINDING_NUMA, 2, 3) == 0x30); /* four cores and two */
    assert_true(chosen(root, 6, BINDING_NUMA, 1, 3) == 0x0f);
    assert_true(chosen(root, 16, BINDING_AUTO, 0, 9) == 0);
    assert_true(chosen(root, 16, BINDING_NONE, 0, 1) == 0);
}

static void a_machine_that_tells_nothing(void **state)
{
    (void)state;
    const char *root = in_scratch("nothing");
    assert_true(chosen(root, 4, BINDING_AUTO, 0, 2) == 0); /* one domain: nothing to choose */
    assert_true(chosen(root, 4, BINDING_CORE, 3, 4) == 8);
    say(root, "node/online", "garbage\n");
    say(root, "cpu/cpu0/topology/core_cpus_list", "-5,99999999999,x\n");
    assert_true(chosen(root, 4, BINDING_CORE, 0, 4) == 1);
}

static void names(void **state)
{
    (void)state;
    enum binding b;
    assert_true(binding_from("auto", &b) && b == BINDING_AUTO);
    assert_true(binding_from("none", &b) && b == BINDING_NONE);
    assert_true(binding_from("core", &b) && b == BINDING_CORE);
    assert_true(binding_from("numa", &b) && b == BINDING_NUMA);
    assert_false(binding_from("socket", &b));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_core_each),
        cmocka_unit_test(a_domain_each),
        cmocka_unit_test(a_machine_that_tells_nothing),
        cmocka_unit_test(names),
    };
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
