/* data.c - MPI-IO: every way to move data, what a file tells of itself, views, shared pointers, its error handlers. */
#include "conform.h"

enum { N = 4, PIECE = N * sizeof(int) };
static MPI_File file;
static int out[N], in[N];

static void fill(int what)
{
    for (int i = 0; i < N; i++) {
        out[i] = 1000 * what + 100 * me + i;
        in[i] = -1;
    }
}
/* What came back, and how much the status says. */
static void say_data(const char *what, int rc, const MPI_Status *s)
{
    int n = -1;
    MPI_Get_count(s, MPI_INT, &n);
    say("%s: %s, count %d: %d %d %d %d", what, name_of(rc), n == MPI_UNDEFINED ? -1 : n, in[0],
        in[1], in[2], in[3]);
}
#define MOVES(call)                           \
    do {                                      \
        MPI_Status s_ = FRESH, *status = &s_; \
        int rc_ = call;                       \
        say_data(#call, rc_, status);         \
    } while (0)
#define BEGINS(call)                         \
    do {                                     \
        MPI_Request q = MPI_REQUEST_NULL;    \
        MPI_Status s_ = FRESH;               \
        int rc_ = call;                      \
        rc_ = rc_ ? rc_ : MPI_Wait(&q, &s_); \
        say_data(#call, rc_, &s_);           \
    } while (0)
#define SPLIT(begin, end)                       \
    do {                                        \
        MPI_Status s_ = FRESH, *status = &s_;   \
        int rc_ = begin;                        \
        rc_ = rc_ ? rc_ : end;                  \
        say_data(#begin " … end", rc_, status); \
    } while (0)
/* What one has written, the others may see. */
static void together(void)
{
    MPI_File_sync(file);
    MPI_Barrier(world);
    MPI_File_sync(file);
}
static const MPI_Offset nowhere = 0;
#define MINE ((MPI_Offset)(me * PIECE))

static void at_places(void)
{
    fill(1);
    MOVES(MPI_File_write_at_all(file, MINE, out, N, MPI_INT, status));
    MOVES(MPI_File_read_at_all(file, MINE, in, N, MPI_INT, status));
    fill(2);
    BEGINS(MPI_File_iwrite_at(file, MINE, out, N, MPI_INT, &q));
    BEGINS(MPI_File_iread_at(file, MINE, in, N, MPI_INT, &q));
    BEGINS(MPI_File_iwrite_at_all(file, MINE, out, N, MPI_INT, &q));
    BEGINS(MPI_File_iread_at_all(file, MINE, in, N, MPI_INT, &q));
    fill(3);
    SPLIT(MPI_File_write_at_all_begin(file, MINE, out, N, MPI_INT),
          MPI_File_write_at_all_end(file, out, status));
    SPLIT(MPI_File_read_at_all_begin(file, MINE, in, N, MPI_INT),
          MPI_File_read_at_all_end(file, in, status));
    MOVES(MPI_File_read_at_all(file, nowhere, NULL, 0, MPI_INT, status));
    MOVES(MPI_File_write_at_all(file, nowhere, NULL, 0, MPI_INT, status));
    CALL(MPI_File_read_at_all(file, MINE, in, N, MPI_INT, MPI_STATUS_IGNORE));
    MOVES(MPI_File_read_at(file, 100000, in, N, MPI_INT, status)); /* behind the end */
}

static void at_the_pointer(void)
{
    MPI_Offset at = -1;
    fill(4);
    CALL(MPI_File_seek(file, MINE, MPI_SEEK_SET));
    MOVES(MPI_File_write(file, out, N, MPI_INT, status));
    CALL(MPI_File_get_position(file, &at));
    say("position %ld", (long)at);
    CALL(MPI_File_seek(file, -(MPI_Offset)PIECE, MPI_SEEK_CUR));
    MOVES(MPI_File_read(file, in, N, MPI_INT, status));
    FAILS(MPI_File_seek(file, -1, MPI_SEEK_SET));
    FAILS(MPI_File_seek(file, 0, 12345));
    fill(5);
    CALL(MPI_File_seek(file, MINE, MPI_SEEK_SET));
    MOVES(MPI_File_write_all(file, out, N, MPI_INT, status));
    CALL(MPI_File_seek(file, MINE, MPI_SEEK_SET));
    MOVES(MPI_File_read_all(file, in, N, MPI_INT, status));
    fill(6);
    CALL(MPI_File_seek(file, MINE, MPI_SEEK_SET));
    BEGINS(MPI_File_iwrite(file, out, N, MPI_INT, &q));
    CALL(MPI_File_seek(file, MINE, MPI_SEEK_SET));
    BEGINS(MPI_File_iread(file, in, N, MPI_INT, &q));
    fill(7);
    CALL(MPI_File_seek(file, MINE, MPI_SEEK_SET));
    BEGINS(MPI_File_iwrite_all(file, out, N, MPI_INT, &q));
    CALL(MPI_File_seek(file, MINE, MPI_SEEK_SET));
    BEGINS(MPI_File_iread_all(file, in, N, MPI_INT, &q));
    fill(8);
    CALL(MPI_File_seek(file, MINE, MPI_SEEK_SET));
    SPLIT(MPI_File_write_all_begin(file, out, N, MPI_INT),
          MPI_File_write_all_end(file, out, status));
    CALL(MPI_File_seek(file, MINE, MPI_SEEK_SET));
    SPLIT(MPI_File_read_all_begin(file, in, N, MPI_INT), MPI_File_read_all_end(file, in, status));
    together();
    CALL(MPI_File_seek(file, 0, MPI_SEEK_END));
    CALL(MPI_File_get_position(file, &at));
    say("end %ld", (long)at);
    MPI_Barrier(world);
}

/* One rank at a time where the order is not the standard's to give. */
static void at_the_shared_pointer(void)
{
    MPI_Offset at = -1;
    for (int turn = 0; turn < ranks; turn++) {
        CALL(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
        if (turn == me) {
            fill(9);
            MOVES(MPI_File_write_shared(file, out, N, MPI_INT, status));
            BEGINS(MPI_File_iwrite_shared(file, out, N, MPI_INT, &q));
            CALL(MPI_File_get_position_shared(file, &at));
            say("shared position %ld", (long)at);
        }
        together();
        CALL(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
        if (turn == me) {
            MOVES(MPI_File_read_shared(file, in, N, MPI_INT, status));
            BEGINS(MPI_File_iread_shared(file, in, N, MPI_INT, &q));
        }
        MPI_Barrier(world);
    }
    CALL(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
    fill(10);
    MOVES(MPI_File_write_ordered(file, out, N, MPI_INT, status));
    together();
    CALL(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
    MOVES(MPI_File_read_ordered(file, in, N, MPI_INT, status));
    CALL(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
    fill(11);
    SPLIT(MPI_File_write_ordered_begin(file, out, N, MPI_INT),
          MPI_File_write_ordered_end(file, out, status));
    together();
    CALL(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
    SPLIT(MPI_File_read_ordered_begin(file, in, N, MPI_INT),
          MPI_File_read_ordered_end(file, in, status));
    MPI_Barrier(world);
}

static void what_it_is(void)
{
    MPI_Offset n = -1;
    MPI_Group g, all;
    MPI_Info info;
    MPI_Aint extent = -1;
    int flag = -1, same = -1;
    CALL(MPI_File_set_size(file, 64));
    CALL(MPI_File_get_size(file, &n));
    say("size %ld", (long)n);
    MPI_Barrier(world); /* nobody may see what comes now too early, or too late */
    FAILS(MPI_File_set_size(file, -1));
    CALL(MPI_File_preallocate(file, 256));
    MPI_Barrier(world);
    CALL(MPI_File_get_size(file, &n));
    say("size %ld", (long)n);
    CALL(MPI_File_get_group(file, &g));
    MPI_Comm_group(world, &all);
    MPI_Group_compare(g, all, &same);
    say("the same %d", same == MPI_IDENT);
    MPI_Group_free(&g);
    MPI_Group_free(&all);
    CALL(MPI_File_set_info(file, MPI_INFO_NULL) ? 0 : 0); /* the libraries do not agree on it */
    CALL(MPI_File_get_info(file, &info));
    MPI_Info_free(&info);
    CALL(MPI_File_get_type_extent(file, MPI_INT, &extent));
    say("extent %ld", (long)extent);
    CALL(MPI_File_get_atomicity(file, &flag));
    say("atomic %d", flag);
    CALL(MPI_File_set_atomicity(file, 1));
    CALL(MPI_File_get_atomicity(file, &flag));
    say("atomic %d", flag != 0);
    CALL(MPI_File_set_atomicity(file, 0));
}

static void views(void)
{
    MPI_Datatype column, etype, filetype;
    MPI_Offset disp = -1, at = -1;
    char rep[MPI_MAX_DATAREP_STRING] = "";
    int ni, na, nt, combiner = -1;
    CALL(MPI_File_get_view(file, &disp, &etype, &filetype, rep));
    say("view %ld %s", (long)disp, rep);
    MPI_Type_create_resized(MPI_INT, 0, ranks * (int)sizeof(int), &column);
    MPI_Type_commit(&column);
    CALL(MPI_File_set_view(file, me * (MPI_Offset)sizeof(int), MPI_INT, column, "native",
                           MPI_INFO_NULL));
    CALL(MPI_File_get_byte_offset(file, 3, &at));
    say("byte offset %ld", (long)at);
    fill(12);
    MOVES(MPI_File_write_all(file, out, N, MPI_INT, status));
    CALL(MPI_File_get_view(file, &disp, &etype, &filetype, rep));
    MPI_Type_get_envelope(filetype, &ni, &na, &nt, &combiner);
    say("view %ld %s; resized %d", (long)disp, rep, combiner == MPI_COMBINER_RESIZED);
    MPI_Type_free(&filetype);
    together();
    FAILS(MPI_File_set_view(file, 0, MPI_INT, column, "nobody knows this", MPI_INFO_NULL));
    CALL(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    MOVES(MPI_File_read_at(file, me * N, in, N, MPI_INT, status));
    MPI_Type_free(&column);
    CALL(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
}

static int heard;
static void handler(MPI_File *f, int *code, ...)
{
    heard++;
    say("handler: %s, %s", *f == MPI_FILE_NULL ? "null" : "a file", name_of(*code));
}
static void handlers(void)
{
    MPI_Errhandler e, now;
    CALL(MPI_File_get_errhandler(MPI_FILE_NULL, &now));
    say("returns %d", now == MPI_ERRORS_RETURN);
    CALL(MPI_File_create_errhandler(handler, &e));
    CALL(MPI_File_set_errhandler(file, e));
    CALL(MPI_File_get_errhandler(file, &now));
    say("ours %d", now == e);
    MPI_Errhandler_free(&now);
    CALL(MPI_File_call_errhandler(file, MPI_ERR_IO));
    MPI_File_write_at(file, 0, in, -1, MPI_INT, MPI_STATUS_IGNORE);
    say("heard %d", heard);
    CALL(MPI_File_set_errhandler(file, MPI_ERRORS_RETURN));
    CALL(MPI_Errhandler_free(&e));
    say("%s", e == MPI_ERRHANDLER_NULL ? "null" : "not null");
}

void part_data(void)
{
    char name[512];
    snprintf(name, sizeof name, "%s.data", getenv("CONFORM_FILE"));
    CALL(MPI_File_open(world, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
    at_places();
    at_the_pointer();
    what_it_is();
    at_the_shared_pointer();
    views();
    handlers();
    CALL(MPI_File_close(&file));
    MPI_Barrier(world);
    if (me == 0)
        CALL(MPI_File_delete(name, MPI_INFO_NULL));
    MPI_Barrier(world);
}
