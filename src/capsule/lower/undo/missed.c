/* undo/missed.c - records whose file is not there: see undo/apply.c.
 *
 * All ranks have put back all names. A file that is still not there was made since the version, and its maker's log says so;
 * or another rank has renamed it, and the record names it by its new name: then it has its old name again. Otherwise
 * somebody outside the job has removed or replaced it, and Mend has no copy: the user is told once.
 */
#include "undo/stored.h"

#include <base/event.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
    const char *path; /* looked for */
    int made;
    char old_name[PATH_MAX]; /* "": nobody has renamed it */
    char told[PATH_MAX];
} missed;

static void look(const struct log *log, int rank, const struct undo_record *r, const char *path)
{
    (void)log;
    (void)rank;
    if (r->kind == UNDO_CREATED && strcmp(path, missed.path) == 0)
        missed.made = 1;
    if (r->kind == UNDO_MOVED && strcmp(path + r->path_bytes, missed.path) == 0)
        snprintf(missed.old_name, sizeof missed.old_name, "%s", path);
}

/* The logs of this version, of all ranks: none is removed before all are undone. */
static void look_everywhere(mend_version_t version, const char *path)
{
    missed.path = path;
    missed.made = 0;
    missed.old_name[0] = 0;
    DIR *d = opendir(undo_log.folder);
    for (struct dirent *e; d && (e = readdir(d));) {
        int rank;
        char rest;
        if (sscanf(e->d_name, "%d%c", &rank, &rest) == 1 && rank >= 0)
            log_backwards(rank, version, look);
    }
    if (d)
        closedir(d);
}

const char *missed_name(mend_version_t version, const char *path)
{
    look_everywhere(version, path);
    return missed.old_name[0] ? missed.old_name : NULL;
}

/* Perhaps under another name than the last one. */
static int was_made(mend_version_t version, const char *path)
{
    enum { NAMES = 8 };
    char name[PATH_MAX];
    snprintf(name, sizeof name, "%s", path);
    for (int i = 0; i < NAMES; i++) {
        look_everywhere(version, name);
        if (missed.made || !missed.old_name[0])
            return missed.made;
        memcpy(name, missed.old_name, sizeof name);
    }
    return 1; /* nobody knows */
}

void missed_tell(int rank, mend_version_t version, const char *path)
{
    if (was_made(version, path) || strcmp(missed.told, path) == 0)
        return;
    snprintf(missed.told, sizeof missed.told, "%s", path);
    mend_event("recover.missed", ev_int("version", version), ev_str("file", path));
    fprintf(stderr,
            "mend: rank %d: %s has changed since version %lld, and somebody else has removed or "
            "replaced it: its old content is not restored\n",
            rank, path, (long long)version);
}
