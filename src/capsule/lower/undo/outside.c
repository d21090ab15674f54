/* undo/outside.c - files that are changed otherwise than by the application's own system calls.
 *
 * By MPI-IO: that they were made, removed, or have grown is noted when they are opened, and at every
 * version while they are open; what is overwritten in them is noted when the MPI library does so
 * (undo/library.c). If its calls do not come to us, we warn the user that this is not put back.
 * By a shared mapping: what a file has there is noted when it is mapped. A mapping that is in the image
 * is put back with it.
 * By programs that the application starts: nothing is noted; the upper half says so (os/children.c).
 */
#include "undo/undo.h"

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
    } *list; /* files of MPI-IO that are open for writing; changed with the log taken */
    int count, again;
    int absent;     /* the file that is being opened was not there */
    uint64_t *told; /* sums of the paths that were warned of */
    int told_count;
} opened;

/* A prefix like "ufs:" is the library's. */
static const char *plain_name(const char *name)
{
    const char *colon = strchr(name, ':');
    return colon && !memchr(name, '/', (size_t)(colon - name)) ? colon + 1 : name;
}

static int absolute(const char *name, char *path)
{
    char here[PATH_MAX];
    name = plain_name(name);
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

/* The job was rolled back: the files are opened again, of which the user knows. */
void undo_outside_forget(int resumes)
{
    opened.count = 0;
    opened.again = resumes;
}

void undo_outside_resumed(void)
{
    opened.again = 0;
}
