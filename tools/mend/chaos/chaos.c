/* mend chaos: inject faults into a running job; the same seed gives the same faults. */
#include "chaos.h"
#include "tool.h"

#include <base/config.h>
#include <base/event.h>
#include <base/io.h>
#include <mend/error.h>

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char help[] =
    "Usage: mend chaos [OPTIONS] -- COMMAND ARGS…\n"
    "       mend chaos [OPTIONS] --pid LAUNCHER\n"
    "Kill ranks and nodes of your job, or damage its storage, by rate and seed or by schedule.\n"
    "The job is COMMAND (mpirun …, mend run …) or a launcher that is already running.\n\n"
    "  --mtbf T           mean time between faults (5s, 2min)\n"
    "  --seed N           the same seed gives the same faults (default 1)\n"
    "  --kinds LIST       kinds of faults with --mtbf: kill,node,stop,fill,break,flip;\n"
    "                     KIND=WEIGHT makes one more frequent (default kill)\n"
    "  --schedule TEXT    instead: \"2s kill 1; 4s kill *2; 5s stop 0 300ms; 6s node 1\"\n"
    "  --schedule @FILE   the same, one fault a line\n"
    "  --for T            no fault after this time (default 1h)\n"
    "  --max N            at most N faults\n"
    "  --leave N          never leave fewer than N processes alive (default 1)\n"
    "  --lasts T          how long stop, fill and break last (default 1s)\n"
    "  --nodes K          the job's ranks are K emulated nodes, in blocks\n"
    "  --storage DIR      for fill, break, flip; %d stands for the node, which loses it when "
    "killed\n"
    "  --fill-limit SIZE  refuse to fill more than this (default 256MiB)\n"
    "  --wait-ranks N     the clock starts when N ranks run (default 1)\n"
    "  --dir DIR          the job's folder: faults are added to its events.jsonl\n"
    "  -o FILE, --json    write the table of faults to FILE (default stderr), or as JSON\n\n"
    "Exit code: 0 if COMMAND ended with 0 (with --pid: always), 1 if not.\n";

struct options {
    double mtbf, duration, lasts;
    uint64_t seed;
    int weight[CHAOS_KINDS];
    const char *schedule, *dir, *output;
    long max, wait_ranks;
    bool json;
    struct chaos_job job;
    char **command;
};

static volatile sig_atomic_t stop_signal;
static void on_signal(int signal)
{
    stop_signal = signal;
}

static int parse_kinds(struct options *o, const char *text)
{
    char *copy = tool_need(strdup(text)), *rest = NULL;
    memset(o->weight, 0, sizeof o->weight);
    for (char *word = strtok_r(copy, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
        long weight = 1;
        char *equals = strchr(word, '=');
        if (equals) {
            *equals = 0;
            if (mend_parse_integer(equals + 1, &weight) || weight < 0 || weight > 1000) {
                free(copy);
                return tool_wrong_use("chaos", "a weight is 0 to 1000, not \"%s\"", equals + 1);
            }
        }
        int kind = 0;
        while (kind < CHAOS_KINDS && strcmp(word, chaos_kind_name[kind]) != 0)
            kind++;
        if (kind == CHAOS_KINDS) {
            int rc = tool_wrong_use("chaos", "there is no kind of fault \"%s\"", word);
            free(copy);
            return rc;
        }
        o->weight[kind] = (int)weight;
    }
    free(copy);
    return TOOL_OK;
}

static bool number(const char *text, long low, long *value)
{
    return mend_parse_integer(text, value) == MEND_OK && *value >= low;
}

/* What the value of an option may be, for the message that it is not. */
static const char *needs(const char *option)
{
    static const char *const times[] = {"--mtbf", "--for", "--lasts"};
    for (int i = 0; i < 3; i++)
        if (strcmp(option, times[i]) == 0)
            return "a time such as 500ms, 5s or 2min";
    if (strcmp(option, "--fill-limit") == 0)
        return "a size such as 256MiB";
    if (strcmp(option, "--pid") == 0)
        return "a process id";
    return strcmp(option, "--nodes") == 0 || strcmp(option, "--wait-ranks") == 0
               ? "a number from 1 on"
               : "a number from 0 on";
}

/* One option with a value; TOOL_OK or wrong use. */
static int take_option(struct options *o, const char *name, const char *value)
{
    long n = 0;
    bool ok = true;
    if (strcmp(name, "--mtbf") == 0)
        ok = mend_parse_seconds(value, &o->mtbf) == MEND_OK && o->mtbf > 0;
    else if (strcmp(name, "--for") == 0)
        ok = mend_parse_seconds(value, &o->duration) == MEND_OK;
    else if (strcmp(name, "--lasts") == 0)
        ok = mend_parse_seconds(value, &o->lasts) == MEND_OK;
    else if (strcmp(name, "--seed") == 0)
        ok = number(value, 0, &n), o->seed = (uint64_t)n;
    else if (strcmp(name, "--kinds") == 0)
        return parse_kinds(o, value);
    else if (strcmp(name, "--schedule") == 0)
        o->schedule = value;
    else if (strcmp(name, "--max") == 0)
        ok = number(value, 0, &o->max);
    else if (strcmp(name, "--leave") == 0)
        ok = number(value, 0, &n), o->job.leave = (int)n;
    else if (strcmp(name, "--nodes") == 0)
        ok = number(value, 1, &n), o->job.nodes = (int)n;
    else if (strcmp(name, "--wait-ranks") == 0)
        ok = number(value, 1, &o->wait_ranks);
    else if (strcmp(name, "--pid") == 0)
        ok = number(value, 2, &n), o->job.launcher = (pid_t)n;
    else if (strcmp(name, "--storage") == 0)
        o->job.storage = value;
    else if (strcmp(name, "--fill-limit") == 0)
        ok = mend_parse_bytes(value, &o->job.fill_limit) == MEND_OK;
    else if (strcmp(name, "--dir") == 0)
        o->dir = value;
    else if (strcmp(name, "-o") == 0)
        o->output = value;
    else
        return tool_wrong_use("chaos", "unknown option %s", name);
    return ok ? TOOL_OK : tool_wrong_value("chaos", name, value, needs(name));
}

static int parse_options(struct options *o, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--") == 0) {
            o->command = argv + i + 1;
            break;
        }
        if (strcmp(argv[i], "--json") == 0) {
            o->json = true;
            continue;
        }
        if (argv[i][0] != '-')
            return tool_wrong_use("chaos", "put -- before the command \"%s\"", argv[i]);
        if (i + 1 >= argc)
            return tool_wrong_use("chaos", "%s needs a value", argv[i]);
        int rc = take_option(o, argv[i], argv[i + 1]);
        if (rc)
            return rc;
        i++;
    }
    bool has_command = o->command && o->command[0];
    if (has_command == (o->job.launcher != 0))
        return tool_wrong_use("chaos", "give a command after --, or --pid");
    if ((o->mtbf > 0) == (o->schedule != NULL))
        return tool_wrong_use("chaos", "give --mtbf or --schedule");
    return TOOL_OK;
}

static int make_plan(const struct options *o, struct chaos_plan *plan)
{
    if (!o->schedule)
        return chaos_plan_random(plan, o->seed, o->mtbf, o->duration, o->weight, o->lasts);
    if (o->schedule[0] != '@')
        return chaos_plan_schedule(plan, o->schedule);
    char *text;
    size_t size;
    int rc = mend_io_read_input(o->schedule + 1, 1 << 20, &text, &size);
    if (rc)
        return rc;
    rc = chaos_plan_schedule(plan, text);
    free(text);
    return rc;
}

static pid_t start(char **command)
{
    pid_t pid = fork();
    if (pid == 0) {
        execvp(command[0], command);
        fprintf(stderr, "mend chaos: cannot run %s: %s\n", command[0], strerror(errno));
        _exit(127);
    }
    return pid;
}

/* Is the job over? *code gets the exit code of a command (128 + signal if it was killed). */
static bool over(const struct options *o, int *code)
{
    int status;
    if (!o->command) {
        *code = 0;
        return kill(o->job.launcher, 0) != 0 && errno == ESRCH;
    }
    if (waitpid(o->job.launcher, &status, WNOHANG) != o->job.launcher)
        return false;
    *code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return true;
}

/* Open the file for each line: a job that starts in DIR creates a new one. */
static void tell(const struct options *o, const struct chaos_fault *fault)
{
    char events[4400];
    snprintf(events, sizeof events, "%s/events.jsonl", o->dir ? o->dir : "");
    if (o->dir && mend_event_open(events))
        fprintf(stderr, "mend chaos: a fault is not in the events: %s\n", mend_error_text());
    mend_event("chaos.fault", ev_str("kind", chaos_kind_name[fault->kind]),
               ev_str("hit", fault->hit), ev_str("result", fault->result));
}

/* Runs until the job ends. The clock of the plan starts when enough ranks are seen. */
static int run(struct options *o, struct chaos_plan *plan, double *seconds)
{
    double began = mend_now(), zero = -1;
    int next = 0, code = 0, forwarded = 0;
    while (!over(o, &code)) {
        double now = mend_now();
        if (stop_signal && !forwarded++ && o->command)
            kill(o->job.launcher, stop_signal);
        if (stop_signal && !o->command)
            break;
        chaos_undo_due(&o->job, now, false);
        if (zero < 0 && chaos_look(&o->job) >= o->wait_ranks)
            zero = now;
        bool due =
            zero >= 0 && next < plan->count && next < o->max && now >= zero + plan->fault[next].at;
        if (due) {
            struct chaos_fault *fault = &plan->fault[next++];
            chaos_look(&o->job);
            chaos_act(&o->job, fault, now);
            fault->done_at -= zero;
            tell(o, fault);
            continue;
        }
        double left = zero >= 0 && next < plan->count ? zero + plan->fault[next].at - now : 0.01;
        struct timespec nap = {0, left < 0.01 && left > 0 ? (long)(left * 1e9) : 10000000};
        nanosleep(&nap, NULL);
    }
    chaos_undo_due(&o->job, 0, true);
    *seconds = mend_now() - began;
    return code;
}

static void print_table(FILE *out, const struct options *o, const struct chaos_plan *plan, int code,
                        double seconds)
{
    int done = 0;
    fprintf(out, "%10s %10s  %-6s %-34s %s\n", "planned", "done", "kind", "hit", "result");
    for (int i = 0; i < plan->count; i++) {
        const struct chaos_fault *f = &plan->fault[i];
        if (f->done_at < 0)
            continue;
        fprintf(out, "%9.3fs %9.3fs  %-6s %-34s %s\n", f->at, f->done_at, chaos_kind_name[f->kind],
                f->hit[0] ? f->hit : "-", f->result);
        done++;
    }
    fprintf(out, "%d fault%s in %.1f s", done, done == 1 ? "" : "s", seconds);
    if (!o->schedule)
        fprintf(out, ", seed %llu, MTBF %g s", (unsigned long long)o->seed, o->mtbf);
    if (o->command)
        fprintf(out, "; the command ended with %d", code);
    fputc('\n', out);
}

static void print_json(FILE *out, const struct options *o, const struct chaos_plan *plan, int code,
                       double seconds)
{
    json_t *faults = json_array();
    for (int i = 0; i < plan->count; i++) {
        const struct chaos_fault *f = &plan->fault[i];
        if (f->done_at >= 0)
            json_array_append_new(faults,
                                  json_pack("{s:f,s:f,s:s,s:s,s:s}", "planned", f->at, "done",
                                            f->done_at, "kind", chaos_kind_name[f->kind], "hit",
                                            f->hit, "result", f->result));
    }
    json_t *root =
        json_pack("{s:i,s:I,s:f,s:f,s:i,s:o}", "mend", 1, "seed", (json_int_t)o->seed, "mtbf",
                  o->mtbf, "seconds", seconds, "exit_code", code, "faults", faults);
    json_dumpf(root, out, JSON_INDENT(2));
    fputc('\n', out);
    json_decref(root);
}

static int chaos(struct options *o)
{
    struct chaos_plan plan = {0};
    FILE *file = NULL;
    if (make_plan(o, &plan))
        return tool_wrong_use("chaos", "%s", mend_error_text());
    if (o->output && !(file = fopen(o->output, "we")))
        return tool_failed("chaos", "cannot write %s: %s", o->output, strerror(errno));
    struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    if (o->command && (o->job.launcher = start(o->command)) < 0) {
        int code = tool_failed("chaos", "cannot fork: %s", strerror(errno));
        if (file)
            fclose(file);
        return code;
    }
    if (o->dir && mend_io_make_folders(o->dir))
        fprintf(stderr, "mend chaos: no events: %s\n", mend_error_text());
    double seconds;
    int code = run(o, &plan, &seconds);
    (o->json ? print_json : print_table)(file ? file : stderr, o, &plan, code, seconds);
    if (file)
        fclose(file);
    free(plan.fault);
    free(o->job.process);
    return code == 0 ? TOOL_OK : TOOL_FAILED;
}

int mend_cmd_chaos(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--help") == 0) {
        fputs(help, stdout);
        return TOOL_OK;
    }
    struct options o = {.duration = 3600,
                        .lasts = 1,
                        .seed = 1,
                        .weight = {[CHAOS_KILL] = 1},
                        .max = 1000000,
                        .wait_ranks = 1,
                        .job = {.leave = 1, .fill_limit = 256ull << 20}};
    int rc = parse_options(&o, argc, argv);
    return rc ? rc : chaos(&o);
}
