/* The SCR face: files. What the program calls a file, where it is written, how it reaches its name. */
#include "client.h"

#include <base/fail.h>
#include <base/io.h>
#include <scr.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIECE = 4 << 20 };

/* Without "." and doubled slashes; ".." is refused: it could lead out of the prefix. */
static int clean(const char *path, char *to, size_t size)
{
    size_t used = 0;
    for (const char *p = path; *p;) {
        size_t length = strcspn(p, "/");
        if (length == 2 && strncmp(p, "..", 2) == 0)
            return mend_fail(MEND_ERR_ARGUMENT, "the file name %s has a \"..\"", path);
        if (length > 0 && !(length == 1 && *p == '.')) {
            if (used + length + 2 > size)
                return mend_fail(MEND_ERR_ARGUMENT, "the file name %s is too long", path);
            to[used++] = '/';
            memcpy(to + used, p, length);
            used += length;
        }
        p += length + (p[length] == '/');
    }
    to[used] = '\0';
    return MEND_OK;
}

int mend_scr_relative(const struct scr_client *client, const char *name, char **relative)
{
    char here[PATH_MAX], path[2 * PATH_MAX], flat[2 * PATH_MAX], prefix[PATH_MAX];
    *relative = NULL;
    if (!name || !*name || strchr(name, '\n'))
        return mend_fail(MEND_ERR_ARGUMENT, "SCR_Route_file needs the name of a file");
    if (strlen(name) >= PATH_MAX)
        return mend_fail(MEND_ERR_ARGUMENT, "the file name %s is too long", name);
    if (name[0] == '/')
        snprintf(path, sizeof path, "%s", name);
    else if (!getcwd(here, sizeof here))
        return mend_fail_errno("the current folder has no name");
    else
        snprintf(path, sizeof path, "%s/%s", here, name);
    int code = clean(path, flat, sizeof flat);
    if (!code)
        code = clean(client->config.prefix, prefix, sizeof prefix);
    size_t length = code ? 0 : strlen(prefix);
    if (!code && (strncmp(flat, prefix, length) != 0 || flat[length] != '/' || !flat[length + 1]))
        code = mend_fail(MEND_ERR_ARGUMENT, "%s is not below the prefix %s", flat,
                         client->config.prefix);
    if (!code && !(*relative = strdup(flat + length + 1)))
        code = mend_fail(MEND_ERR_NO_MEMORY, "no memory for a file name");
    return code;
}

/* The program finds its own file name at the end of the path, for the sake of its suffix. */
int mend_scr_add_file(struct scr_client *client, const char *relative, const char **routed)
{
    char *folder = NULL, *path = NULL, *name = NULL;
    for (int i = 0; i < client->file_count; i++)
        if (strcmp(client->files[i].name, relative) == 0 && client->files[i].routed) {
            *routed = client->files[i].routed;
            return MEND_OK;
        }
    const char *base = strrchr(relative, '/');
    base = base ? base + 1 : relative;
    struct scr_file *more = realloc(client->files, (size_t)(client->file_count + 1) * sizeof *more);
    if (more)
        client->files = more;
    int code = MEND_OK;
    if (!more ||
        asprintf(&folder, "%s/files-%d/%d", client->cache, client->rank, client->file_count) < 0 ||
        asprintf(&path, "%s/%s", folder, base) < 0 || !(name = strdup(relative)))
        code = mend_fail(MEND_ERR_NO_MEMORY, "no memory for the path of %s", relative);
    else
        code = mend_io_make_folders(folder);
    if (!code && strlen(path) >= SCR_MAX_FILENAME)
        code = mend_fail(MEND_ERR_ARGUMENT, "the path %s is too long", path);
    if (!code)
        code = mend_io_remove(path); /* left by a run that died */
    free(folder);
    if (code) {
        free(path);
        free(name);
        return code;
    }
    client->files[client->file_count++] = (struct scr_file){.name = name, .routed = path};
    *routed = path;
    return MEND_OK;
}

/* The sizes are those at the end; a file that was never written is a failure. */
int mend_scr_measure_files(struct scr_client *client)
{
    for (int i = 0; i < client->file_count; i++) {
        struct scr_file *file = &client->files[i];
        struct stat st;
        if (stat(file->routed, &st))
            return mend_fail_errno("the routed file %s (%s)", file->routed, file->name);
        file->bytes = (size_t)st.st_size;
        file->mode = st.st_mode & 0777;
    }
    return MEND_OK;
}

void mend_scr_remove_files(struct scr_client *client)
{
    char *folder;
    for (int i = 0; i < client->file_count; i++) {
        free(client->files[i].name);
        free(client->files[i].routed);
    }
    client->file_count = 0;
    if (asprintf(&folder, "%s/files-%d", client->cache, client->rank) >= 0) {
        mend_io_remove_tree(folder);
        free(folder);
    }
}

/* ---- to their names below the prefix --------------------------------------------------------- */

/* Folders are the program's own, with the rights that its umask gives them. */
static int make_folders(char *path)
{
    for (char *p = path + 1; (p = strchr(p, '/')); p++) {
        *p = '\0';
        int failed = mkdir(path, 0777) && errno != EEXIST;
        int code = failed ? mend_fail_errno("cannot make the folder %s", path) : MEND_OK;
        *p = '/';
        if (code)
            return code;
    }
    return MEND_OK;
}

typedef int fill_file(void *arg, int fd, const char *path);

static int replace(const char *path, mode_t mode, fill_file *fill, void *arg)
{
    mend_io_replacement r;
    int code = mend_io_replace_begin(&r, path);
    if (code)
        return code;
    code = fill(arg, r.fd, path);
    if (!code && fchmod(r.fd, mode))
        code = mend_fail_errno("cannot set the permissions of %s", path);
    if (!code)
        code = mend_io_replace_commit(&r);
    mend_io_replace_abort(&r);
    return code;
}

struct copying {
    int from;
    const struct scr_file *file;
    char *piece;
};

static int copy_pieces(void *arg, int fd, const char *path)
{
    struct copying *c = arg;
    int code = MEND_OK;
    for (size_t done = 0; done < c->file->bytes && !code;) {
        size_t count = c->file->bytes - done < PIECE ? c->file->bytes - done : PIECE;
        code = mend_io_read(c->from, c->piece, count, c->file->routed);
        if (!code)
            code = mend_io_write(fd, c->piece, count, path);
        done += count;
    }
    return code;
}

static int place(const struct scr_client *client, const struct scr_file *file, char *piece)
{
    char *path = NULL;
    if (asprintf(&path, "%s/%s", client->config.prefix, file->name) < 0)
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for the path of %s", file->name);
    struct copying c = {open(file->routed, O_RDONLY | O_CLOEXEC), file, piece};
    int code = c.from < 0 ? mend_fail_errno("cannot read %s", file->routed) : make_folders(path);
    if (!code)
        code = replace(path, file->mode, copy_pieces, &c);
    if (c.from >= 0)
        close(c.from);
    free(path);
    return code;
}

int mend_scr_place_files(struct scr_client *client)
{
    char *piece = malloc(PIECE);
    int code = piece ? MEND_OK : mend_fail(MEND_ERR_NO_MEMORY, "no memory to copy files");
    for (int i = 0; i < client->file_count && !code; i++)
        code = place(client, &client->files[i], piece);
    free(piece);
    return code;
}

/* ---- out of a version ------------------------------------------------------------------------ */

struct extracting {
    mend_store *store;
    int id;
    size_t bytes;
    char *piece;
};

static int extract_pieces(void *arg, int fd, const char *path)
{
    struct extracting *e = arg;
    int code = MEND_OK;
    for (size_t done = 0; done < e->bytes && !code;) {
        size_t count = e->bytes - done < PIECE ? e->bytes - done : PIECE;
        code = mend_store_read(e->store, e->id, done, e->piece, count);
        if (!code)
            code = mend_io_write(fd, e->piece, count, path);
        done += count;
    }
    return code;
}

int mend_scr_extract(struct scr_client *client, int index, const struct scr_file *file,
                     const char *path)
{
    struct extracting e = {client->store, index, file->bytes, malloc(PIECE)};
    if (!e.piece)
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory to write %s", path);
    char *copy = strdup(path);
    int code = copy ? make_folders(copy) : mend_fail(MEND_ERR_NO_MEMORY, "no memory for %s", path);
    if (!code)
        code = replace(path, file->mode, extract_pieces, &e);
    free(copy);
    free(e.piece);
    return code;
}
