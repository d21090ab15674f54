/* A program made of pointers: a treap, a table of words, particles in linked cells that travel between
 * ranks; two phases with safe points in different functions, the second inside a recursion. One line
 * makes all of it state. Prints a checksum over everything that it can reach.
 *
 *   flow_everything [-s STEPS] [-k RANK@STEP]… [--mark FILE] [--bad KIND]
 *
 * KIND is something that cannot be saved: file, world, type, map. */
#include <mend/flow.h>

#include <getopt.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "../../apps/common/kill.h"

MEND_STATE_ALL;

struct node { /* of the treap */
    struct node *left, *right;
    long key, weight;
    char *name;
};

struct particle {
    struct particle *next;
    double x, v;
    long id;
};

struct cell {
    struct particle *first;
};

enum { CELLS = 16, WORDS = 64 };

static struct node *root;
static struct word {
    struct word *next;
    char *text;
    long *counts; /* grows by realloc */
    int used;
} *table[WORDS];
static long inserted, removed;
static __thread long of_this_thread = 1;
static struct kill_plan kills;
static int rank, ranks, steps = 60;
static FILE *volatile file; /* volatile: nobody reads them */
static volatile MPI_Comm kept;
static void *volatile elsewhere;
static MPI_Comm ring; /* made by a builder */

static int make_ring(void *arg)
{
    (void)arg;
    return MPI_Comm_split(MPI_COMM_WORLD, 0, ranks - rank, &ring);
}

/* ---- treap ---- */

static struct node *turn(struct node *n, int left)
{
    struct node *up = left ? n->left : n->right;
    if (left) {
        n->left = up->right;
        up->right = n;
    } else {
        n->right = up->left;
        up->left = n;
    }
    return up;
}

static struct node *insert(struct node *n, long key)
{
    if (!n) {
        n = calloc(1, sizeof *n);
        n->key = key;
        n->weight = rand();
        if (asprintf(&n->name, "node %ld of rank %d", key, rank) < 0)
            abort();
        inserted++;
        return n;
    }
    if (key == n->key)
        return n;
    struct node **side = key < n->key ? &n->left : &n->right;
    *side = insert(*side, key);
    return (*side)->weight > n->weight ? turn(n, side == &n->left) : n;
}

static struct node *removed_least(struct node *n)
{
    if (!n)
        return NULL;
    if (n->left) {
        n->left = removed_least(n->left);
        return n;
    }
    struct node *rest = n->right;
    free(n->name);
    free(n);
    removed++;
    return rest;
}

static uint64_t mix(uint64_t h, uint64_t x)
{
    h = (h ^ x) * 0x9e3779b97f4a7c15u;
    return h ^ (h >> 29);
}

static uint64_t sum_of_tree(const struct node *n, uint64_t h)
{
    if (!n)
        return mix(h, 1);
    h = sum_of_tree(n->left, h);
    for (const char *c = n->name; *c; c++)
        h = mix(h, (unsigned char)*c);
    return sum_of_tree(n->right, mix(mix(h, (uint64_t)n->key), (uint64_t)n->weight));
}

/* ---- table of words ---- */

static void count_word(const char *text, long value)
{
    unsigned h = 5381;
    for (const char *c = text; *c; c++)
        h = h * 33 + (unsigned char)*c;
    struct word **at = &table[h % WORDS];
    while (*at && strcmp((*at)->text, text) != 0)
        at = &(*at)->next;
    if (!*at) {
        *at = calloc(1, sizeof **at);
        (*at)->text = strdup(text);
    }
    struct word *w = *at;
    w->counts = realloc(w->counts, (size_t)(w->used + 1) * sizeof *w->counts);
    w->counts[w->used++] = value;
}

static uint64_t sum_of_words(uint64_t h)
{
    for (int i = 0; i < WORDS; i++)
        for (const struct word *w = table[i]; w; w = w->next) {
            for (const char *c = w->text; *c; c++)
                h = mix(h, (unsigned char)*c);
            for (int k = 0; k < w->used; k++)
                h = mix(h, (uint64_t)w->counts[k]);
        }
    return h;
}

/* ---- particles ---- */

static void add(struct cell *cells, double x, double v, long id)
{
    struct particle **at = &cells[(int)(x * CELLS)].first, *p = malloc(sizeof *p);
    *p = (struct particle){.x = x, .v = v, .id = id};
    while (*at && (*at)->id < id)
        at = &(*at)->next;
    p->next = *at;
    *at = p;
}

/* Those that leave the right end go to the next rank. */
static void travel(struct cell *cells)
{
    struct cell new[CELLS] = {0};
    int room = 8, n = 0, arriving = 0, me;
    double *out = malloc((size_t)room * 3 * sizeof *out);
    for (int c = 0; c < CELLS; c++)
        for (struct particle *p = cells[c].first, *next; p; p = next) {
            next = p->next;
            p->x += p->v;
            if (p->x < 1) {
                add(new, p->x, p->v, p->id);
            } else {
                if (n == room)
                    out = realloc(out, (size_t)(room *= 2) * 3 * sizeof *out);
                out[3 * n] = p->x - 1;
                out[3 * n + 1] = p->v;
                out[3 * n++ + 2] = (double)p->id;
            }
            free(p);
        }
    MPI_Comm_rank(ring, &me);
    int to = (me + ranks - 1) % ranks, from = (me + 1) % ranks;
    MPI_Sendrecv(&n, 1, MPI_INT, to, 1, &arriving, 1, MPI_INT, from, 1, ring, MPI_STATUS_IGNORE);
    double *in = malloc((size_t)(arriving + 1) * 3 * sizeof *in);
    MPI_Sendrecv(out, 3 * n, MPI_DOUBLE, to, 2, in, 3 * arriving, MPI_DOUBLE, from, 2, ring,
                 MPI_STATUS_IGNORE);
    for (int i = 0; i < arriving; i++)
        add(new, in[3 * i], in[3 * i + 1], (long)in[3 * i + 2]);
    memcpy(cells, new, sizeof new);
    free(out);
    free(in);
}

static uint64_t sum_of_cells(const struct cell *cells, uint64_t h)
{
    for (int c = 0; c < CELLS; c++)
        for (const struct particle *p = cells[c].first; p; p = p->next) {
            uint64_t bits;
            memcpy(&bits, &p->x, sizeof bits);
            h = mix(mix(h, bits), (uint64_t)p->id);
        }
    return h;
}

/* ---- the phases ---- */

static uint64_t first_phase(struct cell *cells)
{
    uint64_t h = 17;
    char name[32];
    double energy = 0; /* lives in a register, perhaps */
    for (int step = 0; mend_point() && step < steps; step++) {
        kill_plan_act(&kills, rank, step);
        for (int i = 0; i < 40; i++)
            root = insert(root, rand() % 5000);
        for (int i = 0; i < 25; i++)
            root = removed_least(root);
        snprintf(name, sizeof name, "word %d", rand() % 50);
        count_word(name, step);
        travel(cells);
        energy += drand48();
        long mine = inserted - removed, all;
        MPI_Allreduce(&mine, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
        h = mix(h, (uint64_t)all);
        of_this_thread = of_this_thread * 3 + all % 7;
    }
    uint64_t bits;
    memcpy(&bits, &energy, sizeof bits);
    return mix(h, bits);
}

/* Safe points on the way down, each in a frame of its own. */
static uint64_t second_phase(struct cell *cells, int depth, uint64_t *above)
{
    uint64_t here = mix(*above, (uint64_t)depth);
    for (int i = 0; mend_point() && i < 3; i++) {
        kill_plan_act(&kills, rank, steps + 10 * depth + i);
        travel(cells);
        count_word("deep", depth * 10 + i);
        here = sum_of_cells(cells, here);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    return depth == 4 ? here : mix(here, second_phase(cells, depth + 1, &here));
}

static int parse(int argc, char **argv, const char **bad)
{
    static const struct option names[] = {{"mark", 1, 0, 'M'}, {"bad", 1, 0, 'b'}, {0, 0, 0, 0}};
    for (int c; (c = getopt_long(argc, argv, "s:k:", names, 0)) != -1;) {
        if (c == 's')
            steps = atoi(optarg);
        else if (c == 'M')
            snprintf(kills.mark, sizeof kills.mark, "%s", optarg);
        else if (c == 'b')
            *bad = optarg;
        else if (c != 'k' || kill_plan_add(&kills, optarg))
            return -1;
    }
    return 0;
}

static void be_bad(const char *kind)
{
    static MPI_Datatype type;
    if (strcmp(kind, "file") == 0)
        file = fopen("/dev/null", "w");
    else if (strcmp(kind, "world") == 0)
        kept = MPI_COMM_WORLD;
    else if (strcmp(kind, "type") == 0)
        MPI_Type_contiguous(3, MPI_INT, &type);
    else
        elsewhere = mmap(NULL, 1 << 16, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

int main(int argc, char **argv)
{
    struct cell cells[CELLS] = {0};
    const char *bad = "";
    if (parse(argc, argv, &bad))
        return 2;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    mend_rebuild(make_ring, NULL);
    if (bad[0])
        be_bad(bad);
    srand((unsigned)rank + 1);
    for (int i = 0; i < 200; i++)
        add(cells, (i % 100) / 100.0, 0.01 + 0.0007 * (i % 13), 1000 * rank + i);
    uint64_t h = first_phase(cells);
    h = mix(h, second_phase(cells, 0, &h));
    h = mix(sum_of_words(sum_of_tree(root, sum_of_cells(cells, h))), (uint64_t)of_this_thread);
    uint64_t *all = malloc((size_t)ranks * sizeof *all);
    MPI_Allgather(&h, 1, MPI_UINT64_T, all, 1, MPI_UINT64_T, MPI_COMM_WORLD);
    uint64_t total = 0;
    for (int r = 0; r < ranks; r++)
        total = mix(total, all[r]);
    if (rank == 0) {
        printf("everything: ranks %d nodes %ld checksum %016llx\n", ranks, inserted - removed,
               (unsigned long long)total);
        kill_plan_forget(&kills);
    }
    free(all);
    MPI_Finalize();
    return 0;
}
