/* mend run: an unmodified MPI program that survives the death of its processes.
 *
 *   1. The ranks and the spares are launched; each is a capsule (src/capsule). With ULFM they repair
 *      the job by themselves, and this command only prints what has become final and watches.
 *   2. If the job is torn down all the same (the launcher or a daemon killed, no process left for a
 *      rank), it is launched again from the newest version on disk, up to --retries times without
 *      progress.
 * The job has ended well when every rank says so in the events; the launcher's exit code alone is
 * not trusted.
 */
#include "run/check/capsule.h"
#include "run/check/identity.h"
#include "jobfile.h"
#include "run.h"
#include "run/check/startable.h"
#include "tool.h"

#include <base/config.h>
#include <base/event.h>
#include <base/io.h>
#include <mend/error.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char help[] =
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

static volatile sig_atomic_t stop_signal;
static volatile sig_atomic_t passed_on; /* a signal for the ranks */
static volatile sig_atomic_t hung_up;   /* SIGHUP came */
static bool had_terminal;
static void on_signal(int signal)
{
    if (signal == SIGUSR1 || signal == SIGUSR2)
        passed_on = signal;
    else if (signal == SIGHUP)
        hung_up = 1;
    else
        stop_signal = signal;
}

static void catch_signals(void)
{
    had_terminal = run_has_terminal();
    static const int caught[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
    for (size_t i = 0; i < sizeof caught / sizeof *caught; i++) {
        struct sigaction action = {.sa_handler = on_signal}, old;
        sigaction(caught[i], &action, &old);
        if (old.sa_handler == SIG_IGN && caught[i] == SIGHUP) /* nohup */
            sigaction(caught[i], &old, NULL);
    }
}

/* ---- the command line
 * --------------------------------------------------------------------------------- */

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

static int parse(struct run_job *job, bool *json, int argc, char **argv)
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
static bool parse_share(const char *text, double *share)
{
    char *end;
    *share = strtod(text, &end) / 100;
    end += strspn(end, " ");
    return end != text && strcmp(end, "%") == 0 && *share > 0 && *share <= 1;
}

/* ---- running
 * --------------------------------------------------------------------------------------------- */

enum outcome {
    DONE,
    FAILED_BY_PROGRAM,
    TORN_DOWN,
    STILLBORN,
    STOPPED, /* by a signal to this command */
    LEFT,    /* after a checkpoint, as it was asked to */
    REFUSED,
    CRASHED_AGAIN, /* at the same place: the program's own error */
    OUTPUT_LOST,   /* the program has ended, but what it printed last could not be written */
    FOLDER_LOST
};
enum { STILLBORN_LIMIT = 20 }; /* launches in which a process died inside MPI_Init */

/* Others are processes that lost their parents (see run_adopt). */
static bool has_ended(pid_t launcher, int *status)
{
    int code;
    for (pid_t pid; (pid = waitpid(-1, &code, WNOHANG)) > 0;)
        if (pid == launcher) {
            *status = code;
            return true;
        }
    return false;
}

/* The list of machines may have changed, or the terminal may be gone. */
static void look_at_hosts(const struct run_job *job, pid_t launcher, long long *added)
{
    bool changed = hung_up;
    if (hung_up && run_is_hung_up(job, had_terminal))
        stop_signal = SIGHUP;
    hung_up = 0;
    long long size = run_is_ours(job) ? run_added_size(job) : *added;
    if ((changed || size != *added) && !stop_signal)
        kill(launcher, SIGHUP);
    *added = size;
}

/* One launch. Ends when every rank has finished, the launcher is gone, or a signal came. */
static enum outcome one_launch(struct run_follower *f, char **command, int *code)
{
    struct run_job *job = f->job;
    follow_attempt(f);
    int report = -1;
    long long added = run_added_size(job);
    pid_t launcher = run_start(command, job->raw, &report);
    double exited_at = 0, shown = 0;
    int status = 0;
    bool gone = false, stillborn = false, lost = false;
    while (!gone) {
        nanosleep(&(struct timespec){0, 20000000}, NULL);
        gone = has_ended(launcher, &status);
        run_node_reports(job, f, report);
        double now = mend_now();
        if (gone || job->ranks <= 1024 || now - shown > 0.25 ||
            f->now.started < job->ranks + job->spares)
            follow_ends(f); /* a crash comes before what is said of its recovery */
        follow(f);
        if (!gone && slurm_leave(f, stop_signal == SIGTERM) && stop_signal == SIGTERM)
            stop_signal = 0; /* it leaves; another signal ends it at once */
        if (!gone)
            look_at_hosts(job, launcher, &added);
        if (passed_on && !gone) {
            kill(launcher, passed_on);
            passed_on = 0;
        }
        follow_metrics(f, false);
        if (now - shown > 0.25) {
            follow_status(f);
            shown = now;
        }
        if (f->now.exited + f->now.left >= job->ranks && exited_at == 0)
            exited_at = now;
        /* a lost daemon keeps the launcher waiting for ever; and a program that has ended by itself
         * without MPI_Finalize leaves others that would wait for it */
        bool lingers = exited_at > 0 && now - exited_at > 30;
        stillborn = !gone && job->online && follow_stillborn(f);
        lost = follow_lost(f);
        follow_replaced(f);
        bool stuck = !gone && follow_stuck(f), deserted = !gone && follow_deserted(f);
        bool silent = !gone && silence_look(f);
        if (stuck)
            fprintf(stderr, "\nmend: a recovery did not end within %g s (--patience)\n",
                    job->patience);
        if (!gone && (stop_signal || lingers || stillborn || stuck || lost || deserted || silent ||
                      f->now.ended_by_program || f->now.refused || f->now.output_lost_rank >= 0 ||
                      f->crash.again)) {
            run_end(launcher);
            gone = true;
            status = 0;
        }
    }
    run_node_reports(job, f, report);
    close(report);
    follow(f);
    follow_ends(f);
    *code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    if (stop_signal)
        return STOPPED;
    if (lost)
        return FOLDER_LOST;
    if (f->now.refused)
        return REFUSED;
    if (stillborn)
        return STILLBORN;
    if (f->now.ended_by_program) {
        *code = f->now.program_code;
        return FAILED_BY_PROGRAM;
    }
    if (f->now.output_lost_rank >= 0)
        return OUTPUT_LOST;
    if (f->crash.again) {
        *code = 128 + f->crash.signal;
        return CRASHED_AGAIN;
    }
    if (f->now.left >= job->ranks)
        return LEFT;
    if (f->now.exited < job->ranks)
        return TORN_DOWN;
    *code = 0; /* of every rank; the launcher may see a spare's death in it */
    return DONE;
}

static int run(struct run_job *job, bool json)
{
    struct run_follower f;
    double began = mend_now();
    int code = 1, launches = 0, stillborn = 0, relaunched = 0, failures = 0;
    mend_version_t failed_at = -1; /* the newest version on disk when it was torn down last */
    enum outcome outcome = TORN_DOWN;
    catch_signals();
    run_adopt();
    follow_begin(&f, job);
    f.silence.limit =
        job->hang_timeout > 0 ? job->hang_timeout : mend_setting_seconds(MEND_KEY_CAPSULE_SILENCE);
    while (!f.leaving && ((outcome == TORN_DOWN && failures <= job->retries) ||
                          (outcome == STILLBORN && stillborn <= STILLBORN_LIMIT))) {
        char **command;
        if (!run_command(job, launches > 0 || job->resume, &command)) {
            run_tidy();
            return tool_failed("run", "%s", mend_error_text());
        }
        if (launches > 0 && !job->quiet)
            fprintf(stderr,
                    "\nmend: the job was torn down; relaunching it from the newest version\n");
        mend_event("run.launch", ev_int("launch", launches), ev_int("ranks", job->ranks),
                   ev_int("spares", job->online ? job->spares : 0), ev_str("mpi", job->mpi));
        launches++;
        outcome = one_launch(&f, command, &code);
        if (f.now.resumed)
            job->from = -1; /* from the newest, from now on */
        if (f.now.resumed || f.now.playing)
            job->from_start = false; /* done */
        if (outcome != DONE)
            run_clear();
        run_tidy();
        if (outcome == TORN_DOWN)
            follow_torn_down(&f);
        stillborn += outcome == STILLBORN;
        if (outcome == TORN_DOWN && f.on_disk > failed_at) {
            failures = 0; /* the job gets on: only failures without progress count */
            failed_at = f.on_disk;
        }
        /* a failure that a spare would have mended is not one of the retries */
        if (outcome == TORN_DOWN && f.now.windows && relaunched < job->spares)
            relaunched++;
        else
            failures += outcome == TORN_DOWN;
        for (char **w = command; *w; w++)
            free(*w);
        free(command);
    }
    if (outcome != STOPPED && outcome != LEFT && (outcome != DONE || !job->online))
        follow_last_words(&f);
    follow_end(&f);
    run_noise_end();
    if (outcome == FOLDER_LOST)
        return tool_failed("run",
                           "%s was removed while the job ran; the job was ended, because its "
                           "output, its checkpoints and its file logs are gone",
                           job->dir);
    if (outcome == FAILED_BY_PROGRAM && !job->quiet)
        fprintf(stderr, "mend: the program ended the job: rank %d by %s with code %d%s\n",
                f.now.ended_rank, f.now.ended_how, code, code ? "" : ", without MPI_Finalize");
    if (outcome == STOPPED && !job->quiet)
        fprintf(
            stderr,
            "mend: stopped by signal %d; mend restart %s resumes from the newest version there\n",
            (int)stop_signal, job->dir);
    if (outcome == LEFT) {
        char path[4400];
        snprintf(path, sizeof path, "%s/request.taken", job->dir);
        unlink(path); /* it was served */
        snprintf(path, sizeof path, "%s/answer.slurm", job->dir);
        unlink(path);
    }
    if (outcome == LEFT && !job->quiet)
        fprintf(
            stderr,
            "mend: stopped after a checkpoint, as requested; mend restart %s resumes from there\n",
            job->dir);
    if (outcome == CRASHED_AGAIN)
        f.now.recoveries = f.crash.survived;
    if (outcome == STILLBORN)
        outcome = TORN_DOWN;
    if (outcome == TORN_DOWN && code == 0)
        code = TOOL_FAILED;
    if (outcome == LEFT)
        code = TOOL_STOPPED;
    run_release(job);
    mend_event("run.end", ev_int("code", code), ev_real("seconds", mend_now() - began));
    int written =
        run_job_write(job, outcome == DONE                                            ? "done"
                           : outcome == FAILED_BY_PROGRAM || outcome == CRASHED_AGAIN ? "failed"
                           : outcome == STOPPED || outcome == LEFT                    ? "stopped"
                                                                   : "torn down");
    if (written)
        tool_failed("run", "cannot record the end of the job: %s", mend_error_text());
    follow_metrics(&f, true);
    run_summary(&f, launches, mend_now() - began, code, json);
    if (outcome == CRASHED_AGAIN)
        return tool_failed("run",
                           "the program crashes: rank %d by %s at %#llx, %d times at the same "
                           "place%s; %s holds its versions",
                           f.crash.rank, crash_name(f.crash.signal), f.crash.at, f.crash.times,
                           f.crash.times == 2 ? " without a new version in between" : "", job->dir);
    if (outcome == OUTPUT_LOST)
        return tool_failed("run",
                           "the program has ended, but the last output of rank %d could not be "
                           "written to %s/output: %s; free some space there, then mend restart "
                           "resumes from the newest version",
                           f.now.output_lost_rank, job->dir, strerror(f.now.output_lost_why));
    if (f.unprinted && outcome == DONE && code == 0)
        return tool_failed("run",
                           "the program ended well, but its output could not be written to "
                           "standard output; all of it is in %s/output",
                           job->dir);
    if (outcome == TORN_DOWN)
        return tool_failed("run", "the job was torn down %d times; its newest version is in %s",
                           launches, job->dir);
    return outcome == LEFT ? TOOL_STOPPED : outcome == DONE && code == 0 ? TOOL_OK : TOOL_FAILED;
}

/* The ranks look at it, too, on every node; this is one sentence before anything is started. */
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

/* What an earlier life of a Slurm job has left: as by hand, with what the job was asked for then. */
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
        fputs(help, stdout);
        return TOOL_OK;
    }
    bool json = false;
    struct run_job job = {.ranks = 0, /* nobody has said */
                          .spares = 1,
                          .retries = 3,
                          .patience = 1800,
                          .online = true,
                          .every = 5, /* until the planner has spoken */
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
    int rc = parse(&job, &json, argc, argv);
    if (rc)
        return rc;
    if (job.add)
        return run_add_hosts(&job);
    if (!parse_share(mend_setting_string(MEND_KEY_RUN_SHARE), &job.share))
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
    bool can_refill = run_is_ours(&job) && job.online && job.spares > 0;
    if (job.refill < 0)
        job.refill = can_refill && mend_setting_boolean(MEND_KEY_RUN_REFILL);
    if (job.refill && !can_refill)
        return tool_wrong_use("run", "--refill needs %s",
                              !run_is_ours(&job) ? "--launcher mend, which starts the new processes"
                              : !job.online      ? "--online"
                                                 : "at least one spare (--spares)");
    if (!job.resume) /* one that is resumed is in its images */
        rc = startable_check(job.program[0],
                             job.host || job.hostfile || (job.launcher_args && !run_is_ours(&job)));
    if (!rc && !job.resume)
        rc = program_check("run", job.program[0]);
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
    return rc ? rc : run(&job, json);
}
