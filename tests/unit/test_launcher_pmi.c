/* What MPICH's ranks are told by PMI-1: pairs, the fields of a line, who is on which node. */
#include "pmi/space.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void pairs_are_found(void **state)
{
    (void)state;
    struct pmi_space s = {0};
    char key[32], value[32];
    for (int i = 0; i < 1000; i++) {
        snprintf(key, sizeof key, "P%d-address", i * 7919 % 1000);
        snprintf(value, sizeof value, "%d", i);
        pmi_keep(&s, key, value);
    }
    for (int i = 0; i < 1000; i++) {
        snprintf(key, sizeof key, "P%d-address", i * 7919 % 1000);
        snprintf(value, sizeof value, "%d", i);
        assert_string_equal(pmi_find(&s, key), value);
    }
    pmi_keep(&s, "P5-address", "another one");
    assert_string_equal(pmi_find(&s, "P5-address"), "another one");
    assert_null(pmi_find(&s, "P1000-address"));
    pmi_forget(&s);
    assert_null(pmi_find(&s, "P5-address"));
}

static void fields_are_found(void **state)
{
    (void)state;
    char value[16];
    const char *line = "cmd=put kvsname=my key=k value=a key=b c";
    assert_true(pmi_field(line, "cmd", false, value, sizeof value));
    assert_string_equal(value, "put");
    assert_true(pmi_field(line, "key", false, value, sizeof value));
    assert_string_equal(value, "k");
    assert_true(pmi_field(line, "value", true, value, sizeof value));
    assert_string_equal(value, "a key=b c");
    assert_false(pmi_field(line, "name", false, value, sizeof value)); /* only a part of a word */
    assert_false(pmi_field("cmd=0123456789abcdef", "cmd", false, value, sizeof value));
    assert_false(pmi_field("", "cmd", false, value, sizeof value));
    assert_true(pmi_field("cmd=", "cmd", false, value, sizeof value));
    assert_string_equal(value, "");
}

static const char *mapped(uint32_t ranks, const uint32_t *node_of)
{
    static char text[64];
    struct job job = {.ranks = ranks, .node_of = (uint32_t *)node_of};
    pmi_mapping(&job, text, sizeof text);
    return text;
}

static void nodes_are_mapped(void **state)
{
    (void)state;
    assert_string_equal(mapped(4, (uint32_t[]){0, 0, 0, 0}), "(vector,(0,1,4))");
    assert_string_equal(mapped(6, (uint32_t[]){0, 0, 1, 1, 2, 2}), "(vector,(0,3,2))");
    assert_string_equal(mapped(4, (uint32_t[]){0, 0, 0, 1}), "(vector,(0,1,3),(1,1,1))");
    assert_string_equal(mapped(5, (uint32_t[]){0, 0, 1, 0, 1}), "(vector,(0,1,2),(1,1,1),(0,2,1))");
    uint32_t around[64];
    for (uint32_t i = 0; i < 64; i++)
        around[i] = i * 5 % 7;
    assert_string_equal(mapped(64, around), ""); /* MPICH asks for the machines' names then */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_are_found),
        cmocka_unit_test(fields_are_found),
        cmocka_unit_test(nodes_are_mapped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
