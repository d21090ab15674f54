/* mend_sum is XXH3 of the library, whatever vectors it uses: images are read on other processors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <xxhash.h>

#include <cmocka.h>

#include <base/sum.h>

#define ROOM ((size_t)300 << 10)

static void check(const uint8_t *bytes, size_t count, uint64_t seed)
{
    uint64_t wanted = XXH3_64bits_withSeed(bytes, count, seed);
    assert_int_equal(mend_sum(bytes, count, seed), wanted);
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2"))
        assert_int_equal(mend_sum_avx2(bytes, count, seed), wanted);
    if (__builtin_cpu_supports("avx512f"))
        assert_int_equal(mend_sum_avx512(bytes, count, seed), wanted);
#endif
}

static void equal_to_the_library(void **state)
{
    static const uint64_t seeds[] = {0, 1, UINT64_MAX, 0x9e3779b97f4a7c15u};
    uint8_t *bytes = malloc(ROOM);
    uint64_t x = 1;
    (void)state;
    assert_non_null(bytes);
    for (size_t i = 0; i < ROOM; i++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        bytes[i] = (uint8_t)(x >> 56);
    }
    for (size_t s = 0; s < sizeof seeds / sizeof *seeds; s++) {
        for (size_t count = 0; count < 1200; count++) /* each way that XXH3 has for short input */
            check(bytes + count % 65, count, seeds[s]);
        for (size_t count = 1200; count < ROOM - 64; count += count / 7)
            check(bytes + count % 64, count, seeds[s]);
        check(bytes, 4096, seeds[s]);
        check(bytes, 256 << 10, seeds[s]);
    }
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(equal_to_the_library)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
