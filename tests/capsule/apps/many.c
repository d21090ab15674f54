/* many: more of everything than a table of fixed size would hold. A checkpoint comes in the middle; afterwards
 * everything must be there: open files (each at its place, copies still sharing it), a path of 3000 bytes, operations,
 * threads, event counters, datatypes, communicators, windows, attributes of a communicator, dimensions of another,
 * persistent collectives; and calls with very long lists of arguments.
 * usage: many [files [threads]] */
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OPS = 640, COUNTERS = 2560, TYPES = 3000, COMMS = 100, WINDOWS = 40 };
enum { ATTRIBUTES = 2560, DIMENSIONS = 640, PERSISTENT = 100 };
enum { REQUESTS = 400000, STRUCT = 600000, ROUNDS = 3000 };
static int rank, size, files = 40960, threads = 2560;
static int *number, copies, deep;
static char folder[600], path[4000];

static void must(int ok, const char *what)
{
    if (ok)
        return;
    printf("rank %d: WRONG: %s\n", rank, what);
    fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* --- files: many openings of one file, each at a place of its own; every tenth has a copy --- */
static void open_files(void)
{
    struct rlimit r;
    getrlimit(RLIMIT_NOFILE, &r);
    struct rlimit more = {60000, 60000}; /* root may */
    if (r.rlim_max < 60000 && !setrlimit(RLIMIT_NOFILE, &more))
        r = more;
    r.rlim_cur = r.rlim_max;
    setrlimit(RLIMIT_NOFILE, &r);
    if ((rlim_t)files * 11 / 10 + COUNTERS + 1000 > r.rlim_cur)
        files = (int)(r.rlim_cur - COUNTERS - 1000) * 10 / 11;
    const char *dir = getenv("SYSTEM_DIR");
    snprintf(folder, sizeof folder, "%s/many.%d.%d", dir ? dir : "/tmp", rank, (int)getpid());
    mkdir(folder, 0700);
    snprintf(path, sizeof path, "%s/one", folder);
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    char bytes[1000];
    for (int i = 0; i < 1000; i++)
        bytes[i] = (char)('a' + i % 23);
    must(write(fd, bytes, sizeof bytes) == sizeof bytes, "write");
    close(fd);
    number = calloc((size_t)files * 2, sizeof *number);
    for (int i = 0; i < files; i++) {
        number[i] = open(path, O_RDONLY);
        must(number[i] >= 0 && lseek(number[i], i % 7, SEEK_SET) == i % 7, "open");
    }
    for (int i = 0; i < files; i += 10)
        number[files + copies++] = dup(number[i]);
    must(number[files + copies - 1] >= 0, "dup");
    strcpy(path, folder);
    while (strlen(path) < 3000) {
        size_t n = strlen(path);
        memset(path + n, 'x', 200);
        path[n] = '/';
        path[n + 200] = 0;
        mkdir(path, 0700);
    }
    strcat(path, "/deep");
    deep = open(path, O_RDWR | O_CREAT, 0600);
    must(deep >= 0 && write(deep, "deep", 4) == 4, "a long path");
}

static void look_at_files(void)
{
    char byte;
    for (int i = 0; i < files; i++)
        must(lseek(number[i], 0, SEEK_CUR) == i % 7 && read(number[i], &byte, 1) == 1 &&
                 byte == 'a' + i % 7,
             "a file is not where it was");
    for (int k = 0; k < copies; k++) /* it has moved with the one it is a copy of */
        must(lseek(number[files + k], 0, SEEK_CUR) == 10 * k % 7 + 1, "a copy has left its twin");
    char text[5] = "";
    must(lseek(deep, 0, SEEK_CUR) == 4 && pread(deep, text, 4, 0) == 4 && !strcmp(text, "deep"),
         "the file with the long path");
    struct stat here, there;
    must(!fstat(deep, &here) && !stat(path, &there) && here.st_ino == there.st_ino, "its path");
}

/* --- threads that wait for each other --- */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int go, born, met;
static pthread_t *thread;

static void *one(void *p)
{
    pthread_mutex_lock(&lock);
    born++;
    pthread_cond_broadcast(&changed);
    while (!go)
        pthread_cond_wait(&changed, &lock);
    met++;
    pthread_mutex_unlock(&lock);
    return p;
}

static void start_threads(void)
{
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 128 << 10);
    thread = calloc((size_t)threads, sizeof *thread);
    for (int i = 0; i < threads; i++)
        must(!pthread_create(&thread[i], &small, one, (void *)(intptr_t)(i + 1)), "pthread_create");
    pthread_mutex_lock(&lock);
    while (born < threads)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
}

static void end_threads(void)
{
    pthread_mutex_lock(&lock);
    go = 1;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < threads; i++) {
        void *back;
        must(!pthread_join(thread[i], &back) && back == (void *)(intptr_t)(i + 1), "a thread");
    }
    must(met == threads, "some threads are missing");
}

/* --- MPI --- */
static MPI_Op op[OPS];
static MPI_Datatype type[TYPES], list;
static MPI_Comm comm[COMMS];
static MPI_Win window[WINDOWS];
static long word[WINDOWS];
static int counter[COUNTERS];

static void larger(void *in, void *inout, int *n, MPI_Datatype *t)
{
    (void)t;
    for (int i = 0; i < *n; i++)
        if (((int *)in)[i] > ((int *)inout)[i])
            ((int *)inout)[i] = ((int *)in)[i];
}

/* --- attributes, which a copy of the communicator has, too; a grid with more dimensions than ranks --- */
static MPI_Comm tagged, grid;
static int key[ATTRIBUTES];

static void make_attributes(void)
{
    MPI_Comm first;
    MPI_Comm_dup(MPI_COMM_SELF, &first);
    for (int i = 0; i < ATTRIBUTES; i++) {
        MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &key[i], NULL);
        MPI_Comm_set_attr(first, key[i], (void *)(intptr_t)(3 * i + 1));
    }
    MPI_Comm_dup(first, &tagged);
    MPI_Comm_free(&first);
}

static void make_grid(void)
{
    static int dims[DIMENSIONS], periods[DIMENSIONS];
    must(MPI_Dims_create(size, DIMENSIONS, dims) == MPI_SUCCESS && dims[0] >= 1, "MPI_Dims_create");
    for (int i = 0; i < DIMENSIONS; i++)
        dims[i] = i == DIMENSIONS - 2 ? size : 1;
    must(MPI_Cart_create(MPI_COMM_WORLD, DIMENSIONS, dims, periods, 0, &grid) == MPI_SUCCESS,
         "MPI_Cart_create");
}

static void look_at_attributes(void)
{
    for (int i = 0; i < ATTRIBUTES; i++) {
        void *value;
        int there;
        MPI_Comm_get_attr(tagged, key[i], &value, &there);
        must(there && (intptr_t)value == 3 * i + 1, "an attribute");
    }
}

static void look_at_grid(void)
{
    static int at[DIMENSIONS], remain[DIMENSIONS];
    MPI_Comm line;
    int before, after, ranks;
    MPI_Cart_coords(grid, rank, DIMENSIONS, at);
    must(at[DIMENSIONS - 2] == rank && at[0] == 0 && at[DIMENSIONS - 1] == 0, "coordinates");
    MPI_Cart_shift(grid, DIMENSIONS - 2, 1, &before, &after);
    must(before == (rank ? rank - 1 : MPI_PROC_NULL) &&
             after == (rank + 1 < size ? rank + 1 : MPI_PROC_NULL),
         "neighbours");
    remain[DIMENSIONS - 2] = remain[0] = 1;
    MPI_Cart_sub(grid, remain, &line);
    MPI_Comm_size(line, &ranks);
    must(ranks == size, "a part of the grid");
    MPI_Comm_free(&line);
}

/* --- persistent collectives: each rank starts them in an order of its own; every second one is made anew --- */
static MPI_Request barrier[PERSISTENT];

static void make_barriers(int step)
{
    for (int i = 0; i < PERSISTENT; i += step)
        must(MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &barrier[i]) == MPI_SUCCESS,
             "MPI_Barrier_init");
}

static void use_barriers(void)
{
    for (int i = 0; i < PERSISTENT; i++)
        MPI_Start(&barrier[(7 * i + rank) % PERSISTENT]);
    must(MPI_Waitall(PERSISTENT, barrier, MPI_STATUSES_IGNORE) == MPI_SUCCESS, "barriers");
    for (int i = 0; i < PERSISTENT; i += 2)
        MPI_Request_free(&barrier[i]);
    make_barriers(2);
}

static void make_objects(void)
{
    make_barriers(1);
    make_attributes();
    make_grid();
    for (int i = 0; i < OPS; i++)
        must(MPI_Op_create(larger, 1, &op[i]) == MPI_SUCCESS, "MPI_Op_create");
    for (int i = 0; i < TYPES; i++) {
        MPI_Type_contiguous(i % 50 + 1, MPI_INT, &type[i]);
        MPI_Type_commit(&type[i]);
    }
    for (int i = 0; i < COMMS; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]);
    for (int i = 0; i < WINDOWS; i++)
        MPI_Win_create(&word[i], sizeof word[i], sizeof word[i], MPI_INFO_NULL, MPI_COMM_WORLD,
                       &window[i]);
    for (int i = 0; i < COUNTERS; i++)
        must((counter[i] = eventfd((unsigned)i + 1, EFD_NONBLOCK)) >= 0, "eventfd");
    int *lengths = calloc(STRUCT, sizeof *lengths);
    MPI_Aint *places = calloc(STRUCT, sizeof *places);
    MPI_Datatype *types = calloc(STRUCT, sizeof *types);
    for (int i = 0; i < STRUCT; i++) {
        lengths[i] = 1;
        places[i] = 8L * i;
        types[i] = i % 2 ? MPI_INT : MPI_FLOAT;
    }
    must(MPI_Type_create_struct(STRUCT, lengths, places, types, &list) == MPI_SUCCESS,
         "MPI_Type_create_struct");
    MPI_Type_commit(&list);
    free(lengths);
    free(places);
    free(types);
}

static long look_at_objects(void)
{
    long sum = 0;
    look_at_attributes();
    look_at_grid();
    use_barriers();
    for (int i = 0; i < OPS; i += 71) {
        int mine = rank + i, most = 0;
        MPI_Allreduce(&mine, &most, 1, MPI_INT, op[i], MPI_COMM_WORLD);
        must(most == size - 1 + i, "an operation");
    }
    for (int i = 0; i < TYPES; i++) {
        int bytes;
        MPI_Type_size(type[i], &bytes);
        sum += bytes;
    }
    int bytes;
    MPI_Type_size(list, &bytes);
    sum += bytes;
    for (int i = 0; i < COMMS; i++) {
        int ranks = 0, me = 1;
        MPI_Allreduce(&me, &ranks, 1, MPI_INT, MPI_SUM, comm[i]);
        sum += ranks;
    }
    for (int i = 0; i < WINDOWS; i++) {
        long value = 100 * i + rank;
        MPI_Win_fence(0, window[i]);
        MPI_Put(&value, 1, MPI_LONG, (rank + 1) % size, 0, 1, MPI_LONG, window[i]);
        MPI_Win_fence(0, window[i]);
        must(word[i] == 100 * i + (rank + size - 1) % size, "a window");
    }
    for (int i = 0; i < COUNTERS; i++) {
        eventfd_t value = 0;
        must(!eventfd_read(counter[i], &value) && value == (eventfd_t)i + 1, "an event counter");
        eventfd_write(counter[i], value);
    }
    return sum;
}

static void long_lists(void)
{
    MPI_Request *request = calloc(REQUESTS, sizeof *request);
    MPI_Status *status = calloc(REQUESTS, sizeof *status);
    for (int i = 0; i < REQUESTS; i++)
        MPI_Irecv(NULL, 0, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &request[i]);
    must(MPI_Waitall(REQUESTS, request, status) == MPI_SUCCESS, "MPI_Waitall");
    for (int i = 0; i < REQUESTS; i++)
        must(request[i] == MPI_REQUEST_NULL && status[i].MPI_SOURCE == MPI_PROC_NULL, "a request");
    free(request);
    free(status);
}

int main(int argc, char **argv)
{
    files = argc > 1 ? atoi(argv[1]) : files;
    threads = argc > 2 ? atoi(argv[2]) : threads;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    open_files();
    start_threads();
    make_objects();
    long_lists();
    long sum = look_at_objects();
    if (rank == 0)
        printf("many: %d files, %d threads, %ld\n", files, threads, sum);
    fflush(stdout);
    for (int i = 0; i < ROUNDS; i++) /* the checkpoint comes here */
        MPI_Barrier(MPI_COMM_WORLD);
    look_at_files();
    must(look_at_objects() == sum, "datatypes");
    long_lists();
    end_threads();
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("many: all there\n");
    MPI_Finalize();
    return 0;
}
