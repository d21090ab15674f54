/* The keys of a model file: what each means, and what they mean together. */
#include "read/reader.h"

#include <math.h>
#include <string.h>

#include <base/fail.h>

#define FAIL(reader, ...) mend_plan_lines_fail(&(reader)->lines, __VA_ARGS__)

/* ---- keys --------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    enum section section;
} keys[KEYS] = {
    [KEY_WORK] = {"work", SECTION_JOB},
    [KEY_SPEEDUP] = {"speedup", SECTION_JOB},
    [KEY_CORES] = {"cores", SECTION_JOB},
    [KEY_MIN_CORES] = {"min_cores", SECTION_JOB},
    [KEY_MAX_CORES] = {"max_cores", SECTION_JOB},
    [KEY_ALLOCATION] = {"allocation", SECTION_JOB},
    [KEY_RATES_AT] = {"rates_at", SECTION_JOB},
    [KEY_WRITE] = {"write", SECTION_JOB},
    [KEY_FAILURES] = {"failures", SECTION_JOB},
    [KEY_JITTER] = {"jitter", SECTION_JOB},
    [KEY_NODES] = {"nodes", SECTION_JOB},
    [KEY_MIN_NODES] = {"min_nodes", SECTION_JOB},
    [KEY_MAX_NODES] = {"max_nodes", SECTION_JOB},
    [KEY_CORES_PER_NODE] = {"cores_per_node", SECTION_JOB},
    [KEY_DEADLINE] = {"deadline", SECTION_JOB},
    [KEY_SLACK] = {"slack", SECTION_JOB},
    [KEY_COMPUTE] = {"compute", SECTION_POWER},
    [KEY_IO] = {"io", SECTION_POWER},
    [KEY_IDLE] = {"idle", SECTION_POWER},
    [KEY_COST] = {"cost", SECTION_LEVEL},
    [KEY_RECOVERY] = {"recovery", SECTION_LEVEL},
    [KEY_FAILURES_PER_DAY] = {"failures_per_day", SECTION_LEVEL},
    [KEY_MTBF] = {"mtbf", SECTION_LEVEL},
    [KEY_FAILURES_TOTAL] = {"failures_total", SECTION_LEVEL},
    [KEY_NODE_MTBF] = {"node_mtbf", SECTION_LEVEL},
    [KEY_NAME] = {"name", SECTION_LEVEL},
};

static int read_job_key(reader *reader, enum key key, const char *value)
{
    mend_plan_model *model = reader->model;
    switch (key) {
    case KEY_WORK: return mend_plan_read_work(reader, value, &model->work);
    case KEY_SPEEDUP: return mend_plan_read_speedup(reader, value);
    case KEY_CORES: return mend_plan_read_free(reader, "cores", value, &model->cores);
    case KEY_NODES: return mend_plan_read_free(reader, "nodes", value, &reader->nodes);
    case KEY_MIN_NODES:
        return mend_plan_read_number(reader, "min_nodes", value, 1, &reader->min_nodes);
    case KEY_MAX_NODES:
        return mend_plan_read_number(reader, "max_nodes", value, 1, &reader->max_nodes);
    case KEY_CORES_PER_NODE:
        return mend_plan_read_number(reader, "cores_per_node", value, 1, &model->cores_per_node);
    case KEY_DEADLINE: return mend_plan_read_seconds(reader, "deadline", value, &model->deadline);
    case KEY_SLACK: return mend_plan_read_slack(reader, value);
    case KEY_MIN_CORES:
        return mend_plan_read_number(reader, "min_cores", value, 1, &model->min_cores);
    case KEY_MAX_CORES:
        return mend_plan_read_number(reader, "max_cores", value, 1, &model->max_cores);
    case KEY_ALLOCATION:
        return mend_plan_read_seconds(reader, "allocation", value, &model->allocation);
    case KEY_RATES_AT: return mend_plan_read_number(reader, "rates_at", value, 1, &model->rates_at);
    case KEY_WRITE: return mend_plan_read_write(reader, value);
    case KEY_FAILURES: return mend_plan_read_distribution(reader, value);
    case KEY_JITTER: return mend_plan_read_jitter(reader, value);
    case KEY_COMPUTE: return mend_plan_read_watts(reader, "compute", value, &model->watts_compute);
    case KEY_IO: return mend_plan_read_watts(reader, "io", value, &model->watts_io);
    default: return mend_plan_read_watts(reader, "idle", value, &model->watts_idle);
    }
}

static int read_level_key(reader *reader, enum key key, const char *value)
{
    mend_plan_level *level = &reader->model->level[reader->level];
    double *rate = &reader->per_second[reader->level];
    int code;
    switch (key) {
    case KEY_COST:
        code = mend_plan_read_cost(reader, "cost", value, &level->checkpoint);
        if (!code && level->checkpoint.fixed + level->checkpoint.slope <= 0)
            return FAIL(reader, "cost must be above 0");
        return code;
    case KEY_RECOVERY: return mend_plan_read_cost(reader, "recovery", value, &level->recovery);
    case KEY_FAILURES_PER_DAY:
        code = mend_plan_read_number(reader, "failures_per_day", value, 0, rate);
        *rate /= 86400;
        return code;
    case KEY_MTBF: return mend_plan_read_mtbf(reader, "mtbf", value, rate);
    case KEY_NODE_MTBF: return mend_plan_read_mtbf(reader, "node_mtbf", value, rate);
    case KEY_NAME: return mend_plan_read_name(reader, value);
    default: return mend_plan_read_total(reader, value, &level->total_per_core);
    }
}

int mend_plan_key(reader *reader, const char *name, const char *value)
{
    static const char *const sections[] = {"", "[job]", "[power]", "a level"};
    if (reader->section == SECTION_NONE)
        return FAIL(reader, "the key \"%s\" comes before the first section", name);
    for (int key = 0; key < KEYS; key++) {
        if (keys[key].section != reader->section || strcmp(keys[key].name, name))
            continue;
        int *seen = &reader->seen[reader->section == SECTION_LEVEL ? reader->level + 1 : 0][key];
        if (*seen)
            return FAIL(reader, "%s was given in line %d already", name, *seen);
        *seen = reader->lines.number;
        return reader->section == SECTION_LEVEL ? read_level_key(reader, (enum key)key, value)
                                                : read_job_key(reader, (enum key)key, value);
    }
    return FAIL(reader, "%s has no key \"%s\"", sections[reader->section], name);
}

/* ---- what the keys mean together ------------------------------------------------------------ */

/* Fail with the line of a key, or with the last line if it was not given. */
#define FAIL_AT(reader, line, ...) \
    ((reader)->lines.number = (line) ? (line) : (reader)->lines.number, FAIL(reader, __VA_ARGS__))

/* Turn nodes into cores. */
static int finish_nodes(reader *reader)
{
    static const enum key pairs[][2] = {
        {KEY_NODES, KEY_CORES}, {KEY_MIN_NODES, KEY_MIN_CORES}, {KEY_MAX_NODES, KEY_MAX_CORES}};
    mend_plan_model *model = reader->model;
    const int *seen = reader->seen[0];
    for (int i = 0; i < 3; i++)
        if (seen[pairs[i][0]] && seen[pairs[i][1]])
            return FAIL_AT(reader, seen[pairs[i][0]], "%s and %s cannot both be given",
                           keys[pairs[i][0]].name, keys[pairs[i][1]].name);
    if (!(model->cores_per_node > 0))
        model->cores_per_node = seen[KEY_NODES] || seen[KEY_MAX_NODES] ? 1 : 0;
    if (seen[KEY_NODES])
        model->cores = reader->nodes * model->cores_per_node;
    if (seen[KEY_MIN_NODES])
        model->min_cores = reader->min_nodes * fmax(1, model->cores_per_node);
    if (seen[KEY_MAX_NODES])
        model->max_cores = reader->max_nodes * model->cores_per_node;
    return 0;
}

static int finish_cores(reader *reader)
{
    mend_plan_model *model = reader->model;
    const int *seen = reader->seen[0];
    double peak = mend_plan_speedup_peak(&model->speedup);
    if (model->cores > 0) {
        if (model->cores > peak)
            return FAIL_AT(reader, seen[KEY_CORES],
                           "%.10g cores are beyond the speedup's peak at %.10g", model->cores,
                           peak);
        if (seen[KEY_MAX_CORES] && model->cores > model->max_cores)
            return FAIL_AT(reader, seen[KEY_CORES], "%.10g cores are more than max_cores",
                           model->cores);
        return 0;
    }
    if (!seen[KEY_MAX_CORES] && !seen[KEY_MAX_NODES]) {
        if (!isfinite(peak))
            return FAIL_AT(reader, seen[KEY_CORES], "cores are free: max_cores is missing");
        model->max_cores = peak;
    }
    if (model->max_cores > peak)
        return FAIL_AT(reader, seen[KEY_MAX_CORES] + seen[KEY_MAX_NODES],
                       "max_cores %.10g is beyond the speedup's peak at %.10g", model->max_cores,
                       peak);
    if (model->min_cores > model->max_cores)
        return FAIL_AT(reader, seen[KEY_MIN_CORES], "min_cores is more than max_cores");
    return 0;
}

static int finish_level(reader *reader, int i)
{
    mend_plan_model *model = reader->model;
    const int *seen = reader->seen[i + 1];
    int line = reader->level_line[i];
    int given = !!seen[KEY_FAILURES_PER_DAY] + !!seen[KEY_MTBF] + !!seen[KEY_FAILURES_TOTAL] +
                !!seen[KEY_NODE_MTBF];
    if (!seen[KEY_COST])
        return FAIL_AT(reader, line, "[level %d] has no cost", i + 1);
    if (given != 1)
        return FAIL_AT(reader, line,
                       "[level %d] needs one of failures_per_day, mtbf, node_mtbf and "
                       "failures_total",
                       i + 1);
    if (!seen[KEY_RECOVERY])
        model->level[i].recovery = model->level[i].checkpoint;
    if (seen[KEY_NODE_MTBF]) {
        if (!(model->cores_per_node > 0))
            return FAIL_AT(reader, seen[KEY_NODE_MTBF],
                           "node_mtbf needs cores_per_node, or nodes, in [job]");
        model->level[i].rate_per_core = reader->per_second[i] / model->cores_per_node;
        return 0;
    }
    if (reader->per_second[i] > 0 && !(model->rates_at > 0))
        return FAIL_AT(reader, line,
                       "cores are free: rates_at (the scale of the failure rates) is missing");
    if (reader->per_second[i] > 0)
        model->level[i].rate_per_core = reader->per_second[i] / model->rates_at;
    return 0;
}

int mend_plan_keys_finish(reader *reader)
{
    mend_plan_model *model = reader->model;
    if (!reader->job_line)
        return FAIL(reader, "there is no section [job]");
    if (!reader->seen[0][KEY_WORK])
        return FAIL_AT(reader, reader->job_line, "[job] has no work");
    while (model->levels < MEND_PLAN_LEVELS && reader->level_line[model->levels])
        model->levels++;
    for (int i = model->levels; i < MEND_PLAN_LEVELS; i++)
        if (reader->level_line[i])
            return FAIL_AT(reader, reader->level_line[i], "[level %d] comes without [level %d]",
                           i + 1, model->levels + 1);
    if (!model->levels)
        return FAIL(reader, "there is no section [level 1]");
    if (finish_nodes(reader) || finish_cores(reader))
        return MEND_ERR_CONFIG;
    if (!reader->seen[0][KEY_RATES_AT])
        model->rates_at = model->cores;
    for (int i = 0; i < model->levels; i++)
        if (finish_level(reader, i))
            return MEND_ERR_CONFIG;
    return mend_plan_pass_on(reader, "the model", mend_plan_model_check(model));
}
