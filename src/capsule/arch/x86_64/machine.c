/* machine.c - what the lower half asks of an x86_64 machine; see arch.h.
 *
 * words[0..3]  CPUID bits by which programs select code: the next machine may have more
 * words[4, 5]  XCR0, and a hash of where XSAVE puts each part. Signal frames of parked threads have
 *              this layout, and the kernel silently drops what does not fit. ld.so saves registers
 *              into a space whose size it measured at its start: more parts would overflow it. So
 *              these words must be equal.
 * words[6]     XSAVE parts that the program may use by permission of the kernel (AMX tiles): a new
 *              process must ask again, or neither its threads' signal frames nor its code will run
 */
#include "../arch.h"

#include <cpuid.h>
#include <stdio.h>
#include <sys/auxv.h>

#ifndef bit_AVX512VP2INTERSECT /* clang 14 has no name for it */
#define bit_AVX512VP2INTERSECT (1u << 8)
#endif

#define ARCH_XCOMP_GIVEN     0x1022
#define ARCH_XCOMP_ASK       0x1023
#define ARCH_SHSTK_DISABLES  0x5002
#define ARCH_SHSTK_STACK     1
#define ARCH_HWCAP2_FSGSBASE 2

int machine_fast_thread_pointer(void)
{
    return !!(getauxval(AT_HWCAP2) & ARCH_HWCAP2_FSGSBASE);
}

void machine_release_returns(void) /* images do not hold shadow stacks */
{
    raw_syscall(SYS_arch_prctl, ARCH_SHSTK_DISABLES, ARCH_SHSTK_STACK, 0, 0, 0, 0);
}

/* Only what user code can use: hypervisors show or hide the rest at will. */
enum { LEAF1_ECX, LEAF1_EDX, LEAF7_EBX, LEAF7_ECX, LEAF7_EDX, LEAF7_1_EAX, EXTENDED_ECX, N_SETS };
static const uint32_t usable[N_SETS] = {
    [LEAF1_ECX] = bit_SSE3 | bit_PCLMUL | bit_SSSE3 | bit_FMA | bit_CMPXCHG16B | bit_SSE4_1 |
                  bit_SSE4_2 | bit_MOVBE | bit_POPCNT | bit_AES | bit_XSAVE | bit_AVX | bit_F16C |
                  bit_RDRND,
    [LEAF1_EDX] = bit_CMPXCHG8B | bit_CMOV | bit_MMX | bit_FXSAVE | bit_SSE | bit_SSE2,
    [LEAF7_EBX] = bit_FSGSBASE | bit_BMI | bit_AVX2 | bit_BMI2 | bit_RTM | bit_AVX512F |
                  bit_AVX512DQ | bit_RDSEED | bit_ADX | bit_AVX512IFMA | bit_CLFLUSHOPT | bit_CLWB |
                  bit_AVX512CD | bit_SHA | bit_AVX512BW | bit_AVX512VL,
    [LEAF7_ECX] = bit_AVX512VBMI | bit_WAITPKG | bit_AVX512VBMI2 | bit_GFNI | bit_VAES |
                  bit_VPCLMULQDQ | bit_AVX512VNNI | bit_AVX512BITALG | bit_AVX512VPOPCNTDQ |
                  bit_RDPID | bit_MOVDIRI | bit_MOVDIR64B | bit_CLDEMOTE,
    [LEAF7_EDX] = bit_AVX512VP2INTERSECT | bit_SERIALIZE | bit_AVX512FP16,
    [LEAF7_1_EAX] = bit_AVXVNNI | bit_AVX512BF16,
    [EXTENDED_ECX] = bit_LAHF_LM | bit_ABM | bit_SSE4a | bit_XOP | bit_FMA4 | bit_TBM,
};

static uint64_t xcr0(void)
{
    unsigned a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE))
        return 0;
    __asm__ volatile("xgetbv" : "=a"(a), "=d"(d) : "c"(0));
    return (uint64_t)d << 32 | a;
}

static uint64_t layout_hash(uint64_t parts)
{
    uint64_t hash = 14695981039346656037ull; /* FNV-1a, of (offset, size) of each part */
    for (unsigned i = 2; i < 63; i++) {
        unsigned size, offset, c, d;
        if (!(parts >> i & 1) || !__get_cpuid_count(0xd, i, &size, &offset, &c, &d))
            continue;
        hash = (hash ^ i) * 1099511628211ull;
        hash = (hash ^ offset) * 1099511628211ull;
        hash = (hash ^ size) * 1099511628211ull;
    }
    return hash;
}

/* XSAVE parts that this process may use, including those that need no permission (0: an old kernel). */
static uint64_t parts_given(void)
{
    uint64_t given = 0;
    return raw_syscall(SYS_arch_prctl, ARCH_XCOMP_GIVEN, (long)&given, 0, 0, 0, 0) ? 0 : given;
}

#define TILE_DATA 18
const void *machine_tiles;

int machine_allow(const uint64_t words[MACHINE_WORDS])
{
    static const struct { /* one row of one tile, in the format of ldtilecfg */
        uint8_t palette, start, reserved[14];
        uint16_t bytes[16];
        uint8_t rows[16];
    } shape = {.palette = 1, .bytes = {4}, .rows = {1}};
    machine_tiles = words[6] >> TILE_DATA & 1 ? &shape : NULL;
    uint64_t missing = words[6] & ~parts_given();
    for (long i = 0; i < 64; i++)
        if (missing >> i & 1 && raw_syscall(SYS_arch_prctl, ARCH_XCOMP_ASK, i, 0, 0, 0, 0))
            return -1;
    return 0;
}

void machine_describe(uint64_t words[MACHINE_WORDS])
{
    uint32_t set[N_SETS + 1] = {0};
    unsigned a, b, c, d;
    if (__get_cpuid(1, &a, &b, &c, &d)) {
        set[LEAF1_ECX] = c;
        set[LEAF1_EDX] = d;
    }
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) {
        set[LEAF7_EBX] = b;
        set[LEAF7_ECX] = c;
        set[LEAF7_EDX] = d;
    }
    if (__get_cpuid_count(7, 1, &a, &b, &c, &d))
        set[LEAF7_1_EAX] = a;
    if (__get_cpuid(0x80000001, &a, &b, &c, &d))
        set[EXTENDED_ECX] = c;
    for (int i = 0; i < N_SETS; i++)
        set[i] &= usable[i];
    for (int i = 0; i < 4; i++)
        words[i] = (uint64_t)set[2 * i + 1] << 32 | set[2 * i];
    words[4] = xcr0();
    words[5] = layout_hash(words[4]);
    words[6] = parts_given();
}

const char *machine_refuses(const uint64_t words[MACHINE_WORDS])
{
    static char text[120];
    uint64_t here[MACHINE_WORDS];
    machine_describe(here);
    for (int i = 0; i < 4; i++)
        if (words[i] & ~here[i]) {
            snprintf(text, sizeof text, "CPU features that this machine lacks (word %d: %llx)", i,
                     (unsigned long long)(words[i] & ~here[i]));
            return text;
        }
    if (words[4] != here[4] || words[5] != here[5]) {
        snprintf(text, sizeof text, "the vector registers of another CPU (XCR0 %llx, here %llx)",
                 (unsigned long long)words[4], (unsigned long long)here[4]);
        return text;
    }
    return NULL;
}
