/* undo/outside.c - files that change otherwise than by the application's own system calls.
 *
 * By MPI-IO: we record that a file was made, removed, or has grown when it is opened, and at every version
 * while it is open. We record bytes when the MPI library overwrites them (undo/library.c). If its calls do not
 * reach us, we warn the user that those bytes are not restored.
 * Through a shared mapping: we record the content of the file there when it is mapped. A mapping that is in
 * the image is restored with it.
 * By programs that the application starts: we record nothing; the upper half says so (os/children.c).
 */
#include "undo/undo.h"

#include "border/prefix.h"

#include <base/event.h>

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
    struct outside {
        handle_t file;
        dev_t device;
        ino_t inode;
        char path[PATH_MAX];
    } *list; /* files that MPI-IO has open for writing; changed with the log locked */
    int count, again;
    int absent;     /* the file being opened did not exist */
    uint64_t *told; /* hashes of the paths that we have warned about */
    int told_count;
} opened;

static int absolute(const char *name, char *path)
{
    char here[PATH_MAX];
    name = after_prefix(name);
    if (name[0] == '/')
        return snprintf(path, PATH_MAX, "%s", name) < PATH_MAX;
    return getcwd(here, sizeof here) &&
           snprintf(path, PATH_MAX, "%s/%s", here, name) < (int)PATH_MAX;
}

static int told_before(const char *path)
{
    uint64_t sum = 14695981039346656037ull;
    for (const char *c = path; *c; c++)
        sum = (sum ^ (unsigned char)*c) * 1099511628211ull;
    for (int i = 0; i < opened.told_count; i++)
        if (opened.told[i] == sum)
            return 1;
    opened.told = need(realloc(opened.told, (size_t)(opened.told_count + 1) * sizeof sum));
    opened.told[opened.told_count++] = sum;
    return 0;
}

void undo_file_opening(const char *name, int amode, int first)
{
    char path[PATH_MAX];
    if (!undo_log.folder[0] || !(amode & (MPI_MODE_WRONLY | MPI_MODE_RDWR)) ||
        !absolute(name, path))
        return;
    opened.absent = undo_note_length(path);
    if (!first || opened.again || undo_library_heard() || told_before(path))
        return;
    mend_event("recover.unprotected", ev_str("file", path), ev_str("by", "MPI-IO"));
    fprintf(stderr,
            "mend: note: the program writes %s by MPI-IO; after a failure Mend restores its length "
            "at the version, but not the bytes that were overwritten\n",
            path);
}

void undo_file_opened(const char *name, int amode, handle_t file)
{
    struct outside o = {.file = file};
    struct stat st;
    if (!undo_log.folder[0] || !(amode & (MPI_MODE_WRONLY | MPI_MODE_RDWR)) ||
        !absolute(name, o.path) || stat(o.path, &st) || !undo_take())
        return;
    o.device = st.st_dev;
    o.inode = st.st_ino;
    opened.list = realloc(opened.list, (size_t)(opened.count + 1) * sizeof *opened.list);
    if (!opened.list)
        die("no memory to list %d files", opened.count);
    opened.list[opened.count++] = o;
    undo_give();
    if (opened.absent)
        undo_note_created(o.path);
}

void undo_file_closed(handle_t file)
{
    if (!undo_take())
        return;
    for (int i = opened.count; i--;)
        if (opened.list[i].file == file)
            opened.list[i] = opened.list[--opened.count];
    undo_give();
}

int outside_open(void)
{
    return opened.count;
}

int outside_has(const struct stat *st)
{
    for (int i = 0; i < opened.count; i++)
        if (opened.list[i].inode == st->st_ino && opened.list[i].device == st->st_dev)
            return 1;
    return 0;
}

void undo_file_deleting(const char *name)
{
    char path[PATH_MAX];
    if (undo_log.folder[0] && absolute(name, path))
        undo_note_gone(path);
}

/* A new log has begun. */
void undo_outside_begin(void)
{
    for (int i = 0; i < opened.count; i++)
        undo_note_length(opened.list[i].path);
}

/* After a rollback the files are opened again; the user has seen the warnings already. */
void undo_outside_forget(int resumes)
{
    opened.count = 0;
    opened.again = resumes;
}

void undo_outside_resumed(void)
{
    opened.again = 0;
}
