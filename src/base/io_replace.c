/* Replacing files as one step, and small whole files. */
#include <base/fail.h>
#include <base/io.h>

#include "io_inside.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char temporary_mark[] = ".tmp-";

/* The folder part of a path, malloc'ed: "a/b" → "a", "b" → ".", "/b" → "/". */
static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        return strdup(".");
    return strndup(path, slash == path ? 1 : (size_t)(slash - path));
}

int mend_io_replace_begin(mend_io_replacement *r, const char *path)
{
    static atomic_uint counter;
    *r = (mend_io_replacement){.fd = -1};
    r->path = strdup(path);
    if (!r->path || asprintf(&r->temporary, "%s%s%d-%u", path, temporary_mark, (int)getpid(),
                             atomic_fetch_add(&counter, 1)) < 0) {
        free(r->path);
        *r = (mend_io_replacement){.fd = -1};
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory to replace %s", path);
    }
    r->fd = mend_io_create(r->temporary);
    if (r->fd < 0) {
        int code = r->fd;
        free(r->temporary);
        r->temporary = NULL; /* not ours: nothing to remove */
        mend_io_replace_abort(r);
        return code;
    }
    return MEND_OK;
}

int mend_io_replace_commit(mend_io_replacement *r)
{
    char *folder = folder_of(r->path);
    int code = folder ? MEND_OK : mend_fail(MEND_ERR_NO_MEMORY, "no memory for %s", r->path);
    if (!code)
        code = mend_io_fsync(r->fd, r->temporary);
    if (!code) {
        code = mend_io_close(r->fd, r->temporary);
        r->fd = -1;
    }
    if (!code)
        code = mend_io_rename(r->temporary, r->path);
    if (!code) {
        free(r->temporary);
        r->temporary = NULL; /* from here on the new file is in place */
        code = mend_io_sync_directory(folder);
    }
    free(folder);
    mend_io_replace_abort(r);
    return code;
}

void mend_io_replace_abort(mend_io_replacement *r)
{
    if (r->fd >= 0)
        close(r->fd);
    if (r->temporary) {
        const char *name;
        int at = mend_io_at(r->temporary, &name);
        if (at != -1)
            unlinkat(at, name, 0);
    }
    free(r->temporary);
    free(r->path);
    *r = (mend_io_replacement){.fd = -1};
}

int mend_io_is_temporary(const char *name)
{
    const char *mark = NULL;
    for (const char *p = name; (p = strstr(p, temporary_mark)); p++)
        mark = p;
    if (!mark)
        return 0;
    const char *rest = mark + strlen(temporary_mark);
    size_t pid = strspn(rest, "0123456789");
    if (pid == 0 || rest[pid] != '-')
        return 0;
    size_t number = strspn(rest + pid + 1, "0123456789");
    return number > 0 && rest[pid + 1 + number] == 0;
}

int mend_io_replace_file(const char *path, const void *data, size_t size)
{
    mend_io_replacement r;
    int code = mend_io_replace_begin(&r, path);
    if (code)
        return code;
    code = mend_io_write(r.fd, data, size, r.temporary);
    if (code) {
        mend_io_replace_abort(&r);
        return code;
    }
    return mend_io_replace_commit(&r);
}

/* The rest of reading a whole file. Closes the descriptor. If `fd` is a negative code, returns that. */
static int read_whole(int fd, const char *path, size_t limit, char **data, size_t *size)
{
    *data = NULL;
    if (fd < 0)
        return fd;
    struct stat st;
    int code = MEND_OK;
    if (fstat(fd, &st))
        code = mend_fail_errno("cannot examine %s", path);
    else if (!S_ISREG(st.st_mode))
        code = mend_fail(MEND_ERR_PERMISSION, "%s is not a regular file", path);
    else if ((unsigned long long)st.st_size > limit)
        code = mend_fail(MEND_ERR_ARGUMENT, "%s is larger (%lld bytes) than the %zu allowed", path,
                         (long long)st.st_size, limit);
    else if (!(*data = malloc((size_t)st.st_size + 1)))
        code = mend_fail(MEND_ERR_NO_MEMORY, "no memory to read %s", path);
    if (!code)
        code = mend_io_read(fd, *data, (size_t)st.st_size, path);
    close(fd);
    if (code) {
        free(*data);
        *data = NULL;
        return code;
    }
    *size = (size_t)st.st_size;
    (*data)[*size] = 0;
    return MEND_OK;
}

int mend_io_read_file(const char *path, size_t limit, char **data, size_t *size)
{
    return read_whole(mend_io_open_read(path), path, limit, data, size);
}

int mend_io_read_input(const char *path, size_t limit, char **data, size_t *size)
{
    /* O_NONBLOCK: a fifo in the file's place must not hang us */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    return read_whole(fd < 0 ? mend_fail_errno("cannot open %s", path) : fd, path, limit, data,
                      size);
}
