/* A checksum of floating-point results that shows every changed bit and does not depend on the
 * order in which ranks are added up: each value is mixed with its global position and the sums are
 * integers. */
#ifndef MEND_APPS_CHECKSUM_H
#define MEND_APPS_CHECKSUM_H

#include <stdint.h>
#include <string.h>

static inline uint64_t checksum_of(double value, uint64_t position)
{
    uint64_t h;
    memcpy(&h, &value, sizeof h);
    h ^= position * 0x9e3779b97f4a7c15u;
    h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9u;
    h = (h ^ (h >> 27)) * 0x94d049bb133111ebu;
    return h ^ (h >> 31);
}

#endif
