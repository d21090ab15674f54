/* XXH3 with AVX2: the library's own header, compiled for it (CMakeLists.txt). */
#include <base/sum.h>

#if defined(__x86_64__)

#define XXH_INLINE_ALL
#define XXH_VECTOR XXH_AVX2
#include <xxhash.h>

uint64_t mend_sum_avx2(const void *bytes, size_t count, uint64_t seed)
{
    return XXH3_64bits_withSeed(bytes, count, seed);
}

#endif
