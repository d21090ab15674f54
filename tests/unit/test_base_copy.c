/* mend_copy: every byte, and nothing else, at all alignments and around its own limits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <base/copy.h>

#define ROOM  ((size_t)3 << 20)
#define GUARD 64

static uint8_t *filled(uint64_t seed)
{
    uint8_t *p = malloc(ROOM + 2 * GUARD);
    assert_non_null(p);
    for (size_t i = 0; i < ROOM + 2 * GUARD; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        p[i] = (uint8_t)(seed >> 56);
    }
    return p;
}

static void check(uint8_t *to, const uint8_t *from, size_t to_at, size_t from_at, size_t bytes)
{
    memset(to, 0x5a, ROOM + 2 * GUARD);
    mend_copy(to + to_at, from + from_at, bytes);
    assert_memory_equal(to + to_at, from + from_at, bytes);
    for (size_t i = 0; i < to_at; i++)
        assert_int_equal(to[i], 0x5a);
    for (size_t i = to_at + bytes; i < ROOM + 2 * GUARD; i++)
        assert_int_equal(to[i], 0x5a);
}

static void sizes(void **state)
{
    static const size_t around[] = {0, 1, 4096, 16384, (size_t)1 << 20, (size_t)2 << 20};
    uint8_t *from = filled(1), *to = filled(2);
    (void)state;
    for (size_t i = 0; i < sizeof around / sizeof *around; i++)
        for (size_t shift = 0; shift < 2; shift++)
            for (size_t less = 0; less < 3 && less <= around[i]; less++) {
                check(to, from, shift * 3, 0, around[i] - less);
                check(to, from, 0, shift * 5, around[i] + less);
            }
    free(from);
    free(to);
}

static void alignments(void **state)
{
    uint8_t *from = filled(3), *to = filled(4);
    (void)state;
    for (size_t shift = 0; shift < GUARD; shift += 7)
        check(to, from, shift, GUARD - shift, ((size_t)1 << 20) + 4096 + shift);
    free(from);
    free(to);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes),
        cmocka_unit_test(alignments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
