/* mpi/services.c - the lower half of buffers and files (border/services.h); built once per MPI library. */
#include "online/online.h"
#include "undo/undo.h"
#include <mpi.h>
#include <stdlib.h>
#include "mpi/services.h"

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
