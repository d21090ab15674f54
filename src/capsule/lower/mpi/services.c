/* mpi/services.c - the lower half of buffers, communicators and files (table/services.def); built once per MPI library. */
#include "online/online.h"
#include "undo/undo.h"
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
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
        return class; /* from a fault-tolerant MPI */
#endif
    return 16;
}

/* A call that others take part in may fail because one of them has died. */
static int checked(const char *function, int rc)
{
    return error_out(GUARD(function, rc));
}

/* After a rollback the library still has the old buffer and may be reading from it. In a job that may roll
 * back in place, it gets a buffer of ours, which outlives the upper half. */
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

/* The program's hints, as an info object of this library. */
static MPI_Info hints(int n, char *const *words)
{
    MPI_Info info;
    MPI_Info_create(&info);
    for (int i = 0; i < n; i += 2)
        MPI_Info_set(info, words[i], words[i + 1]);
    return info;
}

static int split_type(int type)
{
#ifdef OPEN_MPI
    _Static_assert(MPI_COMM_TYPE_HW_UNGUIDED == (int)NEUTRAL_SPLIT_HW_UNGUIDED &&
                       MPI_COMM_TYPE_HW_GUIDED == (int)NEUTRAL_SPLIT_HW_GUIDED,
                   "neutral values");
    return type;
#else
    switch (type) {
    case NEUTRAL_UNDEFINED: return MPI_UNDEFINED;
    case NEUTRAL_SPLIT_SHARED: return MPI_COMM_TYPE_SHARED;
    case NEUTRAL_SPLIT_HW_UNGUIDED: return MPI_COMM_TYPE_HW_UNGUIDED;
    case NEUTRAL_SPLIT_HW_GUIDED: return MPI_COMM_TYPE_HW_GUIDED;
#ifdef MPI_COMM_TYPE_RESOURCE_GUIDED /* not in MPICH before 4.2 */
    case NEUTRAL_SPLIT_RESOURCE_GUIDED: return MPI_COMM_TYPE_RESOURCE_GUIDED;
#endif
#ifdef MPIX_COMM_TYPE_NEIGHBORHOOD
    case NEUTRAL_SPLIT_NEIGHBORHOOD: return MPIX_COMM_TYPE_NEIGHBORHOOD;
#endif
    }
    return NEUTRAL_SPLIT_NONE;
#endif
}
/* The hints decide what comes out of it, and the library may add by what it has split. n < 0: no info object. */
int lower_comm_split_type(handle_t comm, int type, int key, int n, char *const *words,
                          char *resource, handle_t *out)
{
    MPI_Comm c = MPI_COMM_NULL;
    MPI_Info info = n < 0 ? MPI_INFO_NULL : hints(n, words);
    int found;
    int rc =
        CREATE("Comm_split_type", MPI_Comm_split_type(COMM(comm), split_type(type), key, info, &c));
    if (n >= 0) {
        MPI_Info_get(info, SPLIT_RESOURCE_KEY, SPLIT_RESOURCE - 1, resource, &found);
        MPI_Info_free(&info);
    }
    comm_made(c);
    *out = (handle_t)c;
    return error_out(rc);
}

/* Hints are passed to the library: for files they change speed, never results. upper/io/file.c takes care of
 * MPI_MODE_DELETE_ON_CLOSE. */
int lower_file_open(handle_t comm, const char *name, int amode, int n, char *const *words,
                    handle_t *out)
{
    MPI_File f = MPI_FILE_NULL;
    MPI_Info info = n ? hints(n, words) : MPI_INFO_NULL;
    int rank = 0;
    MPI_Comm_rank(COMM(comm), &rank);
    undo_file_opening(name, amode, rank == 0);
    amode &= ~MPI_MODE_DELETE_ON_CLOSE;
    if (!(amode & MPI_MODE_RDWR)) /* with both, the library has to say that this is an error */
        amode &= ~MPI_MODE_SEQUENTIAL;
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

/* --- hints, as the library has them --- */
static int is_ours(const char *key) /* see allocate() in windows.c */
{
#ifdef OPEN_MPI
    return !strcmp(key, "alloc_shared_noncontig") || !strcmp(key, "mpi_minimum_memory_alignment");
#else
    (void)key;
    return 0;
#endif
}
/* Key, value, key, value ..., and an empty key. 0: there is no room for all of them. */
static int write_hints(MPI_Info info, char *words, size_t room)
{
    char key[MPI_MAX_INFO_KEY + 1];
    int n = 0, len, flag;
    MPI_Info_get_nkeys(info, &n);
    for (int i = 0; i < n; i++) {
        MPI_Info_get_nthkey(info, i, key);
        MPI_Info_get_valuelen(info, key, &len, &flag);
        size_t key_size = strlen(key) + 1, value_size = (size_t)len + 1;
        if (!flag || is_ours(key))
            continue;
        if (key_size + value_size >= room)
            return 0;
        memcpy(words, key, key_size);
        MPI_Info_get(info, key, len, words + key_size, &flag);
        words += key_size + value_size;
        room -= key_size + value_size;
    }
    *words = 0;
    return 1;
}
/* MPI_INFO_ENV */
static int env_hints(char *words, size_t room)
{
    int begun = 0;
    MPI_Initialized(&begun);
    return !begun || write_hints(MPI_INFO_ENV, words, room) ? 0 : error_out(MPI_ERR_NO_MEM);
}
int lower_hints(enum hints_of kind, handle_t of, char *words, size_t room)
{
    MPI_Info info = MPI_INFO_NULL;
    words[0] = 0;
    if (kind == HINTS_OF_ENV)
        return env_hints(words, room);
    int rc = kind == HINTS_OF_COMM  ? MPI_Comm_get_info(COMM(of), &info)
             : kind == HINTS_OF_WIN ? MPI_Win_get_info((MPI_Win)of, &info)
                                    : MPI_File_get_info(FILE_(of), &info);
    if (rc || info == MPI_INFO_NULL)
        return error_out(rc);
    int all = write_hints(info, words, room);
    MPI_Info_free(&info);
    return all ? 0 : error_out(MPI_ERR_NO_MEM);
}
