/* The values of a model file: times, costs, curves. */
#include "read/reader.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <base/fail.h>

#define FAIL(reader, ...) mend_plan_lines_fail(&(reader)->lines, __VA_ARGS__)

static int need_end(reader *reader, const char *key, const char *at)
{
    return *at ? FAIL(reader, "%s: \"%s\" is not understood (units are us, ms, s, min, h, d, w, y)",
                      key, at)
               : 0;
}

int mend_plan_read_number(reader *reader, const char *key, const char *at, double least,
                          double *out)
{
    if (!mend_plan_scan_number(&at, out))
        return FAIL(reader, "%s must be a number, not \"%s\"", key, at);
    if (*at)
        return FAIL(reader, "%s: \"%s\" is not understood after the number", key, at);
    if (*out < least)
        return FAIL(reader, "%s must be at least %g", key, least);
    return 0;
}

int mend_plan_read_seconds(reader *reader, const char *key, const char *at, double *out)
{
    if (!mend_plan_scan_seconds(&at, out))
        return FAIL(reader, "%s must be a time, not \"%s\"", key, at);
    if (need_end(reader, key, at))
        return MEND_ERR_CONFIG;
    return *out < 0 ? FAIL(reader, "%s must not be negative", key) : 0;
}

int mend_plan_read_work(reader *reader, const char *at, double *out)
{
    static const struct {
        const char *name;
        double seconds;
    } units[] = {{"core-seconds", 1},  {"core-minutes", 60}, {"core-hours", 3600},
                 {"core-days", 86400}, {"core-s", 1},        {"core-min", 60},
                 {"core-h", 3600},     {"core-d", 86400},    {"core-years", 31557600}};
    const char *number = at;
    if (mend_plan_scan_number(&number, out))
        for (size_t i = 0; i < sizeof units / sizeof *units; i++)
            if (mend_plan_scan_word(&number, units[i].name)) {
                *out *= units[i].seconds;
                return *number     ? FAIL(reader, "work: \"%s\" is not understood", number)
                       : *out <= 0 ? FAIL(reader, "work must be above 0")
                                   : 0;
            }
    if (mend_plan_scan_seconds(&at, out) && *at)
        return FAIL(reader,
                    "work: the unit \"%s\" is not understood (core-days, core-hours, d, h, s, …)",
                    at);
    if (*at)
        return FAIL(reader, "work must be a number with a unit, not \"%s\"", at);
    return *out <= 0 ? FAIL(reader, "work must be above 0") : 0;
}

/* FILE [COLUMN]: measurements in a file next to the model's. */
static int read_columns(reader *reader, const char *key, const char *at, columns *columns)
{
    char path[2048], name[512];
    double column = 2;
    if (!*at)
        return FAIL(reader, "%s needs the name of a file", key);
    if (!reader->folder)
        return FAIL(reader, "%s may not name a file here", key);
    size_t length = strcspn(at, " \t");
    snprintf(name, sizeof name, "%.*s", (int)length, at);
    at += length;
    mend_plan_skip_blanks(&at);
    if (*at && (!mend_plan_scan_number(&at, &column) || *at || column < 2 || column > 64 ||
                column != rint(column)))
        return FAIL(reader, "%s: the column must be a whole number from 2 to 64", key);
    int used = *name == '/' ? snprintf(path, sizeof path, "%s", name)
                            : snprintf(path, sizeof path, "%s%s", reader->folder, name);
    if (used < 0 || used >= (int)sizeof path)
        return FAIL(reader, "%s: the name of the file is too long", key);
    if (mend_plan_columns_read(columns, path, (int)column)) {
        char why[400];
        snprintf(why, sizeof why, "%s", mend_error_text());
        return FAIL(reader, "%s: %s", key, why);
    }
    return 0;
}

/* Pass on the message of a fit with file and line. */
int mend_plan_pass_on(reader *reader, const char *key, int code)
{
    char why[400];
    if (!code)
        return 0;
    snprintf(why, sizeof why, "%s", mend_error_text());
    return FAIL(reader, "%s: %s", key, why);
}

static int fit_cost(reader *reader, const char *key, const char *at, int mean, mend_plan_cost *cost)
{
    columns columns = {0};
    if (read_columns(reader, key, at, &columns))
        return MEND_ERR_CONFIG;
    int code = mean ? mend_plan_fit_mean(cost, columns.second, columns.count)
                    : mend_plan_fit_cost(cost, columns.first, columns.second, columns.count);
    mend_plan_columns_free(&columns);
    return mend_plan_pass_on(reader, key, code);
}

/* "* N" or "* N^P" after a coefficient. */
static int scan_times_n(const char **at, double *power)
{
    const char *try = *at;
    *power = 1;
    if (!mend_plan_scan_word(&try, "*") || *try != 'N')
        return 0;
    try++;
    mend_plan_skip_blanks(&try);
    if (mend_plan_scan_word(&try, "^") && !(mend_plan_scan_number(&try, power) && *power > 0))
        return 0;
    *at = try;
    return 1;
}

/* TIME | TIME * N | TIME + TIME * N | fit FILE [COLUMN] | mean FILE [COLUMN] */
int mend_plan_read_cost(reader *reader, const char *key, const char *at, mend_plan_cost *cost)
{
    double value;
    *cost = (mend_plan_cost){.power = 1};
    if (mend_plan_scan_word(&at, "fit"))
        return fit_cost(reader, key, at, 0, cost);
    if (mend_plan_scan_word(&at, "mean"))
        return fit_cost(reader, key, at, 1, cost);
    if (!mend_plan_scan_seconds(&at, &value))
        return FAIL(reader, "%s must be a time, not \"%s\"", key, at);
    if (scan_times_n(&at, &cost->power)) {
        cost->slope = value;
    } else {
        cost->fixed = value;
        if (mend_plan_scan_word(&at, "+") &&
            !(mend_plan_scan_seconds(&at, &cost->slope) && scan_times_n(&at, &cost->power)))
            return FAIL(reader, "%s: after '+' comes 'TIME * N', not \"%s\"", key, at);
    }
    if (need_end(reader, key, at))
        return MEND_ERR_CONFIG;
    if (cost->fixed < 0 || cost->slope < 0)
        return FAIL(reader, "%s must not be negative", key);
    return 0;
}

static int scan_curve(const char **at, mend_plan_curve *curve)
{
    static const char *const names[] = {[MEND_PLAN_LINEAR] = "linear",
                                        [MEND_PLAN_QUADRATIC] = "quadratic",
                                        [MEND_PLAN_AMDAHL] = "amdahl",
                                        [MEND_PLAN_TABLE] = "table"};
    for (int i = 0; i < 4; i++)
        if (mend_plan_scan_word(at, names[i])) {
            *curve = (mend_plan_curve)i;
            return 1;
        }
    return 0;
}

static int speedup_from_file(reader *reader, const char *at, mend_plan_curve curve)
{
    mend_plan_speedup *speedup = &reader->model->speedup;
    columns columns = {0};
    if (read_columns(reader, "speedup", at, &columns))
        return MEND_ERR_CONFIG;
    int code =
        curve == MEND_PLAN_TABLE
            ? mend_plan_speedup_table(speedup, columns.first, columns.second, columns.count)
            : mend_plan_fit_speedup(speedup, curve, columns.first, columns.second, columns.count);
    mend_plan_columns_free(&columns);
    return mend_plan_pass_on(reader, "speedup", code);
}

/* linear K | quadratic K PEAK | amdahl SHARE | table FILE | fit CURVE FILE */
int mend_plan_read_speedup(reader *reader, const char *at)
{
    mend_plan_speedup *speedup = &reader->model->speedup;
    mend_plan_curve curve;
    double first, second = 1;
    int fit = mend_plan_scan_word(&at, "fit");
    if (!scan_curve(&at, &curve) || (fit && curve == MEND_PLAN_TABLE))
        return FAIL(reader, "speedup must be linear, quadratic, amdahl, table or fit, not \"%s\"",
                    at);
    if (fit || curve == MEND_PLAN_TABLE)
        return speedup_from_file(reader, at, curve);
    if (!mend_plan_scan_number(&at, &first) ||
        (curve == MEND_PLAN_QUADRATIC && !mend_plan_scan_number(&at, &second)) || *at)
        return FAIL(reader, curve == MEND_PLAN_QUADRATIC
                                ? "speedup: after quadratic come two numbers, slope and peak"
                                : "speedup: after its name comes one number");
    memset(speedup, 0, sizeof *speedup);
    speedup->curve = curve;
    if (curve == MEND_PLAN_AMDAHL) {
        speedup->serial = first;
        return first < 0 || first > 1 ? FAIL(reader, "speedup: the serial share is 0 to 1") : 0;
    }
    speedup->slope = first;
    speedup->peak = second;
    return first <= 0 || second < 1 ? FAIL(reader, "speedup: the slope must be above 0 and the "
                                                   "peak at least 1")
                                    : 0;
}

int mend_plan_read_free(reader *reader, const char *key, const char *at, double *out)
{
    if (!strcmp(at, "free")) {
        *out = 0;
        return 0;
    }
    return mend_plan_read_number(reader, key, at, 1, out);
}

int mend_plan_read_slack(reader *reader, const char *at)
{
    double *slack = &reader->model->slack;
    if (!mend_plan_scan_number(&at, slack))
        return FAIL(reader, "slack must be a share (0.1) or a percentage (10 %%), not \"%s\"", at);
    if (*at == '%') {
        *slack /= 100;
        at++;
    }
    if (*at)
        return FAIL(reader, "slack: \"%s\" is not understood after the number", at);
    return *slack < 0 || *slack > 100 ? FAIL(reader, "slack must be 0 to 100") : 0;
}

int mend_plan_read_name(reader *reader, const char *at)
{
    static const char *const names[] = {"memory", "local", "partner", "erasure", "global"};
    char *name = reader->model->name[reader->level];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(at, names[i])) {
            snprintf(name, sizeof reader->model->name[0], "%s", at);
            return 0;
        }
    return FAIL(reader, "name must be memory, local, partner, erasure or global, not \"%s\"", at);
}

int mend_plan_read_distribution(reader *reader, const char *at)
{
    double *shape = &reader->model->weibull_shape;
    *shape = 1;
    if (!strcmp(at, "exponential"))
        return 0;
    if (!mend_plan_scan_word(&at, "weibull") || !mend_plan_scan_number(&at, shape) || *at)
        return FAIL(reader, "failures must be 'exponential' or 'weibull SHAPE'");
    return *shape < 0.1 || *shape > 10 ? FAIL(reader, "the Weibull shape must be 0.1 to 10") : 0;
}

int mend_plan_read_write(reader *reader, const char *at)
{
    static const char *const names[] = {
        [MEND_PLAN_HIGHEST] = "highest", [MEND_PLAN_ALL] = "all", [MEND_PLAN_CHOSEN] = "chosen"};
    for (int i = 0; i < 3; i++)
        if (!strcmp(at, names[i])) {
            reader->model->write = (mend_plan_write)i;
            return 0;
        }
    return FAIL(reader, "write must be 'highest', 'all' or 'chosen', not \"%s\"", at);
}

int mend_plan_read_jitter(reader *reader, const char *at)
{
    double *jitter = &reader->model->jitter;
    if (mend_plan_read_number(reader, "jitter", at, 0, jitter))
        return MEND_ERR_CONFIG;
    return *jitter >= 1 ? FAIL(reader, "jitter must be below 1") : 0;
}

int mend_plan_read_watts(reader *reader, const char *key, const char *at, double *watts)
{
    if (!mend_plan_scan_number(&at, watts))
        return FAIL(reader, "%s must be a power in W, not \"%s\"", key, at);
    if (mend_plan_scan_word(&at, "kW"))
        *watts *= 1000;
    else
        mend_plan_scan_word(&at, "W");
    if (*at)
        return FAIL(reader, "%s: the unit \"%s\" is not understood (W, kW)", key, at);
    return *watts < 0 ? FAIL(reader, "%s must not be negative", key) : 0;
}

/* X * N */
int mend_plan_read_total(reader *reader, const char *at, double *per_core)
{
    double power;
    if (!mend_plan_scan_number(&at, per_core) || !scan_times_n(&at, &power) || *at || power != 1)
        return FAIL(reader, "failures_total must be 'NUMBER * N'");
    return *per_core < 0 ? FAIL(reader, "failures_total must not be negative") : 0;
}

int mend_plan_read_mtbf(reader *reader, const char *key, const char *at, double *rate)
{
    double seconds;
    if (mend_plan_read_seconds(reader, key, at, &seconds))
        return MEND_ERR_CONFIG;
    if (seconds <= 0)
        return FAIL(reader, "%s must be above 0", key);
    *rate = 1 / seconds;
    return 0;
}
