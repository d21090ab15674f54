/* Where a job of `mend run` in an allocation of Slurm runs, and in which folder. */
#include "jobfile.h"
#include "launch.h"
#include "run/run.h"
#include "slurm.h"
#include "tool.h"

#include <mend/error.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* `srun mend run` would start the job once for every task. */
static bool is_one_of_many(void)
{
    const char *tasks = getenv("SLURM_STEP_NUM_TASKS"), *step = getenv("SLURM_STEP_ID");
    return step && tasks && atoi(tasks) > 1;
}

static bool is_here(const char *host)
{
    char name[256] = "";
    size_t length = strcspn(host, ":");
    const char *node = getenv("SLURMD_NODENAME");
    gethostname(name, sizeof name - 1);
    return (node && strlen(node) == length && strncmp(node, host, length) == 0) ||
           (strcspn(name, ".") == length && strncmp(name, host, length) == 0);
}

/* The user's options win. job.json does not get the nodes that Slurm names: the next life has others. */
static void choose_nodes(struct run_job *job)
{
    char path[4400];
    const struct slurm_allocation *a = &job->slurm;
    if (job->ranks == 0)
        job->ranks = a->tasks > 0 ? a->tasks : a->nodes;
    bool ours = !job->launcher || strcmp(job->launcher, "mpirun") != 0;
    if (job->host || job->hostfile || !ours ||
        !tool_find_file("lib/mend/mend-node", path, sizeof path))
        return;
    job->placed = true;
    if (!job->launcher)
        job->launcher = "mend";
    if (a->nodes > 1 || !is_here(a->hosts)) /* all on this node: nothing goes over a network */
        job->host = a->hosts;
}

/* A margin that is small against the job, and large enough for a version on disk. */
static void choose_margin(struct run_job *job)
{
    struct slurm_allocation *a = &job->slurm;
    double left = a->ends_at - (double)time(NULL);
    if (job->stop_before < 0)
        job->stop_before = left * 0.05 > 120 ? 120 : left * 0.05 < 15 ? 15 : left * 0.05;
    if (job->stop_before == 0)
        a->ends_at = 0; /* nobody leaves for that */
}

enum found { FREE, TAKEN, WAITS, ENDED };

/* Whose folder is this? */
static enum found look_at(const char *dir, const struct slurm_allocation *a)
{
    json_t *file;
    if (jobfile_read(dir, &file))
        return access(dir, F_OK) ? FREE : TAKEN;
    const char *job = jobfile_member(file, "slurm"), *state = jobfile_member(file, "state");
    int life = (int)json_integer_value(json_object_get(file, "life"));
    enum found found = !job || strcmp(job, a->job) != 0 || life >= a->life ? TAKEN
                       : state && strcmp(state, "done") == 0               ? ENDED
                                                                           : WAITS;
    json_decref(file);
    return found;
}

/* The k-th `mend run` of a program in this life uses the folder of the k-th one in earlier lives. */
static int choose_folder(struct run_job *job, struct slurm_past *past)
{
    enum { MOST = 10000 };
    const char *name = strrchr(job->program[0], '/');
    enum found found = TAKEN;
    if (job->dir[0]) {
        found = look_at(job->dir, &job->slurm);
    } else {
        for (int k = 1; found == TAKEN && k <= MOST; k++) {
            char number[16] = "";
            if (k > 1)
                snprintf(number, sizeof number, "-%d", k);
            snprintf(job->dir, sizeof job->dir, "mend-%.200s-slurm-%s%s",
                     name ? name + 1 : job->program[0], job->slurm.job, number);
            found = look_at(job->dir, &job->slurm);
        }
        if (found == TAKEN)
            return tool_failed(
                "run", "%s and all before it exist already: name a folder with --dir", job->dir);
    }
    past->resume = found == WAITS;
    past->ended = found == ENDED;
    return TOOL_OK;
}

int slurm_place(struct run_job *job, struct slurm_past *past)
{
    *past = (struct slurm_past){0};
    if (!slurm_find(&job->slurm))
        return tool_failed("run", "%s", mend_error_text());
    if (!job->slurm.job[0])
        return TOOL_OK;
    if (is_one_of_many())
        return tool_failed("run",
                           "srun starts mend run once per task: call mend run once, in the job's "
                           "script, without srun (or start the ranks by srun mend exec)");
    choose_nodes(job);
    choose_margin(job);
    return job->resume ? TOOL_OK : choose_folder(job, past);
}
