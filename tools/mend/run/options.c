/* The command line of mend run. */
#include "run.h"
#include "start/start.h"
#include "tool.h"

#include <base/config.h>
#include <mend/error.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char run_help[] =
    "Usage: mend run [-n N] [OPTIONS] -- PROGRAM ARGS…\n"
    "       mend run --add HOST[:SLOTS],… --dir DIR\n"
    "Run an unmodified MPI program; when processes die, the job repairs itself and continues.\n\n"
    "  -n N               number of ranks (default 1)\n"
    "  --spares S         number of spare processes (default 1)\n"
    "  --refill           start new processes in place of used spares, if there is room, so that\n"
    "                     the job survives each failure like the first (default with --host\n"
    "                     or --hostfile; --no-refill: default on one machine)\n"
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
    "  --launcher L       mend: Mend's own, which survives the loss of nodes (default);\n"
    "                     \"ssh -x\", \"srun …\": the same, and how it reaches other machines;\n"
    "                     mpirun: the MPI library's\n"
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

/* What the value of an option may be, for the message that it is not. */
static const char *needs(const char *option)
{
    static const char *const known[][2] = {
        {"-n", "a number from 1 to 1000000"},
        {"-np", "a number from 1 to 1000000"},
        {"--spares", "a number from 0 to 1000000"},
        {"--retries", "a number from 0 to 1000000"},
        {"--every", "auto, or a time such as 500ms, 2s or 5min"},
        {"--mtbf", "a time such as 10h"},
        {"--patience", "a time such as 30min"},
        {"--hang-timeout", "a time of 1s or more"},
        {"--node-timeout", "a time from 200ms to 1h"},
        {"--stop-before", "a time such as 2min, or 0"},
        {"--mpi", "openmpi or mpich"},
        {"--bind", "auto, numa, core or none"},
        {"--launcher", "mend, mpirun, or a command such as \"ssh -x\""},
        {"--dir", "a path of less than 4096 bytes"},
        {"--input", "a path of less than 4096 bytes"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i][0], option) == 0)
            return known[i][1];
    return "a number from 0 on";
}

/* A whole number in these bounds. */
static bool number(const char *text, int least, int most, int *value)
{
    long n;
    bool ok = mend_parse_integer(text, &n) == MEND_OK && n >= least && n <= most;
    if (ok)
        *value = (int)n;
    return ok;
}

static int take_option(struct run_job *job, const char *name, const char *value)
{
    enum { MOST = 1000000 };
    bool ok = true;
    if (strcmp(name, "-n") == 0 || strcmp(name, "-np") == 0)
        ok = number(value, 1, MOST, &job->ranks);
    else if (strcmp(name, "--spares") == 0)
        ok = number(value, 0, MOST, &job->spares);
    else if (strcmp(name, "--retries") == 0)
        ok = number(value, 0, MOST, &job->retries);
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
    else if (strcmp(name, "--abi") == 0) /* mend restart */
        job->abi = value;
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
    else if (strcmp(name, "--hostfile") == 0 && access(value, R_OK) != 0)
        return tool_failed("run", "cannot read the hostfile %s: %s", value, strerror(errno));
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
    return ok ? TOOL_OK : tool_wrong_value("run", name, value, needs(name));
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
