/* Least-squares fits of measured costs and speedups. */
#include <math.h>
#include <string.h>

#include <base/fail.h>
#include <mend/plan.h>

static int check_points(const double *cores, const double *values, int count, int least)
{
    if (count < least)
        return mend_fail(MEND_ERR_CONFIG, "a fit needs at least %d points, not %d", least, count);
    for (int i = 0; i < count; i++)
        if ((cores && !(isfinite(cores[i]) && cores[i] > 0)) ||
            !(isfinite(values[i]) && values[i] > 0))
            return mend_fail(MEND_ERR_CONFIG, "point %d of the measurements is not positive",
                             i + 1);
    return 0;
}

int mend_plan_fit_mean(mend_plan_cost *cost, const double *seconds, int count)
{
    if (check_points(NULL, seconds, count, 1))
        return MEND_ERR_CONFIG;
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += seconds[i];
    *cost = (mend_plan_cost){.fixed = sum / count, .power = 1};
    return 0;
}

int mend_plan_fit_cost(mend_plan_cost *cost, const double *cores, const double *seconds, int count)
{
    if (check_points(cores, seconds, count, 2))
        return MEND_ERR_CONFIG;
    double mean_x = 0, mean_y = 0, xx = 0, xy = 0;
    for (int i = 0; i < count; i++) {
        mean_x += cores[i] / count;
        mean_y += seconds[i] / count;
    }
    for (int i = 0; i < count; i++) {
        xx += (cores[i] - mean_x) * (cores[i] - mean_x);
        xy += (cores[i] - mean_x) * (seconds[i] - mean_y);
    }
    if (!(xx > 0))
        return mend_fail(MEND_ERR_CONFIG, "all measurements are at the same number of cores");
    double slope = xy / xx, fixed = mean_y - slope * mean_x;
    if (slope < 0 || fixed < 0)
        return mend_fail(MEND_ERR_CONFIG,
                         "the fitted cost %.6g s + %.6g s * N is negative somewhere; use the mean",
                         fixed, slope);
    *cost = (mend_plan_cost){.fixed = fixed, .slope = slope, .power = 1};
    return 0;
}

static int fit_quadratic(mend_plan_speedup *speedup, const double *n, const double *g, int count)
{
    /* g = a N + b N^2. Scale the cores to at most 1, so that the sums stay well conditioned. */
    double scale = 0, s2 = 0, s3 = 0, s4 = 0, t1 = 0, t2 = 0;
    for (int i = 0; i < count; i++)
        scale = fmax(scale, n[i]);
    for (int i = 0; i < count; i++) {
        double x = n[i] / scale;
        s2 += x * x, s3 += x * x * x, s4 += x * x * x * x;
        t1 += x * g[i], t2 += x * x * g[i];
    }
    double det = s2 * s4 - s3 * s3;
    if (!(det > 1e-12 * s2 * s4))
        return mend_fail(MEND_ERR_CONFIG, "all measurements are at the same number of cores");
    double a = (t1 * s4 - t2 * s3) / det, b = (s2 * t2 - s3 * t1) / det;
    if (!(a > 0 && -b > 1e-9 * a)) /* a straight line, up to rounding */
        return mend_fail(MEND_ERR_CONFIG, "the measured speedup does not bend down; fit a line");
    speedup->slope = a / scale;
    speedup->peak = scale * a / (-2 * b);
    return 0;
}

int mend_plan_fit_speedup(mend_plan_speedup *speedup, mend_plan_curve curve, const double *cores,
                          const double *speedups, int count)
{
    if (check_points(cores, speedups, count, curve == MEND_PLAN_QUADRATIC ? 2 : 1))
        return MEND_ERR_CONFIG;
    mend_plan_speedup fit;
    memset(&fit, 0, sizeof fit);
    fit.curve = curve;
    double num = 0, den = 0;
    switch (curve) {
    case MEND_PLAN_QUADRATIC:
        if (fit_quadratic(&fit, cores, speedups, count))
            return MEND_ERR_CONFIG;
        break;
    case MEND_PLAN_LINEAR:
        for (int i = 0; i < count; i++) {
            num += cores[i] * speedups[i];
            den += cores[i] * cores[i];
        }
        fit.slope = num / den;
        break;
    case MEND_PLAN_AMDAHL: /* 1/g - 1/N = serial * (1 - 1/N) */
        for (int i = 0; i < count; i++) {
            double x = 1 - 1 / cores[i], y = 1 / speedups[i] - 1 / cores[i];
            num += x * y;
            den += x * x;
        }
        if (!(den > 0))
            return mend_fail(MEND_ERR_CONFIG, "the serial share needs a point beyond one core");
        fit.serial = num / den;
        if (!(fit.serial >= 0 && fit.serial <= 1))
            return mend_fail(MEND_ERR_CONFIG, "the fitted serial share %.6g is not in 0 to 1",
                             fit.serial);
        break;
    default: return mend_fail(MEND_ERR_ARGUMENT, "this curve cannot be fitted");
    }
    *speedup = fit;
    return 0;
}

/* Tangents after Fritsch and Carlson (1980): the curve is monotone wherever the points are. */
static void set_tangents(mend_plan_speedup *s)
{
    double chord[MEND_PLAN_POINTS] = {0}, width[MEND_PLAN_POINTS] = {0};
    int last = s->points - 1;
    for (int i = 0; i < last; i++) {
        width[i] = s->cores[i + 1] - s->cores[i];
        chord[i] = (s->speedup[i + 1] - s->speedup[i]) / width[i];
    }
    s->tangent[0] = chord[0];
    s->tangent[last] = chord[last - 1];
    for (int i = 1; i < last; i++) {
        if (chord[i - 1] * chord[i] <= 0) {
            s->tangent[i] = 0;
        } else { /* weighted harmonic mean */
            double w1 = 2 * width[i] + width[i - 1], w2 = width[i] + 2 * width[i - 1];
            s->tangent[i] = (w1 + w2) / (w1 / chord[i - 1] + w2 / chord[i]);
        }
    }
}

int mend_plan_speedup_table(mend_plan_speedup *speedup, const double *cores, const double *speedups,
                            int count)
{
    if (check_points(cores, speedups, count, 2))
        return MEND_ERR_CONFIG;
    if (count > MEND_PLAN_POINTS)
        return mend_fail(MEND_ERR_CONFIG, "a speedup table has at most %d points, not %d",
                         MEND_PLAN_POINTS, count);
    for (int i = 1; i < count; i++)
        if (cores[i] <= cores[i - 1])
            return mend_fail(MEND_ERR_CONFIG, "the cores of point %d do not grow", i + 1);
    memset(speedup, 0, sizeof *speedup);
    speedup->curve = MEND_PLAN_TABLE;
    speedup->points = count;
    memcpy(speedup->cores, cores, (size_t)count * sizeof *cores);
    memcpy(speedup->speedup, speedups, (size_t)count * sizeof *speedups);
    set_tangents(speedup);
    return 0;
}
