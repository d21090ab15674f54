/* standard.c - standard input, output and error, as the launcher has given them.
 *
 * The program may connect them to something else (freopen, dup2), close them, or write to copies of them. So neither a
 * number nor its history tells what goes to the launcher, but the open file does.
 */
#include "ground/ground.h"

#include <fcntl.h>
#include <linux/kcmp.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static struct {
    int kept[STANDARD_FILES]; /* copies; -1: it was closed */
    struct stat is[STANDARD_FILES];
} standard = {.kept = {-1, -1, -1}};

void standard_keep(void)
{
    for (int fd = 0; fd < STANDARD_FILES; fd++)
        if (!fstat(fd, &standard.is[fd]))
            standard.kept[fd] = fcntl(fd, F_DUPFD_CLOEXEC, STANDARD_FILES);
    /* our messages, and the MPI library's, go to the launcher, not into a file of the program */
    lower.standard_error = standard.kept[2] < 0 ? 2 : standard.kept[2];
    stderr->_fileno = lower.standard_error;
}

void standard_again(void)
{
    for (int fd = 0; fd < STANDARD_FILES; fd++)
        if (standard.kept[fd] >= 0)
            dup2(standard.kept[fd], fd);
}

/* Pipes and terminals that were opened again by name (/dev/stdout) are the same, too. A program's own /dev/null is not. */
static int is_same(int fd, const struct stat *st, int k)
{
    enum { MEMORY_DEVICES = 1 };
    if (standard.kept[k] < 0 || st->st_ino != standard.is[k].st_ino ||
        st->st_dev != standard.is[k].st_dev)
        return 0;
    if (!S_ISREG(st->st_mode) && !(S_ISCHR(st->st_mode) && major(st->st_rdev) == MEMORY_DEVICES))
        return 1;
    long me = raw_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0);
    long rc = raw_syscall(SYS_kcmp, me, me, KCMP_FILE, fd, standard.kept[k], 0);
    return rc == 0 || (rc < 0 && fd == k); /* < 0: not allowed here */
}

int standard_is(int fd)
{
    struct stat st;
    if (raw_syscall(SYS_fstat, fd, (long)&st, 0, 0, 0, 0) < 0)
        return -1;
    if (fd >= 0 && fd < STANDARD_FILES && is_same(fd, &st, fd)) /* 1 and 2 may be the same */
        return fd;
    for (int k = STANDARD_FILES - 1; k >= 0; k--)
        if (is_same(fd, &st, k))
            return k;
    return -1;
}
