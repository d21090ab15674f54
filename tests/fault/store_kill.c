/* A rank is killed at a fault point or at a random time while versions are being saved, restored or
 * rebuilt. A spare takes its place; the newest version that all can have is restored, bit for bit;
 * the run ends with the right result.
 *
 *     store_kill LEVELS KILLS SEED [NAME]
 *
 * LEVELS: memory, local, partner, erasure, global, or several with commas; NAME: the store's. With
 * KILLS = 0 the fault comes from MEND_FAULT. A killed rank's disk is lost with it, except with the
 * level local; on emulated nodes the parity stands the loss of two ranks. With MEND_TEST_GPU set the
 * larger region is on a GPU (tests/harness/driver), where MEND_TEST_ELEMENTS numbers are. */
#include "store_meet.h"

#include "../harness/driver/gpu.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>

#define STEPS 12

static struct data d;
static uint64_t *there; /* d.a, on a GPU; NULL: it is not */
static mend_store *store;
static mend_store_options options;
static int kills;
static unsigned seed;
static bool one_node; /* a dead rank's disk survives it */
static const char *name = "kill";

/* The failure domain: each process is a node of its own, but for real nodes. */
static const char *domain(void)
{
    static char text[80];
    const char *nodes = getenv("MEND_TEST_NODES");
    if (nodes && atoi(nodes) > 0)
        CHECK(gethostname(text, sizeof text - 1) == 0);
    else
        snprintf(text, sizeof text, "node%d", one_node ? 0 : (int)getpid());
    return text;
}

static void make(void)
{
    const char *elements = getenv("MEND_TEST_ELEMENTS");
    data_make(&d, me, elements ? (size_t)atol(elements) : 20000);
    if (getenv("MEND_TEST_GPU")) {
        CHECK(gpu_start(me));
        there = gpu_new(d.n * sizeof *there);
    }
}

static void fill(long version)
{
    data_fill(&d, me, version);
    if (there)
        gpu_fill(there, d.a, d.n * sizeof *there);
}

static bool is(long version)
{
    if (there)
        gpu_look(d.a, there, d.n * sizeof *there);
    return data_is(&d, me, version);
}

/* Open or rebind, restore; the step to go on from. Negative: somebody died. */
static long come_back(void)
{
    long version = -1;
    int rc;
    options.domain = domain();
    if (store) {
        rc = mend_store_rebind(store, job, me);
    } else {
        make();
        rc = mend_store_open(job, me, name, &options, &store);
        if (rc == 0)
            data_register(store, &d);
        if (rc == 0 && there)
            rc = mend_store_region(store, 7, "a", there, d.n * sizeof *there);
    }
    if (rc == 0) {
        rc = mend_store_restore_newest(store, &version);
        if (rc == MEND_ERR_NO_VERSION) {
            version = 0;
            rc = 0;
        } else if (rc == 0) {
            CHECK(is(version));
        }
    }
    CHECK(rc == 0 || rc == MEND_ERR_PEER_FAILED);
    if (failures && rc == 0)
        printf("replacement of rank %d: back at version %ld\n", me, version);
    return rc ? -1 : version;
}

static long die_step = -1; /* at this step, and */
static long die_after;     /* so many microseconds later, whatever goes on then */

static void *killer(void *argument)
{
    (void)argument;
    usleep((useconds_t)die_after);
    kill(getpid(), SIGKILL);
    return NULL;
}

static unsigned long long random_number(unsigned long long *state)
{
    *state = *state * 6364136223846793005ull + 1442695040888963407ull;
    return *state >> 33;
}

/* The steps; true: all done. */
static bool work(long from)
{
    for (long v = from + 1; v <= STEPS; v++) {
        int one = 1, sum = 0;
        fill(v);
        if (v == die_step) {
            pthread_t thread;
            die_step = -1;
            pthread_create(&thread, NULL, killer, NULL);
        }
        int rc = mend_store_save(store, v);
        CHECK(rc == 0 || rc == MEND_ERR_PEER_FAILED);
        if (rc)
            return false;
        usleep(3000);
        if (MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, job) != MPI_SUCCESS)
            return false;
        CHECK(sum == np);
    }
    int rc = mend_store_wait(store);
    CHECK(rc == 0 || rc == MEND_ERR_PEER_FAILED || rc == MEND_ERR_DEGRADED);
    return rc != MEND_ERR_PEER_FAILED;
}

static void set_levels(const char *text)
{
    for (int i = 0; i < MEND_LEVEL_COUNT; i++)
        if (strstr(text, mend_level_name((mend_level)i)))
            options.level[i] =
                (mend_level_options){.every = 1, .keep = i == MEND_LEVEL_MEMORY ? 1 : 2};
    options.erasure_k = np - 1;
    const char *nodes = getenv("MEND_TEST_NODES");
    if (nodes && atoi(nodes) > 0) {
        options.erasure_k = np - 2;
        options.erasure_m = 2;
    }
    one_node = strstr(text, "local"); /* this level cannot stand the loss of a disk */
}

int main(int argc, char **argv)
{
    int provided, rank, total;
    mend_ulfm_survive_broken_pipes(); /* spares open no store, which would do it */
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &total);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    note_events();
    CHECK(argc > 3);
    np = total - atoi(getenv("MEND_TEST_SPARES"));
    kills = atoi(argv[2]);
    seed = (unsigned)atoi(argv[3]);
    if (argc > 4)
        name = argv[4];
    options = plain_options(rank);
    set_levels(argv[1]);
    world = MPI_COMM_WORLD;
    me = rank < np ? rank : -1;

    /* who dies when: from the seed; the victims are different processes */
    unsigned long long state = seed * 77777ull + 13;
    int victims[8];
    for (int k = 0; k < kills; k++) {
        bool again = true;
        while (again) {
            victims[k] = (int)(random_number(&state) % (unsigned)np);
            again = false;
            for (int j = 0; j < k; j++)
                again = again || victims[j] == victims[k];
        }
        long step = 1 + (long)(random_number(&state) % STEPS),
             after = (long)(random_number(&state) % 20000);
        if (victims[k] == rank) {
            die_step = step;
            die_after = after;
        }
    }
    bool done = false;
    while (!done) {
        if (!meet())
            break;
        long from = me >= 0 ? come_back() : 0;
        done = all_done(me < 0 || (from >= 0 && work(from)));
    }
    if (me >= 0 && done) {
        int left;
        const char *deaths =
            getenv("MEND_TEST_DEATHS"); /* a fault that never came proves nothing */
        MPI_Comm_size(world, &left);
        int killed = deaths ? atoi(deaths) : 0;
        if (me == 0 && deaths && left != total - killed)
            fprintf(stderr, "%d processes were lost, %d were killed\n", total - left, killed);
        CHECK(!deaths || left == total - killed);
        CHECK(is(STEPS));
        mend_store_close(store);
    }
    /* a death in the very last agreement: some are done and gone, and have said so */
    while (!done && access(getenv("MEND_TEST_MARKER"), F_OK) != 0)
        usleep(10000); /* for ever, if they have not: the test's limit shows where all stand */
    if (done && me >= 0)
        pass();
    if (me == 0)
        printf("done: %d ranks, seed %u\n", np, seed);
    fflush(NULL);
    _exit(0);
}
