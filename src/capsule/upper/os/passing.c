/* os/passing.c - files that the C library opens for itself.
 *
 * It opens them without calling our functions: the user database, folders, libraries to load, sockets of name services.
 * It reads and closes them at once. An image taken in between would not know the file, and a process resumed from it
 * would read from a file of its lower half, and close that. So an image waits until such a file is closed. If it stays
 * open, it belongs to the lower half.
 */
#include <fcntl.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>

#include "os/files.h"
#include "os/os.h"

static struct {
    struct passing {
        ino_t inode; /* 0: no such file */
        long since;  /* 0: it stays open */
    } file[UPPER_FILES];
    long last_asked; /* last call of file_in_passing */
} passing;

/* What a process connects to is not at a name of its own; what it has accepted is: the coordinator of checkpoints accepts
 * the ranks whenever they come. */
static int has_name(int fd)
{
    struct sockaddr_un name;
    socklen_t size = sizeof name;
    return !raw_syscall(SYS_getsockname, fd, (long)&name, (long)&size, 0, 0, 0) &&
           size > offsetof(struct sockaddr_un, sun_path);
}

/* Of sockets, those that query a name service. The lower half's own are streams between hosts, or wait for others. */
static int may_pass(int fd, const struct stat *st)
{
    int flags = file_control(fd, F_GETFL, 0), domain = 0, type = 0;
    socklen_t size = sizeof domain;
    if (S_ISSOCK(st->st_mode)) {
        raw_syscall(SYS_getsockopt, fd, SOL_SOCKET, SO_DOMAIN, (long)&domain, (long)&size, 0);
        raw_syscall(SYS_getsockopt, fd, SOL_SOCKET, SO_TYPE, (long)&type, (long)&size, 0);
        return domain == AF_UNIX ? !has_name(fd) : domain == AF_NETLINK || type == SOCK_DGRAM;
    }
    return (S_ISREG(st->st_mode) || S_ISDIR(st->st_mode)) && (flags & O_ACCMODE) == O_RDONLY &&
           !(flags & O_PATH);
}

struct look {
    long now;
    int anew, found;
    char open[UPPER_FILES];
};

static void look_at_lower(int fd, void *with)
{
    enum { PATIENCE = 1000 }; /* ms */
    struct look *look = with;
    struct stat st;
    if (fd < 3 || fd >= file_numbers() || fd >= UPPER_FILES || fstat(fd, &st) || !may_pass(fd, &st))
        return;
    struct passing *p = &passing.file[fd];
    look->open[fd] = 1;
    if (p->inode != st.st_ino || (look->anew && p->since))
        *p = (struct passing){st.st_ino, look->now};
    if (p->since && look->now - p->since > PATIENCE)
        p->since = 0;
    look->found |= p->since != 0;
}

static int look_at_passing(long now, int anew)
{
    struct look look = {.now = now, .anew = anew};
    if (!each_open_file(look_at_lower, &look))
        for (int fd = 3; fd < UPPER_FILES; fd++)
            look_at_lower(fd, &look);
    for (int fd = 3; fd < UPPER_FILES; fd++)
        if (!look.open[fd])
            passing.file[fd].inode = 0;
    return look.found;
}

int file_in_passing(void)
{
    enum { ASKED_AGAIN = 100 }; /* ms; one image calls this every few ms */
    struct timespec t;
    raw_syscall(SYS_clock_gettime, CLOCK_MONOTONIC, (long)&t, 0, 0, 0, 0);
    long now = t.tv_sec * 1000 + t.tv_nsec / 1000000 + 1;
    int anew = now - passing.last_asked > ASKED_AGAIN;
    passing.last_asked = now;
    return look_at_passing(now, anew);
}

void file_stays(int fd)
{
    struct stat st;
    if (fd < file_numbers() && fd < UPPER_FILES && !fstat(fd, &st))
        passing.file[fd] = (struct passing){st.st_ino, 0};
}

void files_of_lower_half(void)
{
    look_at_passing(0, 1);
}

struct named {
    dev_t device;
    ino_t inode;
};
static void note_lower(int fd, void *with)
{
    const struct named *n = with;
    struct stat st;
    if (fd >= 3 && fd < file_numbers() && fd < UPPER_FILES && !fstat(fd, &st) &&
        st.st_dev == n->device && st.st_ino == n->inode)
        passing.file[fd] = (struct passing){st.st_ino, 0};
}
void file_of_lower_half(const char *name)
{
    struct stat st;
    if (stat(name, &st))
        return;
    struct named n = {st.st_dev, st.st_ino};
    if (!each_open_file(note_lower, &n))
        for (int fd = 3; fd < UPPER_FILES; fd++)
            note_lower(fd, &n);
}
