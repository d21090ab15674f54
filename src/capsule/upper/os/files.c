/* os_files.c - the application's open files. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "core.h"

/* As with addresses, the number tells the owner: what the application opens is
 * moved to numbers from fd_base on, which are free in a new process, too. */
static int fd_base = UPPER_FILES;
int file_numbers(void)
{
    return fd_base;
}
/* No call of libc that is ours, too: a dlsym() in the middle of a checkpoint may find the loader
 * locked. */
static int control(int fd, int what, long argument)
{
    return (int)raw_syscall(SYS_fcntl, fd, what, argument, 0, 0, 0);
}
int file_moved(int fd, int cloexec)
{
    if (fd < 0 || fd >= fd_base)
        return fd;
    int n = control(fd, cloexec ? F_DUPFD_CLOEXEC : F_DUPFD, fd_base);
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
    in_library++; /* no image between the opening and the move: it would not know the file */
    int fd = file_moved(NEXT(openat)(dir, path, flags, m), flags & O_CLOEXEC);
    in_library--;
    return fd;
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
    in_library++;
    FILE *f = NEXT(fopen)(path, mode);
    if (f)
        f->_fileno = file_moved(f->_fileno, strchr(mode, 'e') != NULL);
    in_library--;
    return f;
}
int open64(const char *, int, ...) __attribute__((alias("open")));
int openat64(int, const char *, int, ...) __attribute__((alias("openat")));
int creat64(const char *, mode_t) __attribute__((alias("creat")));
FILE *fopen64(const char *, const char *) __attribute__((alias("fopen")));

/* What is noted before an image. No malloc, no stdio: the application may have been interrupted
 * inside them. The table lies in memory of its own.
 */
struct file {
    int fd, flags, cloexec;
    int twin;     /* the same open file as this one of the table; -1: none */
    int standard; /* a copy of what the launcher gave us as this number; -1: none */
    off_t at, size;
    struct scratch *scratch; /* its content, if it has no name any more */
    char path[1024];
};
static struct file *files;
static int nfiles, room;
static struct identity {
    dev_t device;
    ino_t inode;
} standard[3]; /* what the launcher gave us as 0, 1, 2 */
static char folder[4096];
static int mask_of_new_files;
static struct itimerval timers[3];

void file_say(const char *what, const char *path)
{
    char line[1400];
    int n = snprintf(line, sizeof line, "mend: %s: %s\n", path, what);
    raw_syscall(SYS_write, 2, (long)line, n, 0, 0, 0);
}

void file_link(int fd, char *link, size_t room)
{
    snprintf(link, room, "/proc/self/fd/%d", fd);
}

/* Is this file a copy of what the launcher gave us? /dev/null and its like never are: it may have
 * been opened for reading there and for writing here. A file on disk that the program opened once
 * more by its name has an offset of its own; where the kernel cannot tell the two apart (kcmp), it
 * counts as a copy.
 */
static int standard_like(int fd, const struct stat *st)
{
    enum { MEMORY_DEVICES = 1, KCMP_FILE = 0 };
    if (S_ISCHR(st->st_mode) && major(st->st_rdev) == MEMORY_DEVICES)
        return -1;
    for (int k = 0; k < 3; k++) {
        struct stat now;
        if (st->st_dev != standard[k].device || st->st_ino != standard[k].inode)
            continue;
        if (S_ISREG(st->st_mode) && k == 0)
            continue; /* the input is read on from where it was, whatever the next launcher gives */
        long me = raw_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0);
        if (S_ISREG(st->st_mode) && !fstat(k, &now) && now.st_dev == st->st_dev &&
            now.st_ino == st->st_ino && raw_syscall(SYS_kcmp, me, me, KCMP_FILE, k, fd, 0) > 0)
            continue;
        return k;
    }
    return -1;
}

/* Which of the files noted before is the same open file (by dup), so that they share their offset?
 * If one is moved, does the other move? All threads are parked.
 */
static int twin_of(const struct file *f, const struct stat *st)
{
    for (int i = 0; i < nfiles; i++) {
        struct stat other;
        if (files[i].at != f->at || files[i].flags != f->flags || f->at < 0 ||
            fstat(files[i].fd, &other) || other.st_ino != st->st_ino || other.st_dev != st->st_dev)
            continue;
        int same = lseek(f->fd, f->at + 1, SEEK_SET) == f->at + 1 &&
                   lseek(files[i].fd, 0, SEEK_CUR) == f->at + 1;
        lseek(f->fd, f->at, SEEK_SET);
        if (same)
            return i;
    }
    return -1;
}

static void note(int fd, const struct stat *st)
{
    char link[64];
    if (nfiles == room) {
        struct file *more = keep_alloc((2 * room + 16) * sizeof *more);
        for (int i = 0; i < nfiles; i++)
            more[i] = files[i];
        if (files)
            keep_free(files);
        files = more;
        room = 2 * room + 16;
    }
    struct file *f = &files[nfiles];
    *f = (struct file){.fd = fd,
                       .flags = control(fd, F_GETFL, 0),
                       .cloexec = control(fd, F_GETFD, 0),
                       .at = lseek(fd, 0, SEEK_CUR),
                       .standard = standard_like(fd, st),
                       .size = st->st_size};
    file_link(fd, link, sizeof link);
    ssize_t n = readlink(link, f->path, sizeof f->path - 1);
    if (n <= 0)
        return;
    f->twin = twin_of(f, st);
    nfiles++;
    if (f->twin < 0 && S_ISREG(st->st_mode) && st->st_nlink == 0)
        f->scratch = scratch_save(fd, (size_t)st->st_size);
}

static void look_at(int fd)
{
    struct stat st;
    if (fstat(fd, &st))
        return;
    if (fd < 3 && st.st_dev == standard[fd].device && st.st_ino == standard[fd].inode &&
        !(fd == 0 && S_ISREG(st.st_mode)))
        return; /* the next launcher gives another one */
    if (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode) || S_ISCHR(st.st_mode) ||
        standard_like(fd, &st) >= 0)
        note(fd, &st);
    else if (fd >= 3 && !pipe_note(fd, &st))
        file_say("an open socket or the like is not kept by the image", "note");
}

void files_forget(void)
{
    for (int i = 0; i < nfiles; i++)
        if (files[i].scratch)
            keep_free(files[i].scratch);
    nfiles = 0;
    pipes_forget();
}

void note_files(void)
{
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    files_forget();
    for (int fd = 0; fd < 3; fd++)
        look_at(fd);
    for (int fd = fd_base; fd < (int)limit.rlim_cur && fd < fd_base + 4096; fd++)
        look_at(fd);
    pipes_noted();
    note_children();
    raw_syscall(SYS_getcwd, (long)folder, sizeof folder, 0, 0, 0, 0);
    mask_of_new_files = (int)raw_syscall(SYS_umask, 0, 0, 0, 0, 0, 0);
    raw_syscall(SYS_umask, mask_of_new_files, 0, 0, 0, 0, 0);
    for (int i = 0; i < 3; i++) {
        static const int signal_of[] = {SIGALRM, SIGVTALRM, SIGPROF};
        raw_syscall(SYS_getitimer, i, (long)&timers[i], 0, 0, 0, 0);
        /* It has run out, but its signal is blocked: the kernel sets it anew when that is taken. */
        if (!timers[i].it_value.tv_sec && !timers[i].it_value.tv_usec &&
            signal_is_pending(signal_of[i]))
            timers[i].it_value.tv_usec = 1;
    }
}

/* libc opens files for itself, and calls none of ours for it: the user database, folders, libraries to be
 * loaded, sockets of name services. It reads and closes them at once; an image in between would not know
 * the file, and a process that is resumed from it would read from one of its lower half, and close it.
 * Such a one is waited for. If it stays open, it is the lower half's.
 */
static struct passing {
    ino_t inode; /* 0: no such file */
    long since;  /* 0: it stays */
} passing[UPPER_FILES];

/* Sockets: those that ask a name service. The lower half's own are streams between hosts. */
static int may_pass(int fd, const struct stat *st)
{
    int flags = control(fd, F_GETFL, 0), domain = 0, type = 0;
    socklen_t size = sizeof domain;
    if (S_ISSOCK(st->st_mode)) {
        raw_syscall(SYS_getsockopt, fd, SOL_SOCKET, SO_DOMAIN, (long)&domain, (long)&size, 0);
        raw_syscall(SYS_getsockopt, fd, SOL_SOCKET, SO_TYPE, (long)&type, (long)&size, 0);
        return domain == AF_UNIX || domain == AF_NETLINK || type == SOCK_DGRAM;
    }
    return (S_ISREG(st->st_mode) || S_ISDIR(st->st_mode)) && (flags & O_ACCMODE) == O_RDONLY &&
           !(flags & O_PATH);
}

static int look_at_passing(long now, int anew)
{
    enum { PATIENCE = 1000 }; /* ms */
    int found = 0;
    for (int fd = 3; fd < fd_base && fd < UPPER_FILES; fd++) {
        struct stat st;
        struct passing *p = &passing[fd];
        if (fstat(fd, &st) || !may_pass(fd, &st)) {
            p->inode = 0;
            continue;
        }
        if (p->inode != st.st_ino || (anew && p->since))
            *p = (struct passing){st.st_ino, now};
        if (p->since && now - p->since > PATIENCE)
            p->since = 0;
        found |= p->since != 0;
    }
    return found;
}

int file_in_passing(void)
{
    enum { ASKED_AGAIN = 100 }; /* ms; for one image it is asked for every few */
    static long last_asked;
    struct timespec t;
    raw_syscall(SYS_clock_gettime, CLOCK_MONOTONIC, (long)&t, 0, 0, 0, 0);
    long now = t.tv_sec * 1000 + t.tv_nsec / 1000000 + 1;
    int anew = now - last_asked > ASKED_AGAIN;
    last_asked = now;
    return look_at_passing(now, anew);
}

void files_of_lower_half(void)
{
    look_at_passing(0, 1);
}

static void reopen(const struct file *f)
{
    if (f->twin >= 0) {
        raw_syscall(SYS_dup3, files[f->twin].fd, f->fd, f->cloexec & FD_CLOEXEC ? O_CLOEXEC : 0, 0,
                    0, 0);
        return;
    }
    int flags = f->flags & ~(O_CREAT | O_EXCL | O_TRUNC);
    int fd = f->scratch ? (int)scratch_again(f->scratch, f->path, flags)
                        : (int)raw_syscall(SYS_openat, AT_FDCWD, (long)f->path, flags, 0, 0, 0);
    struct stat st;
    if (fd < 0) {
        file_say("cannot be opened again", f->path);
        return;
    }
    if ((flags & O_ACCMODE) != O_RDONLY && !fstat(fd, &st) && S_ISREG(st.st_mode) &&
        st.st_size > f->size) {
        if (upper.lower->rolls_back) {
            if (ftruncate(fd, f->size))
                file_say("has grown since the image and cannot be cut", f->path);
        } else if (flags & O_APPEND) {
            file_say("has grown since the image; --truncate cuts it back", f->path);
        }
    }
    lseek(fd, f->at, SEEK_SET);
    raw_syscall(SYS_dup3, fd, f->fd, f->cloexec & FD_CLOEXEC ? O_CLOEXEC : 0, 0, 0, 0);
    raw_syscall(SYS_close, fd, 0, 0, 0, 0, 0);
}

static int resumed;
int files_resumed(void)
{
    return resumed;
}

void reopen_files(void)
{
    resumed++;
    files_of_lower_half();
    if (raw_syscall(SYS_chdir, (long)folder, 0, 0, 0, 0, 0) < 0)
        file_say("is no working directory here", folder);
    raw_syscall(SYS_umask, mask_of_new_files, 0, 0, 0, 0, 0);
    for (int fd = 0; fd < 3; fd++) { /* those of the new launcher */
        struct stat st;
        if (!fstat(fd, &st))
            standard[fd] = (struct identity){st.st_dev, st.st_ino};
    }
    for (int i = 0; i < nfiles; i++) /* first, while 0, 1, 2 are the launcher's */
        if (files[i].standard >= 0)
            raw_syscall(SYS_dup3, files[i].standard, files[i].fd,
                        files[i].cloexec & FD_CLOEXEC ? O_CLOEXEC : 0, 0, 0, 0);
    for (int i = 0; i < nfiles; i++)
        if (files[i].standard < 0)
            reopen(&files[i]);
    pipes_again();
    files_forget();
    for (int i = 0; i < 3; i++)
        if (timers[i].it_value.tv_sec || timers[i].it_value.tv_usec)
            raw_syscall(SYS_setitimer, i, (long)&timers[i], 0, 0, 0, 0);
}

void files_init(void)
{
    struct rlimit r;
    struct stat st;
    if (!getrlimit(RLIMIT_NOFILE, &r) && r.rlim_cur < 2 * (rlim_t)fd_base)
        fd_base = (int)(r.rlim_cur / 2);
    for (int fd = 0; fd < 3; fd++)
        if (!fstat(fd, &st))
            standard[fd] = (struct identity){st.st_dev, st.st_ino};
}
