/* relaunch.c - jobs of `mend run` that survive failures by a relaunch (an MPI without ULFM, or --no-online).
 * What they print and change in files belongs to a version, as in a job that repairs itself.
 *
 * 1. At every capture all ranks stand still. Before the image is written, printed output is put aside
 *    (output.c), and a new log of changes begins (undo.h). Both carry the numbers of captures, not of versions:
 *    a version that fails leaves its number to the next. The image holds the number of its capture.
 * 2. When its version is complete, the output that was put aside goes to DIR/output.
 * 3. Captures whose versions have been removed are forgotten: nobody goes back beyond them.
 * 4. A relaunch loads the newest version that all ranks can read. All agree that files can be put back as they
 *    were at its capture (or at the beginning of the program, capture 0, if there is no version). They remove
 *    newer versions: those would be useless without the logs that are used up now. Then they put the files back.
 *    After a death in between the next launch does it again, with the same result (undo/apply.c).
 */
#include "ground/settings.h"
#include "output/output.h"
#include "start/start.h"
#include "undo/together.h"
#include "undo/undo.h"
#include "versions/versions.h"

#include <base/config.h>
#include <base/event.h>
#include <mend/error.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NOT_BY_RUN = -1 }; /* `mend exec` made the image */

static struct {
    int active, rank, capture;
    pthread_mutex_t lock; /* between the rank's and the agent's thread, for the rest */
    struct known {        /* captures of this launch, and the one it began with; oldest first */
        mend_version_t version;
        int capture;
        uint64_t mark[2]; /* what was printed by then */
    } *known;
    int known_count;
} launch = {.lock = PTHREAD_MUTEX_INITIALIZER};

static const char *rank_told(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"};
    const char *text = NULL;
    for (int i = 0; i < 3 && !text; i++)
        text = getenv(names[i]);
    return text;
}

void relaunch_open(void)
{
    const char *told = rank_told(), *meeting = mend_setting_string(MEND_KEY_RUN_MEETING);
    if (!settings.dir[0] || !meeting[0])
        return;
    if (!told)
        die("the launcher has not given this process a rank");
    launch.active = 1;
    launch.rank = atoi(told);
    mend_event_set_rank(launch.rank);
    ended_watch();
    load_remember_environment(); /* if no version is found, MPI_Init comes before the program */
    lower.rolls_back = 2;
    if (!mend_setting_boolean(MEND_KEY_ONLINE_RAW)) {
        output_open(settings.dir);
        output_play(launch.rank);
    }
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    mend_event("recover.born", ev_int("pid", getpid()), ev_str("host", host));
    undo_open(settings.dir);
    undo_meeting(strtoull(meeting, NULL, 10));
}

int relaunch_active(void)
{
    return launch.active;
}

static void know(mend_version_t version, const uint64_t mark[2])
{
    pthread_mutex_lock(&launch.lock);
    launch.known = realloc(launch.known, (size_t)(launch.known_count + 1) * sizeof *launch.known);
    if (!launch.known)
        die("no memory to list %d versions", launch.known_count);
    launch.known[launch.known_count++] =
        (struct known){version, launch.capture, {mark[0], mark[1]}};
    pthread_mutex_unlock(&launch.lock);
}

/* A file that the user gave `mend run` as standard input goes to rank 0, from its position at that time;
 * every image holds the position. (Input from a pipe is gone once it has been read: the launcher passes it
 * on.) */
void input_take(int mine)
{
    const char *path = mend_setting_string(MEND_KEY_ONLINE_STDIN);
    long at = mend_setting_integer(MEND_KEY_ONLINE_STDIN_AT);
    if (!path[0] || mine != 0)
        return;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || lseek(fd, at, SEEK_SET) < 0)
        die("cannot open %s: %s", path, strerror(errno));
    dup2(fd, 0);
    if (fd > 0)
        close(fd);
}

void relaunch_begin(void)
{
    if (!launch.active)
        return;
    know(0, (uint64_t[2]){0, 0});
    undo_begin(launch.rank, 0);
    input_take(launch.rank);
}

int relaunch_capture(struct upper *upper, mend_version_t version)
{
    upper->capture = NOT_BY_RUN;
    if (!launch.active)
        return 0;
    upper->capture = ++launch.capture;
    upper->doubtful = 0; /* all ranks are here */
    undo_begin(launch.rank, launch.capture);
    uint64_t mark[2];
    int ok = output_aside(launch.capture, mark);
    know(version, mark);
    if (ok)
        return 0;
    fprintf(stderr, "mend: rank %d cannot write to %s/output\n", launch.rank, settings.dir);
    return MEND_ERR_IO;
}

void relaunch_complete(mend_version_t version)
{
    pthread_mutex_lock(&launch.lock);
    int i = launch.known_count - 1;
    while (i >= 0 && launch.known[i].version != version)
        i--;
    for (int k = 0; launch.active && k <= i; k++) /* with those that failed before it */
        if (launch.known[k].capture > 0)
            output_settle(launch.known[k].capture, launch.known[k].mark);
    pthread_mutex_unlock(&launch.lock);
}

/* Versions below this one have been removed. Captures older than those we know have older versions. */
void relaunch_forget(mend_version_t below)
{
    int keep = 0;
    pthread_mutex_lock(&launch.lock);
    while (launch.active && keep < launch.known_count && launch.known[keep].version < below)
        keep++;
    if (keep > 0 && keep < launch.known_count) {
        undo_forget(launch.rank, launch.known[keep].capture);
        launch.known_count -= keep;
        memmove(launch.known, launch.known + keep,
                (size_t)launch.known_count * sizeof *launch.known);
    }
    pthread_mutex_unlock(&launch.lock);
}

static void remove_later(mend_version_t version, const struct damaged *damaged)
{
    char folder[4300], aside[4300];
    snprintf(folder, sizeof folder, "%s/versions", settings.dir);
    snprintf(aside, sizeof aside, "%s/damaged", settings.dir);
    retention_put_aside(folder, aside, launch.rank, version, damaged);
    retention_remove_later(folder, launch.rank, version);
    if (!settings.local[0])
        return;
    snprintf(aside, sizeof aside, "%.4200s/damaged", settings.local);
    retention_put_aside(settings.local, aside, launch.rank, version, damaged);
    retention_remove_later(settings.local, launch.rank, version);
}

/* Collective, at a relaunch. */
void relaunch_go_back(mend_version_t version, int to, const struct damaged *damaged)
{
    if (!launch.active)
        return;
    if (to == NOT_BY_RUN) { /* files have changed since without a record: the logs are older */
        undo_remove(launch.rank, 0);
        undo_remove_floor(launch.rank);
        to = 0;
    }
    launch.capture = to;
    if (!files_can_go_back(launch.rank, to, MPI_COMM_WORLD))
        die("cannot restore the program's files");
    remove_later(version, damaged);
    if (!put_files_back(launch.rank, to, MPI_COMM_WORLD))
        die("cannot restore the program's files");
    undo_remove(launch.rank, to);
    output_take_back(to);
    MPI_Barrier(MPI_COMM_WORLD); /* nobody changes a file that another rank still puts back */
    undo_outside_forget(version > 0);
    if (!version) {
        if (launch.rank == 0)
            fprintf(stderr,
                    "mend: no version is complete: the program starts from the beginning\n");
        return;
    }
    know(version, (uint64_t[2]){0, 0});
    undo_begin(launch.rank, to);
}
