/* file.c - MPI-IO: the lower half opens files; this half keeps what it takes to open them again: name,
 * mode, view, positions.
 *
 * No file is open below with MPI_MODE_SEQUENTIAL. In this mode MPICH (4.3) neither tells where the shared pointer is nor sets it,
 * so a resumed program would read from the beginning again; and Open MPI (5.0.7) takes the pointer, which counts elements, for
 * bytes. This half refuses what the program's library refuses.
 *
 * The first half of a split collective does all the work; the second returns the result. Draining
 * completes all requests before an image is taken, so no file operation is in progress then.
 */
#include "io/io.h"
#include "border/prefix.h"
#include "os/os.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    MODE_APPEND = NEUTRAL_MODE_APPEND,
    MODE_CREATE = NEUTRAL_MODE_CREATE,
    MODE_DELETE_ON_CLOSE = NEUTRAL_MODE_DELETE_ON_CLOSE,
    MODE_EXCL = NEUTRAL_MODE_EXCL,
    MODE_SEQUENTIAL = NEUTRAL_MODE_SEQUENTIAL
};
enum { WHENCE_SET = 600 };

/* The working directory may change later. */
static char *absolute(const char *name)
{
    const char *path = after_prefix(name);
    char here[PATH_MAX] = "";
    if (path[0] == '/' || !getcwd(here, sizeof here))
        return need(strdup(name));
    size_t bytes = strlen(here) + strlen(name) + 2;
    char *whole = need(malloc(bytes));
    snprintf(whole, bytes, "%.*s%s/%s", (int)(path - name), name, here, path);
    return whole;
}

int core_File_open(object *comm, const char *name, int amode, object *info, object **out)
{
    struct open_file *f = need(calloc(1, sizeof *f));
    object *o;
    handle_t h;
    int rc = core_Comm_split(comm, 0, comm->comm.rank, &f->comm);
    if (rc) {
        free(f);
        return rc;
    }
    struct gate g;
    rc = exclusive_enter(f->comm, &g);
    if (!rc)
        rc = LOWER(file_open, f->comm->real, name, amode, info ? info->info.n : 0,
                   info ? info->info.words : NULL, &h);
    exclusive_leave(&g);
    if (rc) {
        core_Comm_free(&f->comm);
        free(f);
        error_holder = predef[PRE_MPI_FILE_NULL];
        return rc;
    }
    f->name = absolute(name);
    file_of_lower_half(after_prefix(f->name));
    f->amode = amode;
    f->etype = f->filetype = TYPE_BYTE;
    f->datarep = need(strdup("native"));
    o = object_new(KIND_FILE);
    o->real = h;
    o->file.f = f;
    o->file.errh = NULL;
    object *inherited = errhandler_of(predef[PRE_MPI_FILE_NULL]);
    errhandler_attach(o, inherited);
    info_take(o, info);
    *out = o;
    return 0;
}
/* The lower half opens the file without MPI_MODE_DELETE_ON_CLOSE: when the library ends, it closes open files, but
 * a program that stops here to continue elsewhere has not closed its file. So we delete it, after all ranks have
 * closed it. */
static int delete_closed(const struct open_file *f)
{
    int rc = LOWER(Barrier, f->comm->real), error = 0;
    if (!rc && f->comm->comm.rank == 0)
        error = LOWER(file_delete, f->name);
    if (!rc)
        rc = LOWER(Barrier, f->comm->real);
    return rc                                      ? rc
           : error == NEUTRAL_MPI_ERR_NO_SUCH_FILE ? 0 /* the program deleted it first */
                                                   : error;
}
int core_File_close(object **h)
{
    object *o = *h;
    struct open_file *f = o->file.f;
    if (o->predefined || !f)
        return NEUTRAL_MPI_ERR_FILE;
    struct gate g;
    int rc = exclusive_enter(f->comm, &g);
    if (!rc && !f->lost)
        rc = LOWER(file_close, o->real);
    if (!rc && f->amode & MODE_DELETE_ON_CLOSE)
        rc = delete_closed(f);
    exclusive_leave(&g);
    errhandler_attach(o, NULL);
    object_delete(o); /* before Comm_free, where an image may be taken that must not list it */
    o->file.f = NULL;
    *h = predef[PRE_MPI_FILE_NULL];
    core_Comm_free(&f->comm);
    unref_type(f->etype);
    unref_type(f->filetype);
    free(f->name);
    free(f->datarep);
    free(f);
    return rc;
}
int core_File_delete(const char *name, object *info)
{
    (void)info;
    int rc = LOWER(file_delete, name);
    if (rc)
        error_holder = predef[PRE_MPI_FILE_NULL];
    return rc;
}
int core_File_get_group(object *file, object **group)
{
    return core_Comm_group(file->file.f->comm, group);
}
int core_File_get_amode(object *file, int *amode)
{
    *amode = file->file.f->amode;
    return 0;
}
/* Files report errors to nobody by default, so a program might go on without its data. */
static void stop_if_lost(const struct open_file *f)
{
    if (!f->lost)
        return;
    file_say(f->lost, f->name);
    abort();
}
int file_refuses(const object *file, const char *function)
{
    stop_if_lost(file->file.f);
#ifdef MPICH_ABI
    static const char *const accepted[] = {"File_read_shared",
                                           "File_read_ordered",
                                           "File_iread_shared",
                                           "File_write_shared",
                                           "File_write_ordered",
                                           "File_iwrite_shared",
                                           "File_preallocate",
                                           "File_get_size",
                                           "File_get_position",
                                           "File_get_byte_offset",
                                           "File_get_type_extent",
                                           "File_set_atomicity",
                                           "File_get_atomicity",
                                           "File_sync",
                                           NULL};
    if (__builtin_expect(file->file.f->amode & MODE_SEQUENTIAL, 0)) {
        int i = 0;
        while (accepted[i] && strcmp(accepted[i], function) != 0)
            i++;
        return accepted[i] ? 0 : NEUTRAL_MPI_ERR_UNSUPPORTED_OPERATION;
    }
#else /* Open MPI refuses nothing */
    (void)function;
#endif
    return 0;
}
/* MPI_DISPLACEMENT_CURRENT is where the shared pointer is: it moves on, the displacement must not. All ranks have looked before
 * the first of them sets its view, which sets the pointer to zero. */
static int displacement_is_current(const object *file, long *disp)
{
    long position = 0, byte = 0;
    if (*disp != NEUTRAL_DISPLACEMENT_CURRENT)
        return 0;
    int rc = LOWER(File_get_position_shared, file->real, &position);
    if (!rc)
        rc = LOWER(File_get_byte_offset, file->real, position, &byte);
    int met = LOWER(Barrier, file->file.f->comm->real);
    *disp = byte;
    return rc ? rc : met;
}
/* Only a sequential file knows MPI_DISPLACEMENT_CURRENT, and for MPICH it knows nothing else. */
static int displacement_is_wrong(const object *file, long disp)
{
    int current = disp == NEUTRAL_DISPLACEMENT_CURRENT,
        sequential = (file->file.f->amode & MODE_SEQUENTIAL) != 0;
#ifdef MPICH_ABI
    return current != sequential ? NEUTRAL_MPI_ERR_ARG : 0;
#else
    return current && !sequential ? NEUTRAL_MPI_ERR_DISP : 0;
#endif
}
int core_File_set_view(object *file, long disp, object *etype, object *filetype,
                       const char *datarep, object *info)
{
    struct open_file *f = file->file.f;
    struct gate g;
    int rc = displacement_is_wrong(file, disp);
    stop_if_lost(f);
    if (rc)
        return rc;
    rc = exclusive_enter(f->comm, &g);
    if (!rc)
        rc = displacement_is_current(file, &disp);
    if (!rc)
        rc = LOWER(file_set_view, file->real, disp, etype->real, filetype->real, datarep);
    exclusive_leave(&g);
    if (rc)
        return rc;
    etype->refs++;
    filetype->refs++;
    unref_type(f->etype);
    unref_type(f->filetype);
    f->etype = etype;
    f->filetype = filetype;
    f->disp = disp;
    free(f->datarep);
    f->datarep = need(strdup(datarep));
    info_take(file, info);
    return 0;
}
/* The caller may free the type, so it gets a duplicate, as from both libraries. */
static int told(object *type, object **out)
{
    *out = type;
    if (type->predefined)
        return 0;
    int rc = core_Type_dup(type, out);
    return rc ? rc : core_Type_commit(out);
}
int core_File_get_view(object *file, long *disp, object **etype, object **filetype, char *datarep)
{
    struct open_file *f = file->file.f;
    *disp = f->disp;
    snprintf(datarep, 128, "%s", f->datarep);
    int rc = told(f->etype, etype);
    return rc ? rc : told(f->filetype, filetype);
}

/* --- split collectives --- */
#define BEGIN(how, CONST, OFFSET_PARAM, OFFSET)                                                    \
    int core_File_##how##_begin(object *file, OFFSET_PARAM() CONST void *buf, int n, object *type) \
    {                                                                                              \
        struct open_file *f = file->file.f;                                                        \
        if (f->split)                                                                              \
            return NEUTRAL_MPI_ERR_REQUEST;                                                        \
        int rc = core_File_##how(file, OFFSET() buf, n, type, &f->split_status);                   \
        f->split = !rc;                                                                            \
        return rc;                                                                                 \
    }                                                                                              \
    int core_File_##how##_end(object *file, CONST void *buf, struct status *st)                    \
    {                                                                                              \
        struct open_file *f = file->file.f;                                                        \
        (void)buf;                                                                                 \
        if (!f->split)                                                                             \
            return NEUTRAL_MPI_ERR_REQUEST;                                                        \
        f->split = 0;                                                                              \
        tell_status(st, &f->split_status);                                                         \
        return 0;                                                                                  \
    }
#define NOTHING()
#define AN_OFFSET()  long offset,
#define THE_OFFSET() offset,
BEGIN(read_all, , NOTHING, NOTHING)
BEGIN(write_all, const, NOTHING, NOTHING)
BEGIN(read_ordered, , NOTHING, NOTHING)
BEGIN(write_ordered, const, NOTHING, NOTHING)
BEGIN(read_at_all, , AN_OFFSET, THE_OFFSET)
BEGIN(write_at_all, const, AN_OFFSET, THE_OFFSET)

/* --- checkpoint and restart --- */
void files_before_image(void)
{
    EACH_LIVE (o, KIND_FILE) {
        struct open_file *f = o->file.f;
        LOWER(File_get_position, o->real, &f->position);
        LOWER(File_get_position_shared, o->real, &f->shared_position);
        LOWER(File_get_size, o->real, &f->size);
        LOWER(File_get_atomicity, o->real, &f->atomic);
    }
}
/* Rank by rank, libraries and file systems may say different things. */
static int failed_somewhere(const struct open_file *f, int failed)
{
    int any = failed != 0, all = 1;
    LOWER(Allreduce, &any, &all, 1, predef[PRE_MPI_INT]->real, predef[PRE_MPI_MAX]->real,
          f->comm->real);
    return all;
}
/* Open it again. A file that held anything when the image was taken must be there and hold as much. Returns what is wrong, on
 * all ranks. */
static const char *open_again(object *o)
{
    struct open_file *f = o->file.f;
    object *info = o->extra ? o->extra->info : NULL;
    long size = 0;
    int amode = f->amode & ~(f->size ? MODE_EXCL | MODE_CREATE : MODE_EXCL);
    int rc = LOWER(file_open, f->comm->real, f->name, amode, info ? info->info.n : 0,
                   info ? info->info.words : NULL, &o->real);
    if (failed_somewhere(f, rc))
        return "MPI_File_open cannot open it again";
    rc = LOWER(file_set_view, o->real, f->disp, f->etype->real, f->filetype->real, f->datarep);
    if (failed_somewhere(f, rc))
        return "MPI_File_set_view cannot set its view again";
    rc = LOWER(File_get_size, o->real, &size);
    return failed_somewhere(f, !rc && size < f->size) ? "is shorter than when the image was taken"
                                                      : NULL;
}
void rebind_files(void)
{
    EACH_LIVE (o, KIND_FILE) {
        struct open_file *f = o->file.f;
        f->lost = open_again(o);
        if (f->lost) { /* not by stdio: the program may be inside it */
            file_say(f->lost, f->name);
            o->real = upper.lower->predef[PRE_MPI_FILE_NULL];
            continue;
        }
        LOWER(File_seek, o->real, f->position, WHENCE_SET);
        if (f->shared_position > 0 || f->amode & MODE_APPEND)
            LOWER(File_seek_shared, o->real, f->shared_position, WHENCE_SET);
        if (f->atomic)
            LOWER(File_set_atomicity, o->real, 1);
    }
}
