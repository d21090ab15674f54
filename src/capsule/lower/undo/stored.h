/* undo/stored.h - a rank's log of one version, record by record. */
#ifndef CAPSULE_UNDO_STORED_H
#define CAPSULE_UNDO_STORED_H
#include "undo/undo.h"

#include <errno.h>

struct log {
    mend_version_t version;
    char *bytes;
    size_t size;
    size_t *record; /* where each one begins */
    int count;
    int foreign; /* a record belongs to another job */
};

/* errno after a call with a path: the file is not there. Any other error tells nothing of the file: who takes it for
 * absent leaves its content newer than the program's memory. */
static inline int is_absent(int error)
{
    return error == ENOENT || error == ENOTDIR;
}

typedef void undo_visit(const struct log *log, int rank, const struct undo_record *r,
                        const char *path);
/* Visits the records of that log, if there is one, from the last to the first. */
void log_backwards(int rank, mend_version_t version, undo_visit *visit);

/* --- undo/missed.c: a record's file is not there under its name --- */
/* The name that the file has again, because a rank had renamed it; NULL: none. */
const char *missed_name(mend_version_t version, const char *path);
/* It is nowhere: tells the user, unless the file was made since the version. */
void missed_tell(int rank, mend_version_t version, const char *path);
#endif
