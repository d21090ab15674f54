/* More machines for a job that runs: mend run --add HOST[:SLOTS],… --dir DIR, and a host file that has changed.
 *
 *  1. mend run --add appends the machines to DIR/hosts.added.
 *  2. The job's own mend run sees that the file has grown, or gets SIGHUP, and sends SIGHUP to its head.
 *  3. The head tries who is new (src/launcher/head/later.c) and reports it: an event, launch.added or launch.unadded.
 *  4. mend run --add waits for these events.
 * If the job's mend run is killed before 2, or launches the job again, the next launch reads the file. */
#include "jobfile.h"
#include "run.h"
#include "tool.h"

#include <base/event.h>
#include <base/fail.h>
#include <mend/error.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

/* ---- the job's mend run ---------------------------------------------------------------------- */

void run_added_path(const char *dir, char *path, size_t size)
{
    snprintf(path, size, "%s/hosts.added", dir);
}

long long run_added_size(const struct run_job *job)
{
    char path[4400];
    struct stat st;
    run_added_path(job->dir, path, sizeof path);
    return stat(path, &st) == 0 ? (long long)st.st_size : 0;
}

static bool terminal_answers(void)
{
    struct termios t;
    int fd = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
    bool ok = fd >= 0 && tcgetattr(fd, &t) == 0;
    if (fd >= 0)
        close(fd);
    return ok;
}

/* A shell whose terminal is gone sends SIGHUP, too. */
bool run_is_hung_up(const struct run_job *job, bool had_terminal)
{
    return !run_is_ours(job) || !job->hostfile || (had_terminal && !terminal_answers());
}

bool run_has_terminal(void)
{
    return terminal_answers();
}

/* ---- mend run --add -------------------------------------------------------------------------- */

/* As src/launcher/hosts.c takes them: one that is not valid would spoil every launch to come. */
static bool is_host(const char *word, int *slots)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-@%";
    size_t length = strspn(word, letters);
    char *end = NULL;
    long n = word[length] == ':' ? strtol(word + length + 1, &end, 10) : 1;
    *slots = (int)n;
    return length > 0 && length < 256 && word[0] != '-' && n >= 1 && n <= 65536 &&
           (end ? end > word + length + 1 && !*end : !word[length]);
}

static int append(const char *dir, char *const *names, const int *slots, int count)
{
    char path[4400], text[1 << 16];
    size_t size = 0;
    run_added_path(dir, path, sizeof path);
    for (int i = 0; i < count && size < sizeof text - 300; i++)
        size +=
            (size_t)snprintf(text + size, sizeof text - size, "%s slots=%d\n", names[i], slots[i]);
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
    bool ok = fd >= 0 && write(fd, text, size) == (ssize_t)size;
    if (fd >= 0 && close(fd))
        ok = false;
    return ok ? TOOL_OK : tool_failed("run", "cannot write %s: %s", path, strerror(errno));
}

/* Can this job take in other machines? */
static int check_job(const char *dir)
{
    json_t *job = NULL;
    if (jobfile_read(dir, &job))
        return tool_failed("run", "%s", mend_error_text());
    const char *launcher = jobfile_member(job, "launcher");
    bool several = jobfile_member(job, "host") || jobfile_member(job, "hostfile") ||
                   jobfile_member(job, "slurm");
    bool theirs = launcher && strcmp(launcher, "mpirun") == 0;
    json_decref(job);
    if (jobfile_held(dir) != 1)
        return tool_failed("run", "no job is running in %s", dir);
    if (theirs)
        return tool_failed("run",
                           "the job in %s was started by mpirun, which takes in no more "
                           "machines; Mend's own launcher does",
                           dir);
    if (!several)
        return tool_failed("run",
                           "the job in %s was started for one machine only; start it with "
                           "--host or --hostfile to add machines later",
                           dir);
    return TOOL_OK;
}

/* 1: it is there. -1: it did not come; `why`. 2: the job is being launched again, and that launch will read the list. */
static int look_for(const char *dir, long long from, const char *host, char *why, size_t size)
{
    char path[4400], *line = NULL;
    size_t room = 0;
    int found = 0;
    snprintf(path, sizeof path, "%s/events.jsonl", dir);
    FILE *f = fopen(path, "re");
    if (f && fseeko(f, (off_t)from, SEEK_SET) == 0)
        while (!found && getline(&line, &room, f) > 0 && strchr(line, '\n')) {
            json_error_t error;
            json_t *e = json_loads(line, 0, &error);
            const char *name = json_string_value(json_object_get(e, "event"));
            const char *of = json_string_value(json_object_get(e, "host"));
            const char *how = json_string_value(json_object_get(e, "how"));
            if (name && strcmp(name, "run.launch") == 0)
                found = 2;
            else if (name && of && strcmp(of, host) == 0)
                found = strcmp(name, "launch.added") == 0     ? 1
                        : strcmp(name, "launch.unadded") == 0 ? -1
                                                              : 0;
            if (found < 0)
                snprintf(why, size, "%s", how ? how : "");
            json_decref(e);
        }
    free(line);
    if (f)
        fclose(f);
    return found;
}

static int await(const struct run_job *job, long long from, const char *host)
{
    enum { LIMIT = 90 }; /* seconds; a daemon has 60 */
    char why[256] = "";
    int found = 0;
    for (double end = mend_now() + LIMIT; !found && mend_now() < end && jobfile_held(job->dir);) {
        nanosleep(&(struct timespec){0, 50000000}, NULL);
        found = look_for(job->dir, from, host, why, sizeof why);
    }
    if (found < 0)
        return tool_failed("run", "%s did not come: %s; the job tries it again later", host, why);
    if (!found)
        return tool_failed("run",
                           "the job in %s has not said that %s has come; its next launch "
                           "will use it",
                           job->dir, host);
    if (!job->quiet)
        fprintf(stderr, "mend: %s %s\n", host,
                found == 1 ? "has joined the job" : "will be part of the job's next launch");
    return TOOL_OK;
}

int run_add_hosts(const struct run_job *job)
{
    enum { HOSTS = 256 };
    char *names[HOSTS], *copy = strdup(job->add), *rest = copy, path[4400];
    int slots[HOSTS], count = 0, rc = TOOL_OK;
    struct stat st;
    for (char *word; copy && !rc && (word = strsep(&rest, ","));) {
        if (count == HOSTS || !is_host(word, &slots[count]))
            rc = tool_wrong_use("run", "--add %s is not a list of machines", job->add);
        word[strcspn(word, ":")] = 0;
        names[count < HOSTS ? count++ : 0] = word;
    }
    if (!rc)
        rc = check_job(job->dir);
    snprintf(path, sizeof path, "%s/events.jsonl", job->dir);
    long long from = stat(path, &st) == 0 ? (long long)st.st_size : 0;
    if (!rc)
        rc = append(job->dir, names, slots, count);
    for (int i = 0, one; !rc && i < count; i++)
        rc = (one = await(job, from, names[i])) ? one : rc;
    free(copy);
    return rc;
}
