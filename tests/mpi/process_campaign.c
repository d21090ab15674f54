/* process_campaign SEED MODE [STEPS]: work that can be checked to the last bit, while processes die at
 * random.
 *
 * The work: LANES numbers are mixed with their neighbours and with a sum over all, STEPS times.
 * Lanes are dealt to ranks, so that any number of ranks gives the same result. Every 16 steps all
 * ranks keep all lanes; after a failure everybody goes back to the newest copy that somebody has.
 * The deaths come from SEED alone: some processes have a bomb that goes off after so many
 * milliseconds, often inside the repair of the one before; others die at a named step of a repair.
 * Modes: jump, return, manual, function. */
#include "process_test.h"

#include <base/fault.h>

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

enum { LANES = 24, KEEP_EVERY = 16, BOMBS_MAX = 16 };
static int steps = 480;

static uint64_t mix(uint64_t x)
{
    x ^= x >> 31;
    x *= 0x9e3779b97f4a7c15u;
    x ^= x >> 29;
    x *= 0xbf58476d1ce4e5b9u;
    return x ^ x >> 32;
}

/* ---- who dies when --------------------------------------------------------------------------- */

struct bomb {
    int seat, milliseconds;
    char fault[80]; /* or at this place */
};

static uint64_t dice;

static int throw_dice(int sides)
{
    dice = mix(dice + 0x1234567);
    return (int)(dice % (uint64_t)sides);
}

static int plant(uint64_t seed, int seats, struct bomb *bombs)
{
    static const char *const places[] = {"alarm",       "meet.begin", "meet.shrunk",
                                         "meet.cards",  "meet.world", "meet.vote",
                                         "meet.agreed", "resume",     "spare.wake"};
    int n = 0, time = 30 + throw_dice(60), wanted;
    bool doomed[256] = {false};
    dice = mix(seed);
    wanted = 1 + throw_dice(seats - 3 < BOMBS_MAX ? seats - 3 : BOMBS_MAX);
    while (n < wanted) {
        int seat = throw_dice(seats);
        if (doomed[seat])
            continue;
        doomed[seat] = true;
        bombs[n].seat = seat;
        bombs[n].fault[0] = 0;
        if (throw_dice(3) == 0)
            snprintf(bombs[n].fault, sizeof bombs[n].fault, "process.%s:rank=%d:hit=%d:kill",
                     places[throw_dice(9)], seat, 1 + throw_dice(3));
        bombs[n++].milliseconds = time;
        switch (throw_dice(3)) {
        case 0: time += throw_dice(3); break;       /* at once */
        case 1: time += 5 + throw_dice(30); break;  /* while the last one is noticed and repaired */
        case 2: time += 60 + throw_dice(60); break; /* after that */
        }
    }
    return n;
}

static struct timespec begin;
static char go[64]; /* a file that tells that work has begun */
static bool early;  /* some seeds do not wait for it: deaths in the start itself */

static void *tick(void *arg)
{
    const struct bomb *bomb = arg;
    while (!early && !test_file_exists(go))
        usleep(2000);
    if (!early)
        clock_gettime(CLOCK_MONOTONIC, &begin);
    long long ns = begin.tv_nsec + bomb->milliseconds * 1000000LL;
    struct timespec until = {begin.tv_sec + ns / 1000000000, ns % 1000000000};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) != 0)
        ;
    kill(getpid(), SIGKILL);
    return NULL;
}

static void arm(uint64_t seed)
{
    static struct bomb bombs[BOMBS_MAX + 1];
    int seats, me = test_rank();
    MPI_Comm_size(MPI_COMM_WORLD, &seats);
    int n = plant(seed, seats, bombs);
    snprintf(go, sizeof go, "go.%llu", (unsigned long long)seed);
    early = seed % 8 == 0;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (int i = 0; i < n; i++) {
        if (bombs[i].seat != me)
            continue;
        if (bombs[i].fault[0]) {
            mend_fault_set_rank(me);
            EXPECT(mend_fault_configure(bombs[i].fault) == 0);
        } else {
            pthread_t thread;
            EXPECT(pthread_create(&thread, NULL, tick, &bombs[i]) == 0);
        }
    }
}

/* ---- the work -------------------------------------------------------------------------------- */

struct work {
    int step;
    uint64_t lane[LANES];
    int kept_step; /* -1: nothing kept */
    uint64_t kept[LANES];
    MPI_Comm half; /* built from the resilient communicator */
};

static void seed_lanes(uint64_t *lane)
{
    for (int l = 0; l < LANES; l++)
        lane[l] = mix((uint64_t)l + 1);
}

static uint64_t next_lane(const uint64_t *lane, int l, uint64_t sum)
{
    return mix(lane[l] + 3 * lane[(l + 1) % LANES] + 5 * lane[(l + LANES - 1) % LANES] + sum);
}

static void reference(uint64_t *lane)
{
    uint64_t next[LANES];
    seed_lanes(lane);
    for (int step = 0; step < steps; step++) {
        uint64_t sum = 0;
        for (int l = 0; l < LANES; l++)
            sum += lane[l];
        for (int l = 0; l < LANES; l++)
            next[l] = next_lane(lane, l, sum);
        memcpy(lane, next, sizeof next);
    }
}

#define TRY(call)                 \
    do {                          \
        int code_ = (call);       \
        if (code_ != MPI_SUCCESS) \
            return code_;         \
    } while (0)

/* Neighbours by point-to-point messages: rank r sends each of its lanes to both neighbours' ranks.
 */
static int exchange(struct work *w, MPI_Comm comm, int rank, int size)
{
    MPI_Request requests[4 * LANES];
    int n = 0;
    for (int l = 0; l < LANES; l++) {
        int owner = l % size, left = (l + LANES - 1) % LANES % size, right = (l + 1) % LANES % size;
        int to[2] = {left, right};
        for (int side = 0; side < 2; side++) {
            if (to[side] == owner)
                continue;
            if (owner == rank)
                TRY(MPI_Isend(&w->lane[l], 1, MPI_UINT64_T, to[side], 2 * l + side, comm,
                              &requests[n++]));
            if (to[side] == rank && !(side == 1 && left == right))
                TRY(MPI_Irecv(&w->lane[l], 1, MPI_UINT64_T, owner, 2 * l + side, comm,
                              &requests[n++]));
            if (side == 1 && left == right && to[side] == rank) { /* it comes twice: take both */
                static uint64_t twin;
                TRY(MPI_Irecv(&twin, 1, MPI_UINT64_T, owner, 2 * l + side, comm, &requests[n++]));
            }
        }
    }
    TRY(MPI_Waitall(n, requests, MPI_STATUSES_IGNORE));
    return MPI_SUCCESS;
}

/* The sum goes half by half: some ranks sit in a derived communicator when others die. */
static int global_sum(struct work *w, MPI_Comm comm, int rank, int size, uint64_t *sum)
{
    uint64_t mine = 0, of_half = 0;
    int half_rank;
    for (int l = rank; l < LANES; l += size)
        mine += w->lane[l];
    TRY(MPI_Allreduce(&mine, &of_half, 1, MPI_UINT64_T, MPI_SUM, w->half));
    TRY(MPI_Comm_rank(w->half, &half_rank));
    mine = half_rank == 0 ? of_half : 0;
    TRY(MPI_Allreduce(&mine, sum, 1, MPI_UINT64_T, MPI_SUM, comm));
    return MPI_SUCCESS;
}

static int keep(struct work *w, MPI_Comm comm, int rank, int size)
{
    uint64_t mine[LANES] = {0}, all[LANES];
    for (int l = rank; l < LANES; l += size)
        mine[l] = w->lane[l];
    TRY(MPI_Allreduce(mine, all, LANES, MPI_UINT64_T, MPI_BXOR, comm));
    memcpy(w->kept, all, sizeof all);
    w->kept_step = w->step;
    return MPI_SUCCESS;
}

static int go_back(struct work *w, const mend_repair *now)
{
    int newest, have[2] = {w->kept_step, 0}, best[2];
    MPI_Comm_rank(now->comm, &have[1]);
    have[1] = -have[1];
    TRY(MPI_Allreduce(have, best, 1, MPI_2INT, MPI_MAXLOC, now->comm));
    newest = best[0];
    if (newest < 0) {
        w->step = 0;
        seed_lanes(w->lane);
        return MPI_SUCCESS;
    }
    TRY(MPI_Bcast(w->kept, LANES, MPI_UINT64_T, -best[1], now->comm));
    w->step = w->kept_step = newest;
    memcpy(w->lane, w->kept, sizeof w->lane);
    return MPI_SUCCESS;
}

static int build_half(MPI_Comm comm, MPI_Comm *made, void *arg)
{
    int rank;
    (void)arg;
    MPI_Comm_rank(comm, &rank);
    return MPI_Comm_split(comm, rank % 2, rank, made);
}

static int work(struct work *w, const mend_repair *now)
{
    TRY(go_back(w, now));
    if (now->generation == 0 && now->rank == 0)
        test_file(go, "go");
    for (; w->step < steps; w->step++) {
        uint64_t sum, next[LANES];
        if (w->step % KEEP_EVERY == 0)
            TRY(keep(w, now->comm, now->rank, now->size));
        TRY(global_sum(w, now->comm, now->rank, now->size, &sum));
        TRY(exchange(w, now->comm, now->rank, now->size));
        for (int l = now->rank; l < LANES; l += now->size)
            next[l] = next_lane(w->lane, l, sum);
        for (int l = now->rank; l < LANES; l += now->size)
            w->lane[l] = next[l];
        usleep(500);
    }
    return keep(w, now->comm, now->rank, now->size);
}

static void check(const struct work *w)
{
    uint64_t right[LANES];
    reference(right);
    EXPECT(memcmp(right, w->kept, sizeof right) == 0);
}

/* ---- the modes ------------------------------------------------------------------------------- */

static struct work w;

/* Every rank has checked all lanes; whoever is alive after the end may say so. */
static void report(int generation, const char *seed)
{
    char name[64], text[64];
    snprintf(name, sizeof name, "campaign.%s", seed);
    snprintf(text, sizeof text, "PASS %d\n", generation);
    test_file(name, text);
    test_pass();
}

static void run_jump(mend_process_options *options, const char *seed)
{
    mend_process *p;
    options->resume = MEND_RESUME_JUMP;
    EXPECT(mend_process_open(MPI_COMM_WORLD, options, &p) == 0);
    int rc = mend_process_resume_here(p);
    EXPECT(rc == 0);
    const mend_repair *now = mend_process_state(p);
    if (now->role == MEND_ROLE_RELEASED) {
        EXPECT(mend_process_close(p) == 0);
        return;
    }
    EXPECT(mend_process_builder_add(p, build_half, NULL, &w.half) == 0);
    EXPECT(work(&w, now) == MPI_SUCCESS);
    check(&w);
    int generation = now->generation;
    EXPECT(mend_process_close(p) == 0);
    report(generation, seed);
}

/* In modes RETURN and MANUAL the half is a builder of the options: recovered ranks build it, too.
 */
static void run_in_place(mend_process_options *options, const char *seed)
{
    mend_process *p;
    mend_process_builder half = {build_half, NULL, &w.half};
    options->builders = &half;
    options->n_builders = 1;
    EXPECT(mend_process_open(MPI_COMM_WORLD, options, &p) == 0);
    const mend_repair *now = mend_process_state(p);
    int generation, rc = -1;
    do {
        if (now->role == MEND_ROLE_RELEASED) {
            EXPECT(mend_process_close(p) == 0);
            return;
        }
        int code = work(&w, now);
        if (code != MPI_SUCCESS) {
            EXPECT(mend_process_is_failure(code) || code == MPI_ERR_IN_STATUS ||
                   mend_process_check(p, 0) != 0 || options->resume == MEND_RESUME_RETURN);
            rc = options->resume == MEND_RESUME_MANUAL ? mend_process_repair(p) : 0;
            EXPECT(rc == 0);
            rc = MEND_ERR_PEER_FAILED;
            continue;
        }
        check(&w);
        generation = now->generation;
        rc = mend_process_close(p);
        EXPECT(rc == 0 || rc == MEND_ERR_PEER_FAILED);
    } while (rc != 0); /* after the end neither p nor its state may be touched */
    report(generation, seed);
}

static int body(mend_process *p, const mend_repair *now, void *arg)
{
    EXPECT(mend_process_builder_add(p, build_half, NULL, &w.half) == 0);
    EXPECT(work(&w, now) == MPI_SUCCESS);
    check(&w);
    (void)arg;
    return now->generation + 1;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    const char *mode = argc > 2 ? argv[2] : "jump";
    mend_process_options options = {.spares = test_spares(),
                                    .order = {MEND_POLICY_SPARE, MEND_POLICY_SHRINK}};
    if (argc > 3)
        steps = atoi(argv[3]);
    w.kept_step = -1;
    w.half = MPI_COMM_NULL;
    arm(argc > 1 ? strtoull(argv[1], NULL, 10) : 1);
    if (strcmp(mode, "jump") == 0) {
        run_jump(&options, argv[1]);
    } else if (strcmp(mode, "function") == 0) {
        int result = 0;
        EXPECT(mend_process_run(MPI_COMM_WORLD, &options, body, NULL, &result) == 0);
        if (result > 0)
            report(result - 1, argv[1]);
    } else {
        options.resume = strcmp(mode, "return") == 0 ? MEND_RESUME_RETURN : MEND_RESUME_MANUAL;
        run_in_place(&options, argv[1]);
    }
    MPI_Finalize();
    return 0;
}
