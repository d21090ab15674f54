/* Create folders safely, and remove them with their contents. */
#include <base/fail.h>
#include <base/fault.h>
#include <base/io.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEPTH_MAX 64

static int make_one(int at, const char *name)
{
    enum mend_fault_effect effect = MEND_FAULT_POINT(io_mkdir);
    if (effect == MEND_FAULT_EIO || effect == MEND_FAULT_ENOSPC) {
        errno = effect == MEND_FAULT_EIO ? EIO : ENOSPC;
        return -1;
    }
    return mkdirat(at, name, 0700);
}

/* The state of a walk to a folder. `open_land`: everybody may write to this folder, so anybody may have put the next
 * component there. */
struct walk {
    int fd;
    bool open_land;
};

/* May we continue from this folder? */
static int examine(struct walk *w, const char *so_far)
{
    struct stat st;
    if (fstat(w->fd, &st))
        return mend_fail_errno("cannot examine the folder %s", so_far);
    if (w->open_land && st.st_uid != geteuid() && st.st_uid != 0)
        return mend_fail(MEND_ERR_PERMISSION,
                         "the folder %s belongs to user %d, who could replace its files", so_far,
                         (int)st.st_uid);
    if (w->open_land && (st.st_mode & S_IWOTH) && !(st.st_mode & S_ISVTX))
        return mend_fail(MEND_ERR_PERMISSION,
                         "every user could replace the files in the folder %s (mode %04o)", so_far,
                         (unsigned)st.st_mode & 07777);
    w->open_land = st.st_mode & S_IWOTH; /* in a folder of our own, nobody else can do that */
    return MEND_OK;
}

/* Go one folder further; `so_far` is the path up to and including it. */
static int enter(struct walk *w, const char *name, const char *so_far, bool last)
{
    int follow = last || w->open_land ? O_NOFOLLOW : 0;
    if (make_one(w->fd, name) && errno != EEXIST)
        return mend_fail_errno("cannot create the folder %s", so_far);
    int next = openat(w->fd, name, O_PATH | O_DIRECTORY | O_CLOEXEC | follow);
    if (next < 0 && (errno == ENOTDIR || errno == ELOOP))
        return mend_fail(MEND_ERR_PERMISSION, "%s is a link or not a folder", so_far);
    if (next < 0)
        return mend_fail_errno("cannot open the folder %s", so_far);
    close(w->fd);
    w->fd = next;
    return examine(w, so_far);
}

static int walk_all(struct walk *w, char *copy)
{
    int code = examine(w, *copy == '/' ? "/" : ".");
    for (char *name = copy; !code;) {
        while (*name == '/')
            name++;
        if (*name == 0)
            break;
        char *end = name + strcspn(name, "/"), kept = *end;
        bool last = end[strspn(end, "/")] == 0;
        *end = 0;
        code = enter(w, name, copy, last);
        *end = kept;
        name = end;
    }
    return code;
}

static int make_folders(const char *path, mode_t refused)
{
    struct walk w = {.fd = -1};
    struct stat st;
    char *copy = strdup(path);
    if (!copy)
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for %s", path);
    w.fd = open(*path == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    int code =
        w.fd < 0 ? mend_fail_errno("cannot open the folder of %s", path) : walk_all(&w, copy);
    if (!code && fstat(w.fd, &st))
        code = mend_fail_errno("cannot examine the folder %s", path);
    else if (!code && st.st_uid != geteuid())
        code = mend_fail(MEND_ERR_PERMISSION, "the folder %s belongs to user %d, not to user %d",
                         path, (int)st.st_uid, (int)geteuid());
    else if (!code && (st.st_mode & refused))
        code = mend_fail(MEND_ERR_PERMISSION, "the folder %s is open to other users (mode %04o)",
                         path, (unsigned)st.st_mode & 07777);
    if (w.fd >= 0)
        close(w.fd);
    free(copy);
    return code;
}

int mend_io_make_folders(const char *path)
{
    return make_folders(path, 0);
}

int mend_io_make_private(const char *path)
{
    return make_folders(path, 0077);
}

/* ---- removing -------------------------------------------------------------------------------- */

static int remove_entries(int fd, const char *path, int depth);

/* Remove `name` in the folder `at`, whatever it is. It is no error if there is nothing. */
static int remove_entry(int at, const char *name, const char *path, int depth)
{
    if (unlinkat(at, name, 0) == 0 || errno == ENOENT)
        return MEND_OK;
    if (errno != EISDIR && errno != EPERM)
        return mend_fail_errno("cannot remove %s in %s", name, path);
    int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return mend_fail_errno("cannot open %s in %s", name, path);
    int code = remove_entries(fd, path, depth + 1);
    if (!code && unlinkat(at, name, AT_REMOVEDIR) && errno != ENOENT)
        code = mend_fail_errno("cannot remove the folder %s in %s", name, path);
    return code;
}

/* Remove everything in the folder `fd`, and close it. Continues after an error and returns the
 * first. */
static int remove_entries(int fd, const char *path, int depth)
{
    DIR *dir = depth < DEPTH_MAX ? fdopendir(fd) : NULL;
    struct dirent *entry;
    int code = MEND_OK;
    if (!dir) {
        close(fd);
        return mend_fail(MEND_ERR_IO, "cannot list a folder in %s", path);
    }
    while ((entry = readdir(dir))) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        int one = remove_entry(dirfd(dir), entry->d_name, path, depth);
        code = code ? code : one;
    }
    closedir(dir);
    return code;
}

int mend_io_remove_tree(const char *path)
{
    return remove_entry(AT_FDCWD, path, path, 0);
}
