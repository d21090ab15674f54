/* Files, done with care: short writes, EINTR, fsync + rename + directory fsync, no links followed.
 * Every system call here is a fault point (io.open, io.write, …), so that a test can break or kill
 * the process at each of them. All return 0 (or a descriptor) or a negative Mend code. */
#ifndef BASE_IO_H
#define BASE_IO_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <sys/uio.h>

/* Move exactly `size` bytes, or fail; `path` is for the message only. A read that meets the end of
 * the file early is MEND_ERR_TRUNCATED. */
int mend_io_write(int fd, const void *data, size_t size, const char *path);
int mend_io_pwrite(int fd, const void *data, size_t size, off_t offset, const char *path);
int mend_io_read(int fd, void *data, size_t size, const char *path);
int mend_io_pread(int fd, void *data, size_t size, off_t offset, const char *path);
/* Write all parts in order; modifies the array. */
int mend_io_writev(int fd, struct iovec *parts, int count, const char *path);

/* Open an existing regular file of this user (or root's own, if we are root) for reading; a link in
 * the last component, another owner, or a file others may write to is MEND_ERR_PERMISSION. */
int mend_io_open_read(const char *path);
/* Create a new file, 0600, failing if it exists. */
int mend_io_create(const char *path);
/* Open an existing file for writing at any place; links are not followed. */
int mend_io_open_write(const char *path);
/* Close a file after writing. An error may be the first sign of lost data. The descriptor is
 * closed in any case. */
int mend_io_close(int fd, const char *path);
/* Open a folder; a link, another owner, or one that others may write to is MEND_ERR_PERMISSION.
 * MEND_OK and *fd = -1: there is none. */
int mend_io_open_folder(const char *path, int *fd);
int mend_io_fsync(int fd, const char *path);
int mend_io_rename(const char *from, const char *to);
/* Remove a file. It is no error if there is none. */
int mend_io_remove(const char *path);
/* Make the directory's entries durable. */
int mend_io_sync_directory(const char *path);
/* Create a folder and its missing parents, 0700; existing ones are left as they are. The last one
 * must be a real folder of this user. In a folder that everybody may write to (/tmp), links are not
 * followed, and a folder of another user, or one that all may write to, is MEND_ERR_PERMISSION. */
int mend_io_make_folders(const char *path);
/* The same, and the last one must have mode 0700. */
int mend_io_make_private(const char *path);
/* Remove a file, or a folder with its contents, by descriptors. Links are removed, not followed.
 * It is no error if there is nothing. */
int mend_io_remove_tree(const char *path);

/* Make a new folder in the folder `in`, named `prefix` and six letters, mode 0700; path[room] gets its path. This
 * process holds it until it ends; programs that it executes do not. */
int mend_io_make_held(const char *in, const char *prefix, char *path, size_t room);
/* Remove such folders of ours that nobody holds any more, because their processes were killed. */
void mend_io_sweep_held(const char *in, const char *prefix);

/* While a folder is pinned, all functions here reach the files directly in it, named by the same path, through a
 * descriptor that was opened and checked once. So nobody can put another folder in its place. Pins are counted.
 * MEND_ERR_PERMISSION as for mend_io_open_folder. */
int mend_io_pin(const char *path);
void mend_io_unpin(const char *path);

/* Replace a file as one step. Protocol:
 *   1. begin: create PATH.tmp-PID-N (0600, new);
 *   2. the caller writes to ->fd;
 *   3. commit: fsync the file, close it, rename it over PATH, fsync the folder.
 * A death before the rename leaves the old file (and a *.tmp-* that mend_io_is_temporary knows);
 * after it, the new one. abort removes the temporary file; abort after commit does nothing. */
typedef struct mend_io_replacement {
    int fd;
    char *path;
    char *temporary;
} mend_io_replacement;

int mend_io_replace_begin(mend_io_replacement *r, const char *path);
int mend_io_replace_commit(mend_io_replacement *r);
void mend_io_replace_abort(mend_io_replacement *r);
/* Is this the name of a temporary file of ours (left by a death)? */
int mend_io_is_temporary(const char *name);

/* A whole small file at once. Reading stops with MEND_ERR_ARGUMENT above `limit`; the buffer is
 * malloc'ed, one byte longer than `size` and NUL-terminated. */
int mend_io_replace_file(const char *path, const void *data, size_t size);
int mend_io_read_file(const char *path, size_t limit, char **data, size_t *size);
/* The same for files that are not a job's data: files that Mend ships, that a site provides or that the user names
 * (flags, configuration, topologies, schedules). Any owner may have them, and they may be links. */
int mend_io_read_input(const char *path, size_t limit, char **data, size_t *size);

/* flock() failed with this errno because the file system has no locks (Lustre without -o flock, say). */
bool mend_io_without_locks(int error);

#endif
