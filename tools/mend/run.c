/* mend run: an unmodified MPI program that survives the death of its processes.
 *
 * 1. The ranks and the spares are launched; each is a capsule (src/capsule). With ULFM they repair
 * the job by themselves, and this command only prints what has become final and watches.
 * 2. If the job is torn down all the same (the launcher or a daemon killed, no process left for a
 *    rank), it is launched again from the newest version on disk, up to --retries times.
 * The job has ended well when every rank says so in the events; the launcher's exit code alone is
 * not believed.
 */
#include "run.h"
#include "tool.h"

#include <base/config.h>
#include <base/event.h>
#include <base/io.h>
#include <mend/error.h>

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char help[] =
    "Usage: mend run [-n N] [OPTIONS] -- PROGRAM ARGS…\n"
    "Run an unmodified MPI program; when processes die, the job repairs itself and goes on.\n\n"
    "  -n N               ranks (default 1)\n"
    "  --spares S         processes that stand by (default 1)\n"
    "  --every T|auto     time between versions (default 5s); auto: by measured cost and failures\n"
    "  --mtbf T           with auto: mean time between failures to begin with (default 10min)\n"
    "  --levels LIST      where versions are kept, each :E every E-th version: memory (always),\n"
    "                     partner (another rank's memory), local (a folder of the node),\n"
    "                     erasure:K+M (parity over K+M ranks, in that folder), global (in DIR)\n"
    "                     (default memory,partner,global:5)\n"
    "  --local-dir DIR    the node's folder (default /tmp/mend-UID)\n"
    "  --dir DIR          the job's folder (default mend-PROGRAM-PID)\n"
    "  --retries R        launches after the job was torn down (default 3)\n"
    "  --patience T       a recovery that takes longer is a tear-down, too (default 30min)\n"
    "  --mpi openmpi|mpich\n"
    "  --online, --no-online   repair in place (default, needs ULFM), or by relaunch only\n"
    "  --host LIST, --hostfile FILE, --launcher-args \"…\"   for the launcher\n"
    "  --raw              print everything at once, also what is rolled back and printed again\n"
    "  -q, --quiet        no status line, no summary\n"
    "  --json             the summary as JSON, on standard error\n\n"
    "Exit code: 0 if the program ended with 0 on every rank, 1 if not, 2 wrong use.\n";

static volatile sig_atomic_t stop_signal;
static void on_signal(int signal)
{
    stop_signal = signal;
}

/* ---- the command line
 * --------------------------------------------------------------------------------- */

/* memory, partner[:E], local[:E], erasure:K+M[:E], global[:E], with commas; E: every so many versions. */
static int parse_level(struct run_job *job, char *word)
{
    char *part[3] = {word, NULL, NULL}, *rest = word;
    long every = strncmp(word, "global", 6) == 0 ? 5 : 1;
    int n = 0, used = 0;
    for (char *w; n < 3 && (w = strsep(&rest, ":"));)
        part[n++] = w;
    bool erasure = strcmp(word, "erasure") == 0;
    if (erasure &&
        (n < 2 || sscanf(part[1], "%d+%d%n", &job->erasure_k, &job->erasure_m, &used) != 2 ||
         part[1][used] || job->erasure_k < 1 || job->erasure_m < 1))
        return tool_wrong_use("run", "erasure needs its group: erasure:K+M, as erasure:4+1");
    const char *text = part[erasure ? 2 : 1];
    if (rest || (!erasure && n > 2) ||
        (text && (mend_parse_integer(text, &every) || every < 1 || every > 1000000)))
        return tool_wrong_use("run", "level %s: \"%s\" is not a number of versions", word,
                              text ? text : "");
    if (strcmp(word, "memory") == 0 && every == 1)
        return TOOL_OK;
    if (strcmp(word, "partner") == 0)
        job->partner_every = (int)every;
    else if (strcmp(word, "local") == 0)
        job->local_every = (int)every;
    else if (erasure)
        job->erasure_every = (int)every;
    else if (strcmp(word, "global") == 0)
        job->disk_every = (int)every;
    else
        return tool_wrong_use("run",
                              "level \"%s\" is not memory, partner[:E], local[:E], "
                              "erasure:K+M[:E] or global[:E]",
                              word);
    return TOOL_OK;
}

static int parse_levels(struct run_job *job, const char *text)
{
    char *copy = strdup(text), *rest = copy;
    int rc = TOOL_OK;
    job->levels = text;
    job->partner_every = job->local_every = job->erasure_every = job->disk_every = 0;
    for (char *w; rc == TOOL_OK && (w = strsep(&rest, ","));)
        rc = parse_level(job, w);
    free(copy);
    return rc;
}

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
        ok = mend_parse_seconds(value, &job->every) == MEND_OK && job->every > 0;
    else if (strcmp(name, "--mtbf") == 0)
        ok = mend_parse_seconds(value, &job->mtbf) == MEND_OK && job->mtbf > 0;
    else if (strcmp(name, "--patience") == 0)
        ok = mend_parse_seconds(value, &job->patience) == MEND_OK && job->patience > 0;
    else if (strcmp(name, "--levels") == 0)
        return parse_levels(job, value);
    else if (strcmp(name, "--local-dir") == 0)
        job->local_dir = value;
    else if (strcmp(name, "--job-id") == 0) /* mend restart */
        snprintf(job->id, sizeof job->id, "%s", value);
    else if (strcmp(name, "--version") == 0) /* mend restart */
        ok = mend_parse_integer(value, &job->from) == MEND_OK && job->from >= 0;
    else if (strcmp(name, "--input") == 0)
        snprintf(job->input, sizeof job->input, "%s", value);
    else if (strcmp(name, "--input-at") == 0)
        ok = mend_parse_integer(value, &job->input_at) == MEND_OK && job->input_at >= 0;
    else if (strcmp(name, "--dir") == 0)
        snprintf(job->dir, sizeof job->dir, "%s", value);
    else if (strcmp(name, "--mpi") == 0)
        ok = strcmp(value, "openmpi") == 0 || strcmp(value, "mpich") == 0, job->mpi = value;
    else if (strcmp(name, "--host") == 0)
        job->host = value;
    else if (strcmp(name, "--hostfile") == 0)
        job->hostfile = value;
    else if (strcmp(name, "--launcher-args") == 0)
        job->launcher_args = value;
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
        else if (strcmp(a, "--resume") == 0) /* mend restart */
            job->resume = true;
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
    if (!job->program || !job->program[0])
        return tool_wrong_use("run", "name a program after --");
    return TOOL_OK;
}

/* ---- the job's folder
 * ------------------------------------------------------------------------------------ */

static int remove_entry(const char *path, const struct stat *st, int kind, struct FTW *where)
{
    (void)st;
    (void)kind;
    (void)where;
    return remove(path);
}

/* A text that a shell was given between two marks may be a file without a name: it gets one. */
static int copy_input(const char *path)
{
    char bytes[1 << 16];
    FILE *in = fopen("/proc/self/fd/0", "re"), *out = fopen(path, "we");
    size_t n = 0;
    while (in && out && (n = fread(bytes, 1, sizeof bytes, in)) > 0)
        if (fwrite(bytes, 1, n, out) != n)
            break;
    bool ok = in && out && n == 0 && !ferror(in);
    if (in)
        fclose(in);
    if (out && fclose(out))
        ok = false;
    return ok ? TOOL_OK
              : tool_failed("run", "cannot copy the input to %s: %s", path, strerror(errno));
}

static int find_input(struct run_job *job)
{
    struct stat st;
    if (fstat(0, &st) || !S_ISREG(st.st_mode))
        return TOOL_OK;
    job->input_at = (long)lseek(0, 0, SEEK_CUR);
    if (st.st_nlink == 0) {
        snprintf(job->input, sizeof job->input, "%.4080s/input", job->dir);
        return copy_input(job->input);
    }
    ssize_t n = readlink("/proc/self/fd/0", job->input, sizeof job->input - 1);
    job->input[n > 0 ? n : 0] = 0;
    return TOOL_OK;
}

static int lock_file(const char *dir, const char *name, int *fd)
{
    enum { TRIES = 100 }; /* those of a job that has just ended may need a moment */
    char path[4400];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    *fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    for (int tries = 0; *fd >= 0 && flock(*fd, LOCK_EX | LOCK_NB); tries++) {
        if (errno != EWOULDBLOCK)
            break;
        if (tries == TRIES)
            return tool_failed("run", "a job is still running in %s", dir);
        nanosleep(&(struct timespec){0, 50000000}, NULL);
    }
    return *fd >= 0 && !flock(*fd, LOCK_EX | LOCK_NB)
               ? TOOL_OK
               : tool_failed("run", "cannot lock %s: %s", path, strerror(errno));
}

/* Another job in the same folder would destroy this one. DIR/running is ours; DIR/alive is locked by all
 * ranks (src/capsule/lower/settings.c), and shared by us: between two launches the job is there, too. Before it is,
 * requests are removed: who asked has been told that nobody is here. */
static int take_folder(const char *dir)
{
    static const char *const asked[] = {"request", "request.taken"};
    char path[4400];
    int running, alive;
    int rc = lock_file(dir, "running", &running);
    if (!rc)
        rc = lock_file(dir, "alive", &alive);
    if (rc)
        return rc;
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s", dir, asked[i]);
        unlink(path);
    }
    return flock(alive, LOCK_SH)
               ? tool_failed("run", "cannot lock %s/alive: %s", dir, strerror(errno))
               : TOOL_OK;
}

static int prepare_folder(struct run_job *job)
{
    char path[4400];
    if (!job->dir[0]) {
        const char *name = strrchr(job->program[0], '/');
        snprintf(job->dir, sizeof job->dir, "mend-%.200s-%d", name ? name + 1 : job->program[0],
                 getpid());
    }
    if (mend_io_make_folders(job->dir))
        return tool_failed("run", "%s", mend_error_text());
    char *whole = realpath(job->dir, NULL);
    if (whole)
        snprintf(job->dir, sizeof job->dir, "%s", whole);
    free(whole);
    int rc = take_folder(job->dir);
    if (rc)
        return rc;
    if (!job->resume) { /* what is left of an older job is not ours to resume */
        static const char *const old[] = {"images", "output", "versions", "every", "undo"};
        for (size_t i = 0; i < sizeof old / sizeof *old; i++) {
            snprintf(path, sizeof path, "%s/%s", job->dir, old[i]);
            nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
        }
        snprintf(path, sizeof path, "%s/events.jsonl", job->dir);
        unlink(path);
    }
    rc = job->resume ? TOOL_OK : find_input(job);
    if (rc)
        return rc;
    snprintf(path, sizeof path, "%s/events.jsonl", job->dir);
    if (mend_event_open(path) || run_job_write(job, "running"))
        return tool_failed("run", "%s", mend_error_text());
    return TOOL_OK;
}

int run_job_write(const struct run_job *job, const char *state)
{
    char path[4400];
    json_t *program = json_array();
    for (char **p = job->program; *p; p++)
        json_array_append_new(program, json_string(*p));
    json_t *j = json_pack("{s:i,s:s,s:i,s:i,s:s,s:b,s:f,s:b,s:i,s:o}", "mend", 1, "state", state,
                          "ranks", job->ranks, "spares", job->spares, "mpi", job->mpi, "online",
                          job->online, "every", job->every, "auto", job->automatic, "global_every",
                          job->disk_every, "program", program);
    char *here = getcwd(NULL, 0);
    if (here)
        json_object_set_new(j, "folder", json_string(here));
    json_object_set_new(j, "levels", json_string(job->levels));
    json_object_set_new(j, "id", json_string(job->id));
    if (job->local_dir)
        json_object_set_new(j, "local_dir", json_string(job->local_dir));
    json_object_set_new(j, "retries", json_integer(job->retries));
    const char *const more[][2] = {{"host", job->host},
                                   {"hostfile", job->hostfile},
                                   {"launcher_args", job->launcher_args},
                                   {"input", job->input[0] ? job->input : NULL}};
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        if (more[i][1])
            json_object_set_new(j, more[i][0], json_string(more[i][1]));
    json_object_set_new(j, "input_at", json_integer(job->input_at));
    free(here);
    char *text = json_dumps(j, JSON_INDENT(2));
    snprintf(path, sizeof path, "%s/job.json", job->dir);
    int rc = mend_io_replace_file(path, text, strlen(text));
    free(text);
    json_decref(j);
    return rc;
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

/* One launch. Ends when every rank has finished, the launcher is gone, or a signal came. */
static enum outcome one_launch(struct run_follower *f, char **command, int *code)
{
    const struct run_job *job = f->job;
    follow_attempt(f);
    pid_t launcher = run_start(command, job->raw);
    double exited_at = 0, shown = 0;
    int status = 0;
    bool gone = false, stillborn = false, lost = false;
    while (!gone) {
        nanosleep(&(struct timespec){0, 20000000}, NULL);
        gone = has_ended(launcher, &status);
        follow(f);
        double now = mend_now();
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
        if (stuck)
            fprintf(stderr, "\nmend: a recovery did not end within %g s (--patience)\n",
                    job->patience);
        if (!gone && (stop_signal || lingers || stillborn || stuck || lost || deserted ||
                      f->now.ended_by_program || f->now.refused)) {
            run_end(launcher);
            gone = true;
            status = 0;
        }
    }
    follow(f);
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
    if (f->now.left >= job->ranks)
        return LEFT;
    if (f->now.exited < job->ranks)
        return TORN_DOWN;
    *code = 0; /* of every rank; the launcher may see a spare's death in it */
    return DONE;
}

static void summary(const struct run_follower *f, int launches, double seconds, int code, bool json)
{
    const struct run_progress *p = &f->now;
    if (json) {
        fprintf(stderr,
                "{\"mend\":1,\"seconds\":%.3f,\"exit_code\":%d,\"version\":%ld,\"recoveries\":%ld,"
                "\"launches\":%d,\"longest_recovery\":%.6f,\"dir\":\"%s\"}\n",
                seconds, code, p->version, p->recoveries, launches, p->longest_recovery,
                f->job->dir);
        return;
    }
    if (f->job->quiet)
        return;
    fprintf(stderr, "mend: %.1f s, %ld version%s", seconds, p->version, p->version == 1 ? "" : "s");
    if (p->recoveries)
        fprintf(stderr, ", %ld failure%s survived in place (the longest took %.0f ms)",
                p->recoveries, p->recoveries == 1 ? "" : "s", 1e3 * p->longest_recovery);
    if (launches > 1)
        fprintf(stderr, ", launched %d times", launches);
    fprintf(stderr, "; %s\n", f->job->dir);
}

static int run(struct run_job *job, bool json)
{
    struct run_follower f;
    double began = mend_now();
    int code = 1, launches = 0, stillborn = 0, relaunched = 0;
    enum outcome outcome = TORN_DOWN;
    struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    run_adopt();
    follow_begin(&f, job);
    while ((outcome == TORN_DOWN && launches - stillborn - relaunched <= job->retries) ||
           (outcome == STILLBORN && stillborn <= STILLBORN_LIMIT)) {
        char **command;
        if (!run_command(job, launches > 0 || job->resume, &command))
            return tool_failed("run", "%s", mend_error_text());
        if (launches > 0 && !job->quiet)
            fprintf(stderr,
                    "\nmend: the job was torn down; launched again from the newest version\n");
        mend_event("run.launch", ev_int("launch", launches), ev_int("ranks", job->ranks),
                   ev_int("spares", job->online ? job->spares : 0), ev_str("mpi", job->mpi));
        launches++;
        outcome = one_launch(&f, command, &code);
        if (f.now.resumed)
            job->from = -1; /* from the newest, from now on */
        if (outcome != DONE)
            run_clear();
        if (outcome == TORN_DOWN)
            follow_torn_down(&f);
        stillborn += outcome == STILLBORN;
        /* a failure that a spare would have mended is not one of the retries */
        relaunched += outcome == TORN_DOWN && f.now.windows && relaunched < job->spares;
        for (char **w = command; *w; w++)
            free(*w);
        free(command);
    }
    if (outcome != STOPPED && outcome != LEFT && (outcome != DONE || !job->online))
        follow_last_words(&f);
    follow_end(&f);
    if (outcome == FOLDER_LOST)
        return tool_failed("run",
                           "%s was removed while the job ran: its output, its versions and what "
                           "puts files back are gone, so it was ended",
                           job->dir);
    if (outcome == FAILED_BY_PROGRAM && !job->quiet)
        fprintf(stderr, "mend: the program ended itself: rank %d by %s with code %d%s\n",
                f.now.ended_rank, f.now.ended_how, code, code ? "" : ", without MPI_Finalize");
    if (outcome == STOPPED && !job->quiet)
        fprintf(
            stderr,
            "mend: stopped by signal %d; mend restart %s goes on from the newest version there\n",
            (int)stop_signal, job->dir);
    if (outcome == LEFT) {
        char path[4400];
        snprintf(path, sizeof path, "%s/request.taken", job->dir);
        unlink(path); /* it was served */
    }
    if (outcome == LEFT && !job->quiet)
        fprintf(
            stderr,
            "mend: stopped after a checkpoint, as it was asked to; mend restart %s goes on from "
            "there\n",
            job->dir);
    if (outcome == STILLBORN)
        outcome = TORN_DOWN;
    if ((outcome == TORN_DOWN || outcome == LEFT) && code == 0)
        code = 1;
    mend_event("run.end", ev_int("code", code), ev_real("seconds", mend_now() - began));
    run_job_write(job, outcome == DONE                         ? "done"
                       : outcome == FAILED_BY_PROGRAM          ? "failed"
                       : outcome == STOPPED || outcome == LEFT ? "stopped"
                                                               : "torn down");
    summary(&f, launches, mend_now() - began, code, json);
    if (outcome == TORN_DOWN)
        return tool_failed("run", "the job was torn down %d times; its newest version is in %s",
                           launches, job->dir);
    return outcome == DONE && code == 0 ? TOOL_OK : TOOL_FAILED;
}

int mend_cmd_run(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--help") == 0) {
        fputs(help, stdout);
        return TOOL_OK;
    }
    bool json = false;
    struct run_job job = {.ranks = 1,
                          .spares = 1,
                          .retries = 3,
                          .patience = 1800,
                          .online = true,
                          .every = 5,
                          .from = -1,
                          .mtbf = 600,
                          .partner_every = 1,
                          .disk_every = 5,
                          .levels = "memory,partner,global:5",
                          .mpi = "openmpi"};
    int rc = parse(&job, &json, argc, argv);
    if (rc)
        return rc;
    if (strcmp(job.mpi, "mpich") == 0 && job.online) {
        fprintf(stderr,
                "mend: MPICH has no ULFM: failures are survived by relaunch, not in place\n");
        job.online = false;
    }
    if (!job.id[0])
        snprintf(job.id, sizeof job.id, "%llx-%d", (unsigned long long)(1e6 * mend_now()),
                 getpid());
    rc = prepare_folder(&job);
    return rc ? rc : run(&job, json);
}
