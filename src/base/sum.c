/* Ask the processor once which vectors it has. */
#include <base/sum.h>

#include <xxhash.h>

#if defined(__x86_64__)

typedef uint64_t summer(const void *bytes, size_t count, uint64_t seed);

static uint64_t by_library(const void *bytes, size_t count, uint64_t seed)
{
    return XXH3_64bits_withSeed(bytes, count, seed);
}

static summer *choose(void)
{
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f"))
        return mend_sum_avx512;
    return __builtin_cpu_supports("avx2") ? mend_sum_avx2 : by_library;
}

uint64_t mend_sum(const void *bytes, size_t count, uint64_t seed)
{
    static summer *chosen; /* all threads choose the same */
    summer *sum = __atomic_load_n(&chosen, __ATOMIC_RELAXED);
    if (!sum) {
        sum = choose();
        __atomic_store_n(&chosen, sum, __ATOMIC_RELAXED);
    }
    return sum(bytes, count, seed);
}

#else

uint64_t mend_sum(const void *bytes, size_t count, uint64_t seed)
{
    return XXH3_64bits_withSeed(bytes, count, seed);
}

#endif
