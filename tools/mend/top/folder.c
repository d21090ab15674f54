/* Reads a job's folder as it grows. */
#include "top.h"

#include "jobfile.h"

#include <base/fail.h>
#include <base/io.h>
#include <mend/error.h>

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHUNK = 16 << 20 }; /* longer lines are skipped */

void top_begin(struct top *t, const char *dir)
{
    memset(t, 0, sizeof *t);
    snprintf(t->dir, sizeof t->dir, "%s", dir);
    snprintf(t->sums.dir, sizeof t->sums.dir, "%.500s", dir);
    t->sums.also = top_note;
    t->sums.to = t;
    t->recovery = -1;
    t->online = true;
    for (int i = 0; i < TOP_LEVELS; i++)
        t->level[i].planned = -1;
}

void top_end(struct top *t)
{
    report_free(&t->sums);
    top_levels_free(t);
    free(t->held);
    free(t->rank);
    t->held = NULL;
}

static void begin_again(struct top *t)
{
    char dir[sizeof t->dir];
    strcpy(dir, t->dir);
    top_end(t);
    top_begin(t, dir);
}

void top_note_events(struct top *t, char *text)
{
    report_note_events(&t->sums, text);
}

void top_note_job(struct top *t, json_t *job)
{
    report_note_job(&t->sums, job);
    t->online = !json_is_false(json_object_get(job, "online"));
    top_levels_asked(t, t->online ? jobfile_member(job, "levels") : NULL);
    if (t->online && !jobfile_member(job, "levels"))
        t->level[0].every = 1;
}

/* The lines among `held` that are complete. */
static void take_lines(struct top *t)
{
    char *end = memrchr(t->held, '\n', t->held_size), *first = t->held;
    if (!end) {
        t->skipping |= t->held_size == CHUNK;
        if (t->skipping)
            t->held_size = 0;
        return;
    }
    for (char *zero = t->held; (zero = memchr(zero, 0, (size_t)(end - zero)));)
        *zero = '?'; /* no text contains it: skip the line as unreadable */
    *end = 0;
    if (t->skipping)
        first = strchr(first, '\n') ? strchr(first, '\n') + 1 : end;
    t->skipping = false;
    top_note_events(t, first);
    t->held_size -= (size_t)(end + 1 - t->held);
    memmove(t->held, end + 1, t->held_size);
}

static int read_events(struct top *t)
{
    char path[4400];
    struct stat st;
    snprintf(path, sizeof path, "%s/events.jsonl", t->dir);
    int fd = mend_io_open_read(path), rc = MEND_OK;
    if (fd < 0)
        return fd;
    if (fstat(fd, &st)) {
        rc = mend_fail_errno("cannot examine %s", path);
    } else if (st.st_size > (off_t)1 << 31) {
        rc = mend_fail(MEND_ERR_ARGUMENT, "%s is larger than 2 GiB", path);
    } else {
        if (t->inode && (st.st_ino != t->inode || st.st_size < t->at))
            begin_again(t);
        t->inode = st.st_ino;
    }
    if (!rc && !t->held && !(t->held = malloc(CHUNK)))
        rc = mend_fail(MEND_ERR_NO_MEMORY, "no memory for %s", path);
    for (ssize_t n; !rc; t->at += n) {
        n = pread(fd, t->held + t->held_size, CHUNK - t->held_size, t->at);
        if (n < 0)
            rc = mend_fail_errno("cannot read %s", path);
        if (n <= 0)
            break;
        t->held_size += (size_t)n;
        take_lines(t);
    }
    close(fd);
    return rc;
}

int top_update(struct top *t)
{
    json_t *job = NULL;
    bool is_free =
        jobfile_held(t->dir) == 0; /* the last event is written before the lock is released */
    int job_rc = jobfile_read(t->dir, &job);
    if (!job_rc)
        top_note_job(t, job); /* does the job repair itself? That decides how to read events */
    int rc = read_events(t);
    if (!job_rc)
        top_note_job(t, job); /* again: another job's events reset everything */
    json_decref(job);
    t->gone = is_free && !t->sums.ended;
    return rc == MEND_ERR_NOT_FOUND && !job_rc && !t->gone ? MEND_OK : rc;
}

bool top_over(const struct top *t)
{
    return t->gone || (t->sums.launches > 0 && t->sums.ended);
}
