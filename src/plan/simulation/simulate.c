/* The simulator: it plays a plan against random or recorded failures, event by event.
 *
 * One run:
 *  1. Work until the next failure, or to the end of the run.
 *  2. After a failure of level i, go back to the newest checkpoint of level i or higher.
 *  3. Wait for the allocation and recover. A failure of level k meanwhile starts the recovery again, from further
 *     back if k is above the level being read.
 *  4. Continue with 1.
 * The simulator shares the layout of the plan with the exact evaluator, and none of its mathematics.
 */
#include <math.h>
#include <string.h>

#include <base/fail.h>
#include <base/grow.h>

#include "simulation/course.h"
#include "read/failures.h"

static const double most_failures = 1e7;

typedef struct run {
    const course *course;
    failures *failures;
    double jitter;
    double now, failure; /* time; time of the next failure */
    int level;           /* of the next failure */
    int32_t position;
    double count;                              /* failures so far */
    double working, writing, waiting, reading; /* seconds, including lost ones */
    /* Seconds of the checkpoints that count, by level, and their state at the newest checkpoint of each level or
     * higher; only needed with jitter. */
    double kept[MEND_PLAN_LEVELS];
    double kept_at[MEND_PLAN_LEVELS][MEND_PLAN_LEVELS];
} run;

static void next_failure(run *run)
{
    run->failure = mend_plan_failures_next(run->failures, &run->level);
}

/* Spend time on something; 0: a failure cut it short. */
static int spend(run *run, double seconds, double *account)
{
    double end = run->now + seconds;
    int whole = end <= run->failure;
    if (!whole)
        end = fmax(run->now, run->failure);
    *account += end - run->now;
    run->now = end;
    return whole;
}

static double jittered(run *run, double seconds)
{
    if (run->jitter == 0)
        return seconds;
    return seconds * (1 + run->jitter * (2 * random_unit(&run->failures->generator) - 1));
}

/* The failure that is due happens; returns its level. */
static int strike(run *run)
{
    int level = run->level;
    run->count++;
    mend_plan_failures_pass(run->failures, level);
    next_failure(run);
    return level;
}

static void recover(run *run)
{
    const course *course = run->course;
    int read = -1, whole;
    do {
        int level = strike(run);
        if (level > read) {
            run->position = mend_plan_course_newest(course, run->position, level);
            read = mend_plan_course_read(course, run->position, level);
        }
        whole = spend(run, course->site->allocation, &run->waiting) &&
                spend(run, jittered(run, course->site->recovery[read]), &run->reading);
    } while (!whole && run->count < most_failures);
    memcpy(run->kept, run->kept_at[read], sizeof run->kept);
    for (int i = 0; i < read; i++)
        memcpy(run->kept_at[i], run->kept, sizeof run->kept);
}

/* Without jitter we know the time to every position, so jump to the failure. Returns 1 at the end of the run. */
static int jump(run *run)
{
    const course *c = run->course;
    double begin = c->seconds[run->position], until = run->failure - run->now;
    int32_t low = run->position, high = c->length;
    if (c->seconds[high] - begin <= until) {
        low = high;
    } else {
        while (high - low > 1) { /* reached up to `low`, not up to `high` */
            int32_t middle = low + (high - low) / 2;
            if (c->seconds[middle] - begin <= until)
                low = middle;
            else
                high = middle;
        }
    }
    double passed = c->seconds[low] - begin, worked = c->work[low] - c->work[run->position];
    run->now += passed;
    run->working += worked;
    run->writing += passed - worked;
    run->position = low;
    if (low == c->length)
        return 1;
    if (spend(run, c->work[low + 1] - c->work[low], &run->working))
        spend(run, HUGE_VAL, &run->writing);
    return 0;
}

/* With jitter: one interval at a time. Returns 0 if a failure cut it short. */
static int step(run *run)
{
    const course *c = run->course;
    int32_t next = run->position + 1;
    if (!spend(run, c->work[next] - c->work[run->position], &run->working))
        return 0;
    if (next < c->length) {
        int top = 31 - __builtin_clz(c->written[next]); /* the others were written before */
        double took = jittered(run, c->site->checkpoint[top]);
        if (!spend(run, took, &run->writing))
            return 0;
        run->kept[top] += took;
        for (int i = 0; i <= top; i++)
            memcpy(run->kept_at[i], run->kept, sizeof run->kept);
    }
    run->position = next;
    return 1;
}

/* Returns 0 if the run does not end. */
static int play(run *run)
{
    next_failure(run);
    while (run->position < run->course->length) {
        if (run->jitter == 0 ? jump(run) : step(run))
            continue;
        recover(run);
        if (run->count >= most_failures)
            return 0;
    }
    return 1;
}

static void settle_account(const run *run, const mend_plan_model *model, const double *written,
                           mend_plan_outcome *outcome)
{
    const site *site = run->course->site;
    memset(outcome, 0, sizeof *outcome);
    outcome->seconds = run->now;
    outcome->work = site->work;
    for (int i = 0; i < site->levels; i++) {
        outcome->level_checkpoint[i] =
            run->jitter > 0 ? run->kept[i] : written[i] * site->checkpoint[i];
        outcome->checkpoint += outcome->level_checkpoint[i];
    }
    outcome->restart = run->waiting + run->reading;
    outcome->lost = fmax(0, run->now - outcome->work - outcome->checkpoint - outcome->restart);
    outcome->failures = run->count;
    outcome->joules = site->cores * (model->watts_compute * run->working +
                                     model->watts_io * (run->writing + run->reading) +
                                     model->watts_idle * run->waiting);
}

static void add_mean(mend_plan_outcome *mean, const mend_plan_outcome *one, int runs)
{
    mean->seconds += (one->seconds - mean->seconds) / runs;
    mean->work += (one->work - mean->work) / runs;
    mean->checkpoint += (one->checkpoint - mean->checkpoint) / runs;
    mean->restart += (one->restart - mean->restart) / runs;
    mean->lost += (one->lost - mean->lost) / runs;
    mean->failures += (one->failures - mean->failures) / runs;
    mean->joules += (one->joules - mean->joules) / runs;
    for (int i = 0; i < MEND_PLAN_LEVELS; i++)
        mean->level_checkpoint[i] += (one->level_checkpoint[i] - mean->level_checkpoint[i]) / runs;
}

/* The 97.5 % quantile of Student's t: a table, then the Cornish-Fisher expansion. */
static double student(int freedom)
{
    static const double table[] = {0,      12.7062, 4.3027, 3.1824, 2.7764, 2.5706,
                                   2.4469, 2.3646,  2.3060, 2.2622, 2.2281};
    double z = 1.959963984540054, n = freedom;
    if (freedom <= 10)
        return table[freedom < 0 ? 0 : freedom];
    return z + (pow(z, 3) + z) / (4 * n) + (5 * pow(z, 5) + 16 * pow(z, 3) + 3 * z) / (96 * n * n);
}

static int play_all(const mend_plan_model *model, const course *course, failures *failures,
                    const mend_plan_trial *trial, const double *written, mend_plan_sample *sample)
{
    double squares = 0;
    for (int i = 0; i < trial->runs; i++) {
        mend_plan_outcome outcome;
        run run = {.course = course, .failures = failures, .jitter = model->jitter};
        mend_plan_failures_start(failures, trial->seed, (uint64_t)i);
        if (!play(&run))
            return mend_fail(MEND_ERR_INFEASIBLE,
                             "run %d did not end within %g failures: %.4g of %.4g s of work done",
                             i + 1, most_failures, course->work[run.position], course->site->work);
        settle_account(&run, model, written, &outcome);
        double before = outcome.seconds - sample->mean.seconds;
        add_mean(&sample->mean, &outcome, i + 1);
        squares += before * (outcome.seconds - sample->mean.seconds);
        sample->fastest = i ? fmin(sample->fastest, outcome.seconds) : outcome.seconds;
        sample->slowest = i ? fmax(sample->slowest, outcome.seconds) : outcome.seconds;
        if (trial->seconds)
            trial->seconds[i] = outcome.seconds;
    }
    sample->runs = trial->runs;
    sample->deviation = trial->runs > 1 ? sqrt(squares / (trial->runs - 1)) : 0;
    sample->standard_error = sample->deviation / sqrt(trial->runs);
    double margin = student(trial->runs - 1) * sample->standard_error;
    sample->low = sample->mean.seconds - margin;
    sample->high = sample->mean.seconds + margin;
    return 0;
}

int mend_plan_simulate_sized(const mend_plan_model *model, const mend_plan *plan, size_t plan_size,
                             const mend_plan_trial *trial, size_t trial_size,
                             mend_plan_sample *sample, size_t sample_size)
{
    if (mend_size_same("mend_plan", plan_size, sizeof *plan) ||
        mend_size_same("mend_plan_trial", trial_size, sizeof *trial) ||
        mend_size_same("mend_plan_sample", sample_size, sizeof *sample))
        return MEND_ERR_UNSUPPORTED;
    site site;
    pattern pattern;
    course course;
    failures failures;
    double written[MEND_PLAN_LEVELS];
    if (trial->runs < 1)
        return mend_fail(MEND_ERR_CONFIG, "the number of runs must be at least 1");
    int code = mend_plan_pattern(model, plan, &pattern);
    if (code)
        return code;
    memset(sample, 0, sizeof *sample);
    mend_plan_site(model, plan->cores, &site);
    mend_plan_settle(model, &site, &pattern);
    if (mend_plan_failures_init(&failures, model, &site, trial->trace))
        return MEND_ERR_CONFIG;
    mend_plan_written(&site, &pattern, written);
    code = mend_plan_course_make(&course, &site, &pattern);
    if (code)
        return code;
    code = play_all(model, &course, &failures, trial, written, sample);
    mend_plan_course_free(&course);
    return code;
}
