/* Common to the chapter programs: plain MPI programs, one per chapter of the standard, that use
 * every function of it and check each result.
 *
 *   PROGRAM [ROUNDS [MILLISECONDS]]
 *
 * They make their objects once, use them in every round and free them at the end, so that a
 * checkpoint between or inside any two calls finds them alive. The last line of rank 0 is
 *
 *   NAME: N rounds, checksum HEX, ok
 *
 * and depends on nothing but the number of ranks and rounds: two runs, on any MPI library,
 * interrupted or not, print the same.
 */
#ifndef CHAPTER_H
#define CHAPTER_H
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int me, ranks, rounds = 12, pause_ms, round_now;
static long failures;
static uint64_t sum = 1469598103934665603u;

static inline void mix(const void *data, size_t bytes)
{
    const unsigned char *p = data;
    for (size_t i = 0; i < bytes; i++)
        sum = (sum ^ p[i]) * 1099511628211u;
}
static inline void mix_int(long v)
{
    mix(&v, sizeof v);
}

#define CHECK(cond)                                                                             \
    do {                                                                                        \
        if (!(cond)) {                                                                          \
            failures++;                                                                         \
            fprintf(stderr, "%s:%d: rank %d, round %d: not true: %s\n", __FILE__, __LINE__, me, \
                    round_now, #cond);                                                          \
        }                                                                                       \
    } while (0)
/* a value that must be equal to another, and goes into the checksum */
#define SAME(value, wanted)                                                                       \
    do {                                                                                          \
        long v_ = (long)(value), w_ = (long)(wanted);                                             \
        mix_int(v_);                                                                              \
        if (v_ != w_) {                                                                           \
            failures++;                                                                           \
            fprintf(stderr, "%s:%d: rank %d, round %d: %s is %ld, not %ld\n", __FILE__, __LINE__, \
                    me, round_now, #value, v_, w_);                                               \
        }                                                                                         \
    } while (0)

static inline void chapter_begin(int argc, char **argv)
{
    if (argc > 1)
        rounds = atoi(argv[1]);
    if (argc > 2)
        pause_ms = atoi(argv[2]);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
}

/* for (int r = 0; chapter_round(&r); r++): rounds do not start together on purpose */
static inline int chapter_round(const int *r)
{
    round_now = *r;
    if (pause_ms) {
        long ns =
            (pause_ms * 500L + (long)((unsigned)(*r * 7 + me * 3) % 8u) * pause_ms * 125L) * 1000L;
        nanosleep(&(struct timespec){ns / 1000000000L, ns % 1000000000L}, NULL);
    }
    return *r < rounds;
}

static inline int chapter_end(const char *name)
{
    uint64_t all = 0;
    long bad = 0;
    sum += (uint64_t)me * 0x9e3779b97f4a7c15u;
    MPI_Allreduce(&sum, &all, 1, MPI_UINT64_T, MPI_BXOR, MPI_COMM_WORLD);
    MPI_Allreduce(&failures, &bad, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (me == 0) {
        printf("%s: %d rounds, checksum %016llx, %s\n", name, rounds, (unsigned long long)all,
               bad ? "FAILED" : "ok");
        fflush(stdout);
    }
    MPI_Finalize();
    return bad != 0;
}
#endif
