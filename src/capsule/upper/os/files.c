/* os/files.c - the application's open files. */
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
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <unistd.h>

#include "os/files.h"
#include "os/os.h"

static struct {
    int base; /* As with addresses, the number shows the owner: we move the application's files to numbers from here on,
                 which are also free in a new process. */
    struct file *list;
    int count, room;
    struct identity standard[3]; /* the launcher's 0, 1, 2 */
    char folder[4096];
    int mask_of_new_files;
    struct itimerval timers[3];
    struct rlimit limit; /* on file descriptors */
    int resumed;
    int closed[STANDARD_FILES]; /* the program has closed it */
    int crowded;                /* files that could not be moved to numbers from `base` on */
} kept = {.base = UPPER_FILES};

int file_numbers(void)
{
    return kept.base;
}

int file_control(int fd, int what, long argument)
{
    return (int)raw_syscall(SYS_fcntl, fd, what, argument, 0, 0, 0);
}
int file_moved(int fd, int cloexec)
{
    if (fd < 0 || fd >= kept.base)
        return fd;
    int closed = lowest_closed(0);
    int n = closed >= 0 ? (int)raw_syscall(SYS_dup3, fd, closed, cloexec ? O_CLOEXEC : 0, 0, 0, 0)
                        : file_control(fd, cloexec ? F_DUPFD_CLOEXEC : F_DUPFD, kept.base);
    if (n < 0) {
        if (!kept.crowded++)
            file_say("no file descriptor is left for it (ulimit -n): images leave out such files",
                     "an open file");
        return fd;
    }
    close_low_file(fd);
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
/* An image between opening and moving the file would not know it. While the kernel has not opened it yet, an image
 * is welcome: the other end of a named pipe may come late (waits_in_open). */
#define OPENED(call)                            \
    ({                                          \
        int before_ = opening;                  \
        opening = ++in_library;                 \
        __typeof__(call) result_opened_ = call; \
        opening = before_;                      \
        result_opened_;                         \
    })
int openat(int dir, const char *path, int flags, ...)
{
    mode_t m = MODE(flags);
    int fd = file_moved(OPENED(NEXT(openat)(dir, path, flags, m)), flags & O_CLOEXEC);
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
    FILE *f = OPENED(NEXT(fopen)(path, mode));
    if (f)
        f->_fileno = file_moved(f->_fileno, strchr(mode, 'e') != NULL);
    in_library--;
    return f;
}
int open64(const char *, int, ...) __attribute__((alias("open")));
int openat64(int, const char *, int, ...) __attribute__((alias("openat")));
int creat64(const char *, mode_t) __attribute__((alias("creat")));
FILE *fopen64(const char *, const char *) __attribute__((alias("fopen")));

void file_link(int fd, char *link, size_t room)
{
    snprintf(link, room, "/proc/self/fd/%d", fd);
}

/* Is this file a copy of a descriptor from the launcher? /dev/null and similar devices never are: the
 * launcher may have opened one for reading and the program for writing. A file on disk that the program
 * opened again by its name has its own offset; if the kernel cannot tell the two apart (kcmp), it counts
 * as a copy.
 */
static int standard_like(int fd, const struct stat *st)
{
    enum { MEMORY_DEVICES = 1, KCMP_FILE = 0 };
    if (S_ISCHR(st->st_mode) && major(st->st_rdev) == MEMORY_DEVICES)
        return -1;
    for (int k = 0; k < 3; k++) {
        struct stat now;
        if (st->st_dev != kept.standard[k].device || st->st_ino != kept.standard[k].inode)
            continue;
        if (S_ISREG(st->st_mode) && k == 0)
            continue; /* input continues where it was, whatever the next launcher provides */
        long me = raw_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0);
        if (S_ISREG(st->st_mode) && !fstat(k, &now) && now.st_dev == st->st_dev &&
            now.st_ino == st->st_ino && raw_syscall(SYS_kcmp, me, me, KCMP_FILE, k, fd, 0) > 0)
            continue;
        return k;
    }
    return -1;
}

static void note(int fd, const struct stat *st)
{
    char link[64], path[4096];
    if (kept.count == kept.room) {
        struct file *more = keep_alloc((2 * kept.room + 16) * sizeof *more);
        for (int i = 0; i < kept.count; i++)
            more[i] = kept.list[i];
        if (kept.list)
            keep_free(kept.list);
        kept.list = more;
        kept.room = 2 * kept.room + 16;
    }
    file_link(fd, link, sizeof link);
    ssize_t n = readlink(link, path, sizeof path - 1);
    if (n <= 0 || (size_t)n == sizeof path - 1) {
        file_say("the path of an open file is too long: the image leaves it out", "note");
        return;
    }
    struct file *f = &kept.list[kept.count++];
    *f = (struct file){.fd = fd,
                       .flags = file_control(fd, F_GETFL, 0),
                       .cloexec = file_control(fd, F_GETFD, 0),
                       .at = lseek(fd, 0, SEEK_CUR),
                       .standard = standard_like(fd, st),
                       .size = st->st_size,
                       .is = {st->st_dev, st->st_ino},
                       .nameless = S_ISREG(st->st_mode) && st->st_nlink == 0,
                       .lockable = S_ISREG(st->st_mode) || S_ISDIR(st->st_mode),
                       .twin = -1,
                       .next = -1,
                       .path = keep_alloc((size_t)n + 1)};
    memcpy(f->path, path, (size_t)n);
    f->path[n] = 0;
}

/* The program has closed its standard input, output or error, and the lower half has got the number for its memory: an image
 * of that would hold the image before. */
static int is_lower_memory(int fd)
{
    static const char ours[] = "/memfd:mend-";
    char link[64], path[sizeof ours];
    file_link(fd, link, sizeof link);
    return readlink(link, path, sizeof path) == sizeof path &&
           memcmp(path, ours, sizeof ours - 1) == 0;
}

static void look_at(int fd)
{
    struct stat st;
    if (fstat(fd, &st) || (fd < 3 && is_lower_memory(fd)))
        return;
    if (fd < 3 && st.st_dev == kept.standard[fd].device && st.st_ino == kept.standard[fd].inode &&
        !(fd == 0 && S_ISREG(st.st_mode)))
        return; /* the next launcher provides another one */
    if (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode) || S_ISCHR(st.st_mode) ||
        standard_like(fd, &st) >= 0)
        note(fd, &st);
    else if (!pipe_note(fd, &st))
        file_say("the image does not keep an open socket or device", "note");
}

void files_forget(void)
{
    for (int i = 0; i < kept.count; i++) {
        keep_free(kept.list[i].path);
        if (kept.list[i].scratch)
            keep_free(kept.list[i].scratch);
    }
    kept.count = 0;
    pipes_forget();
}

int each_open_file(void (*visit)(int fd, void *with), void *with)
{
    struct entry { /* struct linux_dirent64 */
        uint64_t inode, next;
        unsigned short bytes;
        unsigned char kind;
        char name[];
    };
    char list[4096] __attribute__((aligned(8)));
    long n, dir = raw_syscall(SYS_openat, AT_FDCWD, (long)"/proc/self/fd",
                              O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0, 0, 0);
    if (dir < 0)
        return 0;
    while ((n = raw_syscall(SYS_getdents64, dir, (long)list, sizeof list, 0, 0, 0)) > 0)
        for (long at = 0; at < n;) {
            const struct entry *e = (const struct entry *)(list + at);
            int fd = 0;
            for (const char *digit = e->name; *digit >= '0' && *digit <= '9'; digit++)
                fd = 10 * fd + (*digit - '0');
            if (e->name[0] != '.' && fd != dir)
                visit(fd, with);
            at += e->bytes;
        }
    raw_syscall(SYS_close, dir, 0, 0, 0, 0, 0);
    return n == 0;
}

static void look_at_upper(int fd, void *unused)
{
    (void)unused;
    if (fd >= kept.base)
        look_at(fd);
}

void note_files(void)
{
    getrlimit(RLIMIT_NOFILE, &kept.limit);
    files_forget();
    locks_forget();
    for (int fd = 0; fd < STANDARD_FILES; fd++) {
        kept.closed[fd] = is_placeholder(fd);
        look_at(fd);
    }
    if (!each_open_file(look_at_upper, NULL))
        file_say("cannot be read: the image leaves out open files", "/proc/self/fd");
    files_find_twins(kept.list, kept.count);
    for (int i = 0; i < kept.count; i++) {
        struct file *f = &kept.list[i];
        if (f->twin < 0 && f->lockable && f->standard < 0)
            locks_note(f->fd);
        if (f->twin < 0 && f->nameless)
            f->scratch = scratch_save(f->fd, (size_t)f->size);
    }
    pipes_noted();
    note_children();
    if (raw_syscall(SYS_getcwd, (long)kept.folder, sizeof kept.folder, 0, 0, 0, 0) < 0) {
        kept.folder[0] = 0;
        file_say("the image does not keep the working directory, which has no path", "note");
    }
    kept.mask_of_new_files = (int)raw_syscall(SYS_umask, 0, 0, 0, 0, 0, 0);
    raw_syscall(SYS_umask, kept.mask_of_new_files, 0, 0, 0, 0, 0);
    for (int i = 0; i < 3; i++) {
        static const int signal_of[] = {SIGALRM, SIGVTALRM, SIGPROF};
        raw_syscall(SYS_getitimer, i, (long)&kept.timers[i], 0, 0, 0, 0);
        /* It has expired, but its signal is blocked: the kernel rearms it when the signal is delivered. */
        if (!kept.timers[i].it_value.tv_sec && !kept.timers[i].it_value.tv_usec &&
            signal_is_pending(signal_of[i]))
            kept.timers[i].it_value.tv_usec = 1;
    }
}

static long place(int from, const struct file *f)
{
    return raw_syscall(SYS_dup3, from, f->fd, f->cloexec & FD_CLOEXEC ? O_CLOEXEC : 0, 0, 0, 0);
}

static void reopen(const struct file *f)
{
    if (f->twin >= 0) {
        if (place(kept.list[f->twin].fd, f) < 0)
            file_say("cannot be opened again", f->path);
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
                file_say("has grown since the image and cannot be truncated", f->path);
        } else if (flags & O_APPEND) {
            file_say("has grown since the image; --truncate cuts it back", f->path);
        }
    }
    lseek(fd, f->at, SEEK_SET);
    if (place(fd, f) < 0)
        file_say("cannot be opened again: too few file descriptors (ulimit -n)", f->path);
    raw_syscall(SYS_close, fd, 0, 0, 0, 0, 0);
}

int files_resumed(void)
{
    return kept.resumed;
}

/* Allow as many file descriptors as the program had. */
static void raise_limit(void)
{
    struct rlimit now;
    if (getrlimit(RLIMIT_NOFILE, &now) || now.rlim_cur >= kept.limit.rlim_cur)
        return;
    if (!setrlimit(RLIMIT_NOFILE, &kept.limit)) /* root may even raise the hard limit */
        return;
    now.rlim_cur = kept.limit.rlim_cur < now.rlim_max ? kept.limit.rlim_cur : now.rlim_max;
    setrlimit(RLIMIT_NOFILE, &now);
}

void reopen_files(void)
{
    kept.resumed++;
    closing_resumed();
    raise_limit();
    if (kept.folder[0] && raw_syscall(SYS_chdir, (long)kept.folder, 0, 0, 0, 0, 0) < 0)
        file_say("cannot be the working directory here", kept.folder);
    raw_syscall(SYS_umask, kept.mask_of_new_files, 0, 0, 0, 0, 0);
    for (int fd = 0; fd < 3; fd++) { /* those of the new launcher */
        struct stat st;
        if (!fstat(fd, &st))
            kept.standard[fd] = (struct identity){st.st_dev, st.st_ino};
    }
    for (int i = 0; i < kept.count; i++) /* these first, while 0, 1, 2 are still the launcher's */
        if (kept.list[i].standard >= 0)
            place(kept.list[i].standard, &kept.list[i]);
    for (int i = 0; i < kept.count; i++)
        if (kept.list[i].standard < 0)
            reopen(&kept.list[i]);
    pipes_again();
    files_forget();
    for (int fd = 0; fd < STANDARD_FILES; fd++)
        if (kept.closed[fd])
            place_placeholder(fd);
    for (int i = 0; i < 3; i++)
        if (kept.timers[i].it_value.tv_sec || kept.timers[i].it_value.tv_usec)
            raw_syscall(SYS_setitimer, i, (long)&kept.timers[i], 0, 0, 0, 0);
}

void files_init(void)
{
    struct rlimit r;
    struct stat st;
    closing_init();
    if (!getrlimit(RLIMIT_NOFILE, &r) && r.rlim_cur < 2 * (rlim_t)kept.base)
        kept.base = (int)(r.rlim_cur / 2);
    for (int fd = 0; fd < 3; fd++)
        if (!fstat(fd, &st))
            kept.standard[fd] = (struct identity){st.st_dev, st.st_ino};
}
