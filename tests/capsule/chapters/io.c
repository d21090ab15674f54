/* Chapter 13 of MPI-3.1: files: views, positions of all three kinds, blocking, non-blocking,
 * collective, split collective, ordered. The file is named by the environment variable
 * CHAPTER_FILE (default: chapter-io.dat in the working directory). */
#include "chapter.h"

enum { N = 16 };
static MPI_File f, g; /* f with a view, interleaved by rank; g of bytes with the shared pointer */
static char name[4096], name2[4100];
static MPI_Datatype etype, filetype;

static void fill(int *a, int seed)
{
    for (int i = 0; i < N; i++)
        a[i] = seed * 100 + i;
}
static void filled(const int *a, int seed)
{
    int ok = 1;
    for (int i = 0; i < N; i++)
        ok &= a[i] == seed * 100 + i;
    CHECK(ok);
    mix(a, N * sizeof *a);
}
static int count_of(MPI_Status *st)
{
    int n;
    MPI_Get_count(st, MPI_INT, &n);
    return n;
}

static void open_files(void)
{
    MPI_Info info;
    const char *base = getenv("CHAPTER_FILE");
    snprintf(name, sizeof name, "%s", base ? base : "chapter-io.dat");
    snprintf(name2, sizeof name2, "%s.2", name);
    if (me == 0) {
        remove(name);
        remove(name2);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Info_create(&info);
    MPI_Info_set(info, "access_style", "write_once");
    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &f);
    MPI_File_open(MPI_COMM_WORLD, name2, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &g);
    MPI_Info_free(&info);
    /* each rank sees every ranks-th block of N ints */
    MPI_Type_contiguous(1, MPI_INT, &etype);
    MPI_Type_commit(&etype);
    MPI_Datatype block;
    MPI_Type_contiguous(N, etype, &block);
    MPI_Type_create_resized(block, 0, (MPI_Aint)(N * sizeof(int)) * ranks, &filetype);
    MPI_Type_commit(&filetype);
    MPI_Type_free(&block);
    MPI_File_set_view(f, (MPI_Offset)(me * N) * (MPI_Offset)sizeof(int), etype, filetype, "native",
                      MPI_INFO_NULL);
}

/* A sequential file: the shared pointer is all that it has. Open MPI 5.0.7 takes the pointer, which counts integers, for bytes:
 * its own result is wrong. */
#ifdef MPICH
static MPI_File s;
static char name3[4100];
enum {
    VIEWS = 3
}; /* a new view every so many rounds: in between the pointer alone knows the place */
/* A number for each rank and round, and one before all. */
static void open_sequential(void)
{
    MPI_Status st;
    int first = -1;
    snprintf(name3, sizeof name3, "%s.3", name);
    FILE *h = me == 0 ? fopen(name3, "wb") : NULL;
    for (int i = -1; h && i < rounds * ranks; i++)
        CHECK(fwrite(&i, sizeof i, 1, h) == 1);
    if (h)
        fclose(h);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_open(MPI_COMM_WORLD, name3, MPI_MODE_RDONLY | MPI_MODE_SEQUENTIAL, MPI_INFO_NULL, &s);
    if (me == 0)
        MPI_File_read_shared(s, &first, 1, MPI_INT, &st);
    SAME(first, -1);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_set_view(s, MPI_DISPLACEMENT_CURRENT, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
}
static void sequential(int r)
{
    MPI_Status st;
    MPI_Datatype e, t;
    MPI_Offset disp = -1;
    char rep[MPI_MAX_DATAREP_STRING];
    int got = -7;
    MPI_File_read_ordered(s, &got, 1, MPI_INT, &st);
    SAME(got, r * ranks + me);
    MPI_File_get_view(s, &disp, &e, &t, rep);
    SAME(disp, (MPI_Offset)(1 + r / VIEWS * VIEWS * ranks) * (MPI_Offset)sizeof(int));
    if (r % VIEWS == VIEWS - 1)
        MPI_File_set_view(s, MPI_DISPLACEMENT_CURRENT, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
}
static void close_sequential(void)
{
    MPI_File_close(&s);
    if (me == 0)
        remove(name3);
}
#else
static void open_sequential(void)
{
}
static void sequential(int r)
{
    (void)r;
}
static void close_sequential(void)
{
}
#endif

static void individual(int r)
{
    int out[N], in[N];
    MPI_Offset pos, at;
    MPI_Status st;
    MPI_File_get_position(f, &pos);
    SAME(pos, 2L * N * r); /* two blocks a round: the position is state */
    fill(out, me + r);
    MPI_File_write(f, out, N, MPI_INT, &st);
    SAME(count_of(&st), N);
    fill(out, me + r + 50);
    MPI_File_write_all(f, out, N, MPI_INT, &st);
    MPI_File_sync(f);
    MPI_File_get_byte_offset(f, 2L * N * r, &at);
    SAME(at, ((MPI_Offset)(2 * r * ranks + me) * N) * (MPI_Offset)sizeof(int));
    MPI_File_seek(f, -2 * N, MPI_SEEK_CUR);
    MPI_File_read(f, in, N, MPI_INT, &st);
    filled(in, me + r);
    MPI_File_read_all(f, in, N, MPI_INT, &st);
    filled(in, me + r + 50);
    MPI_Request q;
    MPI_File_seek(f, 2L * N * r, MPI_SEEK_SET);
    MPI_File_iread(f, in, N, MPI_INT, &q);
    MPI_Wait(&q, &st);
    filled(in, me + r);
    MPI_File_iread_all(f, in, N, MPI_INT, &q);
    MPI_Wait(&q, &st);
    filled(in, me + r + 50);
    MPI_File_seek(f, 2L * N * r, MPI_SEEK_SET);
    fill(out, me + r + 1);
    MPI_File_iwrite(f, out, N, MPI_INT, &q);
    MPI_Wait(&q, &st);
    MPI_File_iwrite_all(f, out, N, MPI_INT, &q);
    MPI_Wait(&q, &st);
    SAME(count_of(&st), N);
}

static void explicit_offsets(int r)
{
    int out[N], in[N], out2[N];
    MPI_Status st;
    MPI_Request q;
    MPI_Offset at = 2L * N * r, pos;
    MPI_File_read_at(f, at, in, N, MPI_INT, &st);
    filled(in, me + r + 1);
    fill(out, me + r + 2);
    MPI_File_write_at(f, at, out, N, MPI_INT, &st);
    MPI_File_write_at_all(f, at + N, out, N, MPI_INT, &st);
    MPI_File_read_at_all(f, at + N, in, N, MPI_INT, &st);
    filled(in, me + r + 2);
    fill(out2, me + r + 3);
    MPI_File_iwrite_at(f, at, out2, N, MPI_INT, &q);
    MPI_Wait(&q, &st);
    MPI_File_iread_at(f, at, in, N, MPI_INT, &q);
    MPI_Wait(&q, &st);
    filled(in, me + r + 3);
    MPI_File_iwrite_at_all(f, at, out, N, MPI_INT, &q);
    MPI_Wait(&q, &st);
    MPI_File_iread_at_all(f, at, in, N, MPI_INT, &q);
    MPI_Wait(&q, &st);
    filled(in, me + r + 2);
    MPI_File_get_position(f, &pos);
    SAME(pos, 2L * N * (r + 1));
}

static void split(int r)
{
    int out[N], in[N];
    MPI_Status st;
    MPI_Offset at = 2L * N * r;
    fill(out, me + r + 4);
    MPI_File_write_at_all_begin(f, at, out, N, MPI_INT);
    MPI_File_write_at_all_end(f, out, &st);
    MPI_File_read_at_all_begin(f, at, in, N, MPI_INT);
    MPI_File_read_at_all_end(f, in, &st);
    filled(in, me + r + 4);
    MPI_File_seek(f, at, MPI_SEEK_SET);
    MPI_File_write_all_begin(f, out, N, MPI_INT);
    MPI_File_write_all_end(f, out, &st);
    MPI_File_read_all_begin(f, in, N, MPI_INT);
    MPI_File_read_all_end(f, in, &st);
    filled(in, me + r + 2);
    SAME(count_of(&st), N);
}

static void shared_pointer(int r)
{
    int out[N], in[N];
    MPI_Status st;
    MPI_Request q;
    MPI_Offset pos, round_bytes = (MPI_Offset)(4 * N * ranks) * (MPI_Offset)sizeof(int),
                    at = round_bytes * r;
    MPI_File_get_position_shared(g, &pos);
    SAME(pos, at);
    MPI_Barrier(MPI_COMM_WORLD);
    fill(out, me + r);
    MPI_File_write_ordered(g, out, N, MPI_INT, &st);
    fill(out, me + r + 1);
    MPI_File_write_ordered_begin(g, out, N, MPI_INT);
    MPI_File_write_ordered_end(g, out, &st);
    MPI_Barrier(MPI_COMM_WORLD);
    /* without order: all write the same */
    fill(out, r + 2);
    MPI_File_write_shared(g, out, N, MPI_INT, &st);
    MPI_File_iwrite_shared(g, out, N, MPI_INT, &q);
    MPI_Wait(&q, &st);
    MPI_File_sync(g);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_sync(g);
    MPI_File_seek_shared(g, at, MPI_SEEK_SET);
    MPI_File_read_ordered(g, in, N, MPI_INT, &st);
    filled(in, me + r);
    MPI_File_read_ordered_begin(g, in, N, MPI_INT);
    MPI_File_read_ordered_end(g, in, &st);
    filled(in, me + r + 1);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_read_shared(g, in, N, MPI_INT, &st);
    filled(in, r + 2);
    MPI_File_iread_shared(g, in, N, MPI_INT, &q);
    MPI_Wait(&q, &st);
    filled(in, r + 2);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_get_position_shared(g, &pos);
    SAME(pos, at + round_bytes);
}

static void ask(int r)
{
    MPI_Offset size, disp;
    MPI_Datatype e, t;
    char rep[MPI_MAX_DATAREP_STRING];
    int amode, atom, n;
    MPI_Group grp;
    MPI_Info info;
    MPI_Aint ext;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_get_size(f, &size);
    SAME(size, (MPI_Offset)(2 * (r + 1) * ranks * N) * (MPI_Offset)sizeof(int));
    MPI_Barrier(MPI_COMM_WORLD); /* before anybody writes on */
    MPI_File_get_amode(f, &amode);
    SAME(amode == (MPI_MODE_CREATE | MPI_MODE_RDWR), 1);
    MPI_File_get_atomicity(f, &atom);
    SAME(atom, r % 2);
    MPI_File_set_atomicity(f, (r + 1) % 2);
    MPI_File_get_group(f, &grp);
    MPI_Group_size(grp, &n);
    SAME(n, ranks);
    MPI_Group_free(&grp);
    MPI_File_get_info(f, &info);
    MPI_File_set_info(f, info);
    MPI_Info_free(&info);
    MPI_File_get_view(f, &disp, &e, &t, rep);
    SAME(disp, (MPI_Offset)(me * N) * (MPI_Offset)sizeof(int));
    SAME(strcmp(rep, "native"), 0);
    int i, a, d, how;
    MPI_Type_get_envelope(t, &i, &a, &d, &how);
    if (how != MPI_COMBINER_NAMED)
        MPI_Type_free(&t);
    MPI_Type_get_envelope(e, &i, &a, &d, &how);
    if (how != MPI_COMBINER_NAMED)
        MPI_Type_free(&e);
    MPI_File_get_type_extent(f, MPI_INT, &ext);
    SAME(ext, 4);
    /* a file only for this round, of one rank */
    MPI_File own;
    char own_name[4200];
    int v = me + r, back = 0;
    snprintf(own_name, sizeof own_name, "%s.own%d", name, me);
    MPI_File_open(MPI_COMM_SELF, own_name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &own);
    MPI_File_set_size(own, 100);
    MPI_File_preallocate(own, 200);
    MPI_File_get_size(own, &size);
    SAME(size, 200);
    MPI_File_write_at(own, 40, &v, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_read_at(own, 40, &back, 1, MPI_INT, MPI_STATUS_IGNORE);
    SAME(back, v);
    MPI_File_close(&own);
    CHECK(own == MPI_FILE_NULL);
    MPI_File_delete(own_name, MPI_INFO_NULL);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    chapter_begin(argc, argv);
    open_files();
    open_sequential();
    for (int r = 0; chapter_round(&r); r++) {
        sequential(r);
        individual(r);
        explicit_offsets(r);
        split(r);
        MPI_File_seek(f, 2L * N * (r + 1), MPI_SEEK_SET);
        shared_pointer(r);
        ask(r);
    }
    MPI_File_close(&f);
    MPI_File_close(&g);
    close_sequential();
    MPI_Type_free(&etype);
    MPI_Type_free(&filetype);
    if (me == 0)
        for (int k = 0; k < 2; k++) {
            FILE *h = fopen(k ? name2 : name, "rb");
            CHECK(h != NULL);
            for (int c; h && (c = getc(h)) != EOF;)
                mix(&(char){(char)c}, 1);
            if (h)
                fclose(h);
            remove(k ? name2 : name);
        }
    return chapter_end("io");
}
