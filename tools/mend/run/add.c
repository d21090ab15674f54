/* More machines for a job that runs: mend run --add HOST[:SLOTS],… --dir DIR, and a host file that has changed.
 *
 *  1. mend run --add appends the machines to DIR/hosts.added.
 *  2. The job's own mend run sees that the file has grown, or gets SIGHUP, and sends SIGHUP to its head.
 *  3. The head tries the new machines (src/launcher/head/later.c) and reports the result: an event, launch.added or launch.unadded.
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
#include <sys/file.h>
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

/* A shell whose terminal is gone also sends SIGHUP. */
bool run_is_hung_up(const struct run_job *job, bool had_terminal)
{
    return !run_is_ours(job) || !job->hostfile || (had_terminal && !terminal_answers());
}

bool run_has_terminal(void)
{
    return terminal_answers();
}

/* ---- mend run --add -------------------------------------------------------------------------- */

enum answer { NOT_YET, HAS_COME, WILL_COME, DID_NOT_COME };
struct machine {
    char *name;
    int slots;
    enum answer answer;
    char why[128];
};
struct machines {
    char *text; /* all names */
    struct machine *list;
    size_t count;
};

/* Accepts what src/launcher/hosts.c accepts: an invalid name would break every later launch. */
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

static int no_memory(void)
{
    return tool_failed("run", "no memory for the list of machines");
}

static int split(const char *text, struct machines *m)
{
    size_t most = 1;
    for (const char *c = text; *c; c++)
        most += *c == ',';
    m->text = strdup(text);
    m->list = calloc(most, sizeof *m->list);
    if (!m->text || !m->list)
        return no_memory();
    char *rest = m->text;
    for (char *word; (word = strsep(&rest, ",")); m->count++) {
        struct machine *one = &m->list[m->count];
        if (!is_host(word, &one->slots))
            return tool_wrong_use("run", "--add: \"%s\" is not a machine, as NAME or NAME:SLOTS",
                                  word);
        word[strcspn(word, ":")] = 0;
        one->name = word;
    }
    return TOOL_OK;
}

/* Appends in one piece, because the job reads the file as soon as it has grown. Undoes a partial write. */
static bool append(int fd, const char *text, size_t size)
{
    struct stat before;
    if (flock(fd, LOCK_EX) || fstat(fd, &before))
        return false;
    ssize_t n = write(fd, text, size);
    if (n == (ssize_t)size)
        return true;
    int error = n < 0 ? errno : ENOSPC;
    if (n > 0 && ftruncate(fd, before.st_size))
        error = errno;
    errno = error;
    return false;
}

static int write_down(const char *dir, const struct machines *m)
{
    char path[4400], *text = NULL;
    size_t size = 0;
    FILE *lines = open_memstream(&text, &size);
    for (size_t i = 0; lines && i < m->count; i++)
        fprintf(lines, "%s slots=%d\n", m->list[i].name, m->list[i].slots);
    if (!lines || fclose(lines)) {
        free(text);
        return no_memory();
    }
    run_added_path(dir, path, sizeof path);
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
    bool ok = fd >= 0 && append(fd, text, size);
    int error = errno;
    if (fd >= 0 && close(fd) && ok) {
        ok = false;
        error = errno;
    }
    free(text);
    return ok ? TOOL_OK : tool_failed("run", "cannot write %s: %s", path, strerror(error));
}

/* Can this job use more machines? */
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

static void note(struct machines *m, const char *host, enum answer answer, const char *why)
{
    for (size_t i = 0; i < m->count; i++)
        if (m->list[i].answer == NOT_YET && (!host || strcmp(m->list[i].name, host) == 0)) {
            m->list[i].answer = answer;
            snprintf(m->list[i].why, sizeof m->list[i].why, "%s", why ? why : "");
        }
}

static void hear(struct machines *m, const char *line)
{
    json_error_t error;
    json_t *e = json_loads(line, 0, &error);
    const char *name = json_string_value(json_object_get(e, "event"));
    const char *host = json_string_value(json_object_get(e, "host"));
    if (name && strcmp(name, "run.launch") == 0) /* this launch has read the file */
        note(m, NULL, WILL_COME, NULL);
    else if (name && host && strcmp(name, "launch.added") == 0)
        note(m, host, HAS_COME, NULL);
    else if (name && host && strcmp(name, "launch.unadded") == 0)
        note(m, host, DID_NOT_COME, json_string_value(json_object_get(e, "how")));
    json_decref(e);
}

/* Whole lines only: the last one may be incomplete. */
static void hear_events(struct machines *m, const char *path, off_t *from)
{
    char *line = NULL;
    size_t room = 0;
    FILE *f = fopen(path, "re");
    if (f && fseeko(f, *from, SEEK_SET) == 0)
        for (ssize_t n; (n = getline(&line, &room, f)) > 0 && line[n - 1] == '\n'; *from += n)
            if (strstr(line, "launch"))
                hear(m, line);
    free(line);
    if (f)
        fclose(f);
}

static size_t unheard(const struct machines *m)
{
    size_t n = 0;
    for (size_t i = 0; i < m->count; i++)
        n += m->list[i].answer == NOT_YET;
    return n;
}

static void await(const struct run_job *job, struct machines *m, const char *path, off_t from)
{
    enum { LIMIT = 90 }; /* seconds; a daemon has 60 */
    for (double end = mend_now() + LIMIT;
         unheard(m) && mend_now() < end && jobfile_held(job->dir) == 1;) {
        nanosleep(&(struct timespec){0, 50000000}, NULL);
        hear_events(m, path, &from);
    }
}

static int tell(const struct run_job *job, const struct machines *m)
{
    int rc = TOOL_OK;
    for (size_t i = 0; i < m->count; i++) {
        const struct machine *one = &m->list[i];
        if (one->answer == DID_NOT_COME)
            rc = tool_failed("run", "%s did not come: %s; the job tries it again later", one->name,
                             one->why);
        else if (one->answer == NOT_YET)
            rc = tool_failed("run",
                             "the job in %s has not reported that %s joined; its next launch "
                             "will use it",
                             job->dir, one->name);
        else if (!job->quiet)
            fprintf(stderr, "mend: %s %s\n", one->name,
                    one->answer == HAS_COME ? "has joined the job"
                                            : "will be part of the job's next launch");
    }
    return rc;
}

int run_add_hosts(const struct run_job *job)
{
    struct machines m = {0};
    struct stat st;
    char path[4400];
    snprintf(path, sizeof path, "%s/events.jsonl", job->dir);
    int rc = split(job->add, &m);
    if (!rc)
        rc = check_job(job->dir);
    off_t from = stat(path, &st) == 0 ? st.st_size : 0;
    if (!rc)
        rc = write_down(job->dir, &m);
    if (!rc) {
        await(job, &m, path, from);
        rc = tell(job, &m);
    }
    free(m.list);
    free(m.text);
    return rc;
}
