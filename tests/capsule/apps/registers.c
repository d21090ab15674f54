/* registers.c - threads whose values are in vector registers only, for the whole run: a checkpoint finds
 * them there, and must bring them back. One thread for each kind that the CPU has: SSE, AVX, AVX-512 and
 * AMX's tiles (for which the kernel's leave is needed, after a restart, too), or NEON and SVE.
 */
#define _GNU_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { KINDS = 4, ROOM = 32 * 256 }; /* of 32 of the longest registers that there are */
struct held {
    uint8_t in[ROOM], out[ROOM];
    volatile int there;
    size_t bytes; /* 0: this CPU has none */
} held[KINDS] __attribute__((aligned(64)));
static volatile int go_on;

#define ALL16 "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15"
#define ALL32 ALL16 ",16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31"

/* HOLD: load all registers of a kind, say so, wait, store them all. */
#if defined(__x86_64__)
#define WAIT "1: pause\n cmpl $0, %[go]\n je 1b\n"
#define HOLD(h, move, bytes, name, numbers)                                                      \
    __asm__ volatile(".irp r," numbers "\n " move " " bytes "*\\r(%[in]), %%" name               \
                     "\\r\n .endr\n movl $1, %[there]\n" WAIT ".irp r," numbers "\n " move       \
                     " %%" name "\\r, " bytes "*\\r(%[out])\n .endr\n"                           \
                     : [there] "+m"((h)->there)                                                  \
                     : [in] "r"((h)->in), [out] "r"((h)->out), [go] "m"(go_on)                   \
                     : "memory", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", \
                       "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15")

static int has_tiles(void) /* asked for once: a restart has to keep the leave */
{
    static int has = -1;
    unsigned a = 7, b, c = 0, d;
    if (has < 0) {
        __asm__("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
        has = (d >> 24 & 1) && syscall(SYS_arch_prctl, 0x1023 /* ARCH_REQ_XCOMP_PERM */, 18) == 0;
    }
    return has;
}

static void hold_tiles(struct held *h)
{
    static const struct {
        uint8_t palette, row, reserved[14];
        uint16_t bytes[16];
        uint8_t rows[16];
    } shape = {.palette = 1, .bytes = {64, 64}, .rows = {16, 16}};
    __asm__ volatile(
        "ldtilecfg %[shape]\n tileloadd (%[in],%[row],1), %%tmm0\n"
        "tileloadd 1024(%[in],%[row],1), %%tmm1\n movl $1, %[there]\n" WAIT
        "tilestored %%tmm0, (%[out],%[row],1)\n"
        "tilestored %%tmm1, 1024(%[out],%[row],1)\n tilerelease\n"
        : [there] "+m"(h->there)
        : [in] "r"(h->in), [out] "r"(h->out), [row] "r"(64l), [shape] "m"(shape), [go] "m"(go_on)
        : "memory");
}

static size_t bytes_of(int kind)
{
    switch (kind) {
    case 0: return 16 * 16;
    case 1: return __builtin_cpu_supports("avx") ? 16 * 32 : 0;
    case 2: return __builtin_cpu_supports("avx512f") ? 32 * 64 : 0;
    default: return has_tiles() ? 2 * 1024 : 0;
    }
}

static void hold(struct held *h, int kind)
{
    switch (kind) {
    case 0: HOLD(h, "movdqu", "16", "xmm", ALL16); break;
    case 1: HOLD(h, "vmovdqu", "32", "ymm", ALL16); break;
    case 2: HOLD(h, "vmovdqu64", "64", "zmm", ALL32); break;
    default: hold_tiles(h);
    }
}
#else
#define WAIT "1: yield\n ldr w9, [%[go]]\n cbz w9, 1b\n"
#define HOLD(h, name, place)                                                                     \
    __asm__ volatile(                                                                            \
        ".arch_extension sve\n .irp r," ALL32 "\n ldr " name "\\r, [%[in], " place "]\n .endr\n" \
        " mov w9, 1\n str w9, [%[there]]\n" WAIT ".irp r," ALL32 "\n str " name                  \
        "\\r, [%[out], " place "]\n .endr\n" ::[in] "r"((h)->in),                                \
        [out] "r"((h)->out), [go] "r"(&go_on), [there] "r"(&(h)->there)                          \
        : "memory", "x9", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10",     \
          "v11", "v12", "v13", "v14", "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22",    \
          "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31")

static size_t bytes_of(int kind)
{
    uint64_t length;
    if (kind == 0)
        return 32 * 16;
    if (kind > 1 || !(getauxval(AT_HWCAP) & 1 << 22)) /* HWCAP_SVE */
        return 0;
    __asm__(".arch_extension sve\n cntb %0" : "=r"(length));
    return 32 * length;
}

static void hold(struct held *h, int kind)
{
    if (kind == 0)
        HOLD(h, "q", "#16*\\r");
    else
        HOLD(h, "z", "#\\r, mul vl");
}
#endif

static void *holder(void *h)
{
    hold(h, (int)((struct held *)h - held));
    return NULL;
}

int main(int argc, char **argv)
{
    int rank, provided, bad = 0, all, steps = argc > 1 ? atoi(argv[1]) : 50;
    pthread_t thread[KINDS];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int k = 0; k < KINDS; k++) {
        struct held *h = &held[k];
        for (int i = 0; i < ROOM; i++)
            h->in[i] = (uint8_t)(i * 37 + i / 251 + 11 * k + rank);
        h->bytes = bytes_of(k);
        if (h->bytes)
            pthread_create(&thread[k], NULL, holder, h);
        while (h->bytes && !h->there)
            usleep(1000);
    }
    for (int s = 0; s < steps; s++) {
        MPI_Allreduce(&s, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        if (rank == 0 && s % 10 == 0)
            printf("registers: step %d, sum %d\n", s, all);
        usleep(2000);
    }
    go_on = 1;
    for (int k = 0; k < KINDS; k++)
        if (held[k].bytes) {
            pthread_join(thread[k], NULL);
            bad += memcmp(held[k].in, held[k].out, held[k].bytes) != 0;
            hold(&held[k], k); /* and the main thread may use them */
            bad += memcmp(held[k].in, held[k].out, held[k].bytes) != 0;
        }
    MPI_Allreduce(&bad, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("registers: of %zu, %zu, %zu and %zu bytes, %d wrong\n", held[0].bytes,
               held[1].bytes, held[2].bytes, held[3].bytes, all);
    MPI_Finalize();
    return all != 0;
}
