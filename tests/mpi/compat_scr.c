/* The SCR face: what a program written for SCR does, checked by results. One launch of several:
 *
 *   compat_scr STEPS [DIE [REFUSE]]
 *
 * A checkpoint of two files a rank in every step, an output every fifth; all ranks die after step DIE. Rank 1 takes
 * the checkpoint REFUSE for invalid when it restarts from it. "from STEP" is printed, and at the end PASS goes to the
 * marker if the data is what STEPS steps give. Rank 1 cannot write the dataset $FAIL. */
#include <scr.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define CHECK(condition)                                                                         \
    do {                                                                                         \
        if (!(condition)) {                                                                      \
            fprintf(stderr, "rank %d, line %d: %s does not hold\n", rank, __LINE__, #condition); \
            MPI_Abort(MPI_COMM_WORLD, 1);                                                        \
        }                                                                                        \
    } while (0)

enum { CELLS = 20000 };
static int rank, size, step;
static double grid[CELLS];

static void work(void)
{
    step++;
    for (int i = 0; i < CELLS; i++)
        grid[i] = grid[i] * 0.75 + rank + step + i;
}

/* The data in one file, the step in another, in a folder of the dataset's name. */
static void file_names(const char *dataset, char *data, char *state)
{
    snprintf(data, SCR_MAX_FILENAME, "%s/rank_%d.data", dataset, rank);
    snprintf(state, SCR_MAX_FILENAME, "./%s//rank_%d.state", dataset, rank);
}

static int write_file(const char *path, const void *from, size_t bytes)
{
    FILE *file = fopen(path, "w");
    int good = file && fwrite(from, 1, bytes, file) == bytes;
    return file && !fclose(file) && good;
}

static int read_file(const char *path, void *to, size_t bytes)
{
    FILE *file = fopen(path, "r");
    int good = file && fread(to, 1, bytes, file) == bytes && fgetc(file) == EOF;
    return file && !fclose(file) && good;
}

static int complete_without_room(int valid)
{
    struct rlimit all;
    signal(SIGXFSZ, SIG_IGN);
    CHECK(!getrlimit(RLIMIT_FSIZE, &all));
    struct rlimit none = {rank == 1 ? 4096 : all.rlim_cur, all.rlim_max};
    CHECK(!setrlimit(RLIMIT_FSIZE, &none));
    int code = SCR_Complete_output(valid);
    CHECK(!setrlimit(RLIMIT_FSIZE, &all));
    return code;
}

static void write_dataset(const char *name, int flags)
{
    char data[SCR_MAX_FILENAME], state[SCR_MAX_FILENAME], path[SCR_MAX_FILENAME];
    CHECK(SCR_Start_output(name, flags) == SCR_SUCCESS);
    CHECK(SCR_Start_output(name, flags) == SCR_FAILURE);
    file_names(name, data, state);
    CHECK(SCR_Route_file("/outside/of/the/prefix", path) == SCR_FAILURE);
    CHECK(SCR_Route_file("a/../../b", path) == SCR_FAILURE);
    CHECK(SCR_Route_file(data, path) == SCR_SUCCESS && strstr(path, ".data"));
    int valid = write_file(path, grid, sizeof grid);
    CHECK(strncmp(path, getenv("SCR_PREFIX"), strlen(getenv("SCR_PREFIX"))) != 0);
    CHECK(SCR_Route_file(state, path) == SCR_SUCCESS);
    valid = valid && write_file(path, &step, sizeof step);
    if (getenv("FAIL") && strcmp(name, getenv("FAIL")) == 0)
        CHECK(complete_without_room(valid) == SCR_FAILURE);
    else
        CHECK(SCR_Complete_output(valid) == SCR_SUCCESS);
}

static void restart(const char *refuse)
{
    char name[SCR_MAX_FILENAME] = "", data[SCR_MAX_FILENAME], state[SCR_MAX_FILENAME],
         path[SCR_MAX_FILENAME];
    int have = 1, restarted = 0;
    while (have && !restarted) {
        CHECK(SCR_Have_restart(&have, name) == SCR_SUCCESS);
        if (!have)
            break;
        CHECK(SCR_Start_restart(name) == SCR_SUCCESS);
        CHECK(SCR_Start_output("inside", SCR_FLAG_OUTPUT) == SCR_FAILURE);
        file_names(name, data, state);
        CHECK(SCR_Route_file("no/such/file", path) == SCR_FAILURE);
        int valid = SCR_Route_file(data, path) == SCR_SUCCESS && read_file(path, grid, sizeof grid);
        valid = valid &&
                SCR_Route_file(strrchr(data, '/') + 1, path) == SCR_SUCCESS && /* no folder */
                read_file(path, grid, sizeof grid);
        valid = valid && SCR_Route_file(state, path) == SCR_SUCCESS &&
                read_file(path, &step, sizeof step);
        CHECK(valid);
        if (rank == 1 && refuse && strcmp(name, refuse) == 0)
            valid = 0;
        int code = SCR_Complete_restart(valid);
        CHECK(code == (refuse && strcmp(name, refuse) == 0 ? SCR_FAILURE : SCR_SUCCESS));
        restarted = code == SCR_SUCCESS;
    }
    if (!restarted) {
        memset(grid, 0, sizeof grid);
        step = 0;
    }
    if (rank == 0)
        printf("from %d\n", step), fflush(stdout);
}

static int says(const char *value, const char *expected)
{
    return value && strcmp(value, expected) == 0;
}

/* Before SCR_Init: blanks, values that are set, asked for and removed; what is no parameter. */
static void configure(void)
{
    CHECK(says(SCR_Config("CACHE_SIZE=2"), "2"));
    char *value = (char *)SCR_Config("SCR_CACHE_SIZE");
    CHECK(says(value, "2"));
    free(value);
    CHECK(says(SCR_Configf(" SCR_SET_FAILURES  = %d ", 1), "1"));
    value = (char *)SCR_Config("SET_FAILURES");
    CHECK(says(value, "1"));
    free(value);
    CHECK(!SCR_Config("SET_FAILURES=") && !SCR_Config("SET_FAILURES"));
    CHECK(!SCR_Config(NULL) && !SCR_Config("") && !SCR_Config("KEY VALUE"));
    CHECK(says(SCR_Config("STORE = /tmp/foo"), "/tmp/foo"));
    CHECK(!SCR_Config(
        "STORE=/tmp/foo GROUP")); /* a part of a descriptor: refused, and nothing is set */
    value = (char *)SCR_Config("STORE");
    CHECK(says(value, "/tmp/foo"));
    free(value);
    CHECK(!SCR_Config("STORE="));
}

/* A dataset that the library names. */
static void unnamed(void)
{
    char path[SCR_MAX_FILENAME], name[64];
    snprintf(name, sizeof name, "unnamed/rank_%d", rank);
    CHECK(SCR_Start_output(NULL, SCR_FLAG_OUTPUT) == SCR_SUCCESS);
    CHECK(SCR_Route_file(name, path) == SCR_SUCCESS && write_file(path, &rank, sizeof rank));
    CHECK(SCR_Complete_output(1) == SCR_SUCCESS);
}

int main(int argc, char **argv)
{
    static double right[CELLS];
    char name[SCR_MAX_FILENAME];
    int given, flag;
    CHECK(argc >= 2);
    int steps = atoi(argv[1]), die = argc > 2 ? atoi(argv[2]) : -1;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &given);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    while (step < steps)
        work();
    memcpy(right, grid, sizeof grid);
    CHECK(SCR_Have_restart(&flag, name) == SCR_FAILURE); /* too early */
    configure();
    if (SCR_Init() != SCR_SUCCESS) {
        MPI_Finalize();
        return 3;
    }
    restart(argc > 3 ? argv[3] : NULL);
    unnamed();
    while (step < steps) {
        work();
        CHECK(SCR_Need_checkpoint(&flag) == SCR_SUCCESS);
        snprintf(name, sizeof name, "timestep.%d", step);
        if (flag)
            write_dataset(name, SCR_FLAG_CHECKPOINT);
        snprintf(name, sizeof name, "plot.%d", step);
        if (step % 5 == 0)
            write_dataset(name, SCR_FLAG_OUTPUT);
        if (step == die)
            raise(SIGKILL);
        CHECK(SCR_Should_exit(&flag) == SCR_SUCCESS);
        if (flag)
            break;
    }
    if (rank == 0 && flag)
        printf("asked to end after %d\n", step), fflush(stdout);
    int equal = step < steps || memcmp(grid, right, sizeof grid) == 0, all;
    MPI_Allreduce(&equal, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    CHECK(SCR_Drop("there-is-none") == SCR_FAILURE);
    if (getenv("DROP"))
        CHECK(SCR_Delete(getenv("DROP")) == SCR_SUCCESS);
    if (getenv("CURRENT"))
        CHECK(SCR_Current(getenv("CURRENT")) == SCR_SUCCESS);
    CHECK(SCR_Finalize() == SCR_SUCCESS);
    if (rank == 0 && all) {
        FILE *marker = fopen(getenv("MEND_TEST_MARKER"), "w");
        fputs("PASS\n", marker);
        fclose(marker);
    }
    MPI_Finalize();
    return all ? 0 : 1;
}
