/* The files of a folder, by descriptors: the folder belongs to a running job, which may replace
 * a file between two looks. Does not follow links. */
#include "chaos.h"

#include <base/io.h>

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEPTH_MAX = 16 };

struct search {
    uint64_t *draw;
    int seen, fd; /* of the drawn file */
    char *file;
};

static int open_folder(int at, const char *name)
{
    return openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static bool is_dots(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* Each file has the same chance: the n-th replaces the current choice with probability 1/n. */
static void meet_file(struct search *s, int fd, const char *path)
{
    if (chaos_next(s->draw) % (uint64_t)++s->seen != 0) {
        close(fd);
        return;
    }
    if (s->fd >= 0)
        close(s->fd);
    s->fd = fd;
    snprintf(s->file, PATH_MAX, "%s", path);
}

/* Closes `folder`. */
static void walk(struct search *s, int folder, const char *path, int depth)
{
    DIR *dir = folder >= 0 ? fdopendir(folder) : NULL;
    char inner[PATH_MAX];
    if (!dir) {
        if (folder >= 0)
            close(folder);
        return;
    }
    for (struct dirent *e; (e = readdir(dir));) {
        struct stat st;
        if (is_dots(e->d_name) ||
            snprintf(inner, sizeof inner, "%.3800s/%.255s", path, e->d_name) < 0 ||
            fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW))
            continue;
        if (S_ISDIR(st.st_mode) && depth < DEPTH_MAX)
            walk(s, open_folder(dirfd(dir), e->d_name), inner, depth + 1);
        if (!S_ISREG(st.st_mode) || st.st_size == 0)
            continue;
        int fd = openat(dirfd(dir), e->d_name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
            meet_file(s, fd, inner);
        else if (fd >= 0)
            close(fd);
    }
    closedir(dir);
}

int chaos_draw_file(const char *folder, uint64_t *draw, char *file)
{
    struct search s = {.draw = draw, .fd = -1, .file = file};
    walk(&s, open_folder(AT_FDCWD, folder), folder, 0);
    return s.fd;
}

void chaos_empty(const char *folder)
{
    char path[320];
    int fd = open_folder(AT_FDCWD, folder);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    if (!dir) {
        if (fd >= 0)
            close(fd);
        return;
    }
    for (struct dirent *e; (e = readdir(dir));)
        if (!is_dots(e->d_name)) {
            snprintf(path, sizeof path, "/proc/self/fd/%d/%.255s", dirfd(dir), e->d_name);
            mend_io_remove_tree(path);
        }
    closedir(dir);
}
