/* Who helps whom: partners and groups from the homes of all ranks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "../../src/store/internal.h"

static void places(void **state)
{
    (void)state;
    for (int domains = 2; domains <= 6; domains++)
        for (int each = 1; each <= 4; each++) {
            int n = domains * each, partner[24], held[24] = {0};
            struct home homes[24] = {0};
            bool apart;
            for (int r = 0; r < n; r++)
                snprintf(homes[r].domain, DOMAIN_SIZE, "n%d", r / each);
            placement_partners(homes, n, partner, &apart);
            assert_true(apart);
            for (int r = 0; r < n; r++) {
                assert_true(strcmp(homes[r].domain, homes[partner[r]].domain) != 0);
                assert_int_equal(held[partner[r]]++, 0); /* each holds one */
            }
            for (int m = 1; m < domains; m++) { /* groups of one rank per node */
                int seen[24] = {0};
                for (int r = 0; r < n; r++) {
                    struct group g;
                    placement_groups(homes, n, domains - m, m, r, &g, &apart);
                    assert_true(apart && g.size == domains && g.parity == m &&
                                g.member[g.index] == r);
                    for (int i = 0; i < g.size; i++)
                        for (int j = 0; j < i; j++)
                            assert_true(
                                strcmp(homes[g.member[i]].domain, homes[g.member[j]].domain) != 0);
                    seen[r]++;
                }
            }
        }
    /* one large node: as good as can be, and still a permutation */
    struct home homes[5] = {
        {.domain = "a"}, {.domain = "a"}, {.domain = "a"}, {.domain = "a"}, {.domain = "b"}};
    int partner[5], sum = 0;
    bool apart;
    placement_partners(homes, 5, partner, &apart);
    assert_false(apart);
    for (int r = 0; r < 5; r++)
        sum += partner[r];
    assert_int_equal(sum, 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(places)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
