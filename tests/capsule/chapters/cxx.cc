// The C++ interface, which MPI-3.0 has removed and MPICH still has: functions of C++ that MPI calls, and exceptions.
// Arguments and the last line are those of the other chapters (chapter.h). It has no checksum: each result is checked.
#include <mpi.h>
#include <cstdio>
#include <cstdlib>

static int me, ranks, round_now;
static long failures, errors_seen, copied, dropped;

static void check(bool ok, const char *what, int line)
{
    if (ok)
        return;
    failures++;
    std::fprintf(stderr, "cxx.cc:%d: rank %d, round %d: not true: %s\n", line, me, round_now, what);
}
#define CHECK(cond) check(cond, #cond, __LINE__)

static void combine(const void *in, void *inout, int n, const MPI::Datatype &type)
{
    const int *a = static_cast<const int *>(in);
    int *b = static_cast<int *>(inout);
    CHECK(type == MPI::INT);
    for (int i = 0; i < n; i++)
        b[i] = 2 * b[i] + a[i] - b[i];
}
static void see(int code)
{
    CHECK(MPI::Get_error_class(code) == MPI::ERR_RANK);
    errors_seen++;
}
static void of_comm(MPI::Comm &, int *code, ...)
{
    see(*code);
}
static void of_window(MPI::Win &, int *code, ...)
{
    see(*code);
}
static void of_file(MPI::File &, int *, ...)
{
    errors_seen++;
}
static int copy(const MPI::Comm &, int, void *extra, void *in, void *out, bool &flag)
{
    CHECK(*static_cast<int *>(extra) == 77);
    *static_cast<void **>(out) = static_cast<int *>(in) + 1;
    flag = true;
    copied++;
    return MPI_SUCCESS;
}
static int drop(MPI::Comm &, int, void *, void *)
{
    dropped++;
    return MPI_SUCCESS;
}

static MPI::Op op;
static MPI::Intracomm quiet, throwing;
static MPI::Win window;
static MPI::File file;
static int keyval, extra = 77, memory[4], values[8];
static MPI::Errhandler handler, window_handler, file_handler;

static void begin()
{
    const char *name = std::getenv("CHAPTER_FILE");
    op.Init(combine, true);
    handler = MPI::Comm::Create_errhandler(of_comm);
    window_handler = MPI::Win::Create_errhandler(of_window);
    file_handler = MPI::File::Create_errhandler(of_file);
    quiet = MPI::COMM_WORLD.Dup();
    quiet.Set_errhandler(handler);
    throwing = MPI::COMM_WORLD.Dup();
    throwing.Set_errhandler(MPI::ERRORS_THROW_EXCEPTIONS);
    window = MPI::Win::Create(memory, sizeof memory, sizeof(int), MPI::INFO_NULL, MPI::COMM_WORLD);
    window.Set_errhandler(window_handler);
    file = MPI::File::Open(MPI::COMM_WORLD, name ? name : "chapter-cxx.dat",
                           MPI::MODE_CREATE | MPI::MODE_RDWR, MPI::INFO_NULL);
    file.Set_errhandler(file_handler);
    keyval = MPI::Comm::Create_keyval(copy, drop, &extra);
    quiet.Set_attr(keyval, values);
}

static void operations()
{
    int mine[2] = {me, round_now}, all[2] = {0, 0};
    MPI::COMM_WORLD.Allreduce(mine, all, 2, MPI::INT, op);
    CHECK(all[0] == ranks * (ranks - 1) / 2 && all[1] == ranks * round_now);
}
static void handlers()
{
    int x = 0, caught = 0;
    long before = errors_seen;
    quiet.Send(&x, 1, MPI::INT, ranks + 5, 0);
    CHECK(errors_seen == before + 1);
    window.Fence(0);
    window.Put(&x, 1, MPI::INT, ranks + 5, 0, 1, MPI::INT);
    window.Fence(0);
    CHECK(errors_seen == before + 2);
    file.Seek(-1, MPI::SEEK_SET);
    CHECK(errors_seen == before + 3);
    try {
        throwing.Send(&x, 1, MPI::INT, ranks + 5, 0);
    } catch (MPI::Exception &e) {
        caught = e.Get_error_class() == MPI::ERR_RANK;
    }
    CHECK(caught);
    CHECK(throwing.Get_errhandler() == MPI::ERRORS_THROW_EXCEPTIONS);
}
static void attributes()
{
    void *value = NULL;
    long copies = copied, drops = dropped;
    MPI::Intracomm twin = quiet.Dup();
    CHECK(copied == copies + 1);
    CHECK(twin.Get_attr(keyval, &value) && value == values + 1);
    twin.Free();
    CHECK(dropped == drops + 1);
    CHECK(quiet.Get_attr(keyval, &value) && value == values);
}

int main(int argc, char **argv)
{
    MPI::Init(argc, argv);
    int rounds = argc > 1 ? std::atoi(argv[1]) : 12;
    me = MPI::COMM_WORLD.Get_rank();
    ranks = MPI::COMM_WORLD.Get_size();
    begin();
    for (round_now = 0; round_now < rounds; round_now++) {
        operations();
        handlers();
        attributes();
    }
    long all = 0;
    MPI::COMM_WORLD.Allreduce(&failures, &all, 1, MPI::LONG, MPI::SUM);
    file.Close();
    window.Free();
    quiet.Free();
    throwing.Free();
    op.Free();
    if (me == 0)
        std::printf("cxx: %d rounds, %s\n", rounds, all ? "FAILED" : "ok");
    MPI::Finalize();
    return all != 0;
}
