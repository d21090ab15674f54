/* os/files.h - open files, among files.c, twins.c and passing.c. */
#ifndef CAPSULE_OS_FILES_H
#define CAPSULE_OS_FILES_H
#include <sys/types.h>

#pragma GCC visibility push(hidden)

/* No malloc, no stdio: the checkpoint may have interrupted the
 * application inside them. The table lies in memory of its own.
 */
struct file {
    int fd, flags, cloexec;
    int twin;     /* index of an entry for the same open file; -1: none */
    int standard; /* it is a copy of this descriptor from the launcher; -1: none */
    off_t at, size;
    struct scratch *scratch; /* its content, if it no longer has a name */
    char *path;
    struct identity {
        dev_t device;
        ino_t inode;
    } is;
    int nameless;
    int lockable;
    int next;        /* another entry that could be the same open file; -1: none */
    int last, count; /* in the first of these entries: the last one, and how many there are */
};

/* Set `twin` of each entry. All threads are parked; every offset is as before when this returns. */
void files_find_twins(struct file *list, int count);

/* fcntl() without the functions of libc that we wrap: their dlsym() may find the loader locked in the middle of a
 * checkpoint. */
int file_control(int fd, int what, long argument);
/* --- os/closing.c --- */
int is_placeholder(int fd); /* the program has closed its standard input, output or error */
int place_placeholder(int fd);
int lowest_closed(int least);
void close_low_file(int fd);
void close_low_files(void);
void closing_init(void);
void closing_resumed(void);
void file_stays(int fd); /* os/passing.c: this low number stays open, and no image waits for it */

/* Calls `visit` for each open descriptor that the kernel lists. Returns 0 if it cannot list them all. */
int each_open_file(void (*visit)(int fd, void *with), void *with);
#pragma GCC visibility pop

#endif
