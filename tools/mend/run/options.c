/* The command line of mend run. */
#include "run.h"
#include "start/start.h"
#include "tool.h"

#include <base/config.h>
#include <mend/error.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char run_help[] =
    "Usage: mend run [-n N] [OPTIONS] -- PROGRAM ARGS…\n"
    "       mend run --add HOST[:SLOTS],… --dir DIR\n"
    "Run an unmodified MPI program; when processes die, the job repairs itself and continues.\n\n"
    "  -n N               number of ranks (default 1)\n"
    "  --spares S         number of spare processes (default 1)\n"
    "  --refill           start new processes in place of used spares, if there is room, so that\n"
    "                     the job survives each failure like the first (experimental; needs\n"
    "                     --launcher mend; --no-refill: default)\n"
    "  --every T|auto     time between checkpoints (default auto: from measured cost and "
    "failures;\n"
    "                     at most 1 % of the time while nothing has failed)\n"
    "  --mtbf T           with auto: mean time between failures, if you know it\n"
    "  --levels LIST      where to keep checkpoints, each :E every E-th version: memory (always),\n"
    "                     partner (another rank's memory), local (a folder of the node),\n"
    "                     erasure:K+M (parity over K+M ranks, in that folder), global (in DIR)\n"
    "                     (default memory,partner,global:5)\n"
    "  --local-dir DIR    the node's folder (default /tmp/mend-UID)\n"
    "  --dir DIR          the job's folder (default mend-PROGRAM-PID)\n"
    "  --retries R        relaunches in a row without a newer version on disk after the job was\n"
    "                     torn down (default 3)\n"
    "  --patience T       give up a recovery that takes longer, and relaunch (default 30min)\n"
    "  --hang-timeout T   kill and replace a rank that does not answer for this long\n"
    "                     (default: only name it, after 60s)\n"
    "  --mpi openmpi|mpich\n"
    "  --online, --no-online   repair in place (default, needs ULFM), or by relaunch only\n"
    "  --host LIST, --hostfile FILE, --launcher-args \"…\"   for the launcher\n"
    "  --add LIST         add machines to the job that runs in --dir DIR: its new processes and\n"
    "                     its next launch use them; so do machines that were added to its\n"
    "                     --hostfile, after SIGHUP to its mend run\n"
    "  --launcher L       mend: Mend's own, which survives the loss of nodes (default with Open\n"
    "                     MPI); \"ssh -x\", \"srun …\": the same, and how it reaches other\n"
    "                     machines; mpirun: the MPI library's (default with MPICH)\n"
    "  --node-timeout T   a node that is silent for this long is lost (default\n"
    "                     5s; 60s if all of the job is on this machine)\n"
    "  --bind auto|numa|core|none   processors of a rank: a NUMA domain (default), one core,\n"
    "                     or all; always all on a node with more ranks than cores\n"
    "  --interface NAME   where the launcher listens for its nodes\n"
    "  --stop-before T    in a Slurm job: make a checkpoint and stop this long before its time "
    "limit\n"
    "                     (default 5 % of the time, 15s to 2min; 0: never)\n"
    "  --metrics FILE     keep the job's metrics there, for Prometheus; see mend metrics\n"
    "  --detach           continue in the background, without this terminal; see mend attach\n"
    "  --full-images      images hold all pages, even unmodified ones of the program's files\n"
    "  --raw              print output at once, even if a rollback makes it appear twice\n"
    "  -q, --quiet        print no status line and no summary\n"
    "  --json             print the summary as JSON, on standard error\n\n"
    "Inside sbatch or salloc, ranks, nodes, launcher and DIR come from Slurm; see the guide.\n\n"
    "Exit code: 0 if the program exited with 0 on every rank, 1 if not, 2 wrong usage,\n"
    "3 if the job stopped after a checkpoint, as requested.\n";

static int take_option(struct run_job *job, const char *name, const char *value)
{
    long n = 0;
    bool ok = true;
    if (strcmp(name, "-n") == 0 || strcmp(name, "-np") == 0)
        ok = mend_parse_integer(value, &n) == MEND_OK && n >= 1 && n <= 1000000,
        job->ranks = (int)n;
    else if (strcmp(name, "--spares") == 0)
        ok = mend_parse_integer(value, &n) == MEND_OK && n >= 0, job->spares = (int)n;
    else if (strcmp(name, "--retries") == 0)
        ok = mend_parse_integer(value, &n) == MEND_OK && n >= 0, job->retries = (int)n;
    else if (strcmp(name, "--every") == 0 && strcmp(value, "auto") == 0)
        job->automatic = true;
    else if (strcmp(name, "--every") == 0)
        ok = mend_parse_seconds(value, &job->every) == MEND_OK && job->every > 0,
        job->automatic = false;
    else if (strcmp(name, "--mtbf") == 0)
        ok = mend_parse_seconds(value, &job->mtbf) == MEND_OK && job->mtbf > 0;
    else if (strcmp(name, "--patience") == 0)
        ok = mend_parse_seconds(value, &job->patience) == MEND_OK && job->patience > 0;
    else if (strcmp(name, "--hang-timeout") == 0)
        ok = mend_parse_seconds(value, &job->hang_timeout) == MEND_OK && job->hang_timeout >= 1;
    else if (strcmp(name, "--levels") == 0)
        return run_parse_levels(job, value);
    else if (strcmp(name, "--local-dir") == 0)
        job->local_dir = value;
    else if (strcmp(name, "--job-id") == 0) /* mend restart */
        snprintf(job->id, sizeof job->id, "%s", value);
    else if (strcmp(name, "--build") == 0) /* mend restart */
        job->build = value;
    else if (strcmp(name, "--version") == 0) /* mend restart */
        ok = mend_parse_integer(value, &job->from) == MEND_OK && job->from >= 0;
    else if (strcmp(name, "--input") == 0)
        ok = snprintf(job->input, sizeof job->input, "%s", value) < (int)sizeof job->input;
    else if (strcmp(name, "--input-at") == 0)
        ok = mend_parse_integer(value, &job->input_at) == MEND_OK && job->input_at >= 0;
    else if (strcmp(name, "--dir") == 0)
        ok = snprintf(job->dir, sizeof job->dir, "%s", value) < (int)sizeof job->dir;
    else if (strcmp(name, "--mpi") == 0)
        ok = strcmp(value, "openmpi") == 0 || strcmp(value, "mpich") == 0, job->mpi = value;
    else if (strcmp(name, "--host") == 0)
        job->host = value;
    else if (strcmp(name, "--hostfile") == 0)
        job->hostfile = value;
    else if (strcmp(name, "--add") == 0)
        job->add = value;
    else if (strcmp(name, "--launcher-args") == 0)
        job->launcher_args = value;
    else if (strcmp(name, "--launcher") == 0)
        ok = value[strspn(value, " ")] != 0, job->launcher = value;
    else if (strcmp(name, "--node-timeout") == 0)
        ok = mend_parse_seconds(value, &job->node_timeout) == MEND_OK && job->node_timeout >= 0.2 &&
             job->node_timeout <= 3600;
    else if (strcmp(name, "--metrics") == 0)
        job->metrics = value;
    else if (strcmp(name, "--stop-before") == 0)
        ok = strcmp(value, "0") == 0 ? (job->stop_before = 0, true)
                                     : mend_parse_seconds(value, &job->stop_before) == MEND_OK;
    else if (strcmp(name, "--bind") == 0)
        ok = run_is_binding(value), job->bind = value;
    else if (strcmp(name, "--interface") == 0)
        job->interface = value;
    else
        return tool_wrong_use("run", "unknown option %s", name);
    return ok ? TOOL_OK : tool_wrong_use("run", "%s %s is not valid", name, value);
}

int run_options(struct run_job *job, bool *json, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *a = argv[i];
        if (strcmp(a, "--") == 0) {
            job->program = argv + i + 1;
            break;
        }
        if (strcmp(a, "--online") == 0 || strcmp(a, "--no-online") == 0)
            job->online = a[2] == 'o';
        else if (strcmp(a, "--raw") == 0)
            job->raw = true;
        else if (strcmp(a, "--full-images") == 0)
            job->full = true;
        else if (strcmp(a, "--refill") == 0 || strcmp(a, "--no-refill") == 0)
            job->refill = a[2] == 'r';
        else if (strcmp(a, "--detach") == 0)
            job->detach = true;
        else if (strcmp(a, "--resume") == 0) /* mend restart */
            job->resume = true;
        else if (strcmp(a, "--rebuilt") == 0) /* mend restart */
            job->rebuilt = true;
        else if (strcmp(a, "--from-start") == 0) /* mend restart */
            job->from_start = true;
        else if (strcmp(a, "-q") == 0 || strcmp(a, "--quiet") == 0)
            job->quiet = true;
        else if (strcmp(a, "--json") == 0)
            *json = true;
        else if (a[0] != '-')
            return tool_wrong_use("run", "put -- before the program \"%s\"", a);
        else if (i + 1 >= argc)
            return tool_wrong_use("run", "%s needs a value", a);
        else {
            int rc = take_option(job, a, argv[++i]);
            if (rc)
                return rc;
        }
    }
    if (job->add)
        return job->dir[0] && !job->program
                   ? TOOL_OK
                   : tool_wrong_use("run", "--add needs --dir DIR, the folder of a job that runs, "
                                           "and no program");
    if (!job->program || !job->program[0])
        return tool_wrong_use("run", "name a program after --");
    return TOOL_OK;
}

/* "1%", "0.5 %" */
bool run_parse_share(const char *text, double *share)
{
    char *end;
    *share = strtod(text, &end) / 100;
    end += strspn(end, " ");
    return end != text && strcmp(end, "%") == 0 && *share > 0 && *share <= 1;
}
