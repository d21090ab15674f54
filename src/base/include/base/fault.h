/* Faults on purpose. MEND_FAULT=place[:rank=R][:hit=N]:action[,another…] makes `action` happen when
 * rank R (default: any) reaches the place for the N-th time (default 1; hit=N+ from then on).
 *
 *   kill   SIGKILL to this process            stop    SIGSTOP
 *   eio, enospc                               the call fails with that errno
 *   short  a write (or read) moves half of its bytes
 *   flip   one bit of the data is turned over
 *   delay=MS  sleep
 *
 * Compiled in; when MEND_FAULT is unset a place costs one load and a branch not taken.
 */
#ifndef BASE_FAULT_H
#define BASE_FAULT_H

#include <stdbool.h>

enum mend_fault_place {
#define FAULT_POINT(id, name) MEND_FAULT_##id,
#include <base/fault_points.def>
#undef FAULT_POINT
    MEND_FAULT_PLACES
};

enum mend_fault_effect {
    MEND_FAULT_NONE,
    MEND_FAULT_EIO,
    MEND_FAULT_ENOSPC,
    MEND_FAULT_SHORT,
    MEND_FAULT_FLIP,
};

extern bool mend_fault_armed;

/* Kill, stop and delay happen inside this function. It returns the other effects, which the caller
 * carries out. */
enum mend_fault_effect mend_fault_hit(enum mend_fault_place place);

#define MEND_FAULT_POINT(id) \
    (__builtin_expect(mend_fault_armed, 0) ? mend_fault_hit(MEND_FAULT_##id) : MEND_FAULT_NONE)

/* Read MEND_FAULT (this happens at load time, without a call) or the given text. MEND_ERR_CONFIG:
 * it does not parse. If MEND_FAULT does not parse at load time, the process prints the reason and
 * ends: a test that expects a fault must not run without it. */
int mend_fault_configure(const char *text);
/* Set this process's rank. Before this call, the launcher's variables are used. */
void mend_fault_set_rank(int rank);
const char *mend_fault_place_name(enum mend_fault_place place);

#endif
