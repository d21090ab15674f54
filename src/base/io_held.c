/* Held folders. A folder belongs to the process that made it for as long as that lives. If the process is killed,
 * others find and remove what it leaves behind.
 *
 *   1. A process makes the folder under another name, locks it, and then renames it. So whoever finds it by its name
 *      finds it locked or abandoned.
 *   2. The kernel releases the lock when the process ends, in whatever way. (A process id would not do: in another
 *      namespace it is somebody else's.)
 *   3. A process that sweeps takes the lock, and keeps it until the folder is gone. */
#include <base/fail.h>
#include <base/io.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const char unnamed[] = ".mend-new-XXXXXX";

int mend_io_make_held(const char *in, const char *prefix, char *path, size_t room)
{
    char first[4096];
    int n = snprintf(first, sizeof first, "%s/%s", in, unnamed);
    if (n < 0 || (size_t)n >= sizeof first ||
        (size_t)snprintf(path, room, "%s/%sXXXXXX", in, prefix) >= room) {
        errno = ENAMETOOLONG;
        return mend_fail_errno("cannot make a folder in %s", in);
    }
    if (!mkdtemp(first))
        return mend_fail_errno("cannot make %s", first);
    memcpy(path + strlen(path) - 6, first + strlen(first) - 6, 6);
    int fd = open(first, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0)
        (void)flock(fd, LOCK_EX | LOCK_NB); /* without locks nobody sweeps */
    if (fd >= 0 && rename(first, path) == 0)
        return MEND_OK; /* the descriptor stays open: it is the lock */
    int code = mend_fail_errno("cannot make %s", path);
    rmdir(first);
    if (fd >= 0)
        close(fd);
    return code;
}

bool mend_io_without_locks(int error)
{
    return error == ENOSYS || error == EOPNOTSUPP || error == ENOLCK;
}

static void sweep_one(int in, const char *name, const char *path)
{
    struct stat st;
    int fd = openat(in, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, &st) == 0 && st.st_uid == geteuid() && (st.st_mode & 077) == 0 &&
        flock(fd, LOCK_EX | LOCK_NB) == 0)
        mend_io_remove_tree(path);
    if (fd >= 0)
        close(fd);
}

void mend_io_sweep_held(const char *in, const char *prefix)
{
    struct dirent *entry;
    DIR *dir = opendir(in);
    while (dir && (entry = readdir(dir))) {
        char path[4096];
        int n = snprintf(path, sizeof path, "%s/%s", in, entry->d_name);
        if (strncmp(entry->d_name, prefix, strlen(prefix)) == 0 &&
            strlen(entry->d_name) == strlen(prefix) + 6 && n > 0 && (size_t)n < sizeof path)
            sweep_one(dirfd(dir), entry->d_name, path);
    }
    if (dir)
        closedir(dir);
}
