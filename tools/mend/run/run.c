/* mend run: an unmodified MPI program that survives the death of its processes.
 *
 *   1. Launch the ranks and the spares; each is a capsule (src/capsule). With ULFM they repair the
 *      job themselves, and this command only prints the output that is final, and watches.
 *   2. If the job is torn down nevertheless (the launcher or a daemon was killed, no process is left
 *      for a rank), launch it again from the newest version on disk, up to --retries times without
 *      progress.
 * The job has ended well when every rank says so in the events. We do not trust the launcher's exit
 * code alone.
 */
#include "check/capsule.h"
#include "check/identity.h"
#include "check/startable.h"
#include "filters.h"
#include "run.h"
#include "start/start.h"
#include "tool.h"

#include <base/config.h>
#include <base/io.h>
#include <mend/error.h>

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* The ranks check this on every node; this check reports it before anything is started. */
static int check_local_folder(const struct run_job *job)
{
    char folder[64];
    if (job->local_dir || job->host || job->hostfile || !(job->local_every || job->erasure_every))
        return TOOL_OK;
    snprintf(folder, sizeof folder, "/tmp/mend-%d", (int)getuid());
    if (mend_io_make_private(folder))
        return tool_failed("run",
                           "the node's folder for versions is refused: %s (--local-dir names "
                           "another)",
                           mend_error_text());
    return TOOL_OK;
}

/* Are new processes to take the place of used spares? Messages to and from them use TCP, as all messages between
 * machines do. A job on one machine would lose its shared memory with every failure: there the user decides. */
static int settle_refill(struct run_job *job)
{
    const char *wish = mend_setting_string(MEND_KEY_RUN_REFILL);
    bool can = run_is_ours(job) && job->online && job->spares > 0;
    bool automatic = strcasecmp(wish, "auto") == 0, yes = false;
    if (!automatic && mend_parse_boolean(wish, &yes))
        return tool_failed("run", "run.refill \"%s\" is not yes, no or auto", wish);
    if (job->refill < 0)
        job->refill = can && (yes || (automatic && (job->host || job->hostfile)));
    if (job->refill && !can)
        return tool_wrong_use("run", "--refill needs %s",
                              !run_is_ours(job) ? "--launcher mend, which starts the new processes"
                              : !job->online    ? "--online"
                                                : "at least one spare (--spares)");
    return TOOL_OK;
}

/* Resume the job of an earlier life of this Slurm job, with the options that it had then. */
static int take_up(const struct run_job *job, bool json)
{
    char before[32], *words[8] = {"restart", (char *)job->dir};
    int count = 2;
    if (job->quiet)
        words[count++] = "-q";
    if (json)
        words[count++] = "--json";
    if (job->stop_before >= 0) {
        snprintf(before, sizeof before, "%.6g", job->stop_before);
        words[count++] = "--stop-before";
        words[count++] = before;
    }
    return mend_cmd_restart(count, words);
}

int mend_cmd_run(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--help") == 0) {
        fputs(run_help, stdout);
        return TOOL_OK;
    }
    bool json = false;
    struct run_job job = {.ranks = 0, /* not set */
                          .spares = 1,
                          .retries = 3,
                          .patience = 1800,
                          .online = true,
                          .every = 5, /* until the planner decides */
                          .automatic = true,
                          .from = -1,
                          .partner_every = 1,
                          .disk_every = 5,
                          .levels = "memory,partner,global:5",
                          .refill = -1,
                          .stop_before = -1,
                          .mpi = "openmpi"};
    if (mend_setting_string(MEND_KEY_RUN_LAUNCHER)[0])
        job.launcher = mend_setting_string(MEND_KEY_RUN_LAUNCHER);
    int rc = run_options(&job, &json, argc, argv);
    if (rc)
        return rc;
    if (job.add)
        return run_add_hosts(&job);
    if (!run_parse_share(mend_setting_string(MEND_KEY_RUN_SHARE), &job.share))
        return tool_failed("run", "run.share \"%s\" is not a share of the time, as 1%%",
                           mend_setting_string(MEND_KEY_RUN_SHARE));
    struct slurm_past past;
    rc = slurm_place(&job, &past);
    if (rc)
        return rc;
    if (past.resume)
        return take_up(&job, json);
    if (past.ended) {
        if (!job.quiet)
            fprintf(stderr, "mend: the job in %s had ended before this Slurm job was requeued\n",
                    job.dir);
        return TOOL_OK;
    }
    if (job.ranks == 0)
        job.ranks = 1;
    if (!job.launcher)
        job.launcher = run_usual_launcher(&job);
    if (strcmp(job.mpi, "mpich") == 0 && job.online) {
        fprintf(stderr,
                "mend: MPICH has no ULFM: the job survives failures by relaunch, not in place\n");
        job.online = false;
    }
    rc = settle_refill(&job);
    bool elsewhere = job.host || job.hostfile || (job.launcher_args && !run_is_ours(&job));
    if (!rc && !job.resume) /* a resumed program comes from its images */
        rc = startable_check(job.program[0], elsewhere);
    if (!rc && !job.resume)
        rc = program_check("run", job.program[0]);
    if (!rc && !elsewhere)
        rc = filters_check("run");
    if (!rc)
        rc = identity_find(&job);
    if (!rc)
        rc = check_local_folder(&job);
    if (!rc)
        rc = run_prepare_folder(&job);
    if (!rc && job.detach) {
        rc = run_detach(&job);
        if (rc >= 0)
            return rc;
        rc = TOOL_OK;
    }
    return rc ? rc : run_launches(&job, json);
}
