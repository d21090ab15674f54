/* moments.c - every moment of it is a possible checkpoint: overlapping groups, ranks that lag behind,
 * long computing outside MPI, large and small messages on several communicators, wildcard receives,
 * pending non-blocking collectives, communicators that come and go.
 * usage: moments STEPS SEED; prints one line that depends on every byte received.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned long long sum = 14695981039346656037ull;
static void add(const void *p, size_t n)
{
    for (const unsigned char *c = p; n--; c++)
        sum = (sum ^ *c) * 1099511628211ull;
}
static unsigned long long state;
static unsigned next(unsigned below) /* the same sequence on all ranks */
{
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (unsigned)(state >> 33) % below;
}
static double compute(long n) /* outside MPI, through libc's malloc all the time */
{
    double x = 1;
    for (long i = 0; i < n; i++) {
        char *p = malloc(16 + i % 2000);
        memset(p, (int)i, 16);
        x = x * 0.999 + p[7];
        free(p);
    }
    return x;
}

int main(int argc, char **argv)
{
    int rank, size, steps = argc > 1 ? atoi(argv[1]) : 200;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    state = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    /* overlapping groups: all, even/odd, all but the last, pairs, neighbours in a row */
    MPI_Comm comm[5];
    comm[0] = MPI_COMM_WORLD;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &comm[1]);
    MPI_Comm_split(MPI_COMM_WORLD, rank == size - 1, -rank, &comm[2]);
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &comm[3]);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm[4]);
    enum { BIG = 200000 };
    double *big = malloc(BIG * sizeof *big), *in = malloc(BIG * sizeof *in), waste = 0;
    for (int i = 0; i < BIG; i++)
        big[i] = i * 0.5 + rank;
    MPI_Request pending = MPI_REQUEST_NULL;
    long ia = 0, ib = 0;
    for (int s = 0; s < steps; s++) {
        int what = (int)next(9), c = (int)next(5), lag = (int)next((unsigned)size), n, r;
        MPI_Comm_size(comm[c], &n);
        MPI_Comm_rank(comm[c], &r);
        if (rank == lag)
            waste += compute(20000);
        long v[3] = {s + rank, rank * 7, what}, w[3];
        switch (what) {
        case 0:
            MPI_Allreduce(v, w, 3, MPI_LONG, MPI_SUM, comm[c]);
            add(w, sizeof w);
            break;
        case 1: /* the root is gone before others come */
            memcpy(w, v, sizeof w);
            MPI_Bcast(w, 3, MPI_LONG, 0, comm[c]);
            add(w, sizeof w);
            break;
        case 2: /* a ring of large messages: the sends wait for their receivers */
            if (n > 1) {
                MPI_Request q;
                MPI_Irecv(in, BIG, MPI_DOUBLE, (r + n - 1) % n, 5, comm[c], &q);
                MPI_Send(big, BIG, MPI_DOUBLE, (r + 1) % n, 5, comm[c]);
                MPI_Wait(&q, MPI_STATUS_IGNORE);
                add(in, 4096);
            }
            break;
        case 3: /* all to one, by wildcards; neither order nor haste of the senders matters */
            if (r == 0) {
                long t = 0;
                for (int i = 1; i < n; i++) {
                    MPI_Status st;
                    MPI_Recv(w, 3, MPI_LONG, MPI_ANY_SOURCE, 100 + s, comm[c], &st);
                    t += w[0] * (st.MPI_SOURCE + 1);
                }
                add(&t, sizeof t);
            } else {
                MPI_Send(v, 3, MPI_LONG, 0, 100 + s, comm[c]);
            }
            break;
        case 4: waste += compute(40000); break;
        case 5: /* a chain: each waits for the one before it */
            if (r > 0) {
                MPI_Status st;
                MPI_Probe(r - 1, MPI_ANY_TAG, comm[c], &st);
                MPI_Recv(w, 3, MPI_LONG, r - 1, st.MPI_TAG, comm[c], MPI_STATUS_IGNORE);
                add(w, sizeof w);
                v[0] += w[0];
            }
            if (r < n - 1)
                MPI_Send(v, 3, MPI_LONG, r + 1, 11, comm[c]);
            break;
        case 6: /* stays open over other steps */
            if (pending == MPI_REQUEST_NULL) {
                ib = s + rank;
                MPI_Iallreduce(&ib, &ia, 1, MPI_LONG, MPI_SUM, comm[4], &pending);
            } else {
                MPI_Wait(&pending, MPI_STATUS_IGNORE);
                add(&ia, sizeof ia);
            }
            break;
        case 7: { /* comes and goes */
            MPI_Comm d;
            MPI_Comm_dup(comm[c], &d);
            MPI_Allreduce(v, w, 3, MPI_LONG, MPI_MAX, d);
            add(w, sizeof w);
            MPI_Comm_free(&d);
            break;
        }
        case 8: /* messages that nobody asks for until later, unlike in order */
            if (n > 1) {
                long a = s, b = -s, x = 0, y = 0;
                MPI_Send(&a, 1, MPI_LONG, (r + 1) % n, 21, comm[c]);
                MPI_Send(&b, 1, MPI_LONG, (r + 1) % n, 22, comm[c]);
                MPI_Barrier(comm[c]);
                MPI_Recv(&y, 1, MPI_LONG, (r + n - 1) % n, 22, comm[c], MPI_STATUS_IGNORE);
                MPI_Recv(&x, 1, MPI_LONG, (r + n - 1) % n, 21, comm[c], MPI_STATUS_IGNORE);
                add(&x, sizeof x);
                add(&y, sizeof y);
            }
        }
    }
    if (pending != MPI_REQUEST_NULL)
        MPI_Wait(&pending, MPI_STATUS_IGNORE);
    unsigned long long all;
    MPI_Reduce(&sum, &all, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("moments: %d steps, %016llx\n", steps, all);
    MPI_Finalize();
    return waste == 12345;
}
