#include "plan_rival.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "plan_random.h"

enum { SIZE = MEND_PLAN_LEVELS + 2 };

/* The job at one number of cores. */
typedef struct place {
    int levels;
    double cores, work, all;
    double cost[MEND_PLAN_LEVELS], rate[MEND_PLAN_LEVELS];
    double read[MEND_PLAN_LEVELS]; /* see read_again() */
} place;

/* What positions are worth, a row each: [0] is 1; [1 + i] the expected seconds from a failure of level i until
 * the job is here again; [1 + levels] the seconds since the start. A block of steps is a matrix: the columns
 * are what becomes of each of these. A vector has one column. */
typedef double worth[SIZE][SIZE];

/* Reading a level takes `seconds` without failures; those up to that level begin it again, the others lead
 * further back: B = integral of survival + chances of what happens else, solved for B. This is its factor. */
static double factor_of_reading(const place *p, double seconds, int read)
{
    double again = 0;
    if (!(p->all > 0))
        return seconds;
    double struck = -expm1(-p->all * seconds);
    for (int k = 0; k <= read; k++)
        again += p->rate[k];
    return struck / p->all / (1 - struck * again / p->all);
}

static void set_place(const mend_plan_model *m, double cores, place *p)
{
    p->levels = m->levels;
    p->cores = cores;
    p->work = m->work / mend_plan_speedup_at(&m->speedup, cores);
    p->all = 0;
    for (int i = 0; i < m->levels; i++) {
        p->cost[i] = mend_plan_cost_at(&m->level[i].checkpoint, cores);
        p->all += p->rate[i] = m->level[i].rate_per_core * cores;
    }
    for (int i = 0; i < m->levels; i++)
        p->read[i] = factor_of_reading(
            p, m->allocation + mend_plan_cost_at(&m->level[i].recovery, cores), i);
}

/* After a failure of level `struck` the level `read` is read. */
static inline void read_again(const place *p, int columns, int struck, int read, worth v)
{
    double sum[SIZE];
    memcpy(sum, v[0], sizeof sum);
    for (int k = read + 1; k < p->levels; k++)
        for (int c = 0; c < columns; c++)
            sum[c] += p->rate[k] * v[1 + k][c];
    for (int c = 0; c < columns; c++)
        v[1 + struck][c] = p->read[read] * sum[c];
}

/* Integral of exp(rate of failures * t) over a stretch that takes `seconds` without failures: the factor of what a
 * failure costs there. */
static double stretched(const place *p, double seconds)
{
    return p->all > 0 ? expm1(p->all * seconds) / p->all : seconds;
}

/* Time without failures to the next position, where level h is written (-1: none); `copies` are the
 * levels that hold the same work by then. */
static inline void pass(const place *p, int columns, double stretch, int h, unsigned copies,
                        worth v)
{
    double lost[SIZE];
    memcpy(lost, v[0], sizeof lost);
    for (int i = 0; i < p->levels; i++)
        for (int c = 0; c < columns; c++)
            lost[c] += p->rate[i] * v[1 + i][c];
    for (int i = 0; i <= p->levels; i++)
        for (int c = 0; c < columns; c++)
            v[1 + i][c] += stretch * lost[c];
    for (int i = h; i >= 0; i--) {
        int read = i;
        while (!(copies >> read & 1))
            read++;
        read_again(p, columns, i, read, v);
    }
}

static inline __attribute__((always_inline)) void walk(const place *p, const rival *r,
                                                       const double *stretch, int columns,
                                                       int is_last, worth v)
{
    unsigned copies = 0;
    int steps = r->steps;
    if (is_last) { /* nothing is written at the end */
        while (steps > 1 && r->work[steps - 1] == 0)
            steps--;
    }
    for (int s = 0; s < steps; s++) {
        int end = is_last && s == steps - 1, h = end ? -1 : r->level[s];
        if (r->work[s] > 0)
            copies = 0;
        if (h >= 0)
            copies |= 1u << h;
        pass(p, columns, stretch[end ? r->steps : s], h, copies, v);
    }
}

static void multiply(int size, worth a, worth b, worth out)
{
    for (int i = 0; i < size; i++) {
        double row[SIZE] = {0};
        for (int k = 0; k < size; k++)
            for (int c = 0; c < SIZE; c++)
                row[c] += a[i][k] * b[k][c];
        memcpy(out[i], row, sizeof row);
    }
}

/* v becomes the n-th power of the block applied to it. */
static void repeat(const place *p, const rival *r, const double *stretch, double n, worth v)
{
    int size = p->levels + 2;
    worth a = {{0}}, b;
    if (n < 1)
        return;
    for (int c = 0; c < size; c++)
        a[c][c] = 1;
    walk(p, r, stretch, SIZE, 0, a);
    for (long k = (long)n; k; k >>= 1) {
        double u[SIZE] = {0};
        for (int i = 0; k & 1 && i < size; i++)
            for (int c = 0; c < size; c++)
                u[i] += a[i][c] * v[c][0];
        for (int i = 0; k & 1 && i < size; i++)
            v[i][0] = u[i];
        if (k > 1) {
            multiply(size, a, a, b);
            memcpy(a, b, sizeof a);
        }
    }
}

static double seconds_at(const place *p, rival *r)
{
    double stretch[RIVAL_STEPS + 1], sum = 0;
    int last = r->steps - 1;
    worth v = {{1}};
    for (int s = 0; s < r->steps; s++)
        sum += r->work[s];
    r->seconds = HUGE_VAL;
    if (!(sum > 0))
        return r->seconds;
    double work = p->work / r->blocks / sum;
    for (int s = 0; s < r->steps; s++)
        stretch[s] = stretched(p, r->work[s] * work + p->cost[r->level[s]]);
    while (last > 0 && r->work[last] == 0)
        last--;
    stretch[r->steps] = stretched(p, r->work[last] * work); /* of the last step of all */
    for (int i = p->levels - 1; i >= 0; i--)
        read_again(p, 1, i, i, v);
    repeat(p, r, stretch, r->blocks - 1, v);
    walk(p, r, stretch, 1, 1, v);
    if (isfinite(v[1 + p->levels][0]))
        r->seconds = v[1 + p->levels][0];
    return r->seconds;
}

double rival_seconds(const mend_plan_model *model, rival *r)
{
    place p;
    set_place(model, r->cores, &p);
    return seconds_at(&p, r);
}

static void insert(rival *r, int at, double work, int level)
{
    if (r->steps == RIVAL_STEPS)
        return;
    memmove(&r->work[at + 1], &r->work[at], (size_t)(r->steps - at) * sizeof *r->work);
    memmove(&r->level[at + 1], &r->level[at], (size_t)(r->steps - at) * sizeof *r->level);
    r->work[at] = work;
    r->level[at] = level;
    r->steps++;
}

static void take_out(rival *r, int at)
{
    if (r->steps == 1)
        return;
    r->steps--;
    memmove(&r->work[at], &r->work[at + 1], (size_t)(r->steps - at) * sizeof *r->work);
    memmove(&r->level[at], &r->level[at + 1], (size_t)(r->steps - at) * sizeof *r->level);
}

/* Two blocks as one, so that they may differ. Seldom: every step has its price. */
static void double_block(generator *g, rival *r)
{
    int steps = r->steps;
    if (2 * steps > RIVAL_STEPS || pick(g, 500))
        return;
    r->blocks = fmax(1, rint(r->blocks / 2));
    for (int s = 0; s < steps; s++)
        insert(r, r->steps, r->work[s], r->level[s]);
}

/* One random change. `heat` (0 to 1) is the size of those that have one. */
static void change(const mend_plan_model *m, generator *g, double heat, rival *r)
{
    int s = pick(g, r->steps), t = pick(g, r->steps);
    double factor = exp(heat * between(g, -1, 1)), kept;
    switch (pick(g, m->cores > 0 ? 11 : 13)) {
    case 0:
    case 1: r->work[s] *= factor; break;
    case 2: r->blocks = fmax(1, rint(r->blocks * factor)); break;
    case 3: r->blocks = fmax(1, r->blocks + (pick(g, 2) ? 1 : -1)); break;
    case 4: r->level[s] = pick(g, m->levels); break;
    case 5: /* a block of one step less or more, its time kept */
        kept = r->steps;
        take_out(r, s);
        r->blocks = fmax(1, rint(r->blocks * kept / r->steps));
        break;
    case 6:
        kept = r->steps;
        insert(r, s, r->work[t], pick(g, m->levels));
        r->blocks = fmax(1, rint(r->blocks * kept / r->steps));
        break;
    case 7: insert(r, s, pick(g, 2) ? 0 : r->work[s] * random_unit(g), pick(g, m->levels)); break;
    case 8: take_out(r, s); break;
    case 9: /* work from one step to another, or all of it */
        kept = pick(g, 4) ? r->work[s] * heat * random_unit(g) : r->work[s];
        if (s != t) {
            r->work[s] -= kept;
            r->work[t] += kept;
        }
        break;
    case 10: double_block(g, r); break;
    default:
        r->cores = fmin(m->max_cores, fmax(m->min_cores, r->cores * exp(heat * between(g, -1, 1))));
    }
}

void rival_improve(const mend_plan_model *m, generator *g, int tries, rival *best)
{
    rival now = *best, other;
    place p;
    set_place(m, now.cores, &p);
    /* a look at a long block takes longer: fewer of them */
    for (double spent = 0; spent < tries; spent += fmax(1, now.steps / 12.0)) {
        double heat = 0.5 * pow(0.004, spent / tries);
        double warmth = 0.003 * pow(1e-4, spent / tries); /* worse by this share is still taken */
        other = now;
        do
            change(m, g, heat, &other);
        while (pick(g, 3) == 0);
        if (other.cores != p.cores)
            set_place(m, other.cores, &p);
        seconds_at(&p, &other);
        if (other.seconds <= now.seconds * (1 - warmth * log(random_unit(g))))
            now = other;
        if (now.seconds < best->seconds)
            *best = now;
    }
}

/* Steps of chance; or, in half of the cases, as one would write a plan: every k-th step is of a higher
 * level, some of them with a lower one just before. */
static void chance_steps(const mend_plan_model *m, generator *g, rival *r)
{
    int top = m->levels - 1 - (pick(g, 4) == 0 ? pick(g, m->levels) : 0), ordered = pick(g, 2);
    int every[MEND_PLAN_LEVELS], points = ordered ? 1 : 1 + pick(g, 24);
    unsigned before = (unsigned)random_bits(g);
    for (int i = 0; i <= top; i++) {
        every[i] = pick(g, 3) ? points : 0; /* 0: not used */
        if (ordered && i < top && every[i] && points < 24)
            points *= 1 + pick(g, 7);
    }
    r->steps = 0;
    for (int s = 1; s <= points; s++) {
        int level = s == points ? top : ordered ? 0 : pick(g, top + 1);
        for (int i = 0; i < top && ordered && s < points; i++)
            if (every[i] && s % every[i] == 0)
                level = i;
        int low = level > 0 ? pick(g, level) : 0, with = level > 0 && before >> level & 1;
        if (with)
            insert(r, r->steps, 1, low);
        insert(r, r->steps, !with, level);
    }
}

/* A block of chance: intervals by Young's rule, off by a random factor. */
static void chance(const mend_plan_model *m, generator *g, rival *r)
{
    place p;
    double low = fmax(m->min_cores, m->max_cores / 50);
    memset(r, 0, sizeof *r);
    r->cores = m->cores > 0 ? m->cores : between_log(g, low, m->max_cores);
    set_place(m, r->cores, &p);
    chance_steps(m, g, r);
    double mean = p.all > 0 ? sqrt(2 * p.cost[r->level[0]] / p.all) : p.work;
    r->blocks = fmax(1, rint(p.work / (r->steps * mean * between_log(g, 0.3, 3))));
    seconds_at(&p, r);
}

void rival_search(const mend_plan_model *m, generator *g, int starts, int tries, rival *best)
{
    best->seconds = HUGE_VAL;
    for (int i = 0; i < starts; i++) {
        rival one, another;
        chance(m, g, &one);
        for (int k = 0; k < 300; k++) {
            chance(m, g, &another);
            if (another.seconds < one.seconds)
                one = another;
        }
        rival_improve(m, g, tries, &one);
        if (one.seconds < best->seconds)
            *best = one;
    }
}

int rival_from_plan(const mend_plan_model *m, const mend_plan *plan, rival *r)
{
    double least = 0, most = 1;
    int points;
    if (!plan->nested || plan->last > 0)
        return 0;
    memset(r, 0, sizeof *r);
    for (int i = 0; i < m->levels; i++)
        if (plan->intervals[i] > 1) {
            most = fmax(most, plan->intervals[i]);
            least = least > 0 ? fmin(least, plan->intervals[i]) : plan->intervals[i];
        }
    if (most == 1 || most / least > RIVAL_STEPS / 2)
        return 0;
    points = (int)rint(most / least);
    r->cores = plan->cores;
    r->blocks = least;
    for (int k = 1; k <= points; k++) {
        int top = -1, before = r->steps;
        for (int i = 0; i < m->levels; i++)
            if (plan->intervals[i] > 1 && fmod(k * plan->intervals[i], most) == 0)
                top = i;
        if (top < 0)
            return 0;
        for (int i = 0; i <= top; i++)
            if (i == top || (plan->intervals[i] > 1 && plan->first[top] >> i & 1)) {
                insert(r, r->steps, r->steps == before, i);
            }
    }
    rival_seconds(m, r);
    return 1;
}

void rival_print(const mend_plan_model *m, const rival *r)
{
    place p;
    double sum = 0;
    set_place(m, r->cores, &p);
    for (int s = 0; s < r->steps; s++)
        sum += r->work[s];
    printf("%.10g s on %.10g cores, %g times:", r->seconds, r->cores, r->blocks);
    for (int s = 0; s < r->steps; s++)
        printf(" %.4g:%d", r->work[s] / sum * p.work / r->blocks, r->level[s] + 1);
    printf("\n");
}
