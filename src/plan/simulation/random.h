/* Random numbers that are the same on every machine: xoshiro256** (Blackman and Vigna), seeded by splitmix64, one
 * stream per run. */
#ifndef PLAN_RANDOM_H
#define PLAN_RANDOM_H

#include <math.h>
#include <stdint.h>

typedef struct generator {
    uint64_t state[4];
} generator;

static inline uint64_t splitmix(uint64_t *x)
{
    uint64_t z = *x += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static inline void random_seed(generator *generator, uint64_t seed, uint64_t stream)
{
    uint64_t mix = seed, start = splitmix(&mix) ^ (stream * 0xd1342543de82ef95u);
    for (int i = 0; i < 4; i++)
        generator->state[i] = splitmix(&start);
}

static inline uint64_t random_bits(generator *generator)
{
    uint64_t *s = generator->state, five = s[1] * 5, out = (five << 7 | five >> 57) * 9;
    uint64_t t = s[1] << 17;
    s[2] ^= s[0], s[3] ^= s[1], s[1] ^= s[2], s[0] ^= s[3], s[2] ^= t;
    s[3] = s[3] << 45 | s[3] >> 19;
    return out;
}

/* In (0, 1]: never 0, possibly 1. */
static inline double random_unit(generator *generator)
{
    return (double)((random_bits(generator) >> 11) + 1) * 0x1p-53;
}

#endif
