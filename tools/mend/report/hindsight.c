/* What the best plan would have been for a job that has ended: the planner gets its measured
 * costs and its actual failures, and the page shows the answer beside what the job did. */
#include "report.h"

#include <mend/plan.h>

#include <math.h>
#include <string.h>

enum { LEVELS = 4 };
static const char *const level_name[LEVELS] = {"memory", "local", "erasure", "global"};

struct level_seen {
    const char *name;
    int versions;   /* distinct ones */
    double seconds; /* of a save, mean */
};

static struct level_seen look_at(const struct report *r, const char *name)
{
    struct level_seen seen = {.name = name};
    long last = -1;
    int saves = 0;
    for (int i = 0; i < r->saves; i++) {
        const struct report_save *s = &r->save[i];
        if (s->failed || strcmp(s->level, name) != 0)
            continue;
        seen.versions += s->version != last;
        last = s->version;
        seen.seconds += s->seconds;
        saves++;
    }
    if (saves)
        seen.seconds /= saves;
    return seen;
}

/* The model of what happened. A level's cost includes the cost of the version in memory. Failures that memory repaired
 * belong to the first level, relaunches to the next. Returns the number of levels. */
static int model_of(const struct report *r, const struct report_sums *s, struct level_seen *seen,
                    mend_plan_model *model)
{
    int n = 0;
    mend_plan_model_init(model);
    model->work = fmax(1e-3, s->seconds - s->saving - s->recovering - s->lost - s->down);
    model->cores = 1;
    model->speedup.curve = MEND_PLAN_LINEAR;
    model->speedup.slope = 1;
    for (int i = 0; i < LEVELS; i++) {
        struct level_seen level = look_at(r, level_name[i]);
        if (!level.versions)
            continue;
        double failures = n == 0 ? s->recoveries : n == 1 ? s->relaunches : 0;
        bool in_place = s->relaunches == 0 || (n == 0 && s->recoveries > 0);
        double recovery = in_place ? s->recovery_mean : s->down / s->relaunches;
        mend_plan_level *l = &model->level[n];
        l->checkpoint.fixed = fmax(1e-6, level.seconds + (n ? seen[0].seconds : 0));
        l->recovery.fixed = recovery;
        l->rate_per_core = failures / s->seconds;
        seen[n++] = level;
    }
    if (n == 1)
        model->level[0].rate_per_core += s->relaunches / s->seconds;
    model->levels = n;
    return n;
}

void report_hindsight(FILE *out, const struct report *r, const struct report_sums *s)
{
    struct level_seen seen[LEVELS];
    mend_plan_model model;
    mend_plan plan;
    mend_plan_request request = {0};
    if (s->seconds <= 0 || !model_of(r, s, seen, &model))
        return;
    fputs("<section id='hindsight'><h2>With hindsight</h2>", out);
    if (s->recoveries + s->relaunches == 0) {
        fprintf(out,
                "<p>Nothing failed: the checkpoints were insurance, for %.2f %% of the "
                "time.</p></section>",
                100 * s->saving / s->seconds);
        return;
    }
    if (mend_plan_make(&model, &request, &plan)) {
        fprintf(out, "<p>No plan could be made for these costs and failures: ");
        report_text(out, mend_error_text());
        fputs(".</p></section>", out);
        return;
    }
    double worked = s->seconds - model.work, best = plan.expected.seconds - model.work;
    fputs("<table><tr><th>level</th><th>versions</th><th>interval</th><th>best interval</th></tr>",
          out);
    for (int i = 0; i < model.levels; i++) {
        fprintf(out, "<tr><td>%s</td><td>%d</td><td>%.3g s</td>", seen[i].name, seen[i].versions,
                s->seconds / seen[i].versions);
        if (plan.intervals[i] > 1)
            fprintf(out, "<td>%.3g s</td></tr>", mend_plan_period(&model, &plan, i + 1));
        else
            fputs("<td>not used</td></tr>", out);
    }
    fprintf(out,
            "</table><p>Time not spent on work: %.3g s. The best plan for these costs and this "
            "rate of failures is "
            "expected to take %.3g s.</p></section>",
            worked, best);
}
