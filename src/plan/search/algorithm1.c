/* Algorithm 1 of the paper.
 *
 *  1. Guess the run's time T as that of the work alone, on all cores.
 *  2. Expect mu_i(N) = b_i N failures of level i, with b_i from T. From here on they do not depend on T.
 *  3. Find the x_i and N that minimise formula 21 (formulas 23 and 24).
 *  4. Take formula 21 as the new T, and go back to 2 until mu and T no longer change.
 *
 * Step 3 solves (23) for the x_i inside a search for the root of (24) in N. The paper alternates between the two,
 * which ends at the same point. For fixed N the minimum over the x_i is a geometric program, so coordinate descent
 * finds the only one.
 *
 * Step 4 is the paper's. Each pass closes the gap by a factor h, which takes forever if h is close to 1. After
 * PLAIN_PASSES we use T = a / (1 - h) instead: Newton's step for the same point. The least T is a concave function of
 * the T that went in, so this cannot miss. While h is above 1 the point is further up, and we multiply T.
 */
#include "search/algorithm1.h"

#include <math.h>
#include <string.h>

enum { PLAIN_PASSES = 60, MOST_PASSES = 500, MOST_SWEEPS = 5000, GRID = 40 };

typedef struct pass {
    const mend_plan_model *model;
    double per_core[MEND_PLAN_LEVELS]; /* b_i: level i has b_i N failures */
    /* Sections III-C and III-D of the paper differ. With one level and failures given for the whole run (formulas 7,
     * 13; figure 3) a rollback does not include half a checkpoint; in formula 18 it does. */
    double own_checkpoint;
} pass;

/* The terms of formula 21 and its derivatives at one N. */
typedef struct point {
    int levels;
    double cores, work, work_slope;
    double c[MEND_PLAN_LEVELS], c_slope[MEND_PLAN_LEVELS];
    double r[MEND_PLAN_LEVELS], r_slope[MEND_PLAN_LEVELS];
    double mu[MEND_PLAN_LEVELS];
    double x[MEND_PLAN_LEVELS];
} point;

static void set_pass(pass *pass, const mend_plan_model *model, double seconds)
{
    pass->model = model;
    pass->own_checkpoint = model->levels == 1 && model->level[0].total_per_core > 0 ? 0 : 1;
    for (int i = 0; i < model->levels; i++)
        pass->per_core[i] =
            model->level[i].rate_per_core * seconds + model->level[i].total_per_core;
}

static void set_point(point *p, const pass *pass, double cores)
{
    const mend_plan_model *model = pass->model;
    double g = mend_plan_speedup_at(&model->speedup, cores);
    p->levels = model->levels;
    p->cores = cores;
    p->work = model->work / g;
    p->work_slope = -p->work * mend_plan_speedup_slope(&model->speedup, cores) / g;
    for (int i = 0; i < p->levels; i++) {
        const mend_plan_level *level = &model->level[i];
        p->c[i] = mend_plan_cost_at(&level->checkpoint, cores);
        p->c_slope[i] = mend_plan_cost_slope(&level->checkpoint, cores);
        p->r[i] = mend_plan_cost_at(&level->recovery, cores);
        p->r_slope[i] = mend_plan_cost_slope(&level->recovery, cores);
        p->mu[i] = pass->per_core[i] * cores;
    }
}

/* Formula 23, in x_i alone; at least one interval. */
static double best_interval(const point *p, int i)
{
    double below = p->work, above = 1;
    for (int j = 0; j < i; j++)
        below += p->c[j] * p->x[j];
    for (int j = i + 1; j < p->levels; j++)
        above += p->mu[j] / (2 * p->x[j]);
    return fmax(1, sqrt(p->mu[i] * below / (2 * p->c[i] * above)));
}

/* Start with formula 25, then apply formula 23 level by level until nothing changes. */
static void solve_intervals(point *p)
{
    for (int i = 0; i < p->levels; i++)
        p->x[i] = fmax(1, sqrt(p->mu[i] * p->work / (2 * p->c[i])));
    for (int sweep = 0; sweep < MOST_SWEEPS; sweep++) {
        double moved = 0;
        for (int i = 0; i < p->levels; i++) {
            double x = best_interval(p, i);
            moved = fmax(moved, fabs(x - p->x[i]) / x);
            p->x[i] = x;
        }
        if (moved < 1e-14)
            break;
    }
}

/* The cost of a failure of level i: formula 18 and the restart. */
static double failure_cost(const point *p, const pass *pass, int i)
{
    double lost = p->work + pass->own_checkpoint * p->c[i] * p->x[i];
    for (int k = 0; k < i; k++)
        lost += p->c[k] * p->x[k];
    return lost / (2 * p->x[i]) + pass->model->allocation + p->r[i];
}

/* Formula 21. */
static double expected_seconds(const point *p, const pass *pass)
{
    double sum = p->work;
    for (int i = 0; i < p->levels; i++)
        sum += p->c[i] * (p->x[i] - 1) + p->mu[i] * failure_cost(p, pass, i);
    return sum;
}

/* The left side of formula 24. */
static double slope_by_cores(const point *p, const pass *pass)
{
    double sum = p->work_slope;
    for (int i = 0; i < p->levels; i++) {
        double checkpoints = pass->own_checkpoint * p->c_slope[i] * p->x[i];
        for (int k = 0; k < i; k++)
            checkpoints += p->c_slope[k] * p->x[k];
        sum += p->c_slope[i] * (p->x[i] - 1) + pass->per_core[i] * failure_cost(p, pass, i);
        sum += p->mu[i] * ((p->work_slope + checkpoints) / (2 * p->x[i]) + p->r_slope[i]);
    }
    return sum;
}

static double slope_at(const pass *pass, double cores, point *p)
{
    set_point(p, pass, cores);
    solve_intervals(p);
    return slope_by_cores(p, pass);
}

/* The root of formula 24 between `low` (slope below 0) and `high` (slope above 0). */
static void bisect_cores(const pass *pass, double low, double high, point *p)
{
    for (int i = 0; i < 200 && high - low > 1e-15 * high; i++) {
        double middle = low + (high - low) / 2;
        if (middle <= low || middle >= high)
            break;
        if (slope_at(pass, middle, p) > 0)
            high = middle;
        else
            low = middle;
    }
    slope_at(pass, low, p);
}

/* Step 3 of the algorithm with N free. A grid finds the valley, because with tables and powers of N there may be
 * several. */
static void solve_cores(const pass *pass, point *p)
{
    double low = pass->model->min_cores, high = pass->model->max_cores;
    double grid[GRID + 1], best_value = HUGE_VAL;
    int best = 0;
    for (int i = 0; i <= GRID; i++) {
        grid[i] = i == GRID ? high : low * pow(high / low, (double)i / GRID);
        set_point(p, pass, grid[i]);
        solve_intervals(p);
        double value = expected_seconds(p, pass);
        if (value < best_value)
            best_value = value, best = i;
    }
    low = grid[best > 0 ? best - 1 : 0];
    high = grid[best < GRID ? best + 1 : GRID];
    if (slope_at(pass, high, p) <= 0)
        return;
    if (slope_at(pass, low, p) >= 0)
        return;
    bisect_cores(pass, low, high, p);
}

/* h: the share of the time that goes to failures given per second. */
static double failure_share(const point *p, const pass *pass)
{
    double share = 0;
    for (int i = 0; i < p->levels; i++)
        share += pass->model->level[i].rate_per_core * p->cores * failure_cost(p, pass, i);
    return share;
}

void mend_plan_algorithm1(const mend_plan_model *model, int once, algorithm1 *result)
{
    double scale = mend_plan_most_cores(model);
    double seconds = model->work / mend_plan_speedup_at(&model->speedup, scale);
    pass pass;
    point p;
    *result = (algorithm1){0};
    while (!result->converged && result->passes < MOST_PASSES) {
        set_pass(&pass, model, seconds);
        if (model->cores > 0) {
            set_point(&p, &pass, model->cores);
            solve_intervals(&p);
        } else {
            solve_cores(&pass, &p);
        }
        double next = expected_seconds(&p, &pass), share = failure_share(&p, &pass);
        result->seconds = next;
        result->passes++;
        if (once)
            break;
        /* mu is proportional to T, so one test serves both. */
        result->converged = fabs(next - seconds) <= 1e-12 * next;
        if (result->passes >= PLAIN_PASSES)
            next = share < 1 ? (next - share * seconds) / (1 - share) : 4 * next;
        seconds = next;
    }
    result->cores = p.cores;
    memcpy(result->intervals, p.x, sizeof p.x);
}

double mend_plan_formula6(const mend_plan_model *model, double cores, const double *intervals)
{
    pass pass;
    point p;
    set_pass(&pass, model, 0); /* mu only of levels given for the whole run */
    set_point(&p, &pass, cores);
    memcpy(p.x, intervals, (size_t)p.levels * sizeof *p.x);
    double share = failure_share(&p, &pass);
    return share < 1 ? expected_seconds(&p, &pass) / (1 - share) : HUGE_VAL;
}
