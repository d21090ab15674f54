/* Whole nodes die, one after the other, each with its disk; between the two deaths nothing is saved,
 * so that the second is survived by what was rebuilt in the background after the first.
 *
 *     store_nodes LEVELS     run by store_nodes.sh, which kills nodes when told to by files
 */
#include "store_meet.h"

#include <signal.h>

#define VERSION 5

static struct data d;
static mend_store *store;

static void tell(const char *what)
{
    char path[4200];
    snprintf(path, sizeof path, "%s/%s", getenv("MEND_TEST_DIR"), what);
    FILE *f = fopen(path, "w");
    CHECK(f);
    fclose(f);
}

/* Work that saves nothing, until somebody dies. */
static bool wait_for_death(void)
{
    int one = 1, sum = 0;
    while (MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, job) == MPI_SUCCESS)
        usleep(1000);
    return false;
}

static int come_back(const mend_store_options *options, long *version)
{
    int rc;
    if (store) {
        rc = mend_store_rebind(store, job, me);
    } else {
        data_make(&d, me, 50000);
        rc = mend_store_open(job, me, "nodes", options, &store);
        if (rc == 0)
            data_register(store, &d);
    }
    *version = -1;
    if (rc == 0)
        rc = mend_store_restore_newest(store, version);
    return rc;
}

/* Each node has one process. */
static int deaths(void)
{
    int alive, total;
    MPI_Comm_size(world, &alive);
    MPI_Comm_size(MPI_COMM_WORLD, &total);
    return total - alive;
}

static bool save_some(void)
{
    for (long v = VERSION - 2; v <= VERSION; v++) {
        data_fill(&d, me, v);
        if (mend_store_save(store, v) || mend_store_wait(store))
            return false;
    }
    data_fill(&d, me, 99);
    return true;
}

/* True: the end. */
static bool live(const mend_store_options *options)
{
    long version;
    int rc = come_back(options, &version);
    if (rc == MEND_ERR_PEER_FAILED)
        return false;
    if (rc == MEND_ERR_NO_VERSION && deaths() == 0) {
        if (!save_some())
            return false;
    } else {
        CHECK(rc == 0);
        CHECK(version == VERSION);
        CHECK(data_is(&d, me, VERSION));
        printf("logical rank %d: version %ld is back\n", me, version);
    }
    rc = mend_store_wait(store); /* what was lost is rebuilt by now */
    if (rc == MEND_ERR_PEER_FAILED)
        return false;
    CHECK(rc == 0);
    int one = 1;
    if (MPI_Allreduce(MPI_IN_PLACE, &one, 1, MPI_INT, MPI_MIN, job) != MPI_SUCCESS)
        return false;
    if (deaths() < 2) {
        data_fill(&d, me, 98);
        if (me == 0)
            tell(deaths() ? "kill-2" : "kill-1");
        return wait_for_death();
    }
    data_fill(&d, me, VERSION + 1);
    CHECK(mend_store_save(store, VERSION + 1) == 0 && mend_store_wait(store) == 0);
    data_fill(&d, me, 97);
    CHECK(mend_store_restore_newest(store, &version) == 0 && version == VERSION + 1);
    CHECK(data_is(&d, me, VERSION + 1));
    return true;
}

int main(int argc, char **argv)
{
    int provided, rank, total;
    mend_store_options options;
    signal(SIGPIPE, SIG_IGN);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &total);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    note_events();
    CHECK(argc > 1);
    np = total - atoi(getenv("MEND_TEST_SPARES"));
    OK(mend_store_defaults(&options));
    options.local_dir = getenv("MEND_TEST_LOCAL");
    options.erasure_k = np - 1;
    for (int i = 0; i < MEND_LEVEL_COUNT; i++)
        options.level[i] = (mend_level_options){
            .every = strstr(argv[1], mend_level_name((mend_level)i)) != NULL, .keep = 2};
    world = MPI_COMM_WORLD;
    me = rank < np ? rank : -1;
    bool done = false;
    while (!done) {
        CHECK(meet());
        done = all_done(me < 0 || live(&options));
    }
    if (me >= 0)
        mend_store_close(store);
    if (me == 0)
        pass();
    fflush(NULL);
    _exit(0);
}
