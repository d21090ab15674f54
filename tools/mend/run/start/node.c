/* Our own launcher: its command line. */
#include "launch.h"
#include "start.h"

#include <base/config.h>
#include <base/fail.h>

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool run_is_ours(const struct run_job *job)
{
    return strcmp(job->launcher, "mpirun") != 0;
}

/* Are there options that only mpirun understands? */
static bool is_for_mpirun(const char *arguments)
{
    struct run_words w = {0};
    bool theirs = false;
    run_add_split(&w, arguments);
    for (int i = 0; i < w.count; i++) {
        if (strcmp(w.word[i], "--mca") == 0)
            i += 2;
        else if (strcmp(w.word[i], "-x") == 0)
            i++;
        else
            theirs = true;
    }
    for (int i = 0; i < w.count; i++)
        free(w.word[i]);
    free(w.word);
    return theirs;
}

/* Ours, if it was built; but options for mpirun still mean mpirun. */
const char *run_usual_launcher(const struct run_job *job)
{
    char path[4400];
    bool ours = !(job->launcher_args && is_for_mpirun(job->launcher_args)) &&
                tool_find_file("lib/mend/mend-node", path, sizeof path);
    return ours ? "mend" : "mpirun";
}

bool run_is_binding(const char *value)
{
    static const char *const known[] = {"auto", "numa", "core", "none"};
    for (int i = 0; i < 4; i++)
        if (strcmp(value, known[i]) == 0)
            return true;
    return false;
}

static void set_parameter(const char *name, const char *value)
{
    char variable[256];
    snprintf(variable, sizeof variable, "OMPI_MCA_%.240s", name);
    setenv(variable, value, 1);
}

/* mpirun's flags for Open MPI's parameters become variables here; we place the ranks ourselves. All variables go to all
 * nodes; those that -x sets are for the ranks, not for us. */
static bool take_flags(struct run_words *flags, struct run_words *command)
{
    for (int i = 0; i < flags->count; i++) {
        char **w = flags->word + i;
        int left = flags->count - i - 1;
        if (strcmp(*w, "--mca") == 0 && left >= 2) {
            set_parameter(w[1], w[2]);
            i += 2;
        } else if (strcmp(*w, "--with-ft") == 0 && left >= 1)
            setenv("OMPI_MCA_mpi_ft_enable", "1", 1), i++;
        else if (strcmp(*w, "-x") == 0 && left >= 1) {
            run_add_option(command, "--variable", strchr(w[1], '=') ? w[1] : NULL);
            i++;
        } else if (strcmp(*w, "--bind-to") == 0 && left >= 1)
            i++;
        else if (strcmp(*w, "--oversubscribe") != 0)
            return mend_fail(MEND_ERR_ARGUMENT,
                             "%s is an argument of mpirun; Mend's launcher takes only --mca NAME "
                             "VALUE and -x NAME[=VALUE] (--launcher mpirun takes all)",
                             *w),
                   false;
    }
    return true;
}

/* Ranks that share cores must yield them while they wait. That is a system call at each turn of the library, which
 * doubles or triples the time of a short message: not if each rank has a core. (Spares sleep.) */
static bool each_has_a_core(const struct run_job *job)
{
    cpu_set_t cores;
    return !job->host && !job->hostfile && sched_getaffinity(0, sizeof cores, &cores) == 0 &&
           job->ranks <= CPU_COUNT(&cores);
}

static bool add_flags(const struct run_job *job, struct run_words *command)
{
    struct run_words flags = {0};
    bool several = job->host || job->hostfile, openmpi = strcmp(job->mpi, "openmpi") == 0;
    if (openmpi && (run_add_flags(&flags, job->online ? "openmpi" : "openmpi-relaunch") ||
                    run_add_flags(&flags, several       ? "openmpi-nodes"
                                          : job->refill ? "openmpi-one-node-spawn"
                                                        : "openmpi-one-node")))
        return false;
    if (openmpi && each_has_a_core(job))
        run_add_split(&flags, "--mca mpi_yield_when_idle 0");
    if (job->launcher_args)
        run_add_split(&flags, job->launcher_args);
    bool ok = take_flags(&flags, command);
    for (int i = 0; i < flags.count; i++)
        free(flags.word[i]);
    free(flags.word);
    return ok;
}

/* One task per node, which may use all that the job has there. Its step survives the loss of other nodes. */
static const char srun[] = "srun -Q --overlap --mpi=none --cpu-bind=none --kill-on-bad-exit=0 "
                           "--export=ALL -N1 -n1 -w";

/* On a single machine, silence means that the machine or a disk is stuck: then waiting is better than a relaunch. */
double run_silence_allowed(const struct run_job *job)
{
    enum { SEVERAL = 5, ONE = 60 }; /* machines; seconds */
    if (job->node_timeout > 0)
        return job->node_timeout;
    return job->host || job->hostfile ? SEVERAL : ONE;
}

bool run_node_command(const struct run_job *job, struct run_words *w)
{
    char path[4400], number[32], processes[32];
    if (!tool_find_file("lib/mend/mend-node", path, sizeof path))
        return mend_fail(MEND_ERR_NOT_FOUND, "mend-node is missing: this Mend was built without "
                                             "libpmix; use --launcher mpirun"),
               false;
    run_add(w, path);
    run_add(w, "head");
    if (!add_flags(job, w))
        return false;
    if (strcmp(job->mpi, "mpich") == 0)
        run_add_option(w, "--pmi", "1");
    snprintf(processes, sizeof processes, "%d", job->ranks + (job->online ? job->spares : 0));
    run_add_option(w, "-n", processes);
    snprintf(number, sizeof number, "%d", RUN_REPORT_FD);
    run_add_option(w, "--report", number);
    snprintf(number, sizeof number, "%g", run_silence_allowed(job));
    run_add_option(w, "--node-timeout", number);
    run_add_option(w, "--on-death", job->online ? "tell" : "end");
    if (job->refill)
        run_add_option(w, "--keep", processes);
    run_add_option(w, "--host", job->host);
    run_add_option(w, "--hostfile", job->hostfile);
    run_added_path(job->dir, path, sizeof path);
    run_add_option(w, "--added", path);
    snprintf(number, sizeof number, "%g", mend_setting_seconds(MEND_KEY_RUN_NODE_RETRY));
    run_add_option(w, "--retry", number);
    run_add_option(w, "--avoid", job->avoid);
    run_add_option(w, "--bind", job->bind);
    run_add_option(w, "--interface", job->interface);
    const char *agent = strcmp(job->launcher, "mend") != 0 ? job->launcher
                        : getenv("SLURM_JOB_ID")           ? srun
                                                           : "ssh -x";
    run_add_option(w, "--agent", agent);
    run_add(w, "--");
    return true;
}
