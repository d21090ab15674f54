/* The exact expected time of a checkpoint pattern under exponential failures.
 *
 * The state of a job that has just finished a checkpoint is its position alone. Let B_i be the expected time from a
 * failure of level i until the job is back at this position. For an interval of w seconds of work and c seconds of
 * checkpoint (d = w + c), with rates L_i and L = sum L_i, the expected time to its end is
 *
 *     F = (e^(L d) - 1) / L * (1 + sum_i L_i B_i).
 *
 * The interval ends with a checkpoint of level h. For i > h it does not help, and B_i grows by F. For i <= h the job
 * reads the new checkpoint. A failure of level k > h within these p = A + R seconds sends it further back; any other
 * makes it start the recovery again:
 *
 *     B_i = q (1 + sum_(k>h) L_k B_k) / (e^(-L p) + q sum_(k>h) L_k),    q = (1 - e^(-L p)) / L.
 *
 * Both are linear in (1, B, T): every interval is a small matrix, and n equal intervals are its n-th power. A nested
 * pattern of any length takes a few dozen matrix products.
 *
 * We group failures by the lowest used level that they leave intact. The last group destroys all levels and sends the
 * job back to its start.
 *
 * If several levels are written at one point, they commit one by one, the lowest first. Each is an interval of its
 * own, and all but the first have no work. Until the next one is complete, a failure goes back to the one before. All
 * of them hold the same work, and failures of each group read the lowest one left. A recovery restores the copies
 * below it, as the store does in the background.
 */
#include "exact/exact.h"

#include <math.h>
#include <string.h>

#include "exact/schedule.h"

enum { GROUPS = MEND_PLAN_LEVELS + 1, SIZE = GROUPS + 2 };

const weights mend_plan_weigh_time = {1, 1, 1, 1}, mend_plan_weigh_restart = {0, 0, 1, 1};

typedef struct chain {
    const site *site;
    const weights *weights;
    int used, size;                             /* groups 0..used; entries of a vector */
    int level[GROUPS];                          /* the level that each group reads */
    double rate[GROUPS];                        /* of failures, by group */
    double rate_above[GROUPS];                  /* sum of the rates of the groups above */
    double again[GROUPS], again_weight[GROUPS]; /* q and its weighted form, by group */
    double divisor[GROUPS];
} chain;

/* A vector is (1, B of every group, T); a row is a linear form on it. */
typedef struct matrix {
    double at[SIZE][SIZE];
} matrix;

/* (1 - e^(-L t)) / L: the expected length of t seconds that a failure may cut short. */
static double cut(double rate, double seconds)
{
    return rate > 0 ? -expm1(-rate * seconds) / rate : seconds;
}

/* (e^(L t) - 1) / L */
static double stretched(double rate, double seconds)
{
    return rate > 0 ? expm1(rate * seconds) / rate : seconds;
}

static double weigh_recovery(const chain *chain, double recovery)
{
    double rate = chain->site->all_rates, wait = chain->site->allocation;
    return chain->weights->allocation * cut(rate, wait) +
           chain->weights->recovery * exp(-rate * wait) * cut(rate, recovery);
}

static void set_chain(chain *chain, const site *site, const int *level, int used,
                      const weights *weights)
{
    memset(chain, 0, sizeof *chain);
    chain->site = site;
    chain->weights = weights;
    chain->used = used;
    chain->size = used + 3;
    int group = 0;
    for (int i = 0; i < site->levels; i++) {
        while (group < used && i > level[group])
            group++;
        chain->rate[group] += site->rate[i];
    }
    double above = chain->rate[used];
    for (int g = used - 1; g >= 0; g--) {
        chain->rate_above[g] = above;
        above += chain->rate[g];
    }
    for (int g = 0; g < used; g++) {
        int i = level[g];
        double restart = site->allocation + site->recovery[i];
        chain->level[g] = i;
        chain->again[g] = cut(site->all_rates, restart);
        chain->again_weight[g] = weigh_recovery(chain, site->recovery[i]);
        chain->divisor[g] =
            exp(-site->all_rates * restart) + chain->again[g] * chain->rate_above[g];
    }
}

/* Failures before the first checkpoint: restarting costs the recovery time of the failure's own level, or of the
 * highest level that has failed since. */
static void set_start(const chain *chain, double *vector)
{
    const site *site = chain->site;
    double back[MEND_PLAN_LEVELS], above = 0, above_back = 0;
    memset(vector, 0, SIZE * sizeof *vector);
    vector[0] = 1;
    for (int i = site->levels - 1; i >= 0; i--) {
        double restart = site->allocation + site->recovery[i];
        double again = cut(site->all_rates, restart);
        back[i] = (weigh_recovery(chain, site->recovery[i]) + again * above_back) /
                  (exp(-site->all_rates * restart) + again * above);
        above += site->rate[i];
        above_back += site->rate[i] * back[i];
    }
    int group = 0;
    for (int i = 0; i < site->levels; i++) {
        while (group < chain->used && i > chain->level[group])
            group++;
        if (chain->rate[group] > 0)
            vector[1 + group] += site->rate[i] / chain->rate[group] * back[i];
    }
}

/* F of an interval as a linear form: `fixed` + `per_back` * sum of rate * B. */
static void interval_form(const chain *chain, double work, double checkpoint, double *fixed,
                          double *per_back)
{
    double rate = chain->site->all_rates;
    *per_back = stretched(rate, work + checkpoint);
    *fixed = *per_back;
    if (chain->weights == &mend_plan_weigh_time) /* the usual case, and faster */
        return;
    double weight = chain->weights->work * cut(rate, work) +
                    chain->weights->checkpoint * exp(-rate * work) * cut(rate, checkpoint);
    *fixed = weight * exp(rate * (work + checkpoint));
}

/* B of the groups that can read what was written here, from the B of the groups above. */
static void read_back(const chain *chain, unsigned written, double *vector)
{
    double above = chain->rate[chain->used] * vector[1 + chain->used];
    for (int g = chain->used - 1; g >= 0; g--) {
        double *b = &vector[1 + g];
        if (written >> g & 1)
            *b = (chain->again_weight[g] * vector[0] + chain->again[g] * above) / chain->divisor[g];
        else if (written >> g)
            *b = vector[2 + g];
        above += chain->rate[g] * *b;
    }
}

/* Advance by one interval that ends with the checkpoint of group `top` (-1: with the run, and no checkpoint).
 * `written` has all groups written at this point so far. */
static void step_once(const chain *chain, double work, int top, unsigned written, double *vector)
{
    double fixed, per_back, back = 0;
    double checkpoint = top < 0 ? 0 : chain->site->checkpoint[chain->level[top]];
    interval_form(chain, work, checkpoint, &fixed, &per_back);
    for (int g = 0; g <= chain->used; g++)
        back += chain->rate[g] * vector[1 + g];
    double expected = fixed * vector[0] + per_back * back;
    for (int row = 1; row < chain->size; row++)
        vector[row] += expected;
    read_back(chain, written, vector);
}

/* Advance to the next point, and write these groups there, one by one. */
static void step(const chain *chain, double work, unsigned due, double *vector)
{
    unsigned written = 0;
    if (!due)
        step_once(chain, work, -1, 0, vector);
    for (int g = 0; g < chain->used; g++)
        if (due >> g & 1) {
            written |= 1u << g;
            step_once(chain, work, g, written, vector);
            work = 0;
        }
}

/* The same as a matrix: its columns are the images of the unit vectors. */
static void set_interval(const chain *chain, double work, unsigned due, matrix *m)
{
    int size = chain->size;
    memset(m, 0, sizeof *m);
    for (int column = 0; column < size; column++) {
        double vector[SIZE] = {0};
        vector[column] = 1;
        step(chain, work, due, vector);
        for (int row = 0; row < size; row++)
            m->at[row][column] = vector[row];
    }
}

static void multiply(int size, const matrix *a, const matrix *b, matrix *product)
{
    matrix result;
    for (int i = 0; i < size; i++)
        for (int j = 0; j < size; j++) {
            double sum = 0;
            for (int k = 0; k < size; k++)
                sum += a->at[i][k] * b->at[k][j];
            result.at[i][j] = sum;
        }
    for (int i = 0; i < size; i++)
        memcpy(product->at[i], result.at[i], (size_t)size * sizeof result.at[0][0]);
}

static void set_identity(matrix *m)
{
    memset(m, 0, sizeof *m);
    for (int i = 0; i < SIZE; i++)
        m->at[i][i] = 1;
}

/* whole *= base^exponent. The exponent is a whole number that may exceed every integer type. */
static void multiply_power(int size, matrix *whole, matrix base, double exponent)
{
    for (; exponent >= 1; exponent = floor(exponent / 2)) {
        if (fmod(exponent, 2) == 1)
            multiply(size, whole, &base, whole);
        if (exponent >= 2)
            multiply(size, &base, &base, &base);
    }
}

/* The whole run except its last interval, as one matrix. A period of rank g consists of count - 1 periods of rank g -
 * 1 and the interval that ends it, and so on down. */
static void set_body(const chain *chain, const ladder *ladder, double work, matrix *body)
{
    set_identity(body);
    for (int g = 0; g < ladder->used; g++) {
        matrix period;
        set_interval(chain, work, ladder->first[g] | 1u << g, &period);
        multiply(chain->size, &period, body, &period);
        multiply_power(chain->size, body, period, ladder->count[g] - 1);
    }
}

static double apply_row(const chain *chain, const double *row, const double *vector)
{
    double sum = 0;
    for (int i = 0; i < chain->size; i++)
        sum += row[i] * vector[i];
    return sum;
}

double mend_plan_ladder_interval(const ladder *ladder, double work, double *pieces)
{
    *pieces = 1;
    for (int g = 0; g < ladder->used; g++)
        *pieces *= ladder->count[g];
    return work / (*pieces - 1 + (ladder->last > 0 ? ladder->last : 1));
}

static double exact_nested(const site *site, const ladder *ladder, const weights *weights)
{
    chain chain;
    matrix body, last;
    double start[SIZE], pieces, work = mend_plan_ladder_interval(ladder, site->work, &pieces);
    set_chain(&chain, site, ladder->level, ladder->used, weights);
    set_start(&chain, start);
    set_body(&chain, ladder, work, &body);
    set_interval(&chain, fmax(0, site->work - work * (pieces - 1)), 0, &last);
    multiply(chain.size, &last, &body, &last);
    double sum = apply_row(&chain, last.at[chain.size - 1], start);
    return isfinite(sum) ? sum : HUGE_VAL;
}

double mend_plan_exact_period(const site *site, const ladder *ladder, double interval)
{
    chain chain;
    matrix body, last;
    double vector[SIZE] = {1};
    int top = ladder->used - 1;
    struct ladder one = *ladder;
    one.count[top] = 1;
    set_chain(&chain, site, ladder->level, ladder->used, &mend_plan_weigh_time);
    set_body(&chain, &one, interval, &body);
    unsigned written = ladder->first[top] | 1u << top;
    set_interval(&chain, interval, written, &last);
    read_back(&chain, written, vector); /* the period begins at such a checkpoint */
    multiply(chain.size, &last, &body, &last);
    double sum = apply_row(&chain, last.at[chain.size - 1], vector);
    return isfinite(sum) ? sum : HUGE_VAL;
}

static double exact_grids(const site *site, const pattern *pattern, const weights *weights)
{
    chain chain;
    schedule schedule;
    double vector[SIZE];
    int level[MEND_PLAN_LEVELS], used = 0;
    unsigned due, written;
    for (int i = 0; i < site->levels; i++)
        if (pattern->intervals[i] > 1)
            level[used++] = i;
    set_chain(&chain, site, level, used, weights);
    set_start(&chain, vector);
    mend_plan_schedule_start(&schedule, site, pattern);
    do {
        double work = mend_plan_schedule_next(&schedule, &due);
        written = 0;
        for (int g = 0; g < used; g++)
            written |= (due >> level[g] & 1) << g;
        step(&chain, work, written, vector);
    } while (due);
    return isfinite(vector[chain.size - 1]) ? vector[chain.size - 1] : HUGE_VAL;
}

double mend_plan_exact(const site *site, const pattern *pattern, const weights *weights)
{
    return pattern->nested ? exact_nested(site, &pattern->ladder, weights)
                           : exact_grids(site, pattern, weights);
}

/* Expected seconds minus `seconds`, with the whole run's failures spread over `seconds`. */
static double excess(const mend_plan_model *model, site *site, const pattern *pattern,
                     double seconds)
{
    mend_plan_site_rates(site, model, seconds);
    return mend_plan_exact(site, pattern, &mend_plan_weigh_time) - seconds;
}

/* Find T such that T = expected seconds at rates total / T. The excess falls with T, so there is one root. Regula
 * falsi (Illinois) between bounds, bisection while a bound is infinite. */
double mend_plan_settle(const mend_plan_model *model, site *site, const pattern *pattern)
{
    if (!mend_plan_has_totals(model))
        return mend_plan_exact(site, pattern, &mend_plan_weigh_time);
    double low = site->work, high = low, at_low = HUGE_VAL, at_high;
    while ((at_high = excess(model, site, pattern, high)) > 0) {
        low = high, at_low = at_high;
        high *= 2;
        if (!isfinite(high))
            return HUGE_VAL;
    }
    for (int i = 0; i < 200 && high - low > 1e-14 * high; i++) {
        double middle = isfinite(at_low) ? high - at_high * (high - low) / (at_high - at_low)
                                         : low + (high - low) / 2;
        if (!(middle > low && middle < high))
            middle = low + (high - low) / 2;
        if (!(middle > low && middle < high))
            break;
        double value = excess(model, site, pattern, middle);
        if (fabs(value) <= 1e-15 * middle)
            return middle;
        if (value > 0) {
            low = middle, at_low = value;
            at_high /= 2;
        } else {
            high = middle, at_high = value;
            at_low /= 2;
        }
    }
    mend_plan_site_rates(site, model, high);
    return high;
}
