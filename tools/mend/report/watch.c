/* mend report --watch: write the page again whenever there are new events.
 *
 * While the job runs, the page asks its browser to load it again now and then. The last page does not: the job has
 * ended, or nobody writes the page any more. */
#include "jobfile.h"
#include "report.h"
#include "tool.h"

#include <mend/error.h>

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

static volatile sig_atomic_t asked; /* to end: a signal's number */

static void ask(int number)
{
    asked = number;
}

/* The last events are written before DIR/job.json says how the job ended, and that happens before the lock is released. */
static bool is_over(const struct report *r, int held)
{
    return held == 0 || (r->ended && !(held == 1 && strcmp(r->state, "running") == 0));
}

static int write_now(const char *dir, const char *path, bool *live)
{
    struct report r;
    int held = jobfile_held(dir); /* ask first: then what we read is complete */
    if (report_read(&r, dir))
        return tool_failed("report", "%s", mend_error_text());
    *live = r.live = !is_over(&r, held) && !asked;
    int rc = report_write(&r, path);
    report_free(&r);
    return rc;
}

static bool is_new(const char *dir, struct stat *seen)
{
    char path[4400];
    struct stat st = {0};
    snprintf(path, sizeof path, "%s/events.jsonl", dir);
    if (stat(path, &st))
        return false;
    bool is = st.st_ino != seen->st_ino || st.st_size != seen->st_size;
    *seen = st;
    return is;
}

/* A large page takes long to write: spend at most a part of the time on it. */
static void rest(clock_t took)
{
    double seconds = 1 + 4 * (double)took / CLOCKS_PER_SEC;
    struct timespec t = {(time_t)seconds, (long)(1e9 * (seconds - (double)(time_t)seconds))};
    nanosleep(&t, NULL);
}

int report_watch(const char *dir, const char *path)
{
    struct sigaction action = {.sa_handler = ask};
    struct stat seen = {0};
    bool live = true, first = true;
    int rc = TOOL_OK;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    while (live && rc == TOOL_OK) {
        clock_t before = clock();
        if (is_new(dir, &seen) || first || asked || jobfile_held(dir) == 0)
            rc = write_now(dir, path, &live);
        first = false;
        if (live && rc == TOOL_OK)
            rest(clock() - before);
    }
    return rc;
}
