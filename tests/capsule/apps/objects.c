/* objects: what a checkpoint costs a program by its number of MPI objects, and that all of them are there afterwards.
 *
 *   objects KIND N...   for each N: make so many, checkpoint, use and free them; KIND: comms, types, requests, drained, windows,
 *                       allocated (windows with memory of the library)
 *
 * Each checkpoint is one that this program asks for. Prints the CPU time of rank 0 for each part, in microseconds:
 * KIND N make T checkpoint T use T. A resumed process goes on with the next N. What waits for the other rank is measured one by
 * one, and T is N times the median: a rank that has lost its core for a while, to whatever else runs here, costs the other one
 * that time. No barrier is measured, for the same reason.
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int rank, size, n;
static int *values;
static void *handles;
static double *step; /* what each use has cost that waits for the other rank */
static double own;   /* what all others have cost together */
#define AT(Type, i) (((Type *)handles)[i])

static void must(int ok, const char *what)
{
    if (ok)
        return;
    printf("rank %d: WRONG: %s\n", rank, what);
    fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static double spent(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static void make_comms(void)
{
    for (int i = 0; i < n; i++)
        MPI_Comm_dup(i ? AT(MPI_Comm, i / 2) : MPI_COMM_WORLD, &AT(MPI_Comm, i));
}
static void use_comms(void)
{
    for (int i = 0; i < n; i++) {
        double start = spent();
        int sum = 0;
        MPI_Allreduce(&i, &sum, 1, MPI_INT, MPI_SUM, AT(MPI_Comm, i));
        must(sum == i * size, "a communicator");
        MPI_Comm_free(&AT(MPI_Comm, i));
        step[i] = spent() - start;
    }
}

static void make_types(void)
{
    for (int i = 0; i < n; i++) {
        MPI_Type_vector(1 + i % 7, 1, 2, i % 3 ? AT(MPI_Datatype, i - 1) : MPI_INT,
                        &AT(MPI_Datatype, i));
        MPI_Type_commit(&AT(MPI_Datatype, i));
    }
}
static void use_types(void)
{
    double start = spent();
    for (int i = n - 1, bytes; i >= 0; i--) {
        int want = 4;
        for (int k = i;; k--) {
            want *= 1 + k % 7;
            if (k % 3 == 0)
                break;
        }
        MPI_Type_size(AT(MPI_Datatype, i), &bytes);
        must(bytes == want, "a datatype");
        MPI_Type_free(&AT(MPI_Datatype, i));
    }
    own = spent() - start;
}

/* receives that nothing was sent for yet */
static void make_requests(void)
{
    for (int i = 0; i < n; i++)
        MPI_Irecv(&values[i], 1, MPI_INT, rank ^ 1, i, MPI_COMM_WORLD, &AT(MPI_Request, i));
}
static void use_requests(void)
{
    double start;
    for (int i = 0; i < n; i++) { /* in order: the library below looks through its list */
        start = spent();
        MPI_Ssend(&i, 1, MPI_INT, rank ^ 1, i, MPI_COMM_WORLD);
        step[i] = spent() - start;
    }
    MPI_Barrier(MPI_COMM_WORLD); /* all have met their receives: nothing is waited for any more */
    start = spent();
    MPI_Waitall(n, handles, MPI_STATUSES_IGNORE);
    own = spent() - start;
    for (int i = 0; i < n; i++)
        must(values[i] == i, "a receive");
}

/* messages that nobody asked for yet: the checkpoint brings them up, and they are received last first */
static void make_drained(void)
{
    for (int i = 0; i < n; i++)
        MPI_Send(&i, 1, MPI_INT, rank ^ 1, i, MPI_COMM_WORLD);
}
static void use_drained(void)
{
    MPI_Status st;
    double start = spent();
    for (int i = n - 1, got; i >= 0; i--) {
        int any = i % 3 == 1; /* from anybody */
        MPI_Recv(&got, 1, MPI_INT, any ? MPI_ANY_SOURCE : rank ^ 1, i, MPI_COMM_WORLD, &st);
        must(got == i && st.MPI_SOURCE == (rank ^ 1) && st.MPI_TAG == i, "a message");
    }
    own = spent() - start;
}

static void make_windows(void)
{
    for (int i = 0; i < n; i++)
        MPI_Win_create(&values[i], sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD,
                       &AT(MPI_Win, i));
}
static void make_allocated(void)
{
    for (int i = 0, *at; i < n; i++) {
        MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &at,
                         &AT(MPI_Win, i));
        *at = -i;
    }
}
/* Each is locked by both ranks, so that the lock of one is not that of another. */
static void use_windows(void)
{
    for (int i = 0; i < n; i++) {
        double start = spent();
        int *at, there, got = 0;
        MPI_Win_get_attr(AT(MPI_Win, i), MPI_WIN_BASE, &at, &there);
        must(there && (at == &values[i] || *at == -i), "the content of a window");
        MPI_Win_fence(0, AT(MPI_Win, i));
        MPI_Put(&i, 1, MPI_INT, rank ^ 1, 0, 1, MPI_INT, AT(MPI_Win, i));
        MPI_Win_fence(0, AT(MPI_Win, i));
        must(*at == i, "a window");
        MPI_Win_fence(MPI_MODE_NOSUCCEED, AT(MPI_Win, i));
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, AT(MPI_Win, i));
        MPI_Get(&got, 1, MPI_INT, 0, 0, 1, MPI_INT, AT(MPI_Win, i));
        MPI_Win_flush(0, AT(MPI_Win, i));
        got += 3;
        MPI_Put(&got, 1, MPI_INT, 0, 0, 1, MPI_INT, AT(MPI_Win, i));
        MPI_Win_unlock(0, AT(MPI_Win, i));
        MPI_Barrier(MPI_COMM_WORLD);
        must(rank || *at == i + 3 * size, "a window that was locked");
        MPI_Win_free(&AT(MPI_Win, i));
        step[i] = spent() - start;
    }
}

static const struct kind {
    const char *name;
    size_t bytes;
    void (*make)(void), (*use)(void);
} kinds[] = {{"comms", sizeof(MPI_Comm), make_comms, use_comms},
             {"types", sizeof(MPI_Datatype), make_types, use_types},
             {"requests", sizeof(MPI_Request), make_requests, use_requests},
             {"drained", 1, make_drained, use_drained},
             {"windows", sizeof(MPI_Win), make_windows, use_windows},
             {"allocated", sizeof(MPI_Win), make_allocated, use_windows}};

/* complete ones, by the job's record */
static int versions(void)
{
    char line[4096];
    int count = 0;
    snprintf(line, sizeof line, "%s/events.jsonl", getenv("MEND_CAPSULE_DIR"));
    FILE *f = fopen(line, "r");
    while (f && fgets(line, sizeof line, f))
        count += strstr(line, "\"checkpoint.commit\"") != NULL;
    if (f)
        fclose(f);
    return count;
}

/* Ask for a checkpoint; come back when it is there. */
static void checkpoint(void)
{
    int before = versions(), now = !getenv("MEND_CAPSULE_DIR");
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0 && !now)
        kill(getpid(), SIGUSR2);
    while (!now) {
        usleep(20000);
        now = versions() > before;
        MPI_Allreduce(MPI_IN_PLACE, &now, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    }
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void one(const struct kind *k)
{
    double start, made, saved;
    step = calloc((size_t)n, sizeof *step);
    handles = calloc((size_t)n, k->bytes);
    values = calloc((size_t)n, sizeof *values);
    start = spent();
    own = 0;
    k->make();
    MPI_Barrier(MPI_COMM_WORLD);
    made = spent();
    checkpoint();
    saved = spent();
    k->use();
    qsort(step, (size_t)n, sizeof *step, ascending);
    if (rank == 0)
        printf("%s %d make %.0f checkpoint %.0f use %.0f\n", k->name, n, made - start, saved - made,
               n * step[n / 2] + own);
    MPI_Barrier(MPI_COMM_WORLD);
    fflush(stdout);
    free(handles);
    free(values);
    free(step);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (size_t k = 0; argc > 1 && k < sizeof kinds / sizeof *kinds; k++)
        for (int i = 2; i < argc && !strcmp(argv[1], kinds[k].name); i++) {
            n = atoi(argv[i]);
            one(&kinds[k]);
        }
    MPI_Finalize();
    return 0;
}
