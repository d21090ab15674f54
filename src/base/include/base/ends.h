/* DIR/ends: how the ranks of a job ended, for `mend run`. Whether a job is done must not depend on a line in a log
 * that a full disk may swallow. So the table has its full size before the job begins, and each rank overwrites a
 * place of its own.
 */
#ifndef BASE_ENDS_H
#define BASE_ENDS_H

#include <stdint.h>

enum mend_ended_how {
    MEND_ENDS_NOTHING,
    MEND_ENDS_EXITED,      /* with 0, after MPI_Finalize */
    MEND_ENDS_LEFT,        /* after a checkpoint, as requested */
    MEND_ENDS_ENDED,       /* by itself, with this code: exit() */
    MEND_ENDS_ABORTED,     /* the same by MPI_Abort */
    MEND_ENDS_OUTPUT_LOST, /* its last output could not be written: code is the errno */
    MEND_ENDS_CRASHED      /* the program's own code, by this signal */
};

typedef struct mend_ends_entry {
    uint64_t launch; /* of the launch that this entry belongs to */
    int32_t how, code;
    uint64_t lost;    /* events that this rank could not write; of a crash: the process */
    uint64_t at;      /* where in the program it crashed */
    uint64_t started; /* by the process of this number: it came through MPI_Init, of this launch */
} mend_ends_entry;

/* For mend run: make an empty table for so many ranks and spares. */
int mend_ends_make(const char *dir, int entries);
/* For mend run: read the table. The caller frees it; NULL: there is none, or no memory. *entries:
 * its length. */
mend_ends_entry *mend_ends_read(const char *dir, int *entries);

/* For a rank: name the table, and write to it. Never fails: without a table, the events remain. */
void mend_ends_open(const char *dir, uint64_t launch);
void mend_ends_started(int process);
void mend_ends_ended(int rank, enum mend_ended_how how, int code);
/* For code that may call nothing but the kernel: what to write, and where. */
const char *mend_ends_path(void);
mend_ends_entry mend_ends_crash(int signal, uint64_t at, int process);
enum {
    MEND_ENDS_TOLD = 32
}; /* bytes of an entry that a rank overwrites, at RANK * sizeof(entry) */

#endif
