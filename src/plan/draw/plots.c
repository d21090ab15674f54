/* Plots: the curves and bars that show a plan or a simulation. */
#include <plan/plots.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "search/pattern.h"
#include "search/search.h"
#include "draw/svg.h"

enum { MOST_POINTS = 64, BARS = 6 };

static const char *const line_style = "stroke=\"#0072b2\" stroke-width=\"2\"";
static const char *const thin_style =
    "stroke=\"#888\" stroke-width=\"1.5\" stroke-dasharray=\"5 3\"";
static const char *const mark_colour = "#d55e00";

/* ---- bars: where the time goes -------------------------------------------------------------- */

typedef struct bar {
    char name[40];
    mend_plan_outcome outcome;
} bar;

static const struct {
    const char *name, *colour;
} shares[] = {{"work", "#0072b2"},
              {"checkpoint", "#e69f00"},
              {"restart", "#009e73"},
              {"lost work", "#d55e00"}};

static void put_legend(FILE *out, double x, double y)
{
    for (int i = 0; i < 4; i++) {
        mend_plan_svg_box(out, x + 92 * i, y - 10, 12, 12, shares[i].colour, shares[i].name);
        mend_plan_svg_text(out, x + 92 * i + 17, y, "start", "fill=\"#444\"", "%s", shares[i].name);
    }
}

/* A bar that exceeds the axis fills it, with its shares in proportion. */
static void put_bar(FILE *out, const axis *x, double y, const bar *bar, double unit,
                    const char *unit_name)
{
    const mend_plan_outcome *o = &bar->outcome;
    double parts[] = {o->work, o->checkpoint, o->restart, o->lost}, sum = 0;
    int beyond = o->seconds > x->high;
    double scale = beyond ? x->high / o->seconds : 1;
    mend_plan_svg_text(out, x->begin - 8, y + 15, "end", "", "%s", bar->name);
    for (int i = 0; i < 4; i++) {
        char tip[96];
        double from = mend_plan_axis_at(x, sum * scale);
        sum += parts[i];
        snprintf(tip, sizeof tip, "%s: %.4g %s (%.1f %%)", shares[i].name, parts[i] / unit,
                 unit_name, 100 * parts[i] / o->seconds);
        mend_plan_svg_box(out, from, y, mend_plan_axis_at(x, sum * scale) - from, 22,
                          shares[i].colour, tip);
    }
    mend_plan_svg_text(out, mend_plan_axis_at(x, o->seconds * scale) + 5, y + 15, "start",
                       "fill=\"#444\"", beyond ? "… %.3g %s" : "%.4g %s", o->seconds / unit,
                       unit_name);
}

/* Bars below each other. A bar longer than three times the shortest is not to scale. */
static void put_bars(FILE *out, axis x, axis y, const bar *bars, int count, const char *title)
{
    double shortest = HUGE_VAL, longest = 0;
    const char *unit_name;
    for (int i = 0; i < count; i++)
        shortest = fmin(shortest, bars[i].outcome.seconds);
    for (int i = 0; i < count; i++)
        if (bars[i].outcome.seconds <= 3 * shortest)
            longest = fmax(longest, bars[i].outcome.seconds);
    double unit = mend_plan_time_unit(longest, &unit_name);
    x.low = 0;
    x.high = longest;
    mend_plan_svg_text(out, x.begin, y.end - 12, "start", "font-weight=\"bold\"", "%s", title);
    for (int i = 0; i < count; i++)
        put_bar(out, &x, y.end + 26 + 34 * i, &bars[i], unit, unit_name);
    put_legend(out, x.begin, y.end + 8);
}

static int method_bars(const mend_plan_model *model, const mend_plan *plan, bar *bars)
{
    static const mend_plan_method methods[] = {MEND_PLAN_BEST, MEND_PLAN_ALGORITHM1,
                                               MEND_PLAN_ALGORITHM1_ONCE, MEND_PLAN_DALY,
                                               MEND_PLAN_YOUNG};
    int count = 0, shown = 0;
    for (int i = 0; i < 5; i++) {
        mend_plan other;
        mend_plan_request request = {.method = methods[i]};
        if (mend_plan_make(model, &request, &other))
            continue;
        if (methods[i] == plan->method &&
            fabs(other.expected.seconds - plan->expected.seconds) < 1e-9 * other.expected.seconds)
            shown = 1;
        snprintf(bars[count].name, sizeof bars[count].name, "%s",
                 mend_plan_method_name(methods[i]));
        bars[count++].outcome = other.expected;
    }
    if (!shown) { /* another objective, a single level, or intervals set by hand */
        memmove(bars + 1, bars, (size_t)count * sizeof *bars);
        snprintf(bars[0].name, sizeof bars[0].name, "this plan");
        bars[0].outcome = plan->expected;
        count++;
    }
    return count;
}

/* ---- curves --------------------------------------------------------------------------------- */

/* Frame the points from slightly below the lowest up to a few times it. */
static void fit_axis(axis *y, const double *ys, int count, double most)
{
    double low = HUGE_VAL, high = 0;
    for (int i = 0; i < count; i++)
        low = fmin(low, ys[i]);
    for (int i = 0; i < count; i++)
        if (ys[i] <= most * low)
            high = fmax(high, ys[i]);
    double margin = fmax(0.08 * (high - low), 1e-3 * low);
    y->low = fmax(0, low - margin);
    y->high = high + margin;
}

static double seconds_at(const mend_plan_model *model, const mend_plan_request *request,
                         double cores)
{
    mend_plan_model fixed = *model;
    mend_plan_request time = *request;
    mend_plan plan;
    fixed.cores = cores;
    if (request->method == MEND_PLAN_BEST) {
        search search = {.model = &fixed, .quick = 1};
        candidate best;
        mend_plan_search(&search, &best);
        return best.value;
    }
    time.objective = MEND_PLAN_TIME; /* at fixed cores */
    return mend_plan_make(&fixed, &time, &plan) ? HUGE_VAL : plan.expected.seconds;
}

static void plot_cores(FILE *out, axis x, axis y, const mend_plan_model *model,
                       const mend_plan_request *request, const mend_plan *plan)
{
    double xs[MOST_POINTS], ys[MOST_POINTS], alone[MOST_POINTS];
    int count = model->levels <= 4 ? 48 : 20;
    double peak = fmin(mend_plan_speedup_peak(&model->speedup), 4 * plan->cores);
    x.logarithmic = 1;
    x.low = fmax(1, fmax(model->cores > 0 ? 1 : model->min_cores, plan->cores / 16));
    x.high = model->cores > 0 ? peak : fmin(peak, model->max_cores);
    for (int i = 0; i < count; i++) {
        xs[i] = x.low * pow(x.high / x.low, i / (count - 1.0));
        ys[i] = seconds_at(model, request, xs[i]);
        alone[i] = model->work / mend_plan_speedup_at(&model->speedup, xs[i]);
    }
    ys[count] = plan->expected.seconds; /* inside the frame in any case */
    fit_axis(&y, ys, count + 1, 8);
    for (int i = 0; i + 1 < count && ys[i] > y.high && xs[i + 1] < plan->cores; i++)
        x.low = xs[i + 1];
    y.low = fmin(y.low, alone[count - 1] * 0.95);
    const char *unit_name;
    double unit = mend_plan_time_unit(y.high, &unit_name);
    char label[64];
    snprintf(label, sizeof label, "expected time [%s]", unit_name);
    mend_plan_svg_frame(out, &x, &y, 1, unit, "Expected time by number of cores", "cores", label);
    mend_plan_svg_curve(out, &x, &y, xs, alone, count, thin_style);
    mend_plan_svg_curve(out, &x, &y, xs, ys, count, line_style);
    mend_plan_svg_dot(out, mend_plan_axis_at(&x, plan->cores),
                      mend_plan_axis_at(&y, plan->expected.seconds), mark_colour);
    mend_plan_svg_text(out, x.end, y.end + 12, "end", "fill=\"#888\"",
                       "dashed: the work alone, no failure");
}

/* The pattern with `count` intervals of rank g in one of the next rank, keeping the periods below as close as nesting
 * allows. */
static void change_rank(const ladder *from, int g, double count, ladder *to)
{
    *to = *from;
    double below = from->count[g];
    to->count[g] = count;
    for (int k = g - 1; k >= 0; k--) {
        below *= from->count[k];
        double present = count;
        for (int j = g - 1; j > k; j--)
            present *= to->count[j];
        to->count[k] = fmax(1, rint(below / present));
    }
}

static int points_of_rank(const mend_plan_model *model, const mend_plan *plan, const ladder *ladder,
                          int g, double *periods, double *seconds)
{
    site site;
    double above = 1, last = 0;
    int count = 0;
    mend_plan_site(model, plan->cores, &site);
    for (int k = g + 1; k < ladder->used; k++)
        above *= ladder->count[k];
    for (int i = 0; i < 48; i++) {
        pattern pattern = {.nested = 1};
        double wanted = rint(ladder->count[g] * pow(8, 1 - 2 * i / 47.0));
        if (wanted < 1 || wanted == last)
            continue;
        last = wanted;
        change_rank(ladder, g, wanted, &pattern.ladder);
        mend_plan_site(model, plan->cores, &site);
        seconds[count] = mend_plan_settle(model, &site, &pattern);
        periods[count++] = site.work / (above * wanted);
    }
    return count;
}

static void plot_level(FILE *out, axis x, axis y, const mend_plan_model *model,
                       const mend_plan *plan, const ladder *ladder, int g)
{
    double periods[MOST_POINTS], seconds[MOST_POINTS];
    char title[64], x_label[64], y_label[64];
    const char *x_name, *y_name;
    int count = points_of_rank(model, plan, ladder, g, periods, seconds);
    if (count < 2)
        return;
    x.logarithmic = 1;
    x.low = periods[0];
    x.high = periods[count - 1];
    fit_axis(&y, seconds, count, 4);
    double x_unit = mend_plan_time_unit(x.low, &x_name),
           y_unit = mend_plan_time_unit(y.low, &y_name);
    snprintf(title, sizeof title, "Level %d", ladder->level[g] + 1);
    snprintf(x_label, sizeof x_label, "work between checkpoints [%s]", x_name);
    snprintf(y_label, sizeof y_label, "expected time [%s]", y_name);
    mend_plan_svg_frame(out, &x, &y, x_unit, y_unit, title, x_label, y_label);
    mend_plan_svg_curve(out, &x, &y, periods, seconds, count, line_style);
    int chosen = 0;
    double best = HUGE_VAL;
    double intervals = 1;
    for (int k = g; k < ladder->used; k++)
        intervals *= ladder->count[k];
    double period = model->work / mend_plan_speedup_at(&model->speedup, plan->cores) / intervals;
    for (int i = 0; i < count; i++)
        if (fabs(log(periods[i] / period)) < best)
            best = fabs(log(periods[i] / period)), chosen = i;
    if (mend_plan_axis_holds(&y, seconds[chosen]))
        mend_plan_svg_dot(out, mend_plan_axis_at(&x, periods[chosen]),
                          mend_plan_axis_at(&y, seconds[chosen]), mark_colour);
}

void mend_plan_plot(FILE *out, const mend_plan_model *model, const mend_plan_request *request,
                    const mend_plan *plan)
{
    enum { WIDTH = 1080, TOP = 330, ROW = 270, ACROSS = 3 };
    pattern pattern;
    bar bars[BARS];
    if (mend_plan_pattern(model, plan, &pattern))
        return;
    ladder ladder = pattern.ladder;
    if (!plan->nested)
        mend_plan_nest(model->levels, plan->intervals, pattern.first, &ladder);
    int rows = (ladder.used + ACROSS - 1) / ACROSS;
    mend_plan_svg_begin(out, WIDTH, TOP + ROW * rows, "Mend: expected time of a plan");
    plot_cores(out, (axis){.begin = 75, .end = 500}, (axis){.begin = 270, .end = 40}, model,
               request, plan);
    int count = method_bars(model, plan, bars);
    put_bars(out, (axis){.begin = 660, .end = 975}, (axis){.begin = 270, .end = 40}, bars, count,
             "Where the time goes, by method");
    for (int g = 0; g < ladder.used; g++) {
        int row = g / ACROSS;
        double left = 75 + 350.0 * (g % ACROSS), bottom = TOP + ROW * row + 215.0;
        plot_level(out, (axis){.begin = left, .end = left + 265},
                   (axis){.begin = bottom, .end = bottom - 180}, model, plan, &ladder, g);
    }
    mend_plan_svg_end(out);
}

/* ---- simulation ----------------------------------------------------------------------------- */

static void plot_histogram(FILE *out, axis x, axis y, const mend_plan_sample *sample,
                           const double *seconds, const mend_plan_outcome *expected)
{
    enum { BINS = 40 };
    double counts[BINS] = {0}, highest = 0;
    x.low = sample->fastest;
    x.high = sample->slowest;
    if (expected) {
        x.low = fmin(x.low, expected->seconds);
        x.high = fmax(x.high, expected->seconds);
    }
    if (!(x.high > x.low))
        x.low *= 0.99, x.high *= 1.01;
    for (int i = 0; i < sample->runs; i++) {
        int bin = (int)((seconds[i] - x.low) / (x.high - x.low) * BINS);
        counts[bin < 0 ? 0 : bin >= BINS ? BINS - 1 : bin]++;
    }
    for (int i = 0; i < BINS; i++)
        highest = fmax(highest, counts[i]);
    y.low = 0;
    y.high = highest * 1.05;
    const char *unit_name;
    char label[64];
    double unit = mend_plan_time_unit(x.low, &unit_name), width = (x.end - x.begin) / BINS;
    snprintf(label, sizeof label, "time of a run [%s]", unit_name);
    mend_plan_svg_frame(out, &x, &y, unit, 1, "Times of the runs", label, "runs");
    for (int i = 0; i < BINS; i++) {
        double top = mend_plan_axis_at(&y, counts[i]);
        mend_plan_svg_box(out, x.begin + i * width + 0.5, top, width - 1, y.begin - top, "#9ecae1",
                          "runs");
    }
    double mean = mend_plan_axis_at(&x, sample->mean.seconds);
    mend_plan_svg_line(out, mean, y.begin, mean, y.end, line_style);
    if (expected) {
        double exact = mend_plan_axis_at(&x, expected->seconds);
        mend_plan_svg_line(out, exact, y.begin, exact, y.end,
                           "stroke=\"#d55e00\" stroke-width=\"2\" stroke-dasharray=\"4 3\"");
    }
    mend_plan_svg_text(out, x.end, y.end - 12, "end", "fill=\"#0072b2\"",
                       "mean %.6g, 95 %% between %.6g and %.6g", sample->mean.seconds / unit,
                       sample->low / unit, sample->high / unit);
    if (expected)
        mend_plan_svg_text(out, x.end, y.end + 4, "end", "fill=\"#d55e00\"", "exact %.6g",
                           expected->seconds / unit);
}

void mend_plan_plot_simulation(FILE *out, const mend_plan_sample *sample, const double *seconds,
                               const mend_plan_outcome *expected, const char *title)
{
    bar bars[2];
    int count = 0;
    snprintf(bars[count].name, sizeof bars[count].name, "simulated");
    bars[count++].outcome = sample->mean;
    if (expected) {
        snprintf(bars[count].name, sizeof bars[count].name, "exact");
        bars[count++].outcome = *expected;
    }
    mend_plan_svg_begin(out, 1080, 340, title);
    plot_histogram(out, (axis){.begin = 75, .end = 500}, (axis){.begin = 270, .end = 40}, sample,
                   seconds, expected);
    put_bars(out, (axis){.begin = 660, .end = 975}, (axis){.begin = 270, .end = 40}, bars, count,
             "Where the time went");
    mend_plan_svg_end(out);
}
