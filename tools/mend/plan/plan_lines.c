/* From a plan to the options of `mend run` and the lines of mend.conf.
 *
 * Mend counts in versions: it makes one a number of seconds after the last was complete, and each level takes
 * every n-th. It writes levels that are due together one by one, the fastest first. So:
 *  1. the lowest level that the plan uses gives the time between versions;
 *  2. every other level takes each n-th version, n the nearest whole multiple of the level below;
 *  3. we evaluate the result as a plan of its own, with all levels written, and print its figure. It differs
 *     from the original plan's if that is not nested or does not write all levels.
 */
#include "plan_lines.h"

#include <math.h>
#include <string.h>

typedef struct lines {
    int levels;
    const char *name[MEND_PLAN_LEVELS];
    int is_guessed;                 /* the file does not say which levels these are */
    double every[MEND_PLAN_LEVELS]; /* in versions; 0: never */
    double seconds;                 /* from the end of a version to the next */
    mend_plan plan;                 /* as Mend runs it */
} lines;

/* Which of Mend's levels are these? Returns 0 if that is unclear. */
static int name_levels(const mend_plan_model *model, lines *lines)
{
    static const char *const usual[5][5] = {{"global"},
                                            {"partner", "global"},
                                            {"local", "partner", "global"},
                                            {"local", "partner", "erasure", "global"},
                                            {"memory", "local", "partner", "erasure", "global"}};
    int named = 0;
    for (int i = 0; i < model->levels; i++) {
        lines->name[i] = model->name[i];
        named += model->name[i][0] != 0;
        for (int k = 0; k < i; k++)
            if (model->name[i][0] && !strcmp(model->name[i], model->name[k]))
                return 0;
    }
    if (named == model->levels)
        return 1;
    lines->is_guessed = 1;
    if (named || model->levels > 5)
        return 0;
    for (int i = 0; i < model->levels; i++)
        lines->name[i] = usual[model->levels - 1][i];
    return 1;
}

static int make_lines(const planning *p, lines *lines)
{
    mend_plan_model all = p->model;
    const double *x = p->plan.intervals;
    double below = 0, versions = 1, most = 1;
    memset(lines, 0, sizeof *lines);
    if (!name_levels(&p->model, lines))
        return 0;
    lines->plan = p->plan;
    lines->levels = p->model.levels;
    for (int i = 0; i < p->model.levels; i++) {
        if (!(x[i] > 1))
            continue;
        if (below > 0)
            versions *= fmax(1, rint(below / x[i]));
        lines->every[i] = versions;
        below = most == 1 ? x[i] : most / versions;
        most = fmax(most, x[i]);
    }
    if (most == 1)
        return 0; /* no level is used */
    /* enough versions to make the highest level's intervals whole */
    double total = fmax(1, rint(most / versions)) * versions;
    for (int i = 0; i < p->model.levels; i++)
        lines->plan.intervals[i] = lines->every[i] > 0 ? total / lines->every[i] : 1;
    lines->plan.nested = 1;
    lines->plan.last = 0;
    all.write = MEND_PLAN_ALL;
    if (mend_plan_expect(&all, &lines->plan, &lines->plan.expected))
        return 0;
    lines->seconds = lines->plan.expected.work / total;
    return 1;
}

/* "1393s"; no more digits than make sense. */
static const char *seconds_text(double seconds)
{
    static char text[32];
    snprintf(text, sizeof text, seconds >= 100 ? "%.0fs" : "%.3gs", seconds);
    return text;
}

static void print_levels(FILE *out, const lines *lines)
{
    int has_memory = 0;
    for (int i = 0; i < lines->levels; i++)
        has_memory |= lines->every[i] > 0 && !strcmp(lines->name[i], "memory");
    fprintf(out, "%s", has_memory ? "" : "memory"); /* always there */
    for (int i = 0, any = !has_memory; i < lines->levels; i++) {
        if (!(lines->every[i] > 0))
            continue;
        fprintf(out, "%s%s%s", any++ ? "," : "", lines->name[i],
                strcmp(lines->name[i], "erasure") ? "" : ":4+1");
        if (lines->every[i] > 1)
            fprintf(out, ":%.0f", lines->every[i]);
    }
}

void plan_lines_text(const planning *p)
{
    lines lines;
    if (!make_lines(p, &lines))
        return;
    printf("\nFor Mend%s:\n  mend run -n %.0f --every %s --levels ",
           lines.is_guessed ? ", if these are its levels (set 'name = ...' in the file)" : "",
           p->plan.cores, seconds_text(lines.seconds));
    print_levels(stdout, &lines);
    printf("\nor in mend.conf:\n  [flow]\n  every = %s\n  [store]\n", seconds_text(lines.seconds));
    for (int i = 0; i < lines.levels; i++)
        printf("  %s_every = %.0f\n", lines.name[i], lines.every[i]);
    printf("There, every is the work from the end of one checkpoint to the start of the next. Mend "
           "writes all\n"
           "levels that are due together, the fastest first: expected %s%s.\n",
           planning_time(lines.plan.expected.seconds),
           p->plan.runs ? ", if failures were exponential" : "");
}

json_t *plan_lines_json(const planning *p)
{
    lines lines;
    char *levels = NULL;
    size_t size = 0;
    FILE *text = make_lines(p, &lines) ? open_memstream(&levels, &size) : NULL;
    if (!text)
        return NULL;
    print_levels(text, &lines);
    fclose(text);
    json_t *run = json_pack("{s:s,s:s,s:o}", "every", seconds_text(lines.seconds), "levels", levels,
                            "expected_seconds", planning_number(lines.plan.expected.seconds));
    free(levels);
    return run;
}
