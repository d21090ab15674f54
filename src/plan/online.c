/* The planner inside a running job: measured costs, observed failures, and "is a checkpoint due now?".
 *
 * The failures of a level are a Poisson process of unknown rate. The belief about the rate is a Gamma distribution.
 * It starts with the weight of `prior_failures` failures seen in as many MTBFs. After n failures in t seconds its
 * mean is (prior + n) / (prior * MTBF + t).
 *
 * The planner reviews the plan when a belief has changed by a tenth since the last review. It changes the plan only
 * when the new one saves `gain` of the overhead that the old one has under the new beliefs.
 */
#include <math.h>
#include <string.h>

#include <base/fail.h>
#include <base/grow.h>

#include "search/search.h"

static const double notable = 0.1; /* a change of a belief that calls for a review */

static int check_options(const mend_plan_online_options *o)
{
    if (o->levels < 1 || o->levels > MEND_PLAN_LEVELS)
        return mend_fail(MEND_ERR_CONFIG, "the number of levels must be 1 to %d, not %d",
                         MEND_PLAN_LEVELS, o->levels);
    for (int i = 0; i < o->levels; i++) {
        if (!(o->mtbf[i] > 0 && isfinite(o->mtbf[i])))
            return mend_fail(MEND_ERR_CONFIG, "the MTBF of level %d must be above 0", i + 1);
        if (!(o->checkpoint[i] >= 0 && isfinite(o->checkpoint[i])) ||
            !(o->recovery[i] >= 0 && isfinite(o->recovery[i])))
            return mend_fail(MEND_ERR_CONFIG, "the costs of level %d must not be negative", i + 1);
    }
    if (!(o->prior_failures >= 0 && isfinite(o->prior_failures)) ||
        !(o->allocation >= 0 && isfinite(o->allocation)) || !(o->gain >= 0 && o->gain < 1) ||
        !(o->min_period >= 0 && isfinite(o->min_period)) ||
        !(o->max_period >= 0 && isfinite(o->max_period)))
        return mend_fail(MEND_ERR_CONFIG, "an option of the planner is not usable");
    return 0;
}

static int has_level(const mend_plan_online *online, int level)
{
    return level >= 1 && level <= online->options.levels;
}

double mend_plan_online_rate(const mend_plan_online *online, int level, double *deviation)
{
    if (!has_level(online, level))
        return 0;
    double prior = online->options.prior_failures;
    double shape = prior + online->failures[level - 1];
    double seconds = prior * online->options.mtbf[level - 1] + online->exposure;
    if (deviation)
        *deviation = sqrt(shape) / seconds;
    return shape / seconds;
}

static void present_site(const mend_plan_online *online, site *site)
{
    memset(site, 0, sizeof *site);
    site->cores = 1;
    site->levels = online->options.levels;
    site->allocation = online->options.allocation;
    for (int i = 0; i < site->levels; i++) {
        site->checkpoint[i] = fmax(1e-9, online->checkpoint[i] + online->beside[i]);
        site->recovery[i] = online->recovery[i];
        site->rate[i] = mend_plan_online_rate(online, i + 1, NULL);
        site->all_rates += site->rate[i];
    }
}

/* The current plan as a pattern. Returns the interval of its lowest level. */
static double present_ladder(const mend_plan_online *online, ladder *ladder)
{
    double interval = 0, last = 0;
    memset(ladder, 0, sizeof *ladder);
    for (int i = 0; i < online->options.levels; i++) {
        if (!(online->period[i] > 0))
            continue;
        if (ladder->used)
            ladder->count[ladder->used - 1] = fmax(1, rint(online->period[i] / last));
        else
            interval = online->period[i];
        last = online->period[i];
        ladder->level[ladder->used++] = i;
        ladder->count[ladder->used - 1] = 1;
    }
    return interval;
}

static double moved(double now, double before)
{
    return fabs(now - before) > notable * fmax(now, before);
}

static int beliefs_moved(const mend_plan_online *online, const site *site)
{
    for (int i = 0; i < site->levels; i++)
        if (moved(site->rate[i], online->planned_rate[i]) ||
            moved(site->checkpoint[i], online->planned_checkpoint[i]) ||
            moved(site->recovery[i] + site->allocation,
                  online->planned_recovery[i] + site->allocation))
            return 1;
    return 0;
}

static void adopt(mend_plan_online *online, const ladder *ladder, double interval)
{
    const mend_plan_online_options *o = &online->options;
    memset(online->period, 0, sizeof online->period);
    if (o->max_period > 0)
        interval = fmin(interval, o->max_period);
    for (int g = 0; g < ladder->used; g++) {
        if (g == 0 || ladder->count[g - 1] > 1) /* else only the higher one is ever written */
            online->period[ladder->level[g]] = fmax(interval, o->min_period);
        else {
            online->period[ladder->level[g - 1]] = 0;
            online->period[ladder->level[g]] = fmax(interval, o->min_period);
        }
        interval *= ladder->count[g];
    }
    online->plans++;
}

/* Review the plan, if the beliefs have changed. */
static void replan(mend_plan_online *online)
{
    site site;
    ladder ladder, present;
    double interval;
    present_site(online, &site);
    if (online->plans && !beliefs_moved(online, &site))
        return;
    memcpy(online->planned_rate, site.rate, sizeof site.rate);
    memcpy(online->planned_checkpoint, site.checkpoint, sizeof site.checkpoint);
    memcpy(online->planned_recovery, site.recovery, sizeof site.recovery);
    double best = mend_plan_search_endless(&site, &ladder, &interval) - 1;
    if (online->plans) {
        double base = present_ladder(online, &present);
        double now = mend_plan_endless_value(&site, &present, base) - 1;
        if (!(best < now * (1 - online->options.gain)))
            return;
    }
    adopt(online, &ladder, interval);
}

int mend_plan_online_start_sized(mend_plan_online *online, size_t size,
                                 const mend_plan_online_options *options, size_t options_size,
                                 double now)
{
    if (mend_size_same("mend_plan_online", size, sizeof *online) ||
        mend_size_same("mend_plan_online_options", options_size, sizeof *options))
        return MEND_ERR_UNSUPPORTED;
    if (check_options(options))
        return MEND_ERR_CONFIG;
    memset(online, 0, sizeof *online);
    online->options = *options;
    if (options->prior_failures == 0)
        online->options.prior_failures = 1;
    if (options->gain == 0)
        online->options.gain = 0.1;
    for (int i = 0; i < options->levels; i++) {
        online->checkpoint[i] = options->checkpoint[i] > 0 ? options->checkpoint[i] : 1;
        online->recovery[i] =
            options->recovery[i] > 0 ? options->recovery[i] : online->checkpoint[i];
    }
    online->clock = now;
    online->working = 1;
    replan(online);
    return 0;
}

static void advance(mend_plan_online *online, double now)
{
    double passed = now - online->clock;
    if (!(passed > 0))
        return;
    online->clock = now;
    online->exposure += passed;
    if (online->working)
        online->done += passed;
}

static int lowest_used(const mend_plan_online *online)
{
    for (int i = 0; i < online->options.levels; i++)
        if (online->period[i] > 0)
            return i;
    return online->options.levels - 1;
}

/* The job did not work from `began` to `ended`; returns that time. If this call comes late, the caller may have asked
 * in between what is due, and we counted that time as work: take it back. */
static double advance_idle(mend_plan_online *online, double began, double ended)
{
    double known = fmin(online->clock, ended) - began;
    if (known > 0 && online->working)
        online->done -= fmin(known, online->done - online->safe[lowest_used(online)]);
    advance(online, began);
    online->working = 0;
    advance(online, ended);
    online->working = 1;
    online->asked = online->done;
    return ended > began ? ended - began : 0;
}

/* The first measurement replaces the belief. Each later one moves it by its share of the mean, at least a fifth. */
static void measure(double *mean, int64_t *count, double seconds)
{
    ++*count;
    *mean += (seconds - *mean) * fmax(1.0 / (double)*count, 0.2);
}

int mend_plan_online_due(mend_plan_online *online, double now)
{
    advance(online, now);
    replan(online);
    double step = online->done - online->asked;
    if (step > 0)
        online->step += (step - online->step) * (online->step > 0 ? 0.2 : 1);
    online->asked = online->done;
    int base = lowest_used(online), due = 0;
    double period = online->period[base];
    double ahead = fmin(online->step, period) / 2; /* this safe point is closer than the next */
    if (online->done < online->retry || online->done - online->safe[base] + ahead < period)
        return 0;
    for (int i = base; i < online->options.levels; i++)
        if (online->period[i] > 0 &&
            (i == base || online->done - online->safe[i] + period / 2 >= online->period[i]))
            due = i + 1;
    return due;
}

void mend_plan_online_saved(mend_plan_online *online, int level, double began, double ended)
{
    double seconds = advance_idle(online, began, ended);
    if (!has_level(online, level))
        return;
    measure(&online->checkpoint[level - 1], &online->saves[level - 1], seconds);
    for (int i = 0; i < level; i++)
        online->safe[i] = online->done;
}

void mend_plan_online_beside(mend_plan_online *online, int level, double seconds)
{
    if (has_level(online, level) && seconds >= 0 && isfinite(seconds))
        measure(&online->beside[level - 1], &online->besides[level - 1], seconds);
}

void mend_plan_online_save_failed(mend_plan_online *online, double began, double ended)
{
    advance_idle(online, began, ended);
    online->retry = online->done + online->period[lowest_used(online)];
}

void mend_plan_online_failure(mend_plan_online *online, int level, double now)
{
    advance(online, now);
    online->working = 0;
    if (!has_level(online, level))
        return;
    online->failures[level - 1]++;
    online->done = online->safe[level - 1];
    online->retry = fmin(online->retry, online->done);
    for (int i = 0; i < level; i++)
        online->safe[i] = online->done;
}

void mend_plan_online_recovered(mend_plan_online *online, int level, double began, double ended)
{
    double seconds = advance_idle(online, began, ended);
    if (has_level(online, level)) {
        measure(&online->recovery[level - 1], &online->recoveries[level - 1],
                fmax(0, seconds - online->options.allocation));
    } else if (level == 0) {
        online->done = online->asked = online->retry = 0;
        memset(online->safe, 0, sizeof online->safe);
    }
}

double mend_plan_online_period(const mend_plan_online *online, int level)
{
    return has_level(online, level) ? online->period[level - 1] : 0;
}

double mend_plan_online_overhead(const mend_plan_online *online)
{
    site site;
    ladder ladder;
    present_site(online, &site);
    double interval = present_ladder(online, &ladder);
    double value = mend_plan_endless_value(&site, &ladder, interval);
    return isfinite(value) ? 1 - 1 / value : 1;
}
