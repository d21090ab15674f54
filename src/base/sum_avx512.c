/* XXH3 with AVX512: the library's own header, compiled for it (CMakeLists.txt). */
#include <base/sum.h>

#if defined(__x86_64__)

#define XXH_INLINE_ALL
#define XXH_VECTOR XXH_AVX512
#include <xxhash.h>

uint64_t mend_sum_avx512(const void *bytes, size_t count, uint64_t seed)
{
    return XXH3_64bits_withSeed(bytes, count, seed);
}

#endif
