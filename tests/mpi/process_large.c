/* A rank dies while large messages to it and from it are under way between nodes, in a program with
 * several threads: Open MPI's tcp transport must not wait for itself then (see src/ulfm/settings.c).
 * The victim takes in a part of what it is sent, then nothing for a while, so that messages pile up
 * in the senders; then it is gone. The others must come to the repair, and the same messages must
 * arrive afterwards. */
#include "process_test.h"

#include <time.h>

enum { BYTES = 24 << 20, VICTIM = 1 };

static char pattern(int from, int to, int generation)
{
    return (char)(1 + from * 16 + to + generation);
}

/* Buffers are not freed: what was under way at the failure may still be written. */
static char *buffer(void)
{
    char *made = calloc(BYTES, 1);
    EXPECT(made);
    return made;
}

static void die_late(const volatile char *in, MPI_Request *requests, int n)
{
    int done = 0;
    struct timespec pause = {0, 200000000};
    while (!in[BYTES / 8] && !done)
        MPI_Testall(n, requests, &done, MPI_STATUSES_IGNORE);
    nanosleep(&pause, NULL);
    raise(SIGKILL);
}

static int body(mend_process *process, const mend_repair *now, void *arg)
{
    MPI_Request requests[16];
    char *in[8];
    int n = 0;
    (void)process;
    (void)arg;
    for (int peer = 0; peer < now->size; peer++) {
        if (peer == now->rank)
            continue;
        char *out = buffer();
        in[peer] = buffer();
        memset(out, pattern(now->rank, peer, now->generation), BYTES);
        MPI_Irecv(in[peer], BYTES, MPI_BYTE, peer, 1, now->comm, &requests[n++]);
        MPI_Isend(out, BYTES, MPI_BYTE, peer, 1, now->comm, &requests[n++]);
    }
    if (now->generation == 0 && now->rank == VICTIM)
        die_late(in[(VICTIM + 1) % now->size], requests, n);
    MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
    MPI_Barrier(now->comm);
    EXPECT(now->generation > 0);
    for (int peer = 0; peer < now->size; peer++)
        for (int i = 0; peer != now->rank && i < BYTES; i++)
            EXPECT(in[peer][i] == pattern(peer, now->rank, now->generation));
    return now->rank == 0;
}

int main(int argc, char **argv)
{
    int level = MPI_THREAD_SINGLE, first = 0;
    mend_process_options options = {.spares = test_spares()};
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    EXPECT(level == MPI_THREAD_MULTIPLE);
    EXPECT(mend_process_run(MPI_COMM_WORLD, &options, body, NULL, &first) == 0);
    if (first)
        test_pass();
    MPI_Finalize();
    return 0;
}
