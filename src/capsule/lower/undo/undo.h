/* undo.h - after a rollback, files are as they were at the version. undo.c and
 * undo/touched.c record changes (in the trap handler), undo/log.c writes the log, undo/shared.c handles files that
 * several ranks change, undo/outside.c and undo/library.c cover MPI-IO and mappings. undo/apply.c puts files back,
 * from the logs that undo/stored.c reads.
 *
 * DIR/undo/RANK/VERSION is the log of everything that rank RANK has changed since VERSION. Each record is
 * written before the change that it describes. Records carry a path and stand in the order of the changes:
 *
 *   SIZE     the file (with this inode) was `offset` bytes long when the rank first changed it
 *   BYTES    these bytes were at `offset` of the file (with this inode)
 *   CREATED  the file did not exist
 *   KEPT     the file (with this inode and mode `bytes`) was removed or replaced; it lives on as
 *            DIR/undo/RANK/VERSION.`offset`, a second name or a copy
 *   MOVED    the file was renamed; the bytes are its new name
 *   LOST     the file was changed and nothing was kept: a rollback across this record is refused
 *
 * A record that a kill cut short has no change to undo, so it is ignored. Going back to a version undoes the
 * logs of this and all later versions, backwards. Doing so twice has the same result.
 */
#ifndef CAPSULE_UNDO_H
#define CAPSULE_UNDO_H
#include "ground/ground.h"

#include <mend/types.h>
#include <limits.h>
#include <sys/stat.h>

enum undo_kind { UNDO_SIZE = 1, UNDO_BYTES, UNDO_CREATED, UNDO_KEPT, UNDO_MOVED, UNDO_LOST };

struct undo_record { /* followed by the path with its 0, then the bytes */
    uint64_t magic;
    uint32_t kind, path_bytes;
    uint64_t inode, offset, bytes;
    uint64_t job; /* see ground.job_sum: a log of another job is never applied */
};
#define UNDO_MAGIC 0x326e75646e656dull
/* A permission of the log's file: a loss could not be recorded, because the disk is full. */
#define UNDO_MARKED_LOST S_IXUSR

/* A system call; works with the thread pointer of either half. */
#define CALL(name, a, b, c, d) \
    raw_syscall(SYS_##name, (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)

/* undo/log.c: this rank's log. These return nonzero on success. */
int undo_take(void); /* lock the log until undo_give; 0: nothing is recorded now */
void undo_give(void);
int log_record(enum undo_kind kind, const char *path, uint64_t inode, uint64_t offset,
               uint64_t bytes);
int log_bytes(const void *bytes, size_t count);
void log_back_to(uint64_t at); /* so that a record is either whole or absent */
void log_mark_lost(void);      /* instead of a record LOST, when there is no room for one */
extern struct undo_log {
    char folder[PATH_MAX]; /* DIR/undo; "": nothing is recorded */
    int rank;
    mend_version_t version;
    int fd;             /* -1: no log is open */
    uint64_t at, limit; /* its size, and the limit of its size plus the copies */
    volatile int lock;
    int marked;       /* UNDO_MARKED_LOST */
    int owner;        /* the process that owns the log */
    uint64_t meeting; /* identifies the ranks that record together */
} undo_log;
size_t log_length(const char *text);
char *log_number(char *end, int64_t n);                      /* in decimal, ends at `end` */
int log_join(char *path, const char *dir, const char *name); /* into path[PATH_MAX] */
int log_path_of(int fd, char *path);
int log_absolute(int dir, const char *name, char *path); /* what the application means by it */

void quiet_close(int fd);     /* undo/quiet.c; with the log locked */
int undo_program_locks(void); /* undo/locked.c: the program locks files */

/* undo.c: for changes that undo_call does not see */
void undo_note_again(void);             /* a new log begins: forget what was recorded */
int undo_note_length(const char *path); /* records its length; 1: it does not exist */
void undo_note_created(const char *path);
void undo_note_gone(const char *path);
void undo_note_write(int fd, int64_t offset, uint64_t bytes); /* offset -1: the current position */
void undo_note_cut(int fd, uint64_t size);

/* undo/outside.c */
int outside_has(const struct stat *st); /* MPI-IO has the file open; call with the log locked */
int outside_open(void);                 /* how many files it has open */
void undo_outside_begin(void);

/* undo/library.c */
int undo_library_heard(void); /* 1: the MPI library's writes go through our functions */

/* undo/shared.c: these return nonzero on success. Ranges are recorded with the lock held. */
void shared_machine(uint64_t number);
void shared_begin(const char *path); /* open a new index */
int shared_lock(void);
void shared_unlock(void);
uint64_t shared_key(const struct stat *st, const char *path);
int shared_length(uint64_t key, uint64_t now, uint64_t *length); /* the first length recorded */
int shared_next(uint64_t key, uint64_t *from, uint64_t *to); /* first unrecorded part; 0: none */
int shared_note(uint64_t key, uint64_t from, uint64_t to);
int shared_note_created(uint64_t key); /* it did not exist at the version */
int shared_created(uint64_t key);

void undo_copies_done(void);

/* --- undo/: the interface to the other rooms --- */
void undo_open(const char *dir);
void undo_begin(int rank, mend_version_t version); /* record changes since that version */
long undo_call(long number, const unsigned long arguments[6]); /* record, then call */
const char *undo_impossible(int rank, mend_version_t version);
mend_version_t undo_newest(int rank); /* the newest version with something to undo; -1: none */
void undo_contents(int rank,
                   mend_version_t version); /* the steps of a rollback: see undo/apply.c */
void undo_others(int rank, mend_version_t version);
void undo_lengths(int rank, mend_version_t version);
void undo_remove(int rank, mend_version_t version); /* nothing is left to undo since that version */
void undo_leave(void);                              /* the upper half of this process has ended */
void undo_meeting(uint64_t id);                     /* identifies the ranks that record together */
void undo_forget(int rank,
                 mend_version_t version); /* nobody goes back beyond that version any more */
mend_version_t undo_floor(int rank);      /* nobody can go back beyond that one */
void undo_remove_floor(int rank);
/* undo/outside.c: changes by MPI-IO and through shared mappings */
void undo_file_opening(const char *name, int amode, int first); /* first: of its communicator */
void undo_file_opened(const char *name, int amode, handle_t file);
void undo_file_closed(handle_t file);
void undo_file_deleting(const char *name);
void undo_note_map(int fd, uint64_t from, uint64_t length); /* from the trap handler */
void undo_outside_forget(int resumes); /* forget the upper half that has ended */
void undo_outside_resumed(void);

#endif
