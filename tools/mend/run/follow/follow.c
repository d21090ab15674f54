/* Following a job: its output as it becomes final, its events, the status line. */
#include "run/run.h"

#include <base/event.h>

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static double wall(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void follow_wipe_line(struct run_follower *f)
{
    if (f->line_shown)
        fputs("\r\033[K", stderr);
    f->line_shown = false;
}

/* ---- output: the files grow when a version is complete; each byte is printed once ------------ */

/* Standard output may be a full disk, or closed: that is said at once, and remembered. The job goes on: all that it
 * prints is in DIR/output. */
static void print(struct run_follower *f, const char *bytes, size_t count, int stream)
{
    FILE *to = stream ? stderr : stdout;
    if ((fwrite(bytes, 1, count, to) == count && fflush(to) == 0) || stream)
        return;
    if (!f->unprinted)
        fprintf(stderr,
                "mend: WARNING: standard output cannot be written: %s; what the program prints is "
                "in %s/output\n",
                strerror(errno), f->job->dir);
    f->unprinted = true;
    clearerr(stdout); /* the rest may go through: it is told all the same */
}

/* Whole lines only, so that those of two ranks are not mixed; what stands without an end for a while is
 * printed as it is. */
static void print_new(struct run_follower *f, int rank, int stream)
{
    enum { A_WHILE = 25 }; /* calls */
    char path[4400], bytes[1 << 16];
    long long *at = &f->printed[2 * rank + stream];
    int *waited = &f->waited[2 * rank + stream];
    snprintf(path, sizeof path, "%s/output/%d.%s", f->job->dir, rank, stream ? "err" : "out");
    bool printed = false;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return;
    for (ssize_t n; (n = pread(fd, bytes, sizeof bytes, *at)) > 0; *at += n) {
        const char *end = memrchr(bytes, '\n', (size_t)n);
        if (!end && n < (ssize_t)sizeof bytes && ++*waited < A_WHILE && !f->ending)
            break;
        if (end)
            n = end - bytes + 1;
        *waited = 0;
        follow_wipe_line(f);
        print(f, bytes, (size_t)n, stream);
        printed = true;
    }
    close(fd);
    if (printed)
        printed_note(f, rank, stream);
}

static void print_all_new(struct run_follower *f)
{
    for (int r = 0; !f->job->raw && r < f->job->ranks; r++)
        for (int stream = 0; stream < 2; stream++)
            print_new(f, r, stream);
    fflush(stdout);
}

/* RANK.out.last: the number of its first byte, and the bytes (src/capsule/lower/output/output.c). Bytes that
 * were printed are not printed again. */
static void print_last(struct run_follower *f, int rank, int stream)
{
    char path[4400], bytes[1 << 16];
    uint64_t first, at = (uint64_t)f->printed[2 * rank + stream];
    snprintf(path, sizeof path, "%s/output/%d.%s.last", f->job->dir, rank, stream ? "err" : "out");
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd >= 0 && pread(fd, &first, sizeof first, 0) == sizeof first && first <= at)
        for (ssize_t n;
             (n = pread(fd, bytes, sizeof bytes, (off_t)(sizeof first + at - first))) > 0;
             at += (uint64_t)n)
            print(f, bytes, (size_t)n, stream);
    if (fd >= 0)
        close(fd);
}

void follow_last_words(struct run_follower *f)
{
    f->ending = true;
    follow(f);
    follow_wipe_line(f);
    for (int r = 0; !f->job->raw && r < f->job->ranks; r++)
        for (int stream = 0; stream < 2; stream++)
            print_last(f, r, stream);
    fflush(stdout);
}

/* ---- events
 * --------------------------------------------------------------------------------------- */

static const char *text_of(json_t *e, const char *key)
{
    const char *s = json_string_value(json_object_get(e, key));
    return s ? s : "";
}

static double number_of(json_t *e, const char *key)
{
    return json_number_value(json_object_get(e, key));
}

/* Ranks that repair the job write by themselves, each when it can; else one event stands for all. */
static void note_on_disk(struct run_follower *f, json_t *e, mend_version_t version)
{
    int rank = (int)number_of(e, "rank"), ranks = f->job->ranks;
    bool all = json_object_get(e, "ranks");
    if (!all && (rank < 0 || rank >= ranks))
        return;
    for (int r = all ? 0 : rank; r < (all ? ranks : rank + 1); r++)
        f->written[r] = version;
    f->on_disk = f->written[0];
    for (int r = 1; r < ranks; r++)
        if (f->written[r] < f->on_disk)
            f->on_disk = f->written[r];
}

static void note_saved(struct run_follower *f, json_t *e, double t)
{
    struct run_progress *p = &f->now;
    mend_version_t version = (mend_version_t)number_of(e, "version");
    double seconds = number_of(e, "seconds");
    const char *level = text_of(e, "level");
    if (strcmp(level, "global") == 0 || strcmp(level, "") == 0)
        note_on_disk(f, e, version);
    if (strcmp(level, "memory") != 0 && strcmp(level, "") != 0) {
        interval_saved(f, level, version, t - seconds, t);
        return;
    }
    if (version == p->version && t - p->version_at < 1)
        return; /* another rank's word of the same one */
    p->repair_since =
        0; /* all ranks took part: a notice was mended, or of a launch that has ended */
    p->version = version;
    p->version_at = t;
    losses_saved(&p->lost, version, t);
    p->checkpoint_seconds = seconds;
    interval_saved(f, level, version, t - seconds, t);
}

static void note_resumed(struct run_follower *f, json_t *e, double t)
{
    struct run_progress *p = &f->now;
    double seconds = number_of(e, "seconds");
    if (strcmp(text_of(e, "how"), "refilled") ==
        0) { /* a new process was taken in: nothing had failed */
        p->repair_since = 0;
        return;
    }
    if (strcmp(text_of(e, "how"), "waiting") == 0 || t - p->last_recovery < seconds)
        return; /* the other ranks of the same recovery */
    p->last_recovery = t;
    p->repair_since = 0;
    p->recoveries++;
    losses_rollback(&p->lost, (mend_version_t)number_of(e, "version"), t - seconds);
    p->restarts += strcmp(text_of(e, "how"), "restarted") == 0;
    if (seconds > p->longest_recovery)
        p->longest_recovery = seconds;
    interval_failed(f, false, t - seconds, t);
}

/* A level that fails is reported at once, and then counted: the job is less safe than it was asked to be. */
static void note_failed(struct run_follower *f, json_t *e)
{
    const char *level = text_of(e, "level"), *why = text_of(e, "why");
    if (!why[0])
        why = text_of(e, "error");
    if (losses_level(&f->now.lost, level[0] ? level : "global"))
        fprintf(stderr,
                "mend: WARNING: version %ld was not written at the level %s: %s (the summary "
                "counts further failures of this level)\n",
                (long)number_of(e, "version"), level[0] ? level : "global", why);
}

static void note_noticed(struct run_progress *p, json_t *e, double t)
{
    p->failures += strcmp(text_of(e, "how"), "failure") == 0;
    p->last_failure = t;
    if (p->repair_since == 0)
        p->repair_since = mend_now();
}

static void note_born(struct run_progress *p, pid_t pid, const char *host)
{
    char here[256] = "";
    gethostname(here, sizeof here - 1);
    p->elsewhere |= strcmp(host, here) != 0;
    p->born = realloc(p->born, (size_t)(p->born_count + 1) * sizeof *p->born);
    p->past = realloc(p->past, (size_t)(p->born_count + 1) * sizeof *p->past);
    if (!p->born || !p->past)
        abort();
    p->past[p->born_count] = false;
    p->born[p->born_count++] = pid;
    p->last_born = mend_now();
}

/* By relaunch, not in place. */
static void note_restart(struct run_follower *f, json_t *e, double t)
{
    f->now.resumed = true;
    if (f->torn_at > 0) {
        losses_rollback(&f->now.lost, (mend_version_t)number_of(e, "version"), f->torn_at);
        interval_failed(f, true, f->torn_at, t);
    }
    f->torn_at = 0;
}

/* Of each rank once, and of this launch: one on another node may end later than its launcher. */
static void note_end(struct run_follower *f, json_t *e, long *count)
{
    const char *launch = run_meeting();
    int rank = (int)number_of(e, "rank");
    if (rank < 0 || rank >= f->job->ranks || f->said[rank] || !launch[0] ||
        strcmp(text_of(e, "launch"), launch) != 0)
        return;
    f->said[rank] = true;
    ++*count;
}

static void note(struct run_follower *f, const char *line)
{
    json_error_t error;
    json_t *e = json_loads(line, 0, &error);
    const char *name = text_of(e, "event");
    double t = number_of(e, "t");
    struct run_progress *p = &f->now;
    if (p->lost.began == 0)
        p->lost.began = t;
    if (strcmp(name, "checkpoint.commit") == 0)
        note_saved(f, e, t);
    else if (strcmp(name, "checkpoint.failed") == 0)
        note_failed(f, e);
    else if (strcmp(name, "recover.noticed") == 0)
        note_noticed(p, e, t);
    else if (strcmp(name, "recover.resumed") == 0)
        note_resumed(f, e, t);
    else if (strcmp(name, "recover.fetched") == 0)
        interval_fetched(f);
    else if (strcmp(name, "recover.born") == 0)
        note_born(p, (pid_t)number_of(e, "pid"), text_of(e, "host"));
    else if (strcmp(name, "recover.started") == 0)
        p->started++;
    else if (strcmp(name, "recover.playing") == 0) {
        p->playing++;
        silence_playing(f, (int)number_of(e, "rank"), (pid_t)number_of(e, "pid"));
    } else if (strcmp(name, "rank.silent") == 0)
        silence_heard(f, (int)number_of(e, "who"), number_of(e, "seconds"), "has answered nobody");
    else if (strcmp(name, "rank.answers") == 0)
        silence_answers(f, (int)number_of(e, "who"));
    else if (strcmp(name, "recover.exited") == 0)
        note_end(f, e, &p->exited);
    else if (strcmp(name, "recover.left") == 0)
        note_end(f, e, &p->left);
    else if (strcmp(name, "restart") == 0)
        note_restart(f, e, t);
    else if (strcmp(name, "recover.gave_up") == 0)
        p->gave_up = true, p->windows = number_of(e, "windows") > 0;
    else if (strcmp(name, "recover.refused") == 0)
        p->refused = true;
    else if (strcmp(name, "recover.ended") == 0) {
        if (!p->ended_by_program) {
            p->program_code = (int)number_of(e, "code");
            p->ended_rank = (int)number_of(e, "rank");
            snprintf(p->ended_how, sizeof p->ended_how, "%s", text_of(e, "how"));
        }
        p->ended_by_program = true;
    }
    json_decref(e);
}

static void read_events(struct run_follower *f)
{
    char path[4400], bytes[1 << 16];
    snprintf(path, sizeof path, "%s/events.jsonl", f->job->dir);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return;
    for (ssize_t n; (n = pread(fd, bytes, sizeof bytes, f->events_at)) > 0; f->events_at += n) {
        f->part = realloc(f->part, f->part_size + (size_t)n + 1);
        if (!f->part)
            abort();
        memcpy(f->part + f->part_size, bytes, (size_t)n);
        f->part_size += (size_t)n;
        f->part[f->part_size] = 0;
        char *line = f->part;
        for (char *end; (end = strchr(line, '\n')); line = end + 1) {
            *end = 0;
            note(f, line);
        }
        f->part_size -= (size_t)(line - f->part);
        memmove(f->part, line, f->part_size + 1);
    }
    close(fd);
}

void follow_begin(struct run_follower *f, struct run_job *job)
{
    memset(f, 0, sizeof *f);
    f->job = job;
    f->printed = calloc((size_t)job->ranks * 2, sizeof *f->printed);
    f->waited = calloc(2 * (size_t)job->ranks, sizeof *f->waited);
    f->said = calloc((size_t)job->ranks, sizeof *f->said);
    f->written = calloc((size_t)job->ranks, sizeof *f->written);
    if (!f->printed || !f->waited || !f->said || !f->written)
        abort();
    f->on_disk = -1;
    for (int r = 0; r < job->ranks; r++)
        f->written[r] = -1;
    printed_begin(f);
    f->now.every = job->every;
    struct stat st;
    char path[4400];
    if (stat(job->dir, &st) == 0)
        f->folder = st.st_ino;
    snprintf(path, sizeof path, "%s/events.jsonl", job->dir);
    if (stat(path, &st) == 0) /* what a job said that is resumed now is over */
        f->events_at = st.st_size;
    interval_begin(f);
}

void follow_attempt(struct run_follower *f)
{
    read_events(f);
    silence_attempt(f);
    memset(f->said, 0, (size_t)f->job->ranks * sizeof *f->said);
    f->now.resumed = false;
    f->now.exited = f->now.left = f->now.playing = 0;
    f->now.born_count = f->now.started = 0;
    f->now.output_lost_rank = -1;
    f->now.gave_up = f->now.windows = f->now.elsewhere = f->now.fell = false;
    f->told_size = 0;
    f->now.repair_since = f->now.deserted_since = 0;
}

void follow(struct run_follower *f)
{
    read_events(f);
    interval_tell(f);
    print_all_new(f);
}

/* On other nodes we cannot look for processes. */
static bool is_far(const struct run_follower *f)
{
    return f->job->host || f->job->hostfile || f->now.elsewhere;
}

bool follow_stillborn(const struct run_follower *f)
{
    /* seconds: one that died before it could say that it was born is missed; on other nodes we
     * cannot look for those that were */
    enum { MISSED = 30, FAR = 120 };
    const struct run_progress *p = &f->now;
    int all = f->job->ranks + f->job->spares;
    double quiet = p->born_count ? mend_now() - p->last_born : 0;
    if (p->started >= all)
        return false;
    if (p->fell)
        return true;
    if (is_far(f))
        return quiet > FAR;
    for (int i = 0; i < p->born_count; i++)
        if (kill(p->born[i], 0) && errno == ESRCH)
            return true;
    return p->born_count < all && quiet > MISSED;
}

/* Open MPI's launcher may wait for ever for itself while it ends a job whose ranks end, too. */
bool follow_deserted(struct run_follower *f)
{
    enum { A_WHILE = 10 }; /* seconds; MPI_Abort and the last words take some */
    struct run_progress *p = &f->now;
    bool deserted = p->gave_up;
    if (!is_far(f) && !deserted && p->born_count > 0) {
        deserted = true;
        for (int i = 0; i < p->born_count && deserted; i++)
            deserted = kill(p->born[i], 0) && errno == ESRCH;
    }
    if (!deserted)
        p->deserted_since = 0;
    else if (p->deserted_since == 0)
        p->deserted_since = mend_now();
    return deserted && mend_now() - p->deserted_since > A_WHILE;
}

bool follow_stuck(const struct run_follower *f)
{
    return f->now.repair_since > 0 && mend_now() - f->now.repair_since > f->job->patience;
}

void follow_torn_down(struct run_follower *f)
{
    f->torn_at = wall();
    mend_event("run.torn_down", ev_int("version", f->now.version));
}

/* A rank that becomes another program by exec() is one that nobody saves or repairs. */
void follow_replaced(struct run_follower *f)
{
    char path[64], program[4096];
    struct run_progress *p = &f->now;
    for (int i = 0; !p->refused && !is_far(f) && i < p->born_count; i++) {
        if (p->past[i])
            continue;
        snprintf(path, sizeof path, "/proc/%d/exe", (int)p->born[i]);
        ssize_t n = readlink(path, program, sizeof program - 1);
        p->past[i] = n <= 0; /* its number may be given to another process */
        program[n > 0 ? n : 0] = 0;
        const char *name = strrchr(program, '/');
        if (!name || strncmp(name, "/capsule.", 9) == 0)
            continue;
        follow_wipe_line(f);
        fprintf(stderr,
                "mend: the program replaced itself by exec (%s), which Mend cannot follow: name "
                "that program after --\n",
                program);
        p->refused = true;
    }
}

bool follow_lost(struct run_follower *f)
{
    struct stat st;
    double now = mend_now();
    if (now - f->looked_at < 1)
        return false;
    f->looked_at = now;
    int rc = stat(f->job->dir, &st);
    if (rc && errno != ENOENT && errno != ENOTDIR)
        return false; /* a file server that is away for a while */
    f->missed = rc || st.st_ino != f->folder ? f->missed + 1 : 0;
    return f->missed > 1;
}

void follow_status(struct run_follower *f)
{
    struct run_progress *p = &f->now;
    if (f->job->quiet || !isatty(2))
        return;
    char age[32] = "none yet";
    if (p->version > 0)
        snprintf(age, sizeof age, "%ld (%.1f s old)", p->version, wall() - p->version_at);
    fprintf(stderr, "\r\033[Kmend: version %s, every %.2g s, %ld failure%s survived", age, p->every,
            p->recoveries, p->recoveries == 1 ? "" : "s");
    f->line_shown = true;
    fflush(stderr);
}

void follow_end(struct run_follower *f)
{
    f->ending = true;
    follow(f);
    follow_wipe_line(f);
    printed_end(f);
    free(f->printed);
    free(f->waited);
    free(f->said);
    free(f->written);
    free(f->part);
    free(f->now.born);
    free(f->now.past);
    silence_end(f);
}
