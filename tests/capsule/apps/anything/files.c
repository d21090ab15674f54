/* One file of all ranks: views, shared and own positions, collective and non-blocking access. */
#include "anything.h"

static MPI_File file = MPI_FILE_NULL;
static char path[4096];
enum { PART = 8192 }; /* ints of a rank in one step, at most */

void file_begin(const char *name)
{
    snprintf(path, sizeof path, "%s", name);
    MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file);
}

void file_end(void)
{
    if (file == MPI_FILE_NULL)
        return;
    MPI_File_close(&file);
    if (me == 0)
        MPI_File_delete(path, MPI_INFO_NULL);
}

static struct work *filled(const char *what, int count, int writer)
{
    struct work *w = begin(what, count, count);
    for (int i = 0; i < count; i++) {
        w->out[i] = value(me, step, i);
        w->want[i] = value(writer, step, i);
    }
    return w;
}

void file_step(void)
{
    unsigned kind = draw(6), far = draw(16);
    int count = 1 + (int)draw(100), other = (me + 1) % ranks;
    MPI_Offset base = (MPI_Offset)far * PART * (MPI_Offset)sizeof(int) * ranks, size;
    MPI_Datatype columns;
    MPI_Status status;
    if (file == MPI_FILE_NULL)
        return;
    struct work *w = filled("file", count, kind < 3 ? other : me);
    switch (kind) {
    case 0: /* each rank a column; read back the neighbour's, without the view */
        MPI_Type_vector(count, 1, ranks, MPI_INT, &columns);
        MPI_Type_commit(&columns);
        MPI_File_set_view(file, base + me * (MPI_Offset)sizeof(int), MPI_INT, columns, "native",
                          MPI_INFO_NULL);
        MPI_File_write_all(file, w->out, count, MPI_INT, &status);
        MPI_File_sync(file);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_File_set_view(file, base + other * (MPI_Offset)sizeof(int), MPI_INT, columns, "native",
                          MPI_INFO_NULL);
        MPI_File_read_at_all(file, 0, w->in, count, MPI_INT, &status);
        MPI_Type_free(&columns);
        MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
        break;
    case 1: /* one after the other, by the shared position */
        MPI_File_seek_shared(file, base, MPI_SEEK_SET);
        MPI_File_write_ordered(file, w->out, count, MPI_INT, &status);
        MPI_File_sync(file);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_File_read_at(file, base + other * count * (MPI_Offset)sizeof(int), w->in, count,
                         MPI_INT, &status);
        break;
    case 2:
        MPI_File_write_at_all(file, base + me * count * (MPI_Offset)sizeof(int), w->out, count,
                              MPI_INT, &status);
        MPI_File_sync(file);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_File_read_at_all_begin(file, base + other * count * (MPI_Offset)sizeof(int), w->in,
                                   count, MPI_INT);
        MPI_File_read_at_all_end(file, w->in, &status);
        break;
    case 3: /* own position, which must still be there after whatever comes between */
        MPI_File_seek(file, base + me * PART * (MPI_Offset)sizeof(int), MPI_SEEK_SET);
        MPI_File_write(file, w->out, count, MPI_INT, &status);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_File_seek(file, -(MPI_Offset)sizeof(int) * count, MPI_SEEK_CUR);
        MPI_File_read(file, w->in, count, MPI_INT, &status);
        break;
    case 4: {
        MPI_Request r;
        MPI_File_iwrite_at(file, base + me * PART * (MPI_Offset)sizeof(int), w->out, count, MPI_INT,
                           &r);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Wait(&r, &status);
        MPI_File_iread_at(file, base + me * PART * (MPI_Offset)sizeof(int), w->in, count, MPI_INT,
                          &r);
        MPI_Wait(&r, &status);
        break;
    }
    default:
        MPI_File_set_size(file, base + 4096);
        MPI_File_get_size(file, &size);
        if (size != base + 4096)
            fail("size of the file", (long)size, (long)base + 4096);
        w->count = 0;
    }
    end_now(w);
    MPI_Barrier(MPI_COMM_WORLD); /* nobody writes again before all have read */
}
