/* mend metrics: a job in the text format of Prometheus, with OpenMetrics' names and units. */
#include "metrics.h"

#include "jobfile.h"
#include "tool.h"

#include <base/fail.h>
#include <base/io.h>
#include <mend/error.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char help[] =
    "Usage: mend metrics DIR [-o FILE]\n"
    "Print metrics of the job whose folder is DIR for Prometheus.\n\n"
    "  -o, --output FILE  write them to FILE instead, atomically, for the textfile collector of\n"
    "                     the node exporter. mend run --metrics FILE does this while the job "
    "runs\n";

static const char *const level_names[METRICS_LEVELS] = {"memory", "partner", "local", "erasure",
                                                        "global"};

/* A label's value: backslash, quote and line feed are escaped. */
static void put_label(FILE *to, const char *name, const char *value, const char *before)
{
    fprintf(to, "%s%s=\"", before, name);
    for (; value && *value; value++) {
        if (*value == '\n')
            fputs("\\n", to);
        else
            fprintf(to, *value == '"' || *value == '\\' ? "\\%c" : "%c", *value);
    }
    fputc('"', to);
}

static void put_head(FILE *to, const char *name, const char *kind, const char *text)
{
    fprintf(to, "# HELP mend_%s %s\n# TYPE mend_%s %s\n", name, text, name, kind);
}

static void put(FILE *to, const char *labels, const char *name, const char *kind, const char *text,
                double value)
{
    put_head(to, name, kind, text);
    fprintf(to, "mend_%s{%s} %.15g\n", name, labels, value);
}

static double level_value(const struct metrics_level *l, int what)
{
    return what == 0   ? (double)l->versions
           : what == 1 ? (double)l->bytes
           : what == 2 ? l->seconds
                       : (double)l->failures;
}

static void put_levels(const struct metrics *m, FILE *to, const char *labels)
{
    static const char *const rows[][2] = {
        {"checkpoints_total", "Versions that are complete at a level."},
        {"checkpoint_bytes_total", "Bytes of versions at a level, of all ranks."},
        {"checkpoint_seconds_total", "Time that versions took at a level."},
        {"checkpoint_failures_total", "Versions that could not be written at a level."}};
    for (int what = 0; what < 4; what++) {
        put_head(to, rows[what][0], "counter", rows[what][1]);
        for (int i = 0; i < METRICS_LEVELS; i++)
            fprintf(to, "mend_%s{%s,level=\"%s\"} %.15g\n", rows[what][0], labels, level_names[i],
                    level_value(&m->level[i], what));
    }
}

static void put_all(const struct metrics *m, FILE *to, const char *labels, bool running)
{
    const struct {
        const char *name, *kind, *text;
        double value;
    } rows[] = {
        {"up", "gauge", "1 while the job runs.", running},
        {"ranks", "gauge", "Ranks of the job.", (double)m->ranks},
        {"spares", "gauge", "Spare processes at the launch.", (double)m->spares},
        {"start_time_seconds", "gauge", "First launch, since 1970.", m->began},
        {"version", "gauge", "Newest complete version.", (double)m->version},
        {"version_timestamp_seconds", "gauge", "When it was complete, since 1970.", m->version_at},
        {"interval_seconds", "gauge", "Interval that the planner chose; 0: none yet.", m->interval},
        {"launches_total", "counter", "Launches of the job.", (double)m->launches},
        {"torn_down_total", "counter", "Launches that were torn down.", (double)m->restarts},
        {"recoveries_total", "counter", "Failures survived in place.", (double)m->recoveries},
        {"recovery_seconds_total", "counter", "Time of these recoveries.", m->recovery_seconds},
        {"recovery_longest_seconds", "gauge", "The longest of them.", m->recovery_longest},
        {"recoveries_given_up_total", "counter",
         "Reports by ranks that no repair in place is possible.", (double)m->given_up},
        {"nodes_lost_total", "counter", "Nodes lost.", (double)m->nodes_lost},
        {"crashes_total", "counter", "Crashes of the program itself.", (double)m->crashes},
        {"silent_ranks_total", "counter", "Ranks that did not answer.", (double)m->silent},
        {"events_total", "counter", "Lines of events.jsonl.", (double)m->events},
        {"events_unreadable_total", "counter", "Of these, lines that are not events.",
         (double)m->unreadable},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        put(to, labels, rows[i].name, rows[i].kind, rows[i].text, rows[i].value);
    put_levels(m, to, labels);
}

void metrics_print(const struct metrics *m, FILE *to)
{
    json_t *job = NULL;
    char *labels = NULL;
    size_t size;
    if (jobfile_read(m->dir, &job))
        job = NULL;
    FILE *text = tool_need(open_memstream(&labels, &size));
    const char *id = job ? jobfile_member(job, "id") : NULL,
               *slurm = job ? jobfile_member(job, "slurm") : NULL,
               *state = job ? jobfile_member(job, "state") : NULL;
    put_label(text, "job_id", id ? id : m->dir, "");
    if (slurm)
        put_label(text, "slurm_job", slurm, ",");
    fclose(text);
    put_all(m, to, labels, state && strcmp(state, "running") == 0);
    free(labels);
    json_decref(job);
}

int metrics_update(struct metrics *m, const char *file)
{
    char *text = NULL;
    size_t size;
    int rc = metrics_read(m);
    FILE *to = rc ? NULL : open_memstream(&text, &size);
    if (rc || !to)
        return rc ? rc : mend_fail(MEND_ERR_NO_MEMORY, "no memory for metrics");
    metrics_print(m, to);
    fclose(to);
    rc = mend_io_replace_file(file, text, size);
    if (!rc && chmod(file, 0644))
        rc = mend_fail_errno("cannot make %s readable", file);
    free(text);
    return rc;
}

int mend_cmd_metrics(int argc, char **argv)
{
    struct metrics m = {0};
    const char *dir = NULL, *file = NULL;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0) {
            fputs(help, stdout);
            return TOOL_OK;
        }
        if (strcmp(argv[i], "-o") == 0 && i + 1 < argc)
            file = argv[++i];
        else if (argv[i][0] != '-' && !dir)
            dir = argv[i];
        else
            return tool_wrong_use("metrics", "unknown argument %s", argv[i]);
    }
    if (!dir)
        return tool_wrong_use("metrics", "name the job's folder");
    snprintf(m.dir, sizeof m.dir, "%s", dir);
    char path[4200];
    snprintf(path, sizeof path, "%s/events.jsonl", dir);
    if (access(path, R_OK))
        return tool_failed("metrics", "%s is not the folder of a job: %s cannot be read", dir,
                           path);
    int rc = file ? metrics_update(&m, file) : metrics_read(&m);
    if (rc)
        return tool_failed("metrics", "%s", mend_error_text());
    if (!file)
        metrics_print(&m, stdout);
    return fflush(stdout) ? tool_failed("metrics", "standard output cannot be written") : TOOL_OK;
}
