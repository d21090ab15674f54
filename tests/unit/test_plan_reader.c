/* Reading models, traces and measurements: what is understood, and what is refused with its line.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "plan_random.h"

static int parse(mend_plan_model *m, const char *text)
{
    return mend_plan_model_parse(m, "job.ini", text, strlen(text));
}

static const char head[] = "[job]\nwork = 2e6 core-days\nspeedup = quadratic 0.46 1e6\n";
static const char tail[] = "[level 1]\ncost = 50 s\nfailures_per_day = 4\n";

static void assert_equal(double value, double wanted)
{
    if (!(fabs(value - wanted) <= 1e-14 * fabs(wanted)))
        fail_msg("%.17g is not %.17g", value, wanted);
}

static void test_everything_is_understood(void **state)
{
    (void)state;
    mend_plan_model m;
    const char text[] = "; a comment\n# another\n"
                        "[job]\n"
                        "work = 2e6 core-days ; behind\n"
                        "  speedup = quadratic 0.46 1e6\r\n"
                        "cores = free\n"
                        "min_cores=1000\n"
                        "max_cores: 9e5\n"
                        "allocation = 1.5 min\n"
                        "rates_at = 1e6\n"
                        "write = all\n"
                        "failures = weibull 0.7\n"
                        "jitter = 0.3\n"
                        "[power]\n"
                        "compute = 8 W\n"
                        "io = 0.004 kW\n"
                        "idle = 2\n"
                        "[level 2]\n"
                        "cost = 5.5 s + 0.0212 s * N\n"
                        "recovery = 2 h\n"
                        "failures_total = 0.005 * N\n"
                        "[level 1]\n"
                        "cost = 2.5 ms * N^0.5\n"
                        "mtbf = 0.5 d";
    if (parse(&m, text))
        fail_msg("%s", mend_error_text());
    assert_equal(m.work, 2e6 * 86400);
    assert_int_equal(m.speedup.curve, MEND_PLAN_QUADRATIC);
    assert_equal(m.speedup.peak, 1e6);
    assert_true(m.cores == 0);
    assert_equal(m.min_cores, 1000);
    assert_equal(m.max_cores, 9e5);
    assert_equal(m.allocation, 90);
    assert_true(m.write == 1);
    assert_equal(m.weibull_shape, 0.7);
    assert_equal(m.jitter, 0.3);
    assert_equal(m.watts_compute, 8);
    assert_equal(m.watts_io, 4);
    assert_equal(m.watts_idle, 2);
    assert_int_equal(m.levels, 2);
    assert_equal(mend_plan_cost_at(&m.level[0].checkpoint, 400), 0.05);
    assert_equal(mend_plan_cost_at(&m.level[0].recovery, 400), 0.05); /* as the checkpoint */
    assert_equal(m.level[0].rate_per_core, 1 / 43200.0 / 1e6);
    assert_equal(mend_plan_cost_at(&m.level[1].checkpoint, 1000), 26.7);
    assert_equal(mend_plan_cost_at(&m.level[1].recovery, 1000), 7200);
    assert_equal(m.level[1].total_per_core, 0.005);
}

static void test_nodes(void **state)
{
    (void)state;
    mend_plan_model m;
    if (parse(&m, "[job]\nwork = 1e6 core-hours\nnodes = 128\ncores_per_node = 64\n"
                  "deadline = 2 w\nslack = 5 %\n"
                  "[level 1]\ncost = 10\nnode_mtbf = 5 y\nname = partner\n"
                  "[level 2]\ncost = 100\nmtbf = 30 d\nname = global\n"))
        fail_msg("%s", mend_error_text());
    assert_equal(m.cores, 8192);
    assert_true(fabs(m.level[0].rate_per_core * m.cores * 5 * 31557600 / 128 - 1) < 1e-12);
    assert_true(fabs(m.level[1].rate_per_core * m.cores * 30 * 86400 - 1) < 1e-12);
    assert_equal(m.deadline, 14 * 86400);
    assert_equal(m.slack, 0.05);
    assert_string_equal(m.name[1], "global");
    if (parse(&m,
              "[job]\nwork = 1e6 core-hours\nmax_nodes = 100\nmin_nodes = 2\ncores_per_node = 64\n"
              "[level 1]\ncost = 10\nnode_mtbf = 5 y\n"))
        fail_msg("%s", mend_error_text());
    assert_true(m.cores == 0 && m.max_cores == 6400 && m.min_cores == 128);
}

static void test_units_of_work(void **state)
{
    (void)state;
    const struct {
        const char *text;
        double seconds;
    } works[] = {{"5", 5},
                 {"5 s", 5},
                 {"5 min", 300},
                 {"2 d", 172800},
                 {"3 core-hours", 10800},
                 {"3core-h", 10800},
                 {"1.5e3 core-seconds", 1500},
                 {"2 core-years", 2 * 31557600.0}};
    for (size_t i = 0; i < sizeof works / sizeof *works; i++) {
        char text[256];
        mend_plan_model m;
        snprintf(text, sizeof text, "[job]\nwork = %s\ncores = 10\n%s", works[i].text, tail);
        if (parse(&m, text))
            fail_msg("%s: %s", works[i].text, mend_error_text());
        assert_equal(m.work, works[i].seconds);
        assert_equal(m.level[0].rate_per_core, 4 / 86400.0 / 10); /* rates_at is cores */
    }
}

/* Each with the line that the sentence must name, and a word of it. */
static void test_refused_with_line(void **state)
{
    (void)state;
    const struct {
        const char *before, *line, *after;
        int number;
        const char *word;
    } cases[] = {
        {"", "", "", 0, "no section [job]"},
        {"", "work = 1", "", 1, "before the first section"},
        {"[job]\n", "", "[level 1]\ncost = 1\nmtbf = 1 d\n", 1, "no work"},
        {"[job]\n", "work = 2e6 core-weeks", "", 2, "core-weeks"},
        {"[job]\n", "work = -5 s", "", 2, "above 0"},
        {"[job]\n", "work = 0", "", 2, "above 0"},
        {"[job]\n", "work = nan", "", 2, "nan"},
        {"[job]\n", "work = 1e999", "", 2, "work"},
        {"[job]\n", "work = 0x10", "", 2, "x10"},
        {"[job]\n", "work =", "", 2, "work"},
        {"[job]\n", "just words", "", 2, "key = value"},
        {"[job]\n", "colour = blue", "", 2, "no key \"colour\""},
        {"[job]\n", "cost = 5 s", "", 2, "no key \"cost\""},
        {"[job]\nwork = 5\n", "work = 6", "", 3, "line 2 already"},
        {"[job]\nwork = 5\n", "[job]", "", 3, "began in line 1"},
        {"[job]\n", "[level 0]", "", 2, "1 to 8"},
        {"[job]\n", "[level 9]", "", 2, "1 to 8"},
        {"[job]\n", "[level 1]x", "", 2, "brackets"},
        {"[job]\n", "[level 1", "", 2, "brackets"},
        {"[job]\n", "[jobs]", "", 2, "no section [jobs]"},
        {"[job]\n", "[]", "", 2, "no section []"},
        {"[level 1]\ncost = 5 s\n", "[level 1]", "", 3, "began in line 1"},
        {"[level 1]\n", "cost = -5 s", "", 2, "negative"},
        {"[level 1]\n", "cost = 0", "", 2, "above 0"},
        {"[level 1]\n", "cost = 5 parsec", "", 2, "parsec"},
        {"[level 1]\n", "cost = 5 s + 3 s", "", 2, "TIME * N"},
        {"[level 1]\n", "cost = 5 s + -3 s * N", "", 2, "negative"},
        {"[level 1]\n", "cost = 5 s * M", "", 2, "* M"},
        {"[level 1]\n", "cost = 5 s * N^-1", "", 2, "understood"},
        {"[level 1]\n", "cost = fit costs.txt", "", 2, "may not name a file"},
        {"[level 1]\n", "recovery = soon", "", 2, "soon"},
        {"[level 1]\n", "failures_per_day = -1", "", 2, "at least 0"},
        {"[level 1]\n", "failures_per_day = 4 per day", "", 2, "per day"},
        {"[level 1]\n", "failures_total = 0.005", "", 2, "* N"},
        {"[level 1]\n", "mtbf = 0 s", "", 2, "above 0"},
        {"[job]\n", "speedup = cubic 1", "", 2, "cubic"},
        {"[job]\n", "speedup = linear", "", 2, "one number"},
        {"[job]\n", "speedup = linear -1", "", 2, "above 0"},
        {"[job]\n", "speedup = quadratic 0.46", "", 2, "two numbers"},
        {"[job]\n", "speedup = amdahl 1.5", "", 2, "0 to 1"},
        {"[job]\n", "speedup = table points.txt", "", 2, "may not name a file"},
        {"[job]\n", "cores = many", "", 2, "many"},
        {"[job]\n", "cores = 0.5", "", 2, "at least 1"},
        {"[job]\n", "jitter = 1", "", 2, "below 1"},
        {"[job]\n", "failures = normal", "", 2, "weibull"},
        {"[job]\n", "failures = weibull 0", "", 2, "0.1 to 10"},
        {"[job]\n", "write = none", "", 2, "highest"},
        {"[job]\n", "slack = -1", "", 2, "0 to 100"},
        {"[job]\n", "slack = 10 percent", "", 2, "percent"},
        {"[job]\n", "deadline = soon", "", 2, "soon"},
        {"[level 1]\n", "name = tape", "", 2, "tape"},
        {"[job]\nwork = 5\ncores = 10\n", "nodes = 10", tail, 4, "cannot both"},
        {head, "cores = 10", "[level 1]\ncost = 1\nnode_mtbf = 5 y\n", 7, "needs cores_per_node"},
        {head, "cores = 10", "[level 1]\ncost = 1e300 s\nmtbf = 1 d\n", 7, "at most 1e+09 s"},
        {head, "cores = 10", "[level 1]\ncost = 1\nmtbf = 1e-20 s\n", 7, "are too many"},
        {head, "cores = 10\nallocation = 1e12", tail, 8, "too long"},
        {"[job]\nwork = 1e300\n", "cores = 10", tail, 6, "too many"},
        {"[job]\nwork = 5\n", "cores = 1e30", tail, 6, "too many"},
        {"[power]\n", "compute = 5 MW", "", 2, "MW"},
        {head, "cores = 2e6", tail, 4, "beyond the speedup's peak"},
        {head, "max_cores = 2e6", tail, 4, "beyond the speedup's peak"},
        {head, "cores = free", tail, 5, "rates_at"},
        {head, "min_cores = 1e6\nmax_cores = 10\nrates_at = 1", tail, 4, "min_cores"},
        {"[job]\nwork = 5\n", "cores = free", tail, 3, "max_cores is missing"},
        {head, "cores = 10", "", 4, "no section [level 1]"},
        {head, "cores = 10", "[level 2]\ncost = 1\nmtbf = 1 d\n", 5, "without [level 1]"},
        {head, "cores = 10", "[level 1]\nmtbf = 1 d\n", 5, "no cost"},
        {head, "cores = 10", "[level 1]\ncost = 1\n", 5, "needs one of"},
        {head, "cores = 10", "[level 1]\ncost = 1\nmtbf = 1 d\nfailures_per_day = 1\n", 5,
         "needs one of"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1024], place[32];
        mend_plan_model m;
        snprintf(text, sizeof text, "%s%s%s%s", cases[i].before, cases[i].line,
                 *cases[i].line ? "\n" : "", cases[i].after);
        if (parse(&m, text) != MEND_ERR_CONFIG)
            fail_msg("accepted: %s", text);
        snprintf(place, sizeof place, "job.ini:%d: ", cases[i].number);
        const char *sentence = mend_error_text();
        if (strncmp(sentence, place, strlen(place)) || !strstr(sentence, cases[i].word) ||
            strchr(sentence, '\n'))
            fail_msg("\"%s\" said \"%s\", not \"%s… %s\"", cases[i].line, sentence, place,
                     cases[i].word);
    }
}

static void test_odd_bytes(void **state)
{
    (void)state;
    mend_plan_model m;
    char text[4096], line[3000];
    assert_int_equal(mend_plan_model_parse(&m, "f", "[job]\nwo\0rk = 1\n", 15), MEND_ERR_CONFIG);
    assert_non_null(strstr(mend_error_text(), "f:2: the line holds a zero byte"));
    memset(line, 'x', sizeof line);
    line[sizeof line - 1] = 0;
    snprintf(text, sizeof text, "[job]\nwork = %s\n", line);
    assert_int_equal(parse(&m, text), MEND_ERR_CONFIG);
    assert_non_null(strstr(mend_error_text(), "job.ini:2: the line is longer"));
    snprintf(text, sizeof text, "# %s\n[job]\nwork = 5 ; %s\ncores = 1\n%s", line, "x", tail);
    assert_int_equal(parse(&m, text), 0); /* long comments are fine */
    snprintf(text, sizeof text, "\xef\xbb\xbf[job]\nwork = 5\ncores = 1\n%s", tail);
    assert_int_equal(parse(&m, text), 0); /* a byte order mark */
}

static void put_file(const char *folder, const char *name, const char *text)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/* Measurements in files next to the model's: table II of the paper, and a speedup. */
static void test_measurements(void **state)
{
    (void)state;
    char folder[] = "/tmp/mend-plan-XXXXXX", path[512];
    mend_plan_model m;
    assert_non_null(mkdtemp(folder));
    put_file(folder, "costs",
             "# cores, levels 1 to 4\n128 0.9 2.53 3.7 7\n256 .67 2.54 4.1 8.1\n"
             "384 0.67 2.25 3.9 14.3\n512 0.99 3.05 4.12 21.3\n1024 1.1 2.56 3.61 25.15\n");
    put_file(folder, "speedups", "1 1\n10 9\n100 70 ; measured\n200 90\n400 80\n");
    put_file(folder, "job.ini",
             "[job]\nwork = 1 d\ncores = 100\nspeedup = table speedups\n"
             "[level 1]\ncost = mean costs\nmtbf = 1 h\n"
             "[level 2]\ncost = fit costs 5\nmtbf = 1 d\n");
    snprintf(path, sizeof path, "%s/job.ini", folder);
    if (mend_plan_model_read(&m, path))
        fail_msg("%s", mend_error_text());
    assert_equal(mend_plan_speedup_at(&m.speedup, 100), 70);
    assert_equal(mend_plan_speedup_peak(&m.speedup), 200);
    assert_equal(m.level[0].checkpoint.fixed, 0.866);
    assert_true(fabs(m.level[1].checkpoint.slope - 0.0212543) < 1e-7);
    put_file(folder, "job.ini", "[job]\nwork = 1 d\ncores = 300\nspeedup = table speedups\n");
    assert_int_equal(mend_plan_model_read(&m, path), MEND_ERR_CONFIG);
    put_file(folder, "job.ini",
             "[job]\nwork = 1 d\ncores = 10\nspeedup = fit quadratic speedups\n"
             "[level 1]\ncost = 1\nmtbf = 1 h\n");
    assert_int_equal(mend_plan_model_read(&m, path), 0);
    assert_true(m.speedup.slope > 0.5 && m.speedup.slope < 1 && m.speedup.peak > 150);
    put_file(folder, "speedups", "1 1\n10 nine\n");
    assert_int_equal(mend_plan_model_read(&m, path), MEND_ERR_CONFIG);
    assert_non_null(strstr(mend_error_text(), "job.ini:4: speedup: "));
    assert_non_null(strstr(mend_error_text(), "speedups:2: this is not a row"));
    put_file(folder, "job.ini", "[job]\nwork = 1 d\nspeedup = table nowhere\n");
    assert_int_equal(mend_plan_model_read(&m, path), MEND_ERR_CONFIG);
    assert_non_null(strstr(mend_error_text(), "job.ini:3: speedup: cannot open"));
    remove(path);
    assert_true(mend_plan_model_read(&m, path) < 0);
    assert_true(mend_plan_model_read(&m, folder) < 0);
    const char *names[] = {"costs", "speedups"};
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        remove(path);
    }
    assert_int_equal(rmdir(folder), 0);
}

static void test_traces(void **state)
{
    (void)state;
    mend_plan_trace t;
    const char good[] = "# time level\n10 1\n0.5 h 2\n\n1 d 1 ; last\n";
    assert_int_equal(mend_plan_trace_parse(&t, "t", good, strlen(good)), 0);
    assert_int_equal(t.count, 3);
    assert_true(t.events[1].seconds == 1800 && t.events[1].level == 2);
    assert_equal(t.seconds, 86400 * 4 / 3.0);
    mend_plan_trace_free(&t);
    const char ended[] = "10 1\nend 2 d\n";
    assert_int_equal(mend_plan_trace_parse(&t, "t", ended, strlen(ended)), 0);
    assert_equal(t.seconds, 172800);
    mend_plan_trace_free(&t);
    const struct {
        const char *text, *sentence;
    } bad[] = {
        {"", "t:0: the trace has no length"},
        {"10 1\n5 1\n", "t:2: the failure at 5 s comes after one at 10 s"},
        {"10\n", "t:1: this is not 'TIME LEVEL'"},
        {"10 0\n", "t:1: the level must be"},
        {"10 1.5\n", "t:1: the level must be"},
        {"10 9\n", "t:1: the level must be"},
        {"10 1 x\n", "t:1: this is not"},
        {"-1 1\n", "t:1: the failure at -1 s comes after"},
        {"10 1\nend 5\n", "t:2: the trace ends before"},
        {"end 5\n10 1\n", "t:2: the trace goes on"},
        {"0 1\n", "t:1: the trace has no length"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(mend_plan_trace_parse(&t, "t", bad[i].text, strlen(bad[i].text)),
                         MEND_ERR_CONFIG);
        if (strncmp(mend_error_text(), bad[i].sentence, strlen(bad[i].sentence)))
            fail_msg("%s: %s", bad[i].text, mend_error_text());
    }
}

/* A program that was built with other headers is refused before anything is read or written beyond its structures. */
static void test_other_sizes_are_refused(void **state)
{
    (void)state;
    mend_plan_model model;
    mend_plan_request request = {0};
    mend_plan plan;
    mend_plan_outcome outcome;
    mend_plan_trial trial = {.runs = 1};
    mend_plan_sample sample;
    mend_plan_online online;
    mend_plan_online_options options = {.levels = 1, .mtbf = {1000}};
    memset(&model, 0, sizeof model); /* not begun with mend_plan_model_init() */
    assert_int_equal(mend_plan_model_check(&model), MEND_ERR_UNSUPPORTED);
    assert_non_null(strstr(mend_error_text(), "0 bytes in the program"));
    memset(&model, 0xee, sizeof model);
    mend_plan_model_init_sized(&model, sizeof model - 8); /* an older header */
    assert_int_equal(((unsigned char *)&model)[sizeof model - 8], 0xee);
    assert_int_equal(mend_plan_make(&model, &request, &plan), MEND_ERR_UNSUPPORTED);
    mend_plan_model_init(&model);
    assert_int_equal(mend_plan_make_sized(&model, &request, sizeof request, &plan, sizeof plan + 8),
                     MEND_ERR_UNSUPPORTED);
    assert_non_null(strstr(mend_error_text(), "mend_plan has"));
    assert_int_equal(mend_plan_expect_sized(&model, &plan, sizeof plan, &outcome, 8),
                     MEND_ERR_UNSUPPORTED);
    assert_int_equal(mend_plan_simulate_sized(&model, &plan, sizeof plan, &trial, sizeof trial,
                                              &sample, sizeof sample - 8),
                     MEND_ERR_UNSUPPORTED);
    assert_int_equal(
        mend_plan_online_start_sized(&online, sizeof online, &options, sizeof options + 8, 0),
        MEND_ERR_UNSUPPORTED);
    assert_int_equal(mend_plan_online_start(&online, &options, 0), 0);
    assert_int_equal(mend_plan_model_parse_sized(&model, 16, "m", "", 0), MEND_ERR_UNSUPPORTED);
    assert_int_equal(mend_plan_model_read_sized(&model, 16, "m"), MEND_ERR_UNSUPPORTED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_everything_is_understood),
        cmocka_unit_test(test_nodes),
        cmocka_unit_test(test_units_of_work),
        cmocka_unit_test(test_refused_with_line),
        cmocka_unit_test(test_odd_bytes),
        cmocka_unit_test(test_measurements),
        cmocka_unit_test(test_traces),
        cmocka_unit_test(test_other_sizes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
