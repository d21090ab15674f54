/* standard.c - ROUNDS: a program of the standard ABI. What is new in it, and what its numbers are wherever a program
 * sees them: handles that callbacks are given, statuses, attributes, error classes, answers. All objects are made before the
 * rounds: in a job that was resumed, on another library too, they must still be what they were. Says what is wrong.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size, round_, wrong;
#define EXPECT(condition)                                                                       \
    do {                                                                                        \
        if (!(condition)) {                                                                     \
            printf("rank %d, round %d, line %d: not %s\n", rank, round_, __LINE__, #condition); \
            wrong++;                                                                            \
        }                                                                                       \
    } while (0)
static struct {
    MPI_Comm dup, cart, self;
    MPI_Datatype pair, vector, array;
    MPI_Op op;
    MPI_Errhandler handler;
    MPI_Group evens;
    MPI_Info info;
    MPI_Win win;
    MPI_File file;
    MPI_Request receive;
    int key, dup_as_int, pair_as_int, op_as_int, win_as_int, file_as_int, request_as_int;
    int got, memory[2];
} made;
static struct {
    MPI_Datatype type;
    MPI_Comm comm, copied, deleted;
    int code;
} seen;

static void longest(void *in, void *inout, int *n, MPI_Datatype *type)
{
    seen.type = *type;
    for (int i = 0; i < 2 * *n; i++)
        if (((int *)in)[i] > ((int *)inout)[i])
            ((int *)inout)[i] = ((int *)in)[i];
}
static void handler(MPI_Comm *comm, int *code, ...)
{
    seen.comm = *comm;
    seen.code = *code;
}
static int copied(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
    (void)key, (void)extra;
    seen.copied = comm;
    *(void **)out = in;
    *flag = 1;
    return MPI_SUCCESS;
}
static int deleted(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)key, (void)value, (void)extra;
    seen.deleted = comm;
    return MPI_SUCCESS;
}

static void about_abi(void)
{
    int major = 0, minor = 1, flag, length = 8;
    char text[8];
    MPI_Info info;
    EXPECT(MPI_Abi_get_version(&major, &minor) == MPI_SUCCESS && major == 1 && minor == 0);
    EXPECT(MPI_Abi_get_info(&info) == MPI_SUCCESS);
    const char *const keys[] = {"mpi_aint_size", "mpi_count_size", "mpi_offset_size"};
    for (int i = 0; i < 3; i++) {
        EXPECT(MPI_Info_get_string(info, keys[i], &length, text, &flag) == MPI_SUCCESS);
        EXPECT(flag && strcmp(text, "8") == 0);
        length = 8;
    }
    MPI_Info_free(&info);
    EXPECT(info == MPI_INFO_NULL);
    EXPECT(MPI_Abi_get_fortran_info(&info) == MPI_SUCCESS && info == MPI_INFO_NULL);
    EXPECT(MPI_Abi_get_fortran_booleans(4, text, text + 4, &flag) == MPI_SUCCESS && !flag);
    EXPECT(MPI_Get_version(&major, &minor) == MPI_SUCCESS && major == 5 && minor == 0);
}

static void make(const char *path)
{
    int dims = 0, cyclic = 0, lengths[2] = {4, 6}, some[2] = {2, 3}, from[2] = {1, 1};
    MPI_Group world;
    MPI_Comm_dup(MPI_COMM_WORLD, &made.dup);
    MPI_Comm_create_errhandler(handler, &made.handler);
    MPI_Comm_set_errhandler(made.dup, made.handler);
    MPI_Comm_create_keyval(copied, deleted, &made.key, NULL);
    MPI_Comm_set_attr(made.dup, made.key, &made);
    MPI_Dims_create(size, 1, &dims);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &dims, &cyclic, 0, &made.cart);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made.self);
    MPI_Type_contiguous(2, MPI_INT, &made.pair);
    MPI_Type_commit(&made.pair);
    MPI_Type_vector(3, 1, 2, MPI_DOUBLE, &made.vector);
    MPI_Type_create_subarray(2, lengths, some, from, MPI_ORDER_FORTRAN, MPI_INT, &made.array);
    MPI_Op_create(longest, 1, &made.op);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_range_incl(world, 1, (int[1][3]){{0, size - 1, 2}}, &made.evens);
    MPI_Group_free(&world);
    MPI_Info_create(&made.info);
    MPI_Info_set(made.info, "colour", "blue");
    MPI_Win_create(made.memory, sizeof made.memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD,
                   &made.win);
    EXPECT(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                         &made.file) == MPI_SUCCESS);
    MPI_Recv_init(&made.got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, made.dup, &made.receive);
    made.dup_as_int = MPI_Comm_toint(made.dup);
    made.pair_as_int = MPI_Type_toint(made.pair);
    made.op_as_int = MPI_Op_toint(made.op);
    made.win_as_int = MPI_Win_toint(made.win);
    made.file_as_int = MPI_File_toint(made.file);
    made.request_as_int = MPI_Request_toint(made.receive);
}

static void integers(void)
{
    EXPECT(MPI_Comm_toint(MPI_COMM_WORLD) == 0x101 && MPI_Comm_fromint(0x101) == MPI_COMM_WORLD);
    EXPECT(MPI_Type_toint(MPI_DOUBLE) == 0x214 && MPI_Type_fromint(0x209) == MPI_INT);
    EXPECT(MPI_Op_toint(MPI_SUM) == 0x21 && MPI_Op_fromint(0x3d) == MPI_NO_OP);
    EXPECT(MPI_Group_toint(MPI_GROUP_EMPTY) == 0x109 && MPI_Info_toint(MPI_INFO_ENV) == 0x131);
    EXPECT(MPI_Errhandler_fromint(0x142) == MPI_ERRORS_RETURN);
    EXPECT(MPI_Request_toint(MPI_REQUEST_NULL) == 0x180 && MPI_File_toint(MPI_FILE_NULL) == 0x118);
    EXPECT(MPI_Win_fromint(0x110) == MPI_WIN_NULL &&
           MPI_Session_fromint(0x120) == MPI_SESSION_NULL);
    EXPECT(MPI_Message_toint(MPI_MESSAGE_NO_PROC) == 0x129);
    EXPECT(made.dup_as_int >= 0x1000 && MPI_Comm_fromint(made.dup_as_int) == made.dup);
    EXPECT(MPI_Type_fromint(made.pair_as_int) == made.pair);
    EXPECT(MPI_Op_fromint(made.op_as_int) == made.op &&
           MPI_Win_fromint(made.win_as_int) == made.win);
    EXPECT(MPI_File_fromint(made.file_as_int) == made.file);
    EXPECT(MPI_Request_fromint(made.request_as_int) == made.receive);
}

/* 0x240 to 0x27f, 0x2c0 to 0x2ff: the handle says how large the type is */
static void sizes(void)
{
    static const int absent[] = {0x2ca, 0x2d3, 0x2e0, 0x2e1};
    int bytes, named[] = {MPI_Type_toint(MPI_LONG), MPI_Type_toint(MPI_AINT), 0x214, 0x207, 0x229};
    int want[] = {sizeof(long), sizeof(MPI_Aint), sizeof(double), 1, sizeof(double) + sizeof(int)};
    for (int i = 0; i < 5; i++)
        EXPECT(MPI_Type_size(MPI_Type_fromint(named[i]), &bytes) == 0 && bytes == want[i]);
    for (int h = 0x240; h < 0x2e2; h++) {
        MPI_Datatype type = MPI_Type_fromint(h);
        if (type != MPI_DATATYPE_NULL)
            EXPECT(MPI_Type_size(type, &bytes) == 0 && bytes == 1 << (h >> 3 & 7));
    }
    for (int i = 0; i < 4; i++) /* no library below has them */
        EXPECT(MPI_Type_fromint(absent[i]) == MPI_DATATYPE_NULL);
}

static void messages(void)
{
    int next = (rank + 1) % size, last = (rank + size - 1) % size, word = 100 * rank, in[2], n;
    MPI_Status s;
    memset(&s, 0, sizeof s);
    MPI_Start(&made.receive);
    MPI_Send(&word, 1, MPI_INT, next, 7 + rank, made.dup);
    MPI_Wait(&made.receive, &s);
    EXPECT(made.got == 100 * last && s.MPI_SOURCE == last && s.MPI_TAG == 7 + last);
    EXPECT(MPI_Get_count(&s, MPI_INT, &n) == 0 && n == 1);
    EXPECT(made.receive != MPI_REQUEST_NULL);
    MPI_Recv(in, 2, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD, &s);
    EXPECT(s.MPI_SOURCE == MPI_PROC_NULL && s.MPI_TAG == MPI_ANY_TAG);
    EXPECT(MPI_Get_count(&s, MPI_INT, &n) == 0 && n == 0);
    MPI_Request r = MPI_REQUEST_NULL;
    MPI_Wait(&r, &s);
    EXPECT(s.MPI_SOURCE == MPI_ANY_SOURCE && s.MPI_TAG == MPI_ANY_TAG && r == MPI_REQUEST_NULL);
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &n, &s);
    EXPECT(!n);
    EXPECT(MPI_Send(&word, 1, MPI_INT, size, 0, made.dup) == MPI_ERR_RANK);
    EXPECT(seen.comm == made.dup && seen.code == MPI_ERR_RANK);
    EXPECT(MPI_Send(&word, 1, MPI_INT, next, -1, made.dup) == MPI_ERR_TAG);
    EXPECT(MPI_Send(&word, 1, MPI_INT, -2, 0, made.dup) == MPI_ERR_RANK);
}

static void reductions(void)
{
    int mine[2] = {rank, -rank}, all[2] = {-1, -1}, sum = 0;
    struct {
        double value;
        int place;
    } x = {rank % 2, rank}, best;
    MPI_Allreduce(mine, all, 1, made.pair, made.op, made.dup);
    EXPECT(all[0] == size - 1 && all[1] == 0);
    /* which ranks call the operation is the library's choice */
    seen.type = MPI_DATATYPE_NULL;
    MPI_Reduce_local(mine, all, 1, made.pair, made.op);
    EXPECT(seen.type == made.pair);
    MPI_Allreduce(MPI_IN_PLACE, mine, 2, MPI_INT, MPI_BXOR, MPI_COMM_WORLD);
    MPI_Allreduce(&x, &best, 1, MPI_DOUBLE_INT, MPI_MINLOC, MPI_COMM_WORLD);
    EXPECT(best.value == 0 && best.place == 0);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    EXPECT(sum == size * (size - 1) / 2);
}

static void comms(void)
{
    int answer, a, b, flag, *value;
    MPI_Comm copy;
    MPI_Group all, evens;
    MPI_Comm_compare(MPI_COMM_WORLD, MPI_COMM_WORLD, &answer);
    EXPECT(answer == MPI_IDENT);
    MPI_Comm_compare(MPI_COMM_WORLD, made.dup, &answer);
    EXPECT(answer == MPI_CONGRUENT);
    MPI_Comm_group(made.dup, &all);
    MPI_Group_excl(all, 0, NULL, &evens);
    MPI_Group_compare(all, made.evens, &answer);
    EXPECT(answer == (size == 1 ? MPI_IDENT : MPI_UNEQUAL));
    MPI_Group_compare(all, evens, &answer);
    EXPECT(answer == MPI_IDENT);
    MPI_Group_free(&evens);
    MPI_Group_free(&all);
    EXPECT(all == MPI_GROUP_NULL);
    MPI_Topo_test(made.cart, &answer);
    EXPECT(answer == MPI_CART);
    MPI_Topo_test(MPI_COMM_WORLD, &answer);
    EXPECT(answer == MPI_UNDEFINED);
    MPI_Cart_shift(made.cart, 0, 1, &a, &b);
    EXPECT(a == (rank ? rank - 1 : MPI_PROC_NULL) &&
           b == (rank + 1 < size ? rank + 1 : MPI_PROC_NULL));
    MPI_Comm_size(made.self, &a);
    EXPECT(a == size);
    MPI_Comm_dup(made.dup, &copy);
    EXPECT(seen.copied == made.dup);
    EXPECT(MPI_Comm_get_attr(copy, made.key, &value, &flag) == 0 && flag && (void *)value == &made);
    MPI_Comm gone = copy;
    MPI_Comm_free(&copy);
    EXPECT(seen.deleted == gone && copy == MPI_COMM_NULL);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_IO, &value, &flag);
    EXPECT(!flag || *value == MPI_ANY_SOURCE);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_HOST, &value, &flag);
    EXPECT(!flag || *value == MPI_PROC_NULL);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &flag);
    EXPECT(flag && *value >= 32767);
}

static void types(void)
{
    int ni, na, nt, how, i[9];
    MPI_Aint a[1];
    MPI_Datatype t[1];
    MPI_Type_get_envelope(made.vector, &ni, &na, &nt, &how);
    EXPECT(how == MPI_COMBINER_VECTOR && ni == 3 && na == 0 && nt == 1);
    MPI_Type_get_envelope(MPI_INT, &ni, &na, &nt, &how);
    EXPECT(how == MPI_COMBINER_NAMED);
    MPI_Type_get_envelope(made.array, &ni, &na, &nt, &how);
    EXPECT(how == MPI_COMBINER_SUBARRAY && ni == 8);
    MPI_Type_get_contents(made.array, 8, 0, 1, i, a, t);
    EXPECT(i[0] == 2 && i[7] == MPI_ORDER_FORTRAN && t[0] == MPI_INT);
}

static void windows(void)
{
    int one = rank + 1, flag, *value;
    void *base;
    MPI_Win_get_attr(made.win, MPI_WIN_CREATE_FLAVOR, &value, &flag);
    EXPECT(flag && *value == MPI_WIN_FLAVOR_CREATE);
    MPI_Win_get_attr(made.win, MPI_WIN_MODEL, &value, &flag);
    EXPECT(flag && (*value == MPI_WIN_UNIFIED || *value == MPI_WIN_SEPARATE));
    MPI_Win_get_attr(made.win, MPI_WIN_BASE, &base, &flag);
    EXPECT(flag && base == made.memory);
    made.memory[0] = made.memory[1] = 0;
    MPI_Win_fence(MPI_MODE_NOPRECEDE, made.win);
    MPI_Accumulate(&one, 1, MPI_INT, 0, 1, 1, MPI_INT, MPI_SUM, made.win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, made.win);
    EXPECT(made.memory[1] == (rank ? 0 : size * (size + 1) / 2));
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, (rank + 1) % size, 0, made.win);
    MPI_Put(&one, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, made.win);
    MPI_Win_unlock((rank + 1) % size, made.win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, made.win);
    EXPECT(made.memory[0] == (rank + size - 1) % size + 1);
    MPI_Win_unlock(rank, made.win);
}

static void files(void)
{
    int mode, word = round_, back = -1, n;
    MPI_Offset at, disp;
    MPI_Datatype etype, filetype;
    char how[MPI_MAX_DATAREP_STRING];
    MPI_Status s;
    MPI_File_get_amode(made.file, &mode);
    EXPECT(mode == (MPI_MODE_CREATE | MPI_MODE_RDWR));
    MPI_File_set_view(made.file, 8, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    MPI_File_get_view(made.file, &disp, &etype, &filetype, how);
    EXPECT(disp == 8 && etype == MPI_INT && filetype == MPI_INT);
    MPI_File_write_at(made.file, rank, &word, 1, MPI_INT, &s);
    EXPECT(MPI_Get_count(&s, MPI_INT, &n) == 0 && n == 1);
    MPI_File_seek(made.file, rank, MPI_SEEK_SET);
    MPI_File_seek(made.file, 1, MPI_SEEK_CUR);
    MPI_File_get_position(made.file, &at);
    EXPECT(at == rank + 1);
    MPI_File_seek(made.file, rank, MPI_SEEK_SET);
    MPI_File_read(made.file, &back, 1, MPI_INT, &s);
    EXPECT(back == round_);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_seek(made.file, 0, MPI_SEEK_END);
    MPI_File_get_position(made.file, &at);
    EXPECT(at >= size);
    MPI_File nothing;
    EXPECT(MPI_File_open(MPI_COMM_SELF, "/nonexistent/file", MPI_MODE_RDONLY, MPI_INFO_NULL,
                         &nothing) == MPI_ERR_NO_SUCH_FILE);
}

static int asked(void *extra, MPI_Status *s)
{
    MPI_Status_set_elements(s, MPI_INT, *(int *)extra);
    MPI_Status_set_cancelled(s, 0);
    MPI_Status_set_source(s, MPI_UNDEFINED);
    s->MPI_TAG = MPI_UNDEFINED;
    return MPI_SUCCESS;
}
static int freed(void *extra)
{
    *(int *)extra = -1;
    return MPI_SUCCESS;
}
static int cancelled(void *extra, int complete)
{
    (void)extra, (void)complete;
    return MPI_SUCCESS;
}
static void others(void)
{
    int n = 5, count, flag, length = 16, class;
    char text[MPI_MAX_ERROR_STRING];
    MPI_Request r;
    MPI_Status s;
    MPI_Grequest_start(asked, freed, cancelled, &n, &r);
    MPI_Grequest_complete(r);
    MPI_Wait(&r, &s);
    EXPECT(MPI_Get_count(&s, MPI_INT, &count) == 0 && count == 5 && n == -1);
    EXPECT(s.MPI_SOURCE == MPI_UNDEFINED && s.MPI_TAG == MPI_UNDEFINED);
    MPI_Info_get_string(made.info, "colour", &length, text, &flag);
    EXPECT(flag && strcmp(text, "blue") == 0);
    MPI_Error_class(MPI_ERR_WIN, &class);
    EXPECT(class == MPI_ERR_WIN);
    EXPECT(MPI_Error_string(MPI_ERR_TRUNCATE, text, &length) == 0 && length > 0);
    EXPECT(MPI_Error_string(MPI_ERR_SESSION, text, &length) == 0 && length > 0);
    static char room[64 + MPI_BSEND_OVERHEAD];
    void *back;
    MPI_Buffer_attach(room, sizeof room);
    MPI_Bsend(&n, 1, MPI_INT, rank, 1, MPI_COMM_WORLD);
    MPI_Recv(&count, 1, MPI_INT, rank, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Buffer_detach(&back, &length);
    EXPECT(back == room && length == sizeof room);
    EXPECT(MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0) == MPI_SUCCESS);
    MPI_Bsend(&n, 1, MPI_INT, rank, 1, MPI_COMM_WORLD);
    MPI_Recv(&count, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Buffer_detach(&back, &length);
    EXPECT(back == MPI_BUFFER_AUTOMATIC && length == 0 && count == n);
    EXPECT(MPI_Abi_set_fortran_info(MPI_INFO_NULL) == MPI_ERR_UNSUPPORTED_OPERATION);
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 3, provided = -1, level, all;
    about_abi();
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN); /* for errors without an object */
    MPI_Query_thread(&level);
    EXPECT(level == provided && level >= MPI_THREAD_FUNNELED && level <= MPI_THREAD_MULTIPLE &&
           level % 1024 == 0);
    char path[4096];
    const char *folder = getenv("SYSTEM_DIR");
    snprintf(path, sizeof path, "%s/standard.file", folder ? folder : ".");
    make(path);
    for (round_ = 0; round_ < rounds; round_++) {
        integers();
        sizes();
        messages();
        reductions();
        comms();
        types();
        windows();
        files();
        others();
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_File_close(&made.file);
    MPI_Win_free(&made.win);
    EXPECT(made.win == MPI_WIN_NULL && made.file == MPI_FILE_NULL);
    MPI_Comm_free_keyval(&made.key);
    EXPECT(made.key == MPI_KEYVAL_INVALID);
    MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("standard: %d rounds, %d wrong\n", rounds, all);
    MPI_Finalize();
    about_abi();
    return wrong != 0;
}
