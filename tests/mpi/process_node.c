/* process_node ROUNDS: work that survives the loss of whole nodes: all ranks of a node and its local
 * storage are gone at once, `ROUNDS` times.
 *
 * Every rank keeps its number in the local storage of its node and, by messages, in that of the rank
 * half a world away, which lives on another node. After a repair a recovered rank has nothing: it
 * gets its number from there. The last two steps that were kept are there, so that a death in the
 * middle of keeping never costs both; all go back to the newest step that everybody can have.
 * process_node.sh breaks the nodes when the file go.GENERATION says that all are at work; `enough`
 * tells that no more will be lost. */
#include "process_test.h"

#include <stdint.h>

enum { STEPS = 400, KEEP_EVERY = 10, SLOTS = 2 };

struct kept {
    int step; /* -1: nothing */
    uint64_t value;
};

static uint64_t mix(uint64_t x)
{
    x ^= x >> 29;
    x *= 0xbf58476d1ce4e5b9u;
    return x ^ x >> 32;
}

static uint64_t next_value(uint64_t mine, uint64_t sum, int step)
{
    return mix(mine + 3 * sum + (uint64_t)step);
}

static void path_of(char *path, size_t size, int rank, int slot)
{
    snprintf(path, size, "%s/kept.%d.%d", getenv("MEND_TEST_LOCAL"), rank, slot);
}

static void put(int rank, struct kept kept)
{
    char path[300], draft[310];
    path_of(path, sizeof path, rank, kept.step / KEEP_EVERY % SLOTS);
    snprintf(draft, sizeof draft, "%s.new%d", path, getpid());
    FILE *f = fopen(draft, "wb");
    EXPECT(f && fwrite(&kept, sizeof kept, 1, f) == 1 && fclose(f) == 0);
    EXPECT(rename(draft, path) == 0);
}

static struct kept get(int rank, int slot)
{
    struct kept kept = {-1, 0};
    char path[300];
    path_of(path, sizeof path, rank, slot);
    FILE *f = fopen(path, "rb");
    if (f) {
        EXPECT(fread(&kept, sizeof kept, 1, f) == 1);
        fclose(f);
    }
    return kept;
}

static void keep(const mend_repair *now, int step, uint64_t value)
{
    int away = (now->rank + now->size / 2) % now->size;
    struct kept mine = {step, value}, other;
    MPI_Sendrecv(&mine, sizeof mine, MPI_BYTE, away, 1, &other, sizeof other, MPI_BYTE, away, 1,
                 now->comm, MPI_STATUS_IGNORE);
    put(now->rank, mine);
    put(away, other);
    MPI_Barrier(now->comm); /* whoever passes knows that all have this step */
}

/* The newest step that everybody can have, and this rank's value then. */
static int go_back(const mend_repair *now, uint64_t *value)
{
    int away = (now->rank + now->size / 2) % now->size;
    struct kept own[SLOTS], theirs[SLOTS], from_away[SLOTS];
    for (int slot = 0; slot < SLOTS; slot++) {
        own[slot] = get(now->rank, slot);
        theirs[slot] = get(away, slot);
    }
    MPI_Sendrecv(theirs, sizeof theirs, MPI_BYTE, away, 2, from_away, sizeof from_away, MPI_BYTE,
                 away, 2, now->comm, MPI_STATUS_IGNORE);
    int best = -1;
    for (int slot = 0; slot < SLOTS; slot++) {
        if (own[slot].step < from_away[slot].step)
            own[slot] = from_away[slot];
        int step;
        MPI_Allreduce(&own[slot].step, &step, 1, MPI_INT, MPI_MIN, now->comm);
        /* the same step everywhere, or some have already overwritten it */
        int same = own[slot].step == step, all;
        MPI_Allreduce(&same, &all, 1, MPI_INT, MPI_LAND, now->comm);
        if (all && step > best) {
            best = step;
            *value = own[slot].value;
        }
    }
    EXPECT(best >= 0 || now->generation == 0);
    return best;
}

static void work(const mend_repair *now, int rounds)
{
    uint64_t value = mix((uint64_t)now->rank + 1), sum, all[64], reference[64];
    int step = now->generation == 0 ? 0 : go_back(now, &value);
    for (int enough = 0; step < STEPS || !enough; step++) {
        if (step % KEEP_EVERY == 0) {
            keep(now, step, value);
            enough = test_file_exists("enough");
            MPI_Bcast(&enough, 1, MPI_INT, 0, now->comm);
        }
        if (step % KEEP_EVERY == 5 && now->rank == 0) {
            char name[32];
            snprintf(name, sizeof name, "go.%d", now->generation);
            if (!test_file_exists(name))
                test_file(name, "x");
        }
        MPI_Allreduce(&value, &sum, 1, MPI_UINT64_T, MPI_SUM, now->comm);
        value = next_value(value, sum, step);
        usleep(1000);
    }
    for (int r = 0; r < now->size; r++)
        reference[r] = mix((uint64_t)r + 1);
    for (int s = 0; s < step; s++) {
        uint64_t total = 0;
        for (int r = 0; r < now->size; r++)
            total += reference[r];
        for (int r = 0; r < now->size; r++)
            reference[r] = next_value(reference[r], total, s);
    }
    MPI_Allgather(&value, 1, MPI_UINT64_T, all, 1, MPI_UINT64_T, now->comm);
    EXPECT(memcmp(all, reference, (size_t)now->size * sizeof *all) == 0);
    EXPECT(now->generation >= rounds && now->size == atoi(getenv("MEND_TEST_NP")));
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rounds = argc > 1 ? atoi(argv[1]) : 1;
    mend_process *p;
    mend_process_options options = {.spares = test_spares(), .resume = MEND_RESUME_JUMP};
    EXPECT(mend_process_open(MPI_COMM_WORLD, &options, &p) == 0);
    EXPECT(mend_process_resume_here(p) == 0);
    const mend_repair *now = mend_process_state(p);
    if (now->role != MEND_ROLE_RELEASED)
        work(now, rounds);
    int rank = now->rank;
    EXPECT(mend_process_close(p) == 0);
    if (rank == 0)
        test_pass();
    MPI_Finalize();
    return 0;
}
