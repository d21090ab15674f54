/* undo/touched.h - the files that the application has changed since the version. With the log locked, and by raw
 * system calls only.
 */
#ifndef CAPSULE_UNDO_TOUCHED_H
#define CAPSULE_UNDO_TOUCHED_H
#include "undo/undo.h"

/* A file that was changed since the version, and the parts of it that are recorded. */
enum { RANGES = 16, FILES = 256 };
struct touched {
    dev_t device;
    ino_t inode;
    uint64_t size; /* when it was first changed */
    int count, lost;
    int created; /* it did not exist at the version: nothing of it has to come back */
    int shared;  /* other ranks change it, too: undo/shared.c knows what is recorded */
    uint64_t key;
    int reader; /* a descriptor to read it; 0: none */
    struct {
        uint64_t from, to;
    } range[RANGES];
};
extern struct since {
    struct touched files[FILES];
    int file_count;
    uint64_t copied;     /* bytes of removed files */
    unsigned kept_files; /* and their number */
    /* Room to work in, under the lock. */
    char piece[1 << 16], one_path[PATH_MAX], other_path[PATH_MAX];
} since;

struct touched *touched_find(const struct stat *st); /* NULL: it has not changed */
struct touched *touched_add(const struct stat *st);
/* Finds or adds a file, and records its length. The second: other ranks change it, too. */
struct touched *touched_note(const struct stat *st, const char *path);
struct touched *touched_note_shared(const struct stat *st, const char *path);
/* Records the content of from..to-1. own: the application's descriptor, or -1. */
void touched_keep(int own, struct touched *t, const char *path, uint64_t from, uint64_t to);
/* A change of this file cannot be recorded. t: NULL if it has no entry. */
void touched_lose(struct touched *t, const char *path);
void touched_forget_all(void);
#endif
