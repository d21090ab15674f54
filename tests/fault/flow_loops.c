/* Loops as programs really have them: flow_loops SCENARIO [-k R@I]… prints a checksum that must not
 * depend on the kills. I counts calls of tick(), over all loops of the scenario. */
#include <mend/flow.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../apps/common/checksum.h"
#include "../../apps/common/kill.h"

enum { CELLS = 500 };

static struct kill_plan kills;
static int ticks; /* a view: which call of tick() comes next */
MEND_STATE_FLAGS(ticks, MEND_CONTROL);

static int rank(void)
{
    int r;
    MPI_Comm_rank(MPI_COMM_WORLD, &r);
    return r;
}

/* One step of work on some cells, with communication; dies if it is time. */
static double tick(double *cells, size_t count, int salt)
{
    double mine = 0, most;
    kill_plan_act(&kills, rank(), ticks);
    for (size_t i = 0; i < count; i++) {
        cells[i] = 0.75 * cells[i] + rank() + salt + (double)(i % 11);
        mine = cells[i] > mine ? cells[i] : mine;
    }
    MPI_Allreduce(&mine, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    cells[salt % count] += most;
    ticks++;
    return most;
}

static void print_sum(const char *name, const double *cells, size_t count)
{
    uint64_t mine = 0, all;
    for (size_t i = 0; i < count; i++)
        mine += checksum_of(cells[i], i + (size_t)rank() * 1000003);
    MPI_Reduce(&mine, &all, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank() == 0)
        printf("%s: checksum %016llx\n", name, (unsigned long long)all);
}

static double cells[CELLS];

static void leave_by_break(void)
{
    double most = 0;
    mend_view("cells", cells, CELLS, MPI_DOUBLE, 0);
    mend_view("most", &most, 1, MPI_DOUBLE, 0);
    int i = 0;
    mend_view("i", &i, 1, MPI_INT, MEND_CONTROL);
    for (; mend_point() && i < 1000; i++) {
        most = tick(cells, CELLS, i);
        if (i == 40)
            break;
    }
    cells[0] += i + most;
    print_sum("break", cells, CELLS);
}

static void use_continue(void)
{
    int i = 0;
    mend_view("cells", cells, CELLS, MPI_DOUBLE, 0);
    mend_view("i", &i, 1, MPI_INT, MEND_CONTROL);
    for (; mend_point() && i < 40; i++) {
        if (i % 3 == 1)
            continue;
        tick(cells, CELLS, i);
    }
    print_sum("continue", cells, CELLS);
}

/* Its frame is gone when the communication after it fails. */
static int solver_that_returns(void)
{
    int i = 0;
    mend_view("cells", cells, CELLS, MPI_DOUBLE, 0);
    mend_view("i", &i, 1, MPI_INT, MEND_CONTROL);
    for (; mend_point() && i < 40; i++) {
        tick(cells, CELLS, i);
        if (i == 20)
            return i;
    }
    return -1;
}

static void leave_by_return(void)
{
    int at = solver_that_returns();
    for (int i = 0; i < 20; i++) /* no safe point here */
        tick(cells, CELLS, at + i);
    print_sum("return", cells, CELLS);
}

static void nested(void)
{
    int outer = 0, inner = 0;
    double column[100] = {0};
    mend_view("cells", cells, CELLS, MPI_DOUBLE, 0);
    mend_view("column", column, 100, MPI_DOUBLE, 0);
    mend_view("outer", &outer, 1, MPI_INT, MEND_CONTROL);
    mend_view("inner", &inner, 1, MPI_INT, MEND_CONTROL);
    for (; mend_point() && outer < 5; outer++) {
        if (mend_first())
            tick(cells, CELLS, outer);
        for (inner = 0; mend_point() && inner < 7; inner++)
            tick(column, 100, outer + inner);
        tick(cells, CELLS, 3);
    }
    cells[1] += column[7];
    print_sum("nested", cells, CELLS);
}

/* Twenty loops, one inside the other, each in a function of its own: all of them are open around the innermost. */
static int at[21];

static void level20(void)
{
    for (at[20] = 0; mend_point() && at[20] < 40; at[20]++)
        tick(cells, CELLS, at[20]);
}
#define LEVEL(n, inner)                                       \
    static void level##n(void)                                \
    {                                                         \
        for (at[n] = 0; mend_point() && at[n] < 1; at[n]++) { \
            level##inner();                                   \
            cells[n] += 1;                                    \
        }                                                     \
    }
LEVEL(19, 20)
LEVEL(18, 19)
LEVEL(17, 18)
LEVEL(16, 17)
LEVEL(15, 16)
LEVEL(14, 15)
LEVEL(13, 14)
LEVEL(12, 13)
LEVEL(11, 12)
LEVEL(10, 11)
LEVEL(9, 10)
LEVEL(8, 9)
LEVEL(7, 8)
LEVEL(6, 7)
LEVEL(5, 6)
LEVEL(4, 5)
LEVEL(3, 4)
LEVEL(2, 3)
LEVEL(1, 2)

static void deep(void)
{
    mend_view("cells", cells, CELLS, MPI_DOUBLE, 0);
    mend_view("at", at, 21, MPI_INT, MEND_CONTROL);
    level1();
    print_sum("deep", cells, CELLS);
}

static void grow(void)
{
    size_t count = 10;
    int i = 0;
    double *list = calloc(count, sizeof *list);
    mend_view_dynamic("list", &list, &count, sizeof *list, 0);
    mend_view("i", &i, 1, MPI_INT, MEND_CONTROL);
    for (; mend_point() && i < 40; i++) {
        if (i % 4 == 3) {
            list = realloc(list, (count + 50) * sizeof *list);
            memset(list + count, 0, 50 * sizeof *list);
            count += 50;
        }
        tick(list, count, i);
    }
    print_sum("grow", list, count);
    free(list);
}

/* Named again at a new address inside the loop. The pointer changes in the loop, so it must not
 * live in a register. */
static double *moving;

static void move(void)
{
    int i = 0;
    moving = calloc(CELLS, sizeof *moving);
    mend_view("moving", moving, CELLS, MPI_DOUBLE, 0);
    mend_view("i", &i, 1, MPI_INT, MEND_CONTROL);
    for (; mend_point() && i < 40; i++) {
        if (i % 4 == 3) {
            double *other = malloc(CELLS * sizeof *other);
            memcpy(other, moving, CELLS * sizeof *other);
            free(moving);
            moving = other;
            mend_view("moving", moving, CELLS, MPI_DOUBLE, 0);
        }
        tick(moving, CELLS, i);
    }
    print_sum("move", moving, CELLS);
    free(moving);
}

/* A view is removed and freed in the middle of the program; a second phase has other views. */
static void phases(void)
{
    int i = 0, k = 0;
    double *first = calloc(CELLS, sizeof *first), *second;
    mend_view("first", first, CELLS, MPI_DOUBLE, 0);
    mend_view("i", &i, 1, MPI_INT, MEND_CONTROL);
    for (; mend_point() && i < 20; i++)
        tick(first, CELLS, i);
    second = calloc(CELLS, sizeof *second);
    memcpy(second, first, CELLS * sizeof *second);
    if (mend_first())
        tick(second, CELLS, 1);
    mend_view_remove("first");
    free(first);
    mend_view("second", second, CELLS, MPI_DOUBLE, 0);
    mend_view("k", &k, 1, MPI_INT, MEND_CONTROL);
    for (; mend_point() && k < 20; k++)
        tick(second, CELLS, 100 + k);
    print_sum("phases", second, CELLS);
    free(second);
}

/* Overlapping, duplicate and aliased views, constants, scratch. */
static void kinds(void)
{
    static double table[CELLS], swap[CELLS], scratch[CELLS];
    int i = 0;
    for (int k = 0; k < CELLS; k++)
        table[k] = k % 5;
    mend_view("cells", cells, CELLS, MPI_DOUBLE, 0);
    mend_view("half", cells + CELLS / 2, CELLS / 2, MPI_DOUBLE, 0);
    mend_view("again", cells, CELLS, MPI_DOUBLE, 0);
    mend_view("table", table, CELLS, MPI_DOUBLE, MEND_CONSTANT);
    mend_view("swap", swap, CELLS, MPI_DOUBLE, 0);
    mend_view("scratch", scratch, CELLS, MPI_DOUBLE, MEND_SCRATCH);
    mend_alias("swap", "cells");
    mend_view("i", &i, 1, MPI_INT, MEND_CONTROL);
    for (; mend_point() && i < 40; i++) {
        memcpy(scratch, cells, sizeof scratch);
        for (int k = 0; k < CELLS; k++)
            cells[k] += table[k] + scratch[CELLS - 1 - k] / 1024;
        tick(cells, CELLS, i);
        memcpy(swap, cells, sizeof swap);
    }
    print_sum("kinds", cells, CELLS);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } scenarios[] = {{"break", leave_by_break},
                     {"continue", use_continue},
                     {"return", leave_by_return},
                     {"nested", nested},
                     {"deep", deep},
                     {"grow", grow},
                     {"move", move},
                     {"phases", phases},
                     {"kinds", kinds}};
    const char *name = argc > 1 ? argv[1] : "";
    for (int i = 2; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--mark") == 0)
            snprintf(kills.mark, sizeof kills.mark, "%s", argv[i + 1]);
        else if (kill_plan_add(&kills, argv[i + 1]))
            return 2;
    }
    MPI_Init(&argc, &argv);
    for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++)
        if (strcmp(scenarios[i].name, name) == 0)
            scenarios[i].run();
    MPI_Finalize();
    return 0;
}
