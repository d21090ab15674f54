/* mpi/services.c - the lower half of buffers, windows and files (border/services.h); built once per MPI
 * library. */
#include "online/online.h"
#include "undo/undo.h"
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include "mpi/services.h"

#define WIN(h)   ((MPI_Win)(h))
#define FILE_(h) ((MPI_File)(h))
#define COMM(h)  ((MPI_Comm)(h))
#define TYPE(h)  ((MPI_Datatype)(h))

/* Error classes cross the border with Open MPI's values. */
int error_out(int rc)
{
    int class = MPI_ERR_OTHER;
    if (!rc)
        return 0;
    MPI_Error_class(rc, &class);
#define ERROR_CLASS(name, value, ...) \
    if (class == name)                \
        return value;
#include "table/errors.def"
#undef ERROR_CLASS
#ifdef OPEN_MPI
    if (class > MPI_ERR_WIN && class < MPI_ERR_LASTCODE)
        return class; /* of a fault-tolerant MPI */
#endif
    return 16;
}

/* What others take part in may fail because one of them has died. */
static int checked(const char *function, int rc)
{
    return error_out(GUARD(function, rc));
}

/* When the application is rolled back, the library still has the buffer of before, and may be reading
 * from it: where that can happen it gets one of ours, which outlives the upper half. */
static struct {
    void *memory;
    int size;
} own_buffer;

int lower_Buffer_attach(void *buf, int size)
{
    if (!ground.recovering)
        return error_out(MPI_Buffer_attach(buf, size));
    if (own_buffer.memory && own_buffer.size >= size)
        return 0;
    int rc = own_buffer.memory ? lower_Buffer_detach() : 0;
    if (rc)
        return rc;
    own_buffer.size = size > 1 << 20 ? size : 1 << 20;
    own_buffer.memory = malloc((size_t)own_buffer.size);
    rc = own_buffer.memory ? MPI_Buffer_attach(own_buffer.memory, own_buffer.size) : MPI_ERR_NO_MEM;
    if (rc) {
        free(own_buffer.memory);
        own_buffer.memory = NULL;
    }
    return error_out(rc);
}
int lower_Buffer_detach(void)
{
    void *buf;
    int size, rc = MPI_Buffer_detach(&buf, &size);
    if (!rc) {
        free(own_buffer.memory);
        own_buffer.memory = NULL;
    }
    return error_out(rc);
}
/* `out` is filled when the request completes: it must not be on the stack */
int lower_comm_idup(handle_t comm, handle_t *out, handle_t *request)
{
    MPI_Request q = MPI_REQUEST_NULL;
    *out = 0;
    int rc = MPI_Comm_idup(COMM(comm), (MPI_Comm *)out, &q);
    *request = (handle_t)q;
    return error_out(rc);
}
int lower_comm_remote_size(handle_t comm, int *size)
{
    return error_out(MPI_Comm_remote_size(COMM(comm), size));
}
int lower_comm_remote_ranks(handle_t comm, int *ranks)
{
    MPI_Group world, remote;
    int n;
    MPI_Comm_group(online.world, &world);
    MPI_Comm_remote_group(COMM(comm), &remote);
    MPI_Group_size(remote, &n);
    int *id = need(malloc((size_t)n * sizeof *id));
    for (int i = 0; i < n; i++)
        id[i] = i;
    int rc = MPI_Group_translate_ranks(remote, n, id, world, ranks);
    free(id);
    MPI_Group_free(&remote);
    MPI_Group_free(&world);
    return error_out(rc);
}
int lower_type_bytes(handle_t t, long *bytes)
{
    MPI_Count n = 0;
    int rc = MPI_Type_size_x(TYPE(t), &n);
    *bytes = n;
    return error_out(rc);
}
int lower_elements(handle_t t, size_t bytes, long *count)
{
    MPI_Status st = {0};
    MPI_Count n = 0;
    MPI_Status_set_elements_x(&st, MPI_BYTE, (MPI_Count)bytes);
    int rc = MPI_Get_elements_x(&st, TYPE(t), &n);
    *count = n;
    return error_out(rc);
}

static int win_ready(int rc, MPI_Win w, handle_t *out)
{
    if (!rc) {
        MPI_Win_set_errhandler(w, MPI_ERRORS_RETURN);
        *out = (handle_t)w;
        rc = DEAF("Win_lock_all", MPI_Win_lock_all(MPI_MODE_NOCHECK, w));
    }
    online.windows_open -= rc != 0;
    return error_out(rc);
}
int lower_win_create(void *base, long size, int unit, handle_t comm, handle_t *out)
{
    MPI_Win w = MPI_WIN_NULL;
    windows_allowed();
    online.windows_open++; /* before: one that is half made cannot be repaired either */
    int rc = DEAF("Win_create", MPI_Win_create(base, size, unit, MPI_INFO_NULL, COMM(comm), &w));
    return win_ready(rc, w, out);
}
int lower_win_create_dynamic(handle_t comm, handle_t *out)
{
    MPI_Win w = MPI_WIN_NULL;
    windows_allowed();
    online.windows_open++;
    int rc = DEAF("Win_create_dynamic", MPI_Win_create_dynamic(MPI_INFO_NULL, COMM(comm), &w));
    return win_ready(rc, w, out);
}
/* A window of LOCK_WORDS words per rank. MPICH asks the target's process to act on memory that it did not
 * allocate itself: with more ranks than cores each try for a lock would wait until that one runs. So
 * the word lies in memory of the library there, and gets the value of ours.
 */
int lower_win_lock_words(long *own, handle_t comm, long **word, handle_t *out)
{
#ifdef OPEN_MPI
    *word = own;
    return lower_win_create(own, LOCK_WORDS * sizeof *own, sizeof *own, comm, out);
#else
    MPI_Win w = MPI_WIN_NULL;
    int rc = MPI_Win_allocate(LOCK_WORDS * sizeof *own, sizeof *own, MPI_INFO_NULL, COMM(comm),
                              word, &w);
    if (!rc) {
        memcpy(*word, own, LOCK_WORDS * sizeof *own);
        rc = MPI_Barrier(COMM(comm)); /* nobody tries before all words are there */
    }
    online.windows_open++;
    return win_ready(rc, w, out);
#endif
}
int lower_win_attach(handle_t win, void *base, long size)
{
    return error_out(DEAF("Win_attach", MPI_Win_attach(WIN(win), base, size)));
}
int lower_win_detach(handle_t win, const void *base)
{
    return error_out(DEAF("Win_detach", MPI_Win_detach(WIN(win), base)));
}
int lower_win_free(handle_t win)
{
    MPI_Win w = WIN(win);
    int rc = DEAF("Win_unlock_all", MPI_Win_unlock_all(w));
    int rc2 = DEAF("Win_free", MPI_Win_free(&w));
    online.windows_open -= !rc2;
    return error_out(rc ? rc : rc2);
}
int lower_win_flush(int rank, handle_t win)
{
    return error_out(DEAF("Win_flush", MPI_Win_flush(rank, WIN(win))));
}
int lower_win_flush_local(int rank, handle_t win)
{
    return error_out(DEAF("Win_flush_local", MPI_Win_flush_local(rank, WIN(win))));
}
int lower_win_flush_all(handle_t win)
{
    return error_out(DEAF("Win_flush_all", MPI_Win_flush_all(WIN(win))));
}
int lower_win_flush_local_all(handle_t win)
{
    return error_out(DEAF("Win_flush_local_all", MPI_Win_flush_local_all(WIN(win))));
}
int lower_win_sync(handle_t win)
{
    return error_out(DEAF("Win_sync", MPI_Win_sync(WIN(win))));
}

/* Hints are given to the library: for files they change speed, never results. MPI_MODE_DELETE_ON_CLOSE is
 * upper/io/file.c's to keep. */
int lower_file_open(handle_t comm, const char *name, int amode, int n, char *const *words,
                    handle_t *out)
{
    MPI_File f;
    MPI_Info info = MPI_INFO_NULL;
    if (n) {
        MPI_Info_create(&info);
        for (int i = 0; i < n; i += 2)
            MPI_Info_set(info, words[i], words[i + 1]);
    }
    int rank = 0;
    MPI_Comm_rank(COMM(comm), &rank);
    undo_file_opening(name, amode, rank == 0);
    amode &= ~MPI_MODE_DELETE_ON_CLOSE;
    int rc = FILE_CALL("File_open", MPI_File_open(COMM(comm), name, amode, info, &f));
    if (n)
        MPI_Info_free(&info);
    *out = (handle_t)f;
    if (!rc)
        undo_file_opened(name, amode, *out);
    return checked(__func__, rc);
}
int lower_file_close(handle_t file)
{
    MPI_File f = FILE_(file);
    int rc = FILE_CALL("File_close", MPI_File_close(&f));
    undo_file_closed(file); /* only now: closing may remove it */
    return error_out(rc);
}
int lower_file_delete(const char *name)
{
    undo_file_deleting(name);
    return checked(__func__, MPI_File_delete(name, MPI_INFO_NULL));
}
int lower_file_set_view(handle_t file, long disp, handle_t etype, handle_t filetype,
                        const char *datarep)
{
    return error_out(
        FILE_CALL("File_set_view", MPI_File_set_view(FILE_(file), disp, TYPE(etype), TYPE(filetype),
                                                     datarep, MPI_INFO_NULL)));
}
