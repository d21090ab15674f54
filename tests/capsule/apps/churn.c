/* churn.c - a program that changes its memory all the time, and knows what must be in it: an image that
 * is not of one moment, or that lacks a page, is found out. usage: churn STEPS MIB
 *
 * Each step rewrites some pages of a heap, clears others, gives some back to the system, replaces a
 * mapping by a new one, and writes to shared memory; then every page is compared with what it should be.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, WORDS = PAGE / 8, PIECES = 16 };

static uint64_t word(uint64_t page, uint64_t stamp, uint64_t i)
{
    uint64_t x = page * 0x9e3779b97f4a7c15ull ^ stamp * 0xbf58476d1ce4e5b9ull ^ i;
    return stamp ? x ^ x >> 29 : 0; /* stamp 0: a page of zeros */
}

static void fill(uint64_t *p, uint64_t page, uint64_t stamp)
{
    for (uint64_t i = 0; i < WORDS; i++)
        p[i] = word(page, stamp, i);
}

static int check(const uint64_t *p, uint64_t page, uint64_t stamp)
{
    for (uint64_t i = 0; i < WORDS; i++)
        if (p[i] != word(page, stamp, i))
            return 0;
    return 1;
}

static void *map(size_t bytes, int kind)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, kind | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        MPI_Abort(MPI_COMM_WORLD, 1);
    return p;
}

static uint64_t seed;
static uint64_t draw(uint64_t below)
{
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    return (seed >> 33) % below;
}

int main(int argc, char **argv)
{
    int rank, bad = 0, steps = argc > 1 ? atoi(argv[1]) : 50;
    uint64_t pages = (uint64_t)(argc > 2 ? atoi(argv[2]) : 16) << 8, all;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    seed = (uint64_t)rank + 1;
    uint64_t *heap = map(pages * PAGE, MAP_PRIVATE), *stamp = calloc(pages, sizeof *stamp);
    uint64_t *shared = map(PIECES * PAGE, MAP_SHARED);
    uint64_t *piece[PIECES] = {0}, length[PIECES] = {0}, piece_stamp[PIECES] = {0};
    for (uint64_t s = 1; s <= (uint64_t)steps; s++) {
        for (uint64_t k = 0; k < pages / 8; k++) {
            uint64_t p = draw(pages);
            fill(heap + p * WORDS, p, stamp[p] = s);
        }
        for (uint64_t k = 0; k < 16; k++) {
            uint64_t p = draw(pages);
            memset(heap + p * WORDS, 0, PAGE);
            stamp[p] = 0;
            p = draw(pages);
            if (sysconf(_SC_PAGESIZE) != PAGE || madvise(heap + p * WORDS, PAGE, MADV_DONTNEED))
                memset(heap + p * WORDS, 0, PAGE);
            stamp[p] = 0;
        }
        uint64_t m = draw(PIECES);
        if (piece[m])
            munmap(piece[m], length[m] * PAGE);
        length[m] = draw(64) + 1;
        piece[m] = map(length[m] * PAGE, MAP_PRIVATE);
        piece_stamp[m] = s;
        for (uint64_t p = 0; p < length[m]; p++)
            fill(piece[m] + p * WORDS, p, p % 3 ? s : 0);
        for (uint64_t p = 0; p < PIECES; p++)
            fill(shared + p * WORDS, p, s);
        uint64_t sum = 0;
        for (uint64_t p = 0; p < pages; p++) {
            bad += !check(heap + p * WORDS, p, stamp[p]);
            sum += heap[p * WORDS];
        }
        for (uint64_t k = 0; k < PIECES; k++)
            for (uint64_t p = 0; piece[k] && p < length[k]; p++)
                bad += !check(piece[k] + p * WORDS, p, p % 3 ? piece_stamp[k] : 0);
        for (uint64_t p = 0; p < PIECES; p++)
            bad += !check(shared + p * WORDS, p, s);
        MPI_Allreduce(&sum, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
        if (rank == 0 && s % 5 == 0) {
            printf("step %lu sum %016lx, %d pages are wrong\n", s, all, bad);
            fflush(stdout);
        }
    }
    MPI_Finalize();
    return bad != 0;
}
