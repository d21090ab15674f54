/* The steps, and everything that is under way. */
#include "anything.h"

int me, ranks, step;
long failures;
uint64_t sum;
struct place place[PLACES];
struct shape shape[TYPES];
static uint64_t state, own_state;
static struct work *open_work[OPEN];
static int open_count;

unsigned draw(unsigned below)
{
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (unsigned)(state >> 33) % below;
}

unsigned any(unsigned below)
{
    own_state = own_state * 6364136223846793005ull + 1442695040888963407ull;
    return (unsigned)(own_state >> 33) % below;
}

int value(int world, int s, int i)
{
    uint32_t x = (uint32_t)world * 2654435761u + (uint32_t)s * 40503u + (uint32_t)i * 2246822519u;
    x ^= x >> 15;
    x *= 2654435769u;
    return (int)((x ^ (x >> 13)) % 10007u);
}

void *need(size_t n, size_t size)
{
    void *p = calloc(n ? n : 1, size);
    if (!p)
        MPI_Abort(MPI_COMM_WORLD, 3);
    return p;
}

void fail(const char *what, long got, long wanted)
{
    if (failures++ < 5)
        fprintf(stderr, "rank %d, step %d: %s: %ld, not %ld\n", me, step, what, got, wanted);
}

struct work *begin(const char *what, int count_in, int count_out)
{
    struct work *w = need(1, sizeof *w);
    w->what = what;
    w->step = step;
    w->count = count_in;
    w->in = need((size_t)count_in, sizeof(int));
    w->want = need((size_t)count_in, sizeof(int));
    w->out = need((size_t)count_out, sizeof(int));
    for (int i = 0; i < count_in; i++)
        w->in[i] = w->want[i] = -7;
    return w;
}

void end_now(struct work *w)
{
    uint64_t h = 1469598103934665603u;
    for (int i = 0; i < w->count; i++) {
        h = (h ^ (unsigned)w->in[i]) * 1099511628211u;
        if (w->in[i] != w->want[i]) {
            fprintf(stderr, "begun in step %d, at %d of %d: ", w->step, i, w->count);
            fail(w->what, w->in[i], w->want[i]);
            break;
        }
    }
    sum += h;
    free(w->in);
    free(w->want);
    free(w->out);
    free(w->extra);
    free(w);
}

static void complete(struct work *w)
{
    int flag = 0, done = 0, which, some[2];
    MPI_Status status[2];
    switch (any(6)) {
    case 0:
        for (int i = 0; i < w->requests; i++)
            MPI_Wait(&w->request[i], &status[0]);
        break;
    case 1: MPI_Waitall(w->requests, w->request, status); break;
    case 2:
        for (int i = 0; i < w->requests; i++)
            MPI_Waitany(w->requests, w->request, &which, &status[0]);
        break;
    case 3:
        while (!flag)
            MPI_Testall(w->requests, w->request, &flag, MPI_STATUSES_IGNORE);
        break;
    case 4:
        while (done < w->requests) {
            MPI_Waitsome(w->requests, w->request, &which, some, status);
            if (which == MPI_UNDEFINED)
                break;
            done += which;
        }
        break;
    default:
        for (int i = 0; i < w->requests; i++)
            for (flag = 0; !flag;) {
                int ready = 0;
                MPI_Request_get_status(w->request[i], &ready, MPI_STATUS_IGNORE);
                MPI_Test(&w->request[i], &flag, MPI_STATUS_IGNORE);
                if (ready && !flag)
                    fail("ready, but not at its end", ready, flag);
            }
    }
    end_now(w);
}

void finish(int which)
{
    for (int i = 0; i < open_count;) {
        struct work *w = open_work[i];
        if (which == ALL || w->due <= step || open_count == OPEN) {
            open_work[i] = open_work[--open_count];
            complete(w);
        } else {
            i++;
        }
    }
}

void end_sometime(struct work *w)
{
    w->due = step + (int)any(12);
    if (open_count == OPEN)
        finish(DUE);
    open_work[open_count++] = w;
}

int main(int argc, char **argv)
{
    int steps = argc > 1 ? atoi(argv[1]) : 200, size = 1 << 22, lag;
    uint64_t all;
    long bad;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    state = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    own_state = state + (uint64_t)me * 0x9e3779b97f4a7c15u;
    void *buffer = need(1, (size_t)size);
    MPI_Buffer_attach(buffer, size);
    for (int i = 0; i < PLACES; i++)
        change_place(i);
    for (int i = 0; i < TYPES; i++)
        make_shape(i);
    if (argc > 3)
        file_begin(argv[3]);
    for (step = 0; step < steps; step++) {
        unsigned what = draw(20);
        struct place *p = &place[draw(PLACES)];
        lag = (int)draw((unsigned)ranks * 3);
        if (me == lag) /* late for all the others */
            for (volatile int i = 0; i < 300000; i++)
                ;
        if (what < 7)
            message(p);
        else if (what < 14)
            collective(p);
        else if (what < 16)
            one_sided();
        else if (what < 17)
            change_place(1 + (int)draw(PLACES - 1));
        else if (what < 18)
            make_shape((int)draw(TYPES));
        else
            file_step();
        finish(DUE);
        if (step % 50 == 49) {
            finish(ALL);
            MPI_Reduce(&sum, &all, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
            if (me == 0)
                printf("step %d: %016llx\n", step + 1, (unsigned long long)all), fflush(stdout);
        }
    }
    finish(ALL);
    windows_end();
    file_end();
    collectives_end();
    places_end();
    MPI_Reduce(&sum, &all, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(&failures, &bad, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (me == 0)
        printf("anything: %d steps, %016llx, %s\n", steps, (unsigned long long)all,
               bad ? "FAILED" : "ok");
    MPI_Buffer_detach(&buffer, &size);
    free(buffer);
    MPI_Finalize();
    return 0;
}
