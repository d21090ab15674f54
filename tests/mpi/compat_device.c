/* The faces of VeloC and Fenix with data in GPU memory, over the stand-in of the driver: what is on the device comes back bit for
 * bit, is what it was when it was saved, and no call touches it as if it were host memory. A call of the driver that fails is
 * an error of the call that needed it, with the driver's reason, and the next one is right again.
 *
 *     compat_device veloc|fenix */
#include <fenix.h>
#include <mend/error.h>
#include <mpi.h>
#include <veloc.h>

#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

#include "../harness/driver/gpu.h"

enum { GROUP = 7, STEP = 1, CELLS = 2, N = 50001 };

#define CHECK(condition)                                                                         \
    do {                                                                                         \
        if (!(condition)) {                                                                      \
            fprintf(stderr, "rank %d, line %d: %s does not hold\n", rank, __LINE__, #condition); \
            MPI_Abort(MPI_COMM_WORLD, 1);                                                        \
        }                                                                                        \
    } while (0)

static int rank, step;
static uint64_t *there, here[N];

static void fill(int version)
{
    for (int i = 0; i < N; i++)
        here[i] = (uint64_t)(rank * 1000 + version) * 0x9e3779b97f4a7c15u + (uint64_t)i;
    gpu_fill(there, here, sizeof here);
    step = version;
}

static int is_filled(int version)
{
    gpu_look(here, there, sizeof here);
    for (int i = 0; i < N; i++)
        if (here[i] != (uint64_t)(rank * 1000 + version) * 0x9e3779b97f4a7c15u + (uint64_t)i)
            return 0;
    return step == version;
}

static void wipe(void)
{
    memset(here, 0x5a, sizeof here);
    gpu_fill(there, here, sizeof here);
    step = -1;
}

/* A call of the driver fails, once, on rank 1. */
static void break_one(const char *function)
{
    if (rank == 1)
        gpu.fake->breaks(function, 1, 719, 0, 0);
}

static int said(const char *text)
{
    return rank != 1 || strstr(mend_error_text(), text);
}

/* ---- VeloC ----------------------------------------------------------------------------------- */

static void write_config(char *path, size_t room)
{
    const char *dir = getenv("MEND_TEST_DIR");
    snprintf(path, room, "%s/veloc.cfg", dir);
    if (rank == 0) {
        FILE *f = fopen(path, "w");
        CHECK(f);
        fprintf(
            f, "scratch = %s/scratch\npersistent = %s/persistent\nmode = async\nmax_versions = 3\n",
            dir, dir);
        fclose(f);
        chmod(path, 0600);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void veloc(void)
{
    char config[1024];
    write_config(config, sizeof config);
    CHECK(VELOC_Init(MPI_COMM_WORLD, config) == VELOC_SUCCESS);
    CHECK(VELOC_Mem_protect(0, &step, 1, sizeof step) == VELOC_SUCCESS);
    CHECK(VELOC_Mem_protect(1, there, N, sizeof *there) == VELOC_SUCCESS);
    for (int v = 10; v <= 30; v += 10) {
        fill(v);
        CHECK(VELOC_Checkpoint("heat", v) == VELOC_SUCCESS);
        wipe();
    }
    CHECK(VELOC_Checkpoint_wait() == VELOC_SUCCESS);
    for (int v = 20; v <= 30; v += 10) {
        CHECK(VELOC_Restart("heat", v) == VELOC_SUCCESS);
        CHECK(is_filled(v));
        wipe();
    }
    fill(40); /* the copy is that of Checkpoint_mem */
    CHECK(VELOC_Checkpoint_begin("heat", 40) == VELOC_SUCCESS);
    CHECK(VELOC_Checkpoint_mem() == VELOC_SUCCESS);
    wipe();
    CHECK(VELOC_Checkpoint_end(1) == VELOC_SUCCESS);
    CHECK(VELOC_Checkpoint_wait() == VELOC_SUCCESS);
    CHECK(VELOC_Restart("heat", 40) == VELOC_SUCCESS);
    CHECK(is_filled(40));
    fill(50);
    break_one("cuMemcpyDtoHAsync");
    CHECK(VELOC_Checkpoint("heat", 50) == VELOC_FAILURE); /* on all ranks */
    CHECK(said("version 50: the producer of stream 1 failed: cuMemcpyDtoHAsync failed with "
               "CUDA_ERROR_LAUNCH_FAILED (719)"));
    wipe();
    CHECK(VELOC_Restart("heat", 40) == VELOC_SUCCESS);
    CHECK(is_filled(40));
    fill(60);
    CHECK(VELOC_Checkpoint("heat", 60) == VELOC_SUCCESS);
    wipe();
    CHECK(VELOC_Checkpoint_wait() == VELOC_SUCCESS);
    CHECK(VELOC_Restart("heat", 60) == VELOC_SUCCESS);
    CHECK(is_filled(60));
    CHECK(VELOC_Finalize(1) == VELOC_SUCCESS);
}

/* ---- Fenix ----------------------------------------------------------------------------------- */

static void fenix(int *argc, char ***argv)
{
    int role, error, flag, policy[3] = {1, 1, 3};
    MPI_Comm comm;
    Fenix_Init(&role, MPI_COMM_WORLD, &comm, argc, argv, 0, &error);
    CHECK(error == FENIX_SUCCESS);
    CHECK(Fenix_Data_group_create(GROUP, comm, 0, 2, FENIX_DATA_POLICY_IN_MEMORY_RAID, policy,
                                  &flag) == FENIX_SUCCESS);
    CHECK(Fenix_Data_member_create(GROUP, STEP, &step, 1, MPI_INT) == FENIX_SUCCESS);
    CHECK(Fenix_Data_member_create(GROUP, CELLS, there, N, MPI_UINT64_T) == FENIX_SUCCESS);
    for (int v = 1, stamp; v <= 3; v++) {
        fill(v);
        if (v == 2) {
            break_one("cuMemcpyDtoHAsync");
            int rc = Fenix_Data_member_store(GROUP, FENIX_DATA_MEMBER_ALL, FENIX_DATA_SUBSET_FULL);
            CHECK((rc == FENIX_SUCCESS) == (rank != 1));
            CHECK(said("cuMemcpyDtoHAsync failed with CUDA_ERROR_LAUNCH_FAILED (719)"));
        }
        CHECK(Fenix_Data_member_store(GROUP, FENIX_DATA_MEMBER_ALL, FENIX_DATA_SUBSET_FULL) ==
              FENIX_SUCCESS);
        wipe(); /* before the commit: the snapshot has what was stored */
        CHECK(Fenix_Data_commit_barrier(GROUP, &stamp) == FENIX_SUCCESS);
        CHECK(Fenix_Data_member_restore(GROUP, STEP, &step, 1, stamp, NULL) == FENIX_SUCCESS);
        CHECK(Fenix_Data_member_restore(GROUP, CELLS, there, N, stamp, NULL) == FENIX_SUCCESS);
        CHECK(is_filled(v));
    }
    Fenix_Finalize();
}

int main(int argc, char **argv)
{
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    CHECK(argc > 1 && gpu_start(rank));
    there = gpu_new(sizeof here);
    if (strcmp(argv[1], "veloc") == 0)
        veloc();
    else
        fenix(&argc, &argv);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        FILE *marker = fopen(getenv("MEND_TEST_MARKER"), "w");
        CHECK(marker && fputs("PASS\n", marker) >= 0 && fclose(marker) == 0);
    }
    MPI_Finalize();
    return 0;
}
