/* os_files.c - the application's open files. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core.h"

/* As with addresses, the number tells the owner: what the application opens is
 * moved to numbers from fd_base on, which are free in a new process, too. */
static int fd_base = UPPER_FILES;
static int moved(int fd, int cloexec)
{
    if (fd < 0 || fd >= fd_base)
        return fd;
    int n = fcntl(fd, cloexec ? F_DUPFD_CLOEXEC : F_DUPFD, fd_base);
    if (n < 0)
        return fd;
    close(fd);
    return n;
}
#define MODE(last)                             \
    ({                                         \
        mode_t m_ = 0;                         \
        if (flags & (O_CREAT | __O_TMPFILE)) { \
            va_list v_;                        \
            va_start(v_, last);                \
            m_ = va_arg(v_, mode_t);           \
            va_end(v_);                        \
        }                                      \
        m_;                                    \
    })
int openat(int dir, const char *path, int flags, ...)
{
    mode_t m = MODE(flags);
    return moved(NEXT(openat)(dir, path, flags, m), flags & O_CLOEXEC);
}
int open(const char *path, int flags, ...)
{
    mode_t m = MODE(flags);
    return openat(AT_FDCWD, path, flags, m);
}
int creat(const char *path, mode_t m)
{
    return openat(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, m);
}
FILE *fopen(const char *path, const char *mode)
{
    FILE *f = NEXT(fopen)(path, mode);
    if (f)
        f->_fileno = moved(f->_fileno, strchr(mode, 'e') != NULL);
    return f;
}
int open64(const char *, int, ...) __attribute__((alias("open")));
int openat64(int, const char *, int, ...) __attribute__((alias("openat")));
int creat64(const char *, mode_t) __attribute__((alias("creat")));
FILE *fopen64(const char *, const char *) __attribute__((alias("fopen")));

static struct file {
    int fd, flags, cloexec;
    off_t at, length;
    char path[512];
} * files;
static int nfiles;

void note_files(void)
{
    char link[64];
    int max = sysconf(_SC_OPEN_MAX);
    nfiles = 0;
    for (int fd = fd_base; fd < max && fd < fd_base + 4096; fd++) {
        struct stat st;
        if (fstat(fd, &st))
            continue;
        struct file f = {.fd = fd,
                         .flags = fcntl(fd, F_GETFL),
                         .cloexec = fcntl(fd, F_GETFD),
                         .at = lseek(fd, 0, SEEK_CUR),
                         .length = st.st_size};
        snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        ssize_t n = readlink(link, f.path, sizeof f.path - 1);
        if (n < 0 || !S_ISREG(st.st_mode)) {
            fprintf(stderr, "mend: file %d is not a regular file: lost at restart\n", fd);
            continue;
        }
        files = realloc(files, (nfiles + 1) * sizeof *files);
        files[nfiles++] = f;
    }
}
void reopen_files(void)
{
    for (int i = 0; i < nfiles; i++) {
        struct file *f = &files[i];
        int fd =
            syscall(SYS_openat, AT_FDCWD, f->path, (f->flags & ~(O_CREAT | O_EXCL | O_TRUNC)), 0);
        if (fd < 0) {
            fprintf(stderr, "mend: cannot open %s again: %s\n", f->path, strerror(errno));
            continue;
        }
        struct stat st;
        if (upper.lower->rolls_back && (f->flags & O_ACCMODE) != O_RDONLY && !fstat(fd, &st) &&
            st.st_size > f->length && ftruncate(fd, f->length))
            fprintf(stderr, "mend: cannot cut %s: %s\n", f->path, strerror(errno));
        lseek(fd, f->at, SEEK_SET);
        dup3(fd, f->fd, f->cloexec & FD_CLOEXEC ? O_CLOEXEC : 0);
        close(fd);
    }
}

void files_init(void)
{
    struct rlimit r;
    if (!getrlimit(RLIMIT_NOFILE, &r) && r.rlim_cur < 2 * (rlim_t)fd_base)
        fd_base = r.rlim_cur / 2;
}
