/* undo.h - files that the application has changed are put back when it is rolled back: undo.c
 * (noting, in the trap handler), undo/log.c, undo/shared.c (of files that several ranks change), undo/outside.c and
 * undo/library.c (MPI-IO, mappings), undo/apply.c (putting back).
 *
 * DIR/undo/RANK/VERSION is a log of what rank RANK has changed since VERSION: a record is written
 * before the change it is about. Records with a path, in the order of the changes:
 *
 *   SIZE     the file (of this inode) was `offset` bytes long when the rank first changed it
 *   BYTES    these bytes were at `offset` of the file (of this inode)
 *   CREATED  there was no such file
 *   KEPT     the file (of this inode, of mode `bytes`) was removed or replaced; it lives on as
 *            DIR/undo/RANK/VERSION.`offset`, a second name or a copy
 *   MOVED    it was renamed; the bytes are its new name
 *   LOST     it was changed and nothing was kept: a rollback across this is refused
 *
 * A record that was cut short by a kill has no change to undo: it is ignored. Going back to a version
 * undoes the logs of this and all later versions, backwards. Doing so twice has the same result.
 */
#ifndef CAPSULE_UNDO_H
#define CAPSULE_UNDO_H
#include "ground/ground.h"

#include <mend/types.h>
#include <limits.h>
#include <sys/stat.h>

enum undo_kind { UNDO_SIZE = 1, UNDO_BYTES, UNDO_CREATED, UNDO_KEPT, UNDO_MOVED, UNDO_LOST };

struct undo_record { /* then the path with its 0, then the bytes */
    uint64_t magic;
    uint32_t kind, path_bytes;
    uint64_t inode, offset, bytes;
    uint64_t job; /* see ground.job_sum: a log of another job is never applied */
};
#define UNDO_MAGIC 0x326e75646e656dull

/* A system call from either half's side of the process. */
#define CALL(name, a, b, c, d) \
    raw_syscall(SYS_##name, (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)

/* undo/log.c: this rank's log. Not 0 if it went well. */
int undo_take(void); /* the log is ours until undo_give; 0: nothing is noted now */
void undo_give(void);
int log_record(enum undo_kind kind, const char *path, uint64_t inode, uint64_t offset,
               uint64_t bytes);
int log_bytes(const void *bytes, size_t count);
void log_back_to(uint64_t at); /* a record is whole or not there */
extern struct undo_log {
    char folder[PATH_MAX]; /* DIR/undo; "": nothing is noted */
    int rank;
    mend_version_t version;
    int fd;             /* -1: none is open */
    uint64_t at, limit; /* its bytes, and how many it may have with the copies */
    volatile int lock;
    int owner;        /* the process whose log it is */
    uint64_t meeting; /* of those who note together */
} undo_log;
size_t log_length(const char *text);
char *log_number(char *end, int64_t n);                      /* in decimals, before `end` */
int log_join(char *path, const char *dir, const char *name); /* into path[PATH_MAX] */
int log_path_of(int fd, char *path);
int log_absolute(int dir, const char *name, char *path); /* what the application means by it */

/* undo.c, for changes that undo_call does not see */
void undo_note_again(void);             /* a new log: nothing is noted yet */
int undo_note_length(const char *path); /* that it is not there (1), or how long it is */
void undo_note_created(const char *path);
void undo_note_gone(const char *path);
void undo_note_write(int fd, int64_t offset, uint64_t bytes); /* offset -1: where it stands */
void undo_note_cut(int fd, uint64_t size);

/* undo/outside.c */
int outside_has(const struct stat *st); /* the file is open by MPI-IO; with the log taken */
int outside_open(void);                 /* how many are */
void undo_outside_begin(void);

/* undo/library.c */
int undo_library_heard(void); /* the MPI library's writes come to us */

/* undo/shared.c: not 0 if it went well. Ranges are noted with the lock. */
void shared_machine(uint64_t number);
void shared_begin(const char *path); /* a new index */
int shared_lock(void);
void shared_unlock(void);
uint64_t shared_key(const struct stat *st, const char *path);
int shared_length(uint64_t key, uint64_t now, uint64_t *length); /* the first that was noted */
int shared_next(uint64_t key, uint64_t *from, uint64_t *to); /* the first part not noted; 0: none */
int shared_note(uint64_t key, uint64_t from, uint64_t to);
int shared_note_created(uint64_t key); /* it was not there at the version */
int shared_created(uint64_t key);

void undo_copies_done(void);

/* --- undo/: files that the application has changed are put back, see undo.h --- */
void undo_open(const char *dir);
void undo_begin(int rank, mend_version_t version); /* from now on: changes since that version */
long undo_call(long number, const unsigned long arguments[6]); /* note, then do the system call */
const char *undo_impossible(int rank, mend_version_t version);
mend_version_t undo_newest(int rank); /* the newest version that has something to undo; -1: none */
void undo_contents(int rank,
                   mend_version_t version); /* the steps of putting back: see undo/apply.c */
void undo_others(int rank, mend_version_t version);
void undo_lengths(int rank, mend_version_t version);
void undo_remove(int rank, mend_version_t version); /* nothing is left to undo since that version */
void undo_leave(void);                              /* the upper half of this process is ended */
void undo_meeting(uint64_t id);                     /* of those who note together */
void undo_forget(int rank,
                 mend_version_t version); /* nobody goes back behind that version any more */
mend_version_t undo_floor(int rank);      /* nobody can go back behind that one */
void undo_remove_floor(int rank);
/* undo/outside.c: changes by MPI-IO and by shared mappings */
void undo_file_opening(const char *name, int amode, int first); /* first: of its communicator */
void undo_file_opened(const char *name, int amode, handle_t file);
void undo_file_closed(handle_t file);
void undo_file_deleting(const char *name);
void undo_note_map(int fd, uint64_t from, uint64_t length); /* from the trap handler */
void undo_outside_forget(int resumes); /* of the upper half that has been ended */
void undo_outside_resumed(void);

#endif
