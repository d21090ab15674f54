/* undo/quiet.c - closes a file of ours without dropping the program's locks on it.
 *
 * When a process closes any descriptor of a file, the kernel drops all locks on the file that fcntl() has given to the
 * process. Ours and the program's descriptors belong to one process. So a file on which anybody has such a lock stays open
 * until nobody has. By raw system calls only, with the log locked.
 */
#include "undo/undo.h"

#include <fcntl.h>
#include <sys/syscall.h>

enum { MOST = 64 };
static struct {
    int file[MOST], count; /* that wait to be closed */
} quiet;

/* An open file asks what would keep it from locking everything: the locks of all processes, this one included. */
static int is_locked(int fd)
{
    struct flock all = {.l_type = F_WRLCK};
    return CALL(fcntl, fd, F_OFD_GETLK, &all, 0) == 0 && all.l_type != F_UNLCK;
}

void quiet_close(int fd)
{
    int left = 0;
    for (int i = 0; i < quiet.count; i++)
        if (is_locked(quiet.file[i]))
            quiet.file[left++] = quiet.file[i];
        else
            CALL(close, quiet.file[i], 0, 0, 0);
    quiet.count = left;
    if (!is_locked(fd))
        CALL(close, fd, 0, 0, 0);
    else if (quiet.count < MOST)
        quiet.file[quiet.count++] = fd; /* without room it stays open for good */
}
