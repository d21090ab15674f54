/* Damage and errors on one rank: all ranks get the same verdict; what can be repaired is repaired in the same call. */
#include "store_common.h"

#include "../../src/store/internal.h"

#include <base/fault.h>
#include <fcntl.h>
#include <sys/stat.h>

static int rank, size;

/* The byte in the middle of an own file is not what it was; or the file is another user's. */
static void flip(const char *path)
{
    unsigned char byte;
    int fd = open(path, O_RDWR);
    CHECK(fd >= 0 && pread(fd, &byte, 1, 100000) == 1);
    byte ^= 8;
    CHECK(pwrite(fd, &byte, 1, 100000) == 1);
    close(fd);
}

static void give_away(const char *path)
{
    CHECK(chown(path, 65534, 65534) == 0);
}

/* Do that to this rank's own file of a version. */
static void harm(const char *name, long version, void (*how)(const char *path))
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
        snprintf(path, sizeof path, "%s/%s", dir, e->d_name);
        how(path);
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

static void repaired(const char *name, mend_level level, void (*how)(const char *path))
{
    struct data d;
    long version = -1;
    mend_store_options o = plain_options(rank);
    o.level[level] = (mend_level_options){.every = 1, .keep = 3};
    o.erasure_k = size - 1;
    data_make(&d, rank, 50000);
    mend_store *s = saved(name, &o, &d);
    if (rank == 1)
        harm(name, 3, how);
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

/* Nobody has restored before the first save, as in a process that took another's place: the versions
 * of before stay until there are as many newer ones as are kept. */
static void predecessors_kept(void)
{
    struct data d;
    long version = -1;
    mend_store_options o = plain_options(rank);
    o.level[MEND_LEVEL_LOCAL] = (mend_level_options){.every = 1, .keep = 2};
    data_make(&d, rank, 50000);
    mend_store *s = saved("heir", &o, &d);
    data_fill(&d, rank, 10);
    OK(mend_store_save(s, 10));
    OK(mend_store_wait(s));
    OK(mend_store_close(s));
    if (rank == 1)
        harm("heir", 10, flip);
    OK(mend_store_open(MPI_COMM_WORLD, -1, "heir", &o, &s));
    data_register(s, &d);
    OK(mend_store_restore_newest(s, &version));
    CHECK(version == 3 && data_is(&d, rank, 3));
    OK(mend_store_close(s));
    free(d.a);
    if (rank == 0)
        printf("heir: ok\n");
}

/* A folder that cannot be read on one rank is no empty folder: beginning anew would be wrong. */
static void unreadable(void)
{
    struct data d;
    long version = -1;
    mend_store_options o = plain_options(rank);
    o.level[MEND_LEVEL_LOCAL] = (mend_level_options){.every = 1, .keep = 2};
    data_make(&d, rank, 5000);
    mend_store *s = saved("unreadable", &o, &d);
    mend_fault_set_rank(rank);
    OK(mend_fault_configure("io.opendir:rank=1:eio"));
    CHECK(mend_store_newest(s, &version) == MEND_ERR_IO && version == -1);
    OK(mend_fault_configure("io.opendir:rank=1:eio")); /* each comes once */
    CHECK(mend_store_restore_newest(s, &version) == MEND_ERR_IO);
    OK(mend_fault_configure(NULL));
    OK(mend_store_restore_newest(s, &version)); /* it was only for a while */
    CHECK(version == 3 && data_is(&d, rank, 3));
    OK(mend_store_close(s));
    free(d.a);
    if (rank == 0)
        printf("unreadable: ok\n");
}

/* A bit falls over in a copy in memory before it was summed: the other copy says so, and the version
 * before is restored. Once summed, the other copy is used. */
static void memory_changed(bool summed)
{
    struct data d;
    long version = -1;
    mend_store *s = NULL;
    mend_store_options o = plain_options(rank);
    o.level[MEND_LEVEL_MEMORY] = (mend_level_options){.every = 1, .keep = 2};
    o.memory_tight = MEND_MEMORY_SAFE;
    data_make(&d, rank, 5000);
    OK(mend_store_open(MPI_COMM_WORLD, -1, summed ? "memory-summed" : "memory", &o, &s));
    data_register(s, &d);
    for (long v = 1; v <= 2; v++) {
        data_fill(&d, rank, v);
        OK(mend_store_save(s, v));
        OK(mend_store_wait(s));
    }
    if (summed)
        OK(mend_store_newest(s, &version)); /* sums what is not summed yet */
    pthread_mutex_lock(&s->lock);
    for (int i = 0; i < s->own.count; i++)
        if (rank == 1 && s->own.list[i]->complete && s->own.list[i]->head.version == 2) {
            CHECK(!s->own.list[i]->users);
            if (!summed) {
                free(s->own.list[i]->sums);
                s->own.list[i]->sums = NULL;
            }
            s->own.list[i]->memory[777] ^= 16;
        }
    pthread_mutex_unlock(&s->lock);
    OK(mend_store_restore_newest(s, &version));
    CHECK(version == (summed ? 2 : 1) && data_is(&d, rank, version));
    OK(mend_store_close(s));
    free(d.a);
    if (rank == 0)
        printf("memory%s: ok\n", summed ? "-summed" : "");
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
    repaired("damage-local", MEND_LEVEL_LOCAL, flip);
    repaired("damage-partner", MEND_LEVEL_PARTNER, flip);
    repaired("damage-erasure", MEND_LEVEL_ERASURE, flip);
    if (geteuid() == 0) {
        repaired("foreign-local", MEND_LEVEL_LOCAL, give_away);
        repaired("foreign-partner", MEND_LEVEL_PARTNER, give_away);
        repaired("foreign-erasure", MEND_LEVEL_ERASURE, give_away);
    }
    predecessors_kept();
    unreadable();
    memory_changed(false);
    memory_changed(true);
    one_disk_full();
    disagreement();
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        pass();
    MPI_Finalize();
    return 0;
}
