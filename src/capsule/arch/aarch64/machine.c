/* machine.c - what the lower half asks of an aarch64 machine; see arch.h.
 *
 * words[0], [1]  AT_HWCAP, AT_HWCAP2: the next machine may have more features
 * words[2]       DCZID_EL0, the block size of DC ZVA: libc chose its memset by it
 * words[3]       length of SVE registers: code may depend on it, and so does the layout of signal frames
 */
#include "../arch.h"

#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>

int machine_fast_thread_pointer(void)
{
    return 1;
}

void machine_release_returns(void)
{
    /* Pointer authentication uses keys of this process. (Untested: no CPU with it was at hand.) */
#ifdef PR_PAC_SET_ENABLED_KEYS
    prctl(PR_PAC_SET_ENABLED_KEYS,
          PR_PAC_APIAKEY | PR_PAC_APIBKEY | PR_PAC_APDAKEY | PR_PAC_APDBKEY, 0, 0, 0);
#endif
}

void machine_describe(uint64_t words[MACHINE_WORDS])
{
    int length = -1;
    memset(words, 0, MACHINE_WORDS * sizeof *words);
#ifdef PR_SVE_GET_VL
    length = prctl(PR_SVE_GET_VL, 0, 0, 0, 0);
    if (length > 0)
        length &= PR_SVE_VL_LEN_MASK;
#endif
    words[0] = getauxval(AT_HWCAP);
    words[1] = getauxval(AT_HWCAP2);
    __asm__("mrs %0, dczid_el0" : "=r"(words[2]));
    words[3] = length > 0 ? (uint64_t)length : 0;
}

/* This CPU has nothing to ask for. */
int machine_allow(const uint64_t words[MACHINE_WORDS])
{
    (void)words;
    return 0;
}

const char *machine_refuses(const uint64_t words[MACHINE_WORDS])
{
    static char text[120];
    uint64_t here[MACHINE_WORDS];
    machine_describe(here);
    for (int i = 0; i < 2; i++)
        if (words[i] & ~here[i]) {
            snprintf(text, sizeof text, "CPU features that this machine lacks (AT_HWCAP%s: %llx)",
                     i ? "2" : "", (unsigned long long)(words[i] & ~here[i]));
            return text;
        }
    if (words[2] != here[2])
        return "a CPU that clears memory in blocks of another size (DCZID_EL0)";
    if (words[3] && words[3] != here[3])
        return "a CPU with vector registers of another length (SVE)";
    return NULL;
}
