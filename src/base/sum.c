/* Ask the processor once which vectors it has. */
#include <base/sum.h>

#include <xxhash.h>

#if defined(__x86_64__)

typedef uint64_t summer(const void *bytes, size_t count, uint64_t seed);

static uint64_t by_library(const void *bytes, size_t count, uint64_t seed)
{
    return XXH3_64bits_withSeed(bytes, count, seed);
}

/* The first processors with AVX-512 run slower for a while after each use of it, and system calls between two sums
 * pay for that: there, a file that is summed and written by turns takes 3 % longer than with AVX2, although a sum alone
 * takes less. Those that have VBMI2, too, do not. */
static summer *choose(void)
{
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vbmi2"))
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
