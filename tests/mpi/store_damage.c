/* Damage and errors on one rank: all ranks get the same verdict; what can be repaired is repaired in the same call. */
#include "store_common.h"

#include <base/fault.h>
#include <fcntl.h>

static int rank, size;

/* Flip one byte in the middle of this rank's own file of a version. */
static void flip(const char *name, long version)
{
    char dir[4200], mark[64], path[8192];
    struct dirent *e;
    snprintf(dir, sizeof dir, "%s/local-node%d/%s", getenv("MEND_TEST_DIR"), rank, name);
    snprintf(mark, sizeof mark, "own-r%d-v%ld-", rank, version);
    DIR *d = opendir(dir);
    bool done = false;
    while (d && (e = readdir(d))) {
        if (strncmp(e->d_name, mark, strlen(mark)) != 0)
            continue;
        unsigned char byte;
        snprintf(path, sizeof path, "%s/%s", dir, e->d_name);
        int fd = open(path, O_RDWR);
        CHECK(fd >= 0 && pread(fd, &byte, 1, 100000) == 1);
        byte ^= 8;
        CHECK(pwrite(fd, &byte, 1, 100000) == 1);
        close(fd);
        done = true;
    }
    closedir(d);
    CHECK(done);
}

static mend_store *saved(const char *name, mend_store_options *o, struct data *d)
{
    mend_store *s = NULL;
    OK(mend_store_open(MPI_COMM_WORLD, -1, name, o, &s));
    data_register(s, d);
    for (long v = 1; v <= 3; v++) {
        data_fill(d, rank, v);
        OK(mend_store_save(s, v));
    }
    OK(mend_store_close(s));
    OK(mend_store_open(MPI_COMM_WORLD, -1, name, o, &s));
    data_register(s, d);
    return s;
}

static void repaired(const char *name, mend_level level)
{
    struct data d;
    long version = -1;
    mend_store_options o = plain_options(rank);
    o.level[level] = (mend_level_options){.every = 1, .keep = 3};
    o.erasure_k = size - 1;
    data_make(&d, rank, 50000);
    mend_store *s = saved(name, &o, &d);
    if (rank == 1)
        flip(name, 3);
    memset(d.a, 0, d.n * 8);
    OK(mend_store_restore_newest(s, &version));
    CHECK(version == (level == MEND_LEVEL_LOCAL ? 2 : 3) && data_is(&d, rank, version));
    if (level == MEND_LEVEL_LOCAL) { /* asked for by number: an error for all, nothing changed */
        CHECK(mend_store_restore(s, 3) == MEND_ERR_NO_VERSION);
        CHECK(data_is(&d, rank, 2));
    }
    OK(mend_store_close(s));
    free(d.a);
    if (rank == 0)
        printf("%s: ok\n", name);
}

/* A level that fails on one rank is not committed on any; the others are. */
static void one_disk_full(void)
{
    struct data d;
    unsigned levels = 0;
    long version = -1;
    mend_store_options o = plain_options(rank);
    o.level[MEND_LEVEL_LOCAL] = (mend_level_options){.every = 1, .keep = 2};
    o.level[MEND_LEVEL_GLOBAL] = (mend_level_options){.every = 1, .keep = 2};
    data_make(&d, rank, 5000);
    mend_store *s = saved("full", &o, &d);
    OK(mend_store_restore_newest(s, &version));
    mend_fault_set_rank(rank);
    OK(mend_fault_configure("store.local_write:rank=2:enospc"));
    data_fill(&d, rank, 4);
    OK(mend_store_save(s, 4));
    CHECK(mend_store_wait(s) == MEND_ERR_DEGRADED);
    OK(mend_store_reached(s, 4, &levels));
    CHECK(levels == MEND_LEVEL_BIT(MEND_LEVEL_GLOBAL));
    OK(mend_fault_configure("store.local_write:rank=2:eio,store.global_write:rank=2:enospc"));
    data_fill(&d, rank, 5);
    OK(mend_store_save(s, 5));
    CHECK(mend_store_wait(s) == MEND_ERR_NOT_SAVED);
    OK(mend_store_newest(s, &version));
    CHECK(version == 5); /* the copies in memory are still there, on every rank */
    CHECK(mend_store_close(s) == MEND_ERR_NOT_SAVED);
    OK(mend_store_open(MPI_COMM_WORLD, -1, "full", &o, &s));
    data_register(s, &d);
    OK(mend_store_restore_newest(s, &version));
    CHECK(version == 4 && data_is(&d, rank, 4));
    data_fill(&d, rank, 6); /* and there is room again */
    OK(mend_store_save(s, 6));
    OK(mend_store_wait(s));
    OK(mend_store_close(s));
    free(d.a);
    if (rank == 0)
        printf("full: ok\n");
}

static void disagreement(void)
{
    int x = 0;
    mend_store *s = NULL;
    mend_store_options o = plain_options(rank);
    o.level[MEND_LEVEL_LOCAL] = (mend_level_options){.every = 1, .keep = rank == 1 ? 3 : 2};
    CHECK(mend_store_open(MPI_COMM_WORLD, -1, "differ", &o, &s) == MEND_ERR_CONFIG);
    o.level[MEND_LEVEL_LOCAL].keep = 2;
    CHECK(mend_store_open(MPI_COMM_WORLD, -1, rank == 1 ? "x/y" : "differ", &o, &s) != 0);
    CHECK(mend_store_open(MPI_COMM_WORLD, rank == 1 ? 0 : rank, "differ", &o, &s) ==
          MEND_ERR_ARGUMENT);
    OK(mend_store_open(MPI_COMM_WORLD, size - 1 - rank, "differ", &o, &s));
    OK(mend_store_region(s, 1, "x", &x, sizeof x));
    CHECK(mend_store_save(s, rank == 1 ? 5 : 4) == MEND_ERR_ARGUMENT);
    CHECK(mend_store_save_with(
              s, 4, &(mend_save_options){.ids = (int[]){rank == 0 ? 9 : 1}, .id_count = 1}) ==
          MEND_ERR_REGION);
    OK(mend_store_save(s, 4));
    OK(mend_store_close(s));
    if (rank == 0)
        printf("differ: ok\n");
}

int main(int argc, char **argv)
{
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    repaired("damage-local", MEND_LEVEL_LOCAL);
    repaired("damage-partner", MEND_LEVEL_PARTNER);
    repaired("damage-erasure", MEND_LEVEL_ERASURE);
    one_disk_full();
    disagreement();
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        pass();
    MPI_Finalize();
    return 0;
}
