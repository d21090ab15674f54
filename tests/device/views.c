/* A program of four ranks whose state is a view on a GPU: real kills by seed, at any moment. usage: device_views KILLS SEED [KERNEL]
 *
 * Each step changes an eighth of a rank's words, by KERNEL (step.cu as machine code or PTX) or on the host. KILLS different ranks
 * kill themselves: at a step, and so many microseconds later, whatever is going on then. At the end each rank compares all of
 * its words, bit for bit, with those that a computation on the host gives. Run it by mpitest, with MEND_FLOW_SPARES. */
#include <mend/flow.h>

#include "../harness/driver/gpu.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

enum { WORDS = 1 << 18, PART = WORDS / 8, STEPS = 120, LATEST = STEPS - 30, MOST_US = 20000 };

static int rank, ranks, step;
static uint64_t *there; /* the words, on the device */
static uint64_t part[PART];

static uint64_t random_number(uint64_t *state)
{
    *state = *state * 6364136223846793005ull + 1442695040888963407ull;
    return *state >> 33;
}

/* ---- the program ----------------------------------------------------------------------------- */

static void begin(uint64_t *w, int of)
{
    for (int i = 0; i < WORDS; i++)
        w[i] = (uint64_t)(of + 1) * 0x9e3779b97f4a7c15u + (uint64_t)i;
}

static void advance(uint64_t *w, uint64_t next)
{
    for (int i = 0; i < PART; i++)
        w[i] = (w[i] ^ (w[i] >> 29)) * 0xbf58476d1ce4e5b9u + next;
}

static struct {
    int (*load)(void **, const void *), (*find)(void **, void *, const char *);
    int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                  void *, void **, void **);
} cu;

static void *kernel_of(const char *path)
{
    enum { ROOM = 1 << 20 };
    void *library = dlopen("libcuda.so.1", RTLD_NOW), *module = NULL, *kernel = NULL;
    FILE *f = fopen(path, "r");
    char *text = calloc(1, ROOM);
    if (!library || !f || !text || !fread(text, 1, ROOM - 1, f)) {
        fprintf(stderr, "device_views: no driver, or no %s\n", path);
        _Exit(1);
    }
    fclose(f);
    *(void **)&cu.load = dlsym(library, "cuModuleLoadData");
    *(void **)&cu.find = dlsym(library, "cuModuleGetFunction");
    *(void **)&cu.launch = dlsym(library, "cuLaunchKernel");
    GPU_OK(cu.load(&module, text));
    GPU_OK(cu.find(&kernel, module, "step"));
    free(text);
    return kernel;
}

/* The queued kernel is left to run: a save waits for it. */
static void change(void *kernel, uint64_t *at, uint64_t next)
{
    uint64_t count = PART;
    void *arguments[] = {&at, &count, &next};
    if (kernel) {
        GPU_OK(cu.launch(kernel, 64, 1, 1, 256, 1, 1, 0, NULL, arguments, NULL));
        return;
    }
    gpu_look(part, at, sizeof part);
    advance(part, next);
    gpu_fill(at, part, sizeof part);
}

/* ---- who dies when --------------------------------------------------------------------------- */

static long die_step = -1, die_after;

static void mark_path(int of, char path[4200])
{
    const char *folder = getenv("MEND_TEST_DIR");
    snprintf(path, 4200, "%s/killed.%d", folder ? folder : ".", of);
}

/* It leaves a mark: a kill that never came proves nothing. */
static void *killer(void *of)
{
    char path[4200];
    usleep((useconds_t)die_after);
    mark_path(*(int *)of, path);
    FILE *f = fopen(path, "w");
    if (f)
        fclose(f);
    kill(getpid(), SIGKILL);
    return of;
}

static int killed(int most)
{
    char path[4200];
    int count = 0;
    for (int r = 0; r < most; r++) {
        mark_path(r, path);
        count += access(path, F_OK) == 0;
    }
    return count;
}

/* For the process that was launched with this number: the victims are different processes. */
static void choose_death(int launched, int kills, unsigned seed)
{
    uint64_t state = seed * 77777ull + 13, chosen = 0;
    while (kills > 0) {
        int victim = (int)(random_number(&state) % (unsigned)ranks);
        if (chosen >> victim & 1)
            continue;
        chosen |= 1ull << victim;
        kills--;
        long at = (long)(random_number(&state) % LATEST),
             after = (long)(random_number(&state) % MOST_US);
        if (victim == launched) {
            die_step = at;
            die_after = after;
        }
    }
}

static void die_if_due(void)
{
    static int begun = -1, of;
    pthread_t thread;
    if (step == die_step && begun < 0) {
        begun = step;
        of = atoi(getenv("OMPI_COMM_WORLD_RANK"));
        if (pthread_create(&thread, NULL, killer, &of))
            raise(SIGKILL);
    }
    while (begun >= 0 && step >= begun + 20) /* a fast machine: it must come before the end */
        pause();
}

/* ---- a save that fails ------------------------------------------------------------------------- */

/* MEND_TEST_BREAK: a function of the stand-in that fails once on rank 1, in the middle of the run. What rank 1 says goes into
 * a file. */
static void break_if_due(void)
{
    const char *function = getenv("MEND_TEST_BREAK");
    char path[4200];
    if (!function || rank != 1 || step != STEPS / 2)
        return;
    snprintf(path, sizeof path, "%s/said", getenv("MEND_TEST_DIR"));
    if (!gpu.fake || !freopen(path, "w", stderr) || setvbuf(stderr, NULL, _IONBF, 0))
        MPI_Abort(MPI_COMM_WORLD, 1);
    gpu.fake->breaks(function, 1, 719, 0, 0);
}

/* One save was given up, with the whole reason, and the job went on. */
static int was_told(void)
{
    const char *function = getenv("MEND_TEST_BREAK");
    char path[4200], line[1000], want[300];
    int found = 0;
    if (!function)
        return 1;
    snprintf(path, sizeof path, "%s/said", getenv("MEND_TEST_DIR"));
    snprintf(want, sizeof want, "(words) on rank 1: %s failed with CUDA_ERROR_LAUNCH_FAILED (719)",
             function);
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f)) {
        const char *why = strstr(line, " was not saved: version ");
        found += why && strstr(why, "snapshot: region ") && strstr(why, want);
    }
    if (f)
        fclose(f);
    return found == 1;
}

/* ---- is it right? ---------------------------------------------------------------------------- */

/* What this rank's words should be: all ranks, on the host. */
static uint64_t *expected(void)
{
    uint64_t *all = malloc((size_t)ranks * WORDS * sizeof *all);
    uint64_t *mine = malloc((size_t)ranks * sizeof *mine);
    if (!all || !mine)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int r = 0; r < ranks; r++)
        begin(all + (size_t)r * WORDS, r);
    for (int s = 0; s < STEPS; s++) {
        for (int r = 0; r < ranks; r++)
            mine[r] = all[(size_t)r * WORDS + (size_t)s * 977 % WORDS];
        for (int r = 0; r < ranks; r++)
            advance(all + (size_t)r * WORDS + (size_t)(s % 8) * PART,
                    mine[(r + ranks - 1) % ranks]);
    }
    memmove(all, all + (size_t)rank * WORDS, WORDS * sizeof *all);
    free(mine);
    return all;
}

static long wrong_words(void)
{
    uint64_t *is = malloc(WORDS * sizeof *is), *want = expected();
    long wrong = 0;
    if (!is)
        MPI_Abort(MPI_COMM_WORLD, 1);
    gpu_look(is, there, WORDS * sizeof *is);
    for (int i = 0; i < WORDS; i++)
        wrong += is[i] != want[i];
    free(is);
    free(want);
    return wrong;
}

int main(int argc, char **argv)
{
    int provided;
    const char *launched = getenv("OMPI_COMM_WORLD_RANK"), *marker = getenv("MEND_TEST_MARKER");
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int kills = argc > 1 ? atoi(argv[1]) : 0;
    if (kills > ranks || !gpu_start(rank))
        MPI_Abort(MPI_COMM_WORLD, 1);
    choose_death(launched ? atoi(launched) : -1, kills, argc > 2 ? (unsigned)atoi(argv[2]) : 1);
    void *kernel = argc > 3 ? kernel_of(argv[3]) : NULL;
    uint64_t *first = malloc(WORDS * sizeof *first);
    there = gpu_new(WORDS * sizeof *there);
    if (!first)
        MPI_Abort(MPI_COMM_WORLD, 1);
    begin(first, rank);
    gpu_fill(there, first, WORDS * sizeof *first);
    free(first);

    mend_view("words", there, WORDS, MPI_UINT64_T, 0);
    mend_view("step", &step, 1, MPI_INT, MEND_CONTROL);
    for (; mend_point() && step < STEPS; step++) {
        uint64_t mine = 0, next = 0;
        die_if_due();
        break_if_due();
        gpu_look(&mine, there + (size_t)step * 977 % WORDS, sizeof mine);
        MPI_Sendrecv(&mine, 1, MPI_UINT64_T, (rank + 1) % ranks, 0, &next, 1, MPI_UINT64_T,
                     (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        change(kernel, there + (size_t)(step % 8) * PART, next);
    }
    long wrong = wrong_words(), all = -1;
    MPI_Allreduce(&wrong, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("device_views: %ld words wrong after %d steps, %d of %d kills\n", all, step,
               killed(ranks), kills);
    if (rank == 0 && all == 0 && killed(ranks) == kills && was_told() && marker) {
        FILE *f = fopen(marker, "w");
        if (!f || fputs("PASS\n", f) < 0 || fclose(f))
            MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Finalize();
    return all != 0;
}
