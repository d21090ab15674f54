/* undo.h - files that the application has changed are put back when it is rolled back: undo.c
 * (noting, in the trap handler), undo_outside.c (MPI-IO, mappings), undo_apply.c (putting back).
 *
 * DIR/undo/RANK/VERSION is a log of what rank RANK has changed since VERSION: a record is written
 * before the change it is about. Records with a path, in the order of the changes:
 *
 *   SIZE     the file was `offset` bytes long when the rank first changed it (`bytes`: its inode)
 *   BYTES    these bytes were at `offset`
 *   CREATED  there was no such file
 *   KEPT     the file (of mode `bytes`) was removed or replaced; it lives on as
 *            DIR/undo/RANK/VERSION.`offset`, a second name or a copy
 *   MOVED    it was renamed; the bytes are its new name
 *   LOST     it was changed and nothing was kept: a rollback across this is refused
 *
 * A record that was cut short by a kill has no change to undo: it is ignored. Going back to a version
 * undoes the logs of this and all later versions, backwards. Doing so twice has the same result.
 */
#ifndef CAPSULE_UNDO_H
#define CAPSULE_UNDO_H
#include "lower.h"

#include <limits.h>

enum undo_kind { UNDO_SIZE = 1, UNDO_BYTES, UNDO_CREATED, UNDO_KEPT, UNDO_MOVED, UNDO_LOST };

struct undo_record { /* then the path with its 0, then the bytes */
    uint64_t magic;
    uint32_t kind, path_bytes;
    uint64_t offset, bytes;
};
#define UNDO_MAGIC 0x6f646e75646e656dull

/* undo.c, for changes that undo_call does not see */
void undo_note_length(const char *path); /* that it is not there, or how long it is */
void undo_note_gone(const char *path);
/* undo_outside.c */
void undo_outside_begin(void);
void undo_outside_forget(int resumes);

void undo_copies_done(void);

extern char undo_folder[PATH_MAX]; /* DIR/undo; "": nothing is noted */
#endif
