/* Our own launcher: its command line, and what it reports while the job runs. */
#include "launch.h"
#include "run/run.h"

#include <base/config.h>
#include <base/event.h>
#include <base/fail.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool run_is_ours(const struct run_job *job)
{
    return strcmp(job->launcher, "mpirun") != 0;
}

/* Are there words that only mpirun understands? */
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

/* Ours for Open MPI, where it was built; but what was written for mpirun still means mpirun. */
const char *run_usual_launcher(const struct run_job *job)
{
    char path[4400];
    bool ours = strcmp(job->mpi, "openmpi") == 0 &&
                !(job->launcher_args && is_for_mpirun(job->launcher_args)) &&
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

/* Flags of mpirun that name parameters of Open MPI are variables here; how it places ranks is our own business. All
 * variables go to all nodes; those that -x sets are for the ranks, not for us. */
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

static bool add_flags(const struct run_job *job, struct run_words *command)
{
    struct run_words flags = {0};
    bool several = job->host || job->hostfile, openmpi = strcmp(job->mpi, "openmpi") == 0;
    if (openmpi && (run_add_flags(&flags, job->online ? "openmpi" : "openmpi-relaunch") ||
                    run_add_flags(&flags, several       ? "openmpi-nodes"
                                          : job->refill ? "openmpi-one-node-spawn"
                                                        : "openmpi-one-node")))
        return false;
    if (job->launcher_args)
        run_add_split(&flags, job->launcher_args);
    bool ok = take_flags(&flags, command);
    for (int i = 0; i < flags.count; i++)
        free(flags.word[i]);
    free(flags.word);
    return ok;
}

/* One task a node, which may use all that the job has there. Its step survives what happens to the other nodes. */
static const char srun[] = "srun -Q --overlap --mpi=none --cpu-bind=none --kill-on-bad-exit=0 "
                           "--export=ALL -N1 -n1 -w";

/* On one machine only a machine that stands still is silent, or a disk: then waiting is better than a relaunch. */
static double silence_allowed(const struct run_job *job)
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
    snprintf(number, sizeof number, "%g", silence_allowed(job));
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

/* ---- reports --------------------------------------------------------------------------------- */

/* The next launch leaves it out. */
static void avoid(struct run_job *job, const char *host)
{
    char *list = NULL;
    if (asprintf(&list, "%s%s%s", job->avoid ? job->avoid : "", job->avoid ? "," : "", host) < 0)
        abort();
    free(job->avoid);
    job->avoid = list;
}

static void avoid_no_more(struct run_job *job, const char *host)
{
    char *list = job->avoid, *rest = list;
    job->avoid = NULL;
    for (char *name; list && (name = strsep(&rest, ","));)
        if (strcmp(name, host) != 0)
            avoid(job, name);
    free(list);
}

static void note_added(struct run_job *job, const char *host, int slots)
{
    mend_event("launch.added", ev_str("host", host), ev_int("slots", slots));
    if (!job->quiet)
        fprintf(stderr, "\nmend: node %s is part of the job now, with %d slots\n", host, slots);
    avoid_no_more(job, host);
}

static void note_unadded(struct run_job *job, const char *host, const char *how)
{
    mend_event("launch.unadded", ev_str("host", host), ev_str("how", how));
    avoid_no_more(job, host); /* not twice */
    avoid(job, host);
}

static void note_lost(struct run_job *job, const char *host, int count, const char *how)
{
    mend_event("launch.lost", ev_str("host", host), ev_int("processes", count), ev_str("how", how));
    if (!job->quiet)
        fprintf(stderr, "\nmend: node %s is lost (%s), with %d processes\n", host, how, count);
    avoid_no_more(job, host); /* not twice */
    avoid(job, host);
}

static void note(struct run_job *job, struct run_follower *f, const char *line)
{
    char host[256], how[16];
    int rank, n, used = 0;
    double seconds;
    if (sscanf(line, "lost %255s %d %n", host, &n, &used) == 2 && used)
        note_lost(job, host, n, line + used);
    else if (sscanf(line, "added %255s %d", host, &n) == 2)
        note_added(job, host, n);
    else if (sscanf(line, "unadded %255s %n", host, &used) == 1 && used)
        note_unadded(job, host, line + used);
    else if (sscanf(line, "ended %d %15s %d", &rank, how, &n) == 3) {
        bool badly = n != 0;
        if (badly)
            mend_event("launch.ended", ev_int("process", rank), ev_str("by", how),
                       ev_int("code", n));
        f->now.fell |= badly;
    } else if (sscanf(line, "filling %d %255s", &rank, host) == 2)
        mend_event("launch.filling", ev_int("process", rank), ev_str("host", host));
    else if (sscanf(line, "filled %d %255s %lf", &rank, host, &seconds) == 3) {
        mend_event("launch.filled", ev_int("process", rank), ev_str("host", host),
                   ev_real("seconds", seconds));
        f->now.refilled++;
    } else if (sscanf(line, "unfilled %d", &rank) == 1)
        mend_event("launch.unfilled", ev_int("process", rank));
    else if (strncmp(line, "warned ", 7) == 0)
        f->warned = true;
    else if (sscanf(line, "messages %d %d", &rank, &n) == 2)
        mend_event("launch.messages", ev_int("sent", rank), ev_int("received", n));
}

void run_node_reports(struct run_job *job, struct run_follower *f, int report)
{
    for (;;) {
        ssize_t n = read(report, f->told + f->told_size, sizeof f->told - 1 - f->told_size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return;
        f->told_size += (size_t)n;
        f->told[f->told_size] = 0;
        char *line = f->told;
        for (char *end; (end = strchr(line, '\n')); line = end + 1) {
            *end = 0;
            note(job, f, line);
        }
        f->told_size -= (size_t)(line - f->told);
        memmove(f->told, line, f->told_size + 1);
        if (f->told_size == sizeof f->told - 1)
            f->told_size = 0; /* no line is that long */
    }
}
