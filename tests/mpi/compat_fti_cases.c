/* The FTI face: what FTI's own tests do and the plain program of compat_fti.c does not. One launch of two:
 *
 *   compat_fti_cases CONFIG CASE
 *
 * The first launch makes a checkpoint and ends without FTI_Finalize, as a crash does; the second finds status 1 and
 * checks what it recovers. PASS goes to the marker. */
#include <fti.h> /* first: it has to bring the headers of the C library that FTI's brings */

#include <signal.h>
#include <sys/resource.h>

#define CHECK(condition)                                                                         \
    do {                                                                                         \
        if (!(condition)) {                                                                      \
            fprintf(stderr, "rank %d, line %d: %s does not hold\n", rank, __LINE__, #condition); \
            MPI_Abort(MPI_COMM_WORLD, 1);                                                        \
        }                                                                                        \
    } while (0)

static int rank, size;
static const char *config;

static void fill(int *array, int count, int with)
{
    for (int i = 0; i < count; i++)
        array[i] = with + i;
}

static bool is(const int *array, int count, int with)
{
    bool same = true;
    for (int i = 0; i < count; i++)
        same = same && array[i] == with + i;
    return same;
}

/* Ids by name, given in another order by the second run, which has one more. */
static void names(int status)
{
    static const char *const text[] = {"density", "energy of the gas", "velocity"};
    int data[3][50];
    if (!status) {
        CHECK(FTI_getIDFromString("density") == FTI_NSCS);
        CHECK(FTI_Protect(0, data[0], 1, FTI_INTG) == FTI_SCES); /* 0 is taken */
        for (int i = 0; i < 3; i++) {
            int id = FTI_setIDFromString(text[i]);
            CHECK(id == i + 1 && FTI_setIDFromString(text[i]) == id);
            fill(data[i], 50, 100 * i + rank);
            CHECK(FTI_Protect(id, data[i], 50, FTI_INTG) == FTI_SCES);
        }
        CHECK(FTI_Checkpoint(1, 1) == FTI_DONE);
        return;
    }
    CHECK(FTI_setIDFromString("pressure") == 0);
    CHECK(FTI_RecoverVarInit() == FTI_SCES);
    for (int i = 2; i >= 0; i--) {
        int id = FTI_getIDFromString(text[i]);
        CHECK(id == i + 1 && FTI_Protect(id, data[i], 50, FTI_INTG) == FTI_SCES);
        CHECK(FTI_RecoverVar(id) == FTI_SCES && is(data[i], 50, 100 * i + rank));
    }
    CHECK(FTI_RecoverVarFinalize() == FTI_SCES);
}

/* A checkpoint in parts has each variable as it was when it was added. */
static void parts(int status)
{
    int added[1000], late[10];
    CHECK(FTI_Protect(1, added, 1000, FTI_INTG) == FTI_SCES);
    CHECK(FTI_Protect(2, late, 10, FTI_INTG) == FTI_SCES);
    if (!status) {
        CHECK(FTI_AddVarICP(1) == FTI_NSCS && FTI_FinalizeICP() == FTI_NSCS);
        CHECK(FTI_InitICP(1, 9, 1) == FTI_NSCS);
        CHECK(FTI_InitICP(7, 1, 0) == FTI_SCES); /* not active */
        CHECK(FTI_AddVarICP(1) == FTI_SCES && FTI_FinalizeICP() == FTI_SCES);
        fill(added, 1000, rank);
        CHECK(FTI_InitICP(1, 2, 1) == FTI_SCES && FTI_AddVarICP(1) == FTI_SCES);
        CHECK(FTI_AddVarICP(1) == FTI_NSCS && FTI_AddVarICP(5) == FTI_NSCS);
        CHECK(FTI_Checkpoint(2, 1) == FTI_NSCS);
        fill(added, 1000, -1000); /* allowed from here on */
        fill(late, 10, 55 + rank);
        CHECK(FTI_FinalizeICP() == FTI_SCES);
        CHECK(is(added, 1000, -1000));
        return;
    }
    CHECK(FTI_Recover() == FTI_SCES && is(added, 1000, rank) && is(late, 10, 55 + rank));
    fill(added, 1000, 3); /* the variables are the program's memory again */
    CHECK(FTI_Checkpoint(2, 1) == FTI_DONE);
    fill(added, 1000, 4);
    CHECK(FTI_Recover() == FTI_SCES && is(added, 1000, 3));
}

/* Sizes differ from rank to rank and from run to run. Even ranks recover all at once, odd ones by variable: no rank
 * waits for another. */
static void mixed(int status)
{
    int count = status ? 10 : 1000 * (rank + 1), *list = malloc((size_t)count * sizeof *list),
        step = 0;
    CHECK(FTI_Protect(1, &step, 1, FTI_INTG) == FTI_SCES);
    CHECK(FTI_Protect(2, list, count, FTI_INTG) == FTI_SCES);
    if (!status) {
        step = 17;
        fill(list, count, rank);
        CHECK(FTI_Checkpoint(1, 3) == FTI_DONE);
        CHECK(FTI_GetStoredSize(2) == count * (long)sizeof *list);
        free(list);
        return;
    }
    for (int round = 0; round < 2; round++) {
        int code = rank % 2 ? FTI_RecoverVarInit() : FTI_Recover();
        if (rank % 2) {
            code += FTI_RecoverVar(1) + FTI_RecoverVar(2);
            code += FTI_RecoverVarFinalize();
        }
        CHECK((code == FTI_SCES) == (round == 1));
        if (round == 0)
            list = FTI_Realloc(2, list);
        CHECK(list);
    }
    CHECK(step == 17 && is(list, 1000 * (rank + 1), rank));
    CHECK(FTI_GetStoredSize(2) == 1000 * (rank + 1) * (long)sizeof *list);
    CHECK(FTI_Checkpoint(2, 3) == FTI_DONE);
    free(list);
}

/* FTI_Init again: what was before can be recovered. */
static void again(int status)
{
    int data[20];
    CHECK(FTI_Protect(1, data, 20, FTI_INTG) == FTI_SCES);
    if (status) {
        CHECK(FTI_Recover() == FTI_SCES && is(data, 20, 2 + rank));
        return;
    }
    CHECK(FTI_Init(config, MPI_COMM_WORLD) == FTI_SCES && FTI_Status() == 0);
    CHECK(FTI_Recover() == FTI_NREC); /* nothing was saved, and nothing is protected */
    CHECK(FTI_Protect(1, data, 20, FTI_INTG) == FTI_SCES);
    fill(data, 20, 2 + rank);
    CHECK(FTI_Checkpoint(1, 4) == FTI_DONE);
    fill(data, 20, 0);
    CHECK(FTI_Init(config, MPI_COMM_WORLD) == FTI_SCES && FTI_Status() == 1);
    CHECK(FTI_Protect(1, data, 20, FTI_INTG) == FTI_SCES);
    CHECK(FTI_Recover() == FTI_SCES && is(data, 20, 2 + rank));
}

static void types(int status)
{
    struct pair {
        int x;
        double y[3];
    } pairs[5];
    enum { WORDS = 5 * sizeof(struct pair) / sizeof(int) };
    int three = 3;
    fti_id_t type = FTI_InitCompositeType("pair", sizeof(struct pair), NULL);
    CHECK(type >= 0);
    CHECK(FTI_AddScalarField(type, "x", FTI_INTG, offsetof(struct pair, x)) == FTI_SCES);
    CHECK(FTI_AddVectorField(type, "y", FTI_DBLE, offsetof(struct pair, y), 1, &three) == FTI_SCES);
    CHECK(FTI_AddVectorField(type, "z", FTI_DBLE, offsetof(struct pair, y) + 8, 1, &three) ==
          FTI_NSCS);
    CHECK(FTI_AddScalarField(99, "x", FTI_INTG, 0) == FTI_NSCS);
    CHECK(FTI_InitCompositeType("empty", 0, NULL) == FTI_NSCS);
    CHECK(FTI_Protect(1, pairs, 5, type) == FTI_SCES);
    if (!status) {
        fill((int *)pairs, WORDS, rank);
        CHECK(FTI_Checkpoint(1, 1) == FTI_DONE);
        return;
    }
    CHECK(FTI_GetStoredSize(1) == (long)sizeof pairs);
    CHECK(FTI_Recover() == FTI_SCES && is((int *)pairs, WORDS, rank));
}

/* Every level by its number, the differential ones too; the last checkpoint is the one to recover. */
static void levels(int status)
{
    int data[5000];
    CHECK(FTI_L4 == 4 && FTI_L1_DCP == 5 && FTI_L2_DCP == 6 && FTI_L3_DCP == 7 && FTI_L4_DCP == 8);
    CHECK(FTI_Protect(1, data, 5000, FTI_INTG) == FTI_SCES);
    if (status) {
        CHECK(FTI_Recover() == FTI_SCES && is(data, 5000, 8 + rank));
        return;
    }
    CHECK(FTI_Checkpoint(1, 0) == FTI_NSCS && FTI_Checkpoint(1, 9) == FTI_NSCS);
    for (int level = 1; level <= 8; level++) {
        fill(data, 5000, level + rank);
        CHECK(FTI_Checkpoint(level, level) == FTI_DONE);
    }
}

/* Rank 1 cannot write its file twice; the next checkpoint is made. */
static void failed(int status)
{
    int data[5000];
    struct rlimit all, none;
    CHECK(FTI_Protect(1, data, 5000, FTI_INTG) == FTI_SCES);
    if (status) {
        CHECK(FTI_Recover() == FTI_SCES && is(data, 5000, 4 + rank));
        return;
    }
    fill(data, 5000, 1 + rank);
    CHECK(FTI_Checkpoint(1, 1) == FTI_DONE);
    signal(SIGXFSZ, SIG_IGN);
    CHECK(!getrlimit(RLIMIT_FSIZE, &all));
    none = (struct rlimit){rank == 1 ? 4096 : all.rlim_cur, all.rlim_max};
    CHECK(!setrlimit(RLIMIT_FSIZE, &none));
    CHECK(FTI_Checkpoint(2, 1) == FTI_NSCS && FTI_Checkpoint(3, 1) == FTI_NSCS);
    CHECK(!setrlimit(RLIMIT_FSIZE, &all));
    fill(data, 5000, 4 + rank);
    CHECK(FTI_Checkpoint(4, 1) == FTI_DONE);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(int status);
    } cases[] = {{"names", names}, {"parts", parts},   {"mixed", mixed},  {"again", again},
                 {"types", types}, {"levels", levels}, {"failed", failed}};
    int given;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &given);
    CHECK(argc == 3);
    config = argv[1];
    int code = FTI_Init(config, MPI_COMM_WORLD), status = FTI_Status(), data = 5;
    CHECK(code != FTI_NSCS);
    MPI_Comm_rank(FTI_COMM_WORLD, &rank);
    MPI_Comm_size(FTI_COMM_WORLD, &size);
    if (rank == 0)
        printf("init %d status %d\n", code, status), fflush(stdout);
    if (strcmp(argv[2], "none") ==
        0) { /* no checkpoint; recovering finds none, a new one can be made */
        CHECK(code == FTI_NREC ? FTI_Recover() == FTI_NREC : 1);
        CHECK(FTI_Protect(1, &data, 1, FTI_INTG) == FTI_SCES);
        if (code == FTI_NREC)
            CHECK(FTI_Checkpoint(1, 1) == FTI_DONE && FTI_Recover() == FTI_SCES && data == 5);
    }
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (strcmp(cases[i].name, argv[2]) == 0)
            cases[i].run(status);
    MPI_Barrier(FTI_COMM_WORLD);
    if (status || code == FTI_NREC)
        CHECK(FTI_Finalize() == FTI_SCES);
    if (rank == 0) {
        FILE *marker = fopen(getenv("MEND_TEST_MARKER"), "w");
        fputs("PASS\n", marker);
        fclose(marker);
    }
    MPI_Finalize();
    return 0;
}
