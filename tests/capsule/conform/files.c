/* files.c - MPI-IO: several operations of all ranks under way, a file that goes away when it is closed, errors. */
#include "conform.h"
#include <unistd.h>

enum { WRITES = 6, BLOCK = 16 };
static char name[512];

static void at_once(void)
{
    MPI_File f;
    MPI_Request q[WRITES];
    MPI_Status s[WRITES];
    int data[WRITES][BLOCK], back[WRITES][BLOCK], wrong = 0, n, rc;
    CALL(MPI_File_open(world, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f));
    for (int k = 0; k < WRITES; k++)
        for (int i = 0; i < BLOCK; i++)
            data[k][i] = 1000 * me + 100 * k + i;
    for (int turn = 0; turn < 2; turn++) {
        for (int k = 0; k < WRITES; k++)
            MPI_File_iwrite_at_all(f, (MPI_Offset)(k * ranks + me) * sizeof data[0], data[k], BLOCK,
                                   MPI_INT, &q[k]);
        if (turn)
            rc = MPI_Waitall(WRITES, q, MPI_STATUSES_IGNORE);
        else
            rc = MPI_Waitall(WRITES, q, s);
        say("Waitall of %d writes of all: %s", WRITES, name_of(rc));
    }
    MPI_Get_count(&s[0], MPI_INT, &n);
    say("%d written", n);
    for (int k = 0; k < WRITES; k++)
        MPI_File_iread_at_all(f, (MPI_Offset)(k * ranks + me) * sizeof data[0], back[k], BLOCK,
                              MPI_INT, &q[k]);
    say("Waitall of reads: %s", name_of(MPI_Waitall(WRITES, q, s)));
    for (int k = 0; k < WRITES; k++)
        for (int i = 0; i < BLOCK; i++)
            wrong += back[k][i] != data[k][i];
    say("%d wrong", wrong);
    CALL(MPI_File_close(&f));
    say("%s", f == MPI_FILE_NULL ? "null" : "not null");
}

static void goes_away(void)
{
    MPI_File f;
    MPI_Status s = FRESH;
    int amode = 0, value = me;
    CALL(MPI_File_open(world, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                       MPI_INFO_NULL, &f));
    CALL(MPI_File_get_amode(f, &amode));
    say("amode %d", amode == (MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE));
    say_status("File_write_at", MPI_File_write_at(f, me * sizeof(int), &value, 1, MPI_INT, &s), &s);
    s = FRESH;
    say_status("File_read_at", MPI_File_read_at(f, me * sizeof(int), &value, 1, MPI_INT, &s), &s);
    say("it is %sthere", access(name, F_OK) ? "not " : "");
    CALL(MPI_File_close(&f));
    MPI_Barrier(world);
    say("it is %sthere", access(name, F_OK) ? "not " : "");
}

/* What Open MPI does not forbid below, all ranks do to the same bytes: which of them is last differs from run to run. So what is
 * read is not what they have written. */
static void put_content(void)
{
    MPI_Barrier(world);
    FILE *h = me == 0 ? fopen(name, "r+b") : NULL;
    for (int i = 0; h && i < 100; i++)
        fwrite(&(int){1000 + i}, sizeof i, 1, h);
    if (h)
        fclose(h);
    MPI_Barrier(world);
}

/* A file that is read and written in order only. The libraries do not agree on what this forbids. */
static void sequential(void)
{
    static const int modes[] = {MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_MODE_RDONLY};
    MPI_File f;
    MPI_Status s;
    MPI_Request r;
    MPI_Offset at;
    int b[4] = {me, 1, 2, 3}, amode = 0;
    CALL(MPI_File_open(world, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_SEQUENTIAL,
                       MPI_INFO_NULL, &f));
    for (int reads = 0; reads < 2; reads++) {
        if (reads)
            put_content();
        CALL(MPI_File_open(world, name, modes[reads] | MPI_MODE_SEQUENTIAL, MPI_INFO_NULL, &f));
        MPI_File_get_amode(f, &amode);
        say("sequential %d", (amode & MPI_MODE_SEQUENTIAL) != 0);
        if (reads) {
            CALL(MPI_File_read_ordered(f, b, 4, MPI_INT, &s));
            say("%d read", b[0]);
            CALL(MPI_File_read_ordered_begin(f, b, 1, MPI_INT));
            CALL(MPI_File_read_ordered_end(f, b, &s));
            CALL(MPI_File_read_shared(f, b, 1, MPI_INT, &s));
            CALL(MPI_File_read(f, b, 1, MPI_INT, &s));
            CALL(MPI_File_read_all(f, b, 1, MPI_INT, &s));
            CALL(MPI_File_read_at(f, 0, b, 1, MPI_INT, &s));
            CALL(MPI_File_read_at_all(f, 0, b, 1, MPI_INT, &s));
            CALL(MPI_File_iread_shared(f, b, 1, MPI_INT, &r));
        } else {
            CALL(MPI_File_write_ordered(f, b, 4, MPI_INT, &s));
            CALL(MPI_File_write_ordered_begin(f, b, 1, MPI_INT));
            CALL(MPI_File_write_ordered_end(f, b, &s));
            CALL(MPI_File_write_shared(f, b, 1, MPI_INT, &s));
            CALL(MPI_File_write(f, b, 1, MPI_INT, &s));
            CALL(MPI_File_write_all(f, b, 1, MPI_INT, &s));
            CALL(MPI_File_write_at(f, 0, b, 1, MPI_INT, &s));
            CALL(MPI_File_write_at_all(f, 0, b, 1, MPI_INT, &s));
            CALL(MPI_File_set_size(f, 400));
            CALL(MPI_File_iwrite_shared(f, b, 1, MPI_INT, &r));
        }
        CALL(MPI_Wait(&r, &s));
        CALL(MPI_File_seek(f, 0, MPI_SEEK_SET));
        CALL(MPI_File_get_position(f, &at));
        CALL(MPI_File_get_position_shared(f, &at));
        CALL(MPI_File_seek_shared(f, 0, MPI_SEEK_SET));
        CALL(MPI_File_get_byte_offset(f, 4, &at));
        CALL(MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
        CALL(MPI_File_set_view(f, MPI_DISPLACEMENT_CURRENT, MPI_INT, MPI_INT, "native",
                               MPI_INFO_NULL));
        CALL(MPI_File_close(&f));
    }
    CALL(MPI_File_open(world, name, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &f));
    CALL(MPI_File_set_view(f, MPI_DISPLACEMENT_CURRENT, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    CALL(MPI_File_close(&f));
}

static void errors(void)
{
    MPI_File f = MPI_FILE_NULL;
    char none[600];
    int value = 0, amode;
    snprintf(none, sizeof none, "%s/none/such", name);
    CALL(MPI_File_open(world, none, MPI_MODE_RDONLY, MPI_INFO_NULL, &f));
    snprintf(none, sizeof none, "%s.none", name);
    CALL(MPI_File_open(world, none, MPI_MODE_RDONLY, MPI_INFO_NULL, &f));
    CALL(MPI_File_delete(none, MPI_INFO_NULL));
    CALL(MPI_File_get_amode(MPI_FILE_NULL, &amode));
    CALL(MPI_File_write(MPI_FILE_NULL, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
    CALL(MPI_File_open(world, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f));
    CALL(MPI_File_write_at(f, 0, &value, -1, MPI_INT, MPI_STATUS_IGNORE));
    CALL(MPI_File_write_at(f, -5, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
    CALL(MPI_File_write_at(f, 0, NULL, 0, MPI_INT, MPI_STATUS_IGNORE));
    CALL(MPI_File_write_at(f, 0, &value, 1, MPI_DATATYPE_NULL, MPI_STATUS_IGNORE));
    CALL(MPI_File_close(&f));
    MPI_Barrier(world);
    if (me == 0)
        CALL(MPI_File_delete(name, MPI_INFO_NULL));
    MPI_Barrier(world);
}

void part_files(void)
{
    snprintf(name, sizeof name, "%s", getenv("CONFORM_FILE"));
    at_once();
    goes_away();
    sequential();
    errors();
}
