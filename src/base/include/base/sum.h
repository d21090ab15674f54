/* Checksums of large memory areas. */
#ifndef BASE_SUM_H
#define BASE_SUM_H

#include <stddef.h>
#include <stdint.h>

/* XXH3_64bits_withSeed with the widest vectors of this processor. (The library that systems ship
 * uses the narrowest on x86_64.) The value is the same everywhere. */
uint64_t mend_sum(const void *bytes, size_t count, uint64_t seed);

/* The same with vectors of 256 and 512 bits: for mend_sum and its test, on processors that have them. */
#if defined(__x86_64__)
uint64_t mend_sum_avx2(const void *bytes, size_t count, uint64_t seed);
uint64_t mend_sum_avx512(const void *bytes, size_t count, uint64_t seed);
#endif

#endif
