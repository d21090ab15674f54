/* Programs that lie in wait for learn mode: flow_learn PROGRAM [-k R@I]…. Each prints a checksum
 * that must not depend on kills, and each has a view that looks dead most of the time, or under the
 * wrong disturbance. */
#include <mend/flow.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../apps/common/checksum.h"
#include "../../apps/common/kill.h"

enum { N = 4000, STEPS = 60 };

static struct kill_plan kills;
static double a[N], b[N], c[N];
static int step;
static double bound = 1;

static int rank(void)
{
    int r;
    MPI_Comm_rank(MPI_COMM_WORLD, &r);
    return r;
}

static double most_of_all(double mine)
{
    double all;
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return all;
}

static void grow(double *x, int salt)
{
    for (int i = 0; i < N; i++)
        x[i] = 0.9 * x[i] + 0.01 * ((i * 7 + salt + rank()) % 13) + 0.001 * bound;
}

/* b is overwritten in every step, after its maximum has been read: alive, though nothing but one
 * number of it counts. */
static void only_the_maximum(void)
{
    double most = 0;
    for (int i = 0; i < N; i++)
        most = fmax(most, b[i]);
    bound = most_of_all(most);
    grow(a, step);
    memcpy(b, a, sizeof b);
}

/* b is overwritten in every step and read before that in every seventh only. */
static void read_rarely(void)
{
    if (step % 7 == 6)
        for (int i = 0; i < N; i++)
            a[i] += 0.125 * b[i];
    grow(a, step);
    bound = most_of_all(a[step]);
    for (int i = 0; i < N; i++)
        b[i] = a[i] * 1.5;
}

/* All of b but one element is overwritten. */
static void all_but_one(void)
{
    for (int i = 1; i < N; i++)
        b[i] = a[i] + i;
    b[0] += 1;
    grow(a, step);
    bound = most_of_all(a[step % N] + b[0] + b[5]);
}

/* a and b take turns: each is dead in every other step. */
static void turns(void)
{
    double *from = step % 2 ? b : a, *to = step % 2 ? a : b;
    for (int i = 0; i < N; i++)
        to[i] = 0.9 * from[i] + 0.01 * ((i + step + rank()) % 17) + 0.001 * bound;
    bound = most_of_all(to[step]);
}

/* Every step ends the loop if b, made by the step before, has become small: zeros in b would end it
 * at once. */
static int ends_when_small(void)
{
    double most = 0;
    for (int i = 0; i < N; i++)
        most = fmax(most, fabs(b[i]));
    bound = most_of_all(step ? most : 1);
    if (bound < 1e-3)
        return 1;
    grow(a, step);
    for (int i = 0; i < N; i++)
        b[i] = pow(0.85, step) * (1 + 0.001 * (i % 3));
    return 0;
}

/* Nothing to find wrong here: b is dead, c is never written. */
static void honest(void)
{
    memcpy(b, a, sizeof b);
    for (int i = 1; i < N - 1; i++)
        a[i] = 0.25 * (b[i - 1] + b[i + 1] + b[i] + c[i]) + 0.01 * rank() + 0.001 * bound;
    bound = most_of_all(a[step]);
}

/* c, filled by what only the first process of a job runs, is steady for a long time and then written;
 * and again later, after it has been taken for steady a second time. */
static void steady_for_long(void)
{
    if (step == 33 || step == 34)
        for (int i = 0; i < N; i++)
            c[i] += 0.5 * a[i];
    honest();
}

/* State that is no view (a counter): the control run must notice. */
static void hidden_state(void)
{
    static int hidden;
    hidden++;
    grow(a, step + (hidden & 1));
    bound = most_of_all(a[step]);
}

static void print_sum(const char *name)
{
    uint64_t mine = 0, all;
    for (size_t i = 0; i < N; i++)
        mine += checksum_of(a[i], i + (size_t)rank() * 1000003) +
                checksum_of(b[i], i + 77 + (size_t)rank() * 1000003);
    MPI_Reduce(&mine, &all, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank() == 0)
        printf("%s: steps %d checksum %016llx\n", name, step, (unsigned long long)all);
}

static int do_step(const char *name)
{
    if (strcmp(name, "maximum") == 0)
        only_the_maximum();
    else if (strcmp(name, "rarely") == 0)
        read_rarely();
    else if (strcmp(name, "butone") == 0)
        all_but_one();
    else if (strcmp(name, "turns") == 0)
        turns();
    else if (strcmp(name, "converge") == 0)
        return ends_when_small();
    else if (strcmp(name, "steady") == 0)
        steady_for_long();
    else if (strcmp(name, "hidden") == 0)
        hidden_state();
    else
        honest();
    return 0;
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "honest";
    for (int i = 2; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--mark") == 0)
            snprintf(kills.mark, sizeof kills.mark, "%s", argv[i + 1]);
        else if (kill_plan_add(&kills, argv[i + 1]))
            return 2;
    }
    MPI_Init(&argc, &argv);
    for (int i = 0; i < N && mend_first(); i++)
        c[i] = i % 3;
    mend_view("a", a, N, MPI_DOUBLE, 0);
    mend_view("b", b, N, MPI_DOUBLE, 0);
    mend_view("c", c, N, MPI_DOUBLE, 0);
    mend_view("step", &step, 1, MPI_INT, MEND_CONTROL);
    mend_view("bound", &bound, 1, MPI_DOUBLE, MEND_CONTROL);
    for (; mend_point() && step < STEPS; step++) {
        if (!mend_rehearsal())
            kill_plan_act(&kills, rank(), step);
        if (step == 33 && rank() == 0)
            printf("%s: once\n", name);
        if (do_step(name))
            break;
    }
    print_sum(name);
    MPI_Finalize();
    return 0;
}
