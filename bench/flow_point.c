/* What a safe point costs when nothing is due, against the same loop without it. One process; the
 * fastest of several runs. */
#include <mend/flow.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 15, POINTS = 2000000 };

static volatile long counter;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
    static double cells[1000];
    double with = 1e9, without = 1e9;
    setenv("MEND_FLOW_EVERY", "never", 1);
    MPI_Init(&argc, &argv);
    mend_view("cells", cells, 1000, MPI_DOUBLE, 0);
    for (int r = 0; r < ROUNDS; r++) {
        double t = now();
        for (counter = 0; counter < POINTS; counter++)
            ;
        t = now() - t;
        without = t < without ? t : without;
        t = now();
        for (counter = 0; mend_point() && counter < POINTS; counter++)
            ;
        t = now() - t;
        with = t < with ? t : with;
    }
    double each = (with - without) / POINTS * 1e9;
    const char *out = getenv("MEND_BENCH_OUT");
    FILE *rows = out ? fopen(out, "a") : NULL;
    printf("a safe point that is not due: %.1f ns (target 30) %s\n", each,
           each <= 30 ? "ok" : "MISSED");
    if (rows) {
        fprintf(rows,
                "{\"name\":\"flow: safe point not "
                "due\",\"value\":%.2f,\"unit\":\"ns\",\"baseline\":%.2f,"
                "\"ratio\":null,\"target\":30,\"ok\":%s}\n",
                each, without / POINTS * 1e9, each <= 30 ? "true" : "false");
        fclose(rows);
    }
    MPI_Finalize();
    return 0;
}
