/* Replacing files as one step, small whole files, and folders. */
#include <base/fail.h>
#include <base/fault.h>
#include <base/io.h>

#include <errno.h>
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
    if (r->temporary)
        unlink(r->temporary);
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

int mend_io_read_file(const char *path, size_t limit, char **data, size_t *size)
{
    *data = NULL;
    int fd = mend_io_open_read(path);
    if (fd < 0)
        return fd;
    struct stat st;
    int code = MEND_OK;
    if (fstat(fd, &st))
        code = mend_fail_errno("cannot examine %s", path);
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

static int make_one(const char *path)
{
    enum mend_fault_effect effect = MEND_FAULT_POINT(io_mkdir);
    if (effect == MEND_FAULT_EIO || effect == MEND_FAULT_ENOSPC) {
        errno = effect == MEND_FAULT_EIO ? EIO : ENOSPC;
        return -1;
    }
    return mkdir(path, 0700);
}

int mend_io_make_folders(const char *path)
{
    char *copy = strdup(path);
    if (!copy)
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for %s", path);
    int code = MEND_OK;
    for (char *p = copy + 1; *copy && !code; p++) {
        char kept = *p;
        if (kept != '/' && kept != 0)
            continue;
        *p = 0;
        if (make_one(copy) && errno != EEXIST)
            code = mend_fail_errno("cannot create the folder %s", copy);
        *p = kept;
        if (kept == 0)
            break;
    }
    free(copy);
    struct stat st;
    if (!code && lstat(path, &st))
        code = mend_fail_errno("cannot examine the folder %s", path);
    else if (!code && !S_ISDIR(st.st_mode))
        code = mend_fail(MEND_ERR_PERMISSION, "%s is not a folder", path);
    else if (!code && st.st_uid != geteuid())
        code = mend_fail(MEND_ERR_PERMISSION, "the folder %s belongs to user %d, not to user %d",
                         path, (int)st.st_uid, (int)geteuid());
    return code;
}
