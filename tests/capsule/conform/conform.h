/* conform.h - the conformance suite: one program of several parts, each a file. A part makes calls that the standard
 * allows at its edges, or calls whose error it defines, and says what it saw; the same program then runs in the
 * capsule, and every word must be the same. So a part never judges, and it says nothing that may differ between two
 * runs of one library: no addresses, no times, nothing that depends on who is faster.
 *
 * A new part: PART(name) below, and void part_name(void) in name.c.
 */
#ifndef CONFORM_H
#define CONFORM_H
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef MPICH /* which has the functions with large counts */
#define WIDE_PARTS(PART)   \
    PART(wide_collectives) \
    PART(wide_completion)  \
    PART(wide_data) PART(wide_topology) PART(wide_windows) PART(wide_modes) PART(wide_types)
#else
#define WIDE_PARTS(PART)
#endif
// clang-format off
#define PARTS(PART) \
    PART(collectives) PART(completion) PART(files) PART(data) PART(comms) PART(inter) PART(groups) PART(types) \
    PART(packing) PART(persistent) PART(partitioned) PART(topology) PART(windows) PART(modes) PART(env) PART(sessions) \
    PART(lifetimes) PART(nulls) PART(counts) WIDE_PARTS(PART)
// clang-format on

#define PART(name) void part_##name(void);
PARTS(PART)
#undef PART

extern int me, ranks;
extern MPI_Comm world; /* a duplicate of MPI_COMM_WORLD: errors are returned */
extern MPI_Comm early; /* a duplicate of MPI_COMM_SELF, from before any handler was set */

/* One line: the part, and what it saw. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
const char *name_of(int code); /* of the error class of a code */

/* Say what a call returned. FAILS: the libraries do not agree on the class, or it is not the standard's. */
#define CALL(call)  say("%s: %s", #call, name_of(call))
#define FAILS(call) say("%s: %s", #call, (call) ? "fails" : "ok")

/* A status whose fields tell whether they were written. */
#define UNTOUCHED 77777
#define FRESH     ((MPI_Status){.MPI_SOURCE = UNTOUCHED, .MPI_TAG = UNTOUCHED, .MPI_ERROR = UNTOUCHED})
void say_status(const char *what, int code, const MPI_Status *s);
#endif
