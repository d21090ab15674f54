/* The folder of a job of `mend run`: one job at a time, its request (job.json), its input. */
#include "images/versions.h"
#include "jobfile.h"
#include "run.h"
#include "tool.h"

#include <base/ends.h>
#include <base/event.h>
#include <base/fail.h>
#include <base/io.h>
#include <image/abi.h>
#include <mend/error.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* A here-document of the shell may be a file without a name: copy it to one with a name. */
static int copy_input(const char *path)
{
    char bytes[1 << 16];
    FILE *in = fopen("/proc/self/fd/0", "re"), *out = fopen(path, "we");
    bool ok = in && out;
    while (ok && !feof(in)) {
        size_t n = fread(bytes, 1, sizeof bytes, in);
        ok = !ferror(in) && fwrite(bytes, 1, n, out) == n;
    }
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
    enum { TRIES = 100 }; /* the processes of a job that has just ended may take a moment */
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
    if (*fd < 0)
        return tool_failed("run", "cannot open %s: %s", path, strerror(errno));
    return !flock(*fd, LOCK_EX | LOCK_NB) || mend_io_without_locks(errno)
               ? TOOL_OK
               : tool_failed("run", "cannot lock %s: %s", path, strerror(errno));
}

/* Another job in the same folder would destroy this one. We hold DIR/running. All ranks lock DIR/alive
 * (src/capsule/lower/ground/settings.c), and so do we, because the job also exists between two launches. Before that
 * we remove requests: whoever made them knows by now that there was no job. */
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
    if (!flock(alive, LOCK_SH))
        return TOOL_OK;
    if (!mend_io_without_locks(errno))
        return tool_failed("run", "cannot lock %s/alive: %s", dir, strerror(errno));
    fprintf(stderr,
            "mend: WARNING: the file system of %s has no locks (%s): take care that no second job "
            "runs in this folder\n",
            dir, strerror(errno));
    return TOOL_OK;
}

/* What a job leaves in its folder, and a new one replaces. */
static const char *const remains[] = {"images", "versions", "output", "every", "undo", "identity"};
enum {
    WITH_VERSIONS = 2, /* the first of these */
    REMAINS = sizeof remains / sizeof *remains
};

/* The newest version in DIR that can be resumed; negative: none. Folders below DIR may belong to other jobs. */
static mend_version_t newest_in(const char *dir)
{
    mend_version_t newest = -1;
    for (int place = 0; place < WITH_VERSIONS; place++) {
        char path[4400];
        struct store_view *stores;
        int count;
        snprintf(path, sizeof path, "%s/%s", dir, remains[place]);
        if (versions_read(path, &stores, &count))
            continue;
        for (int i = 0; i < count; i++)
            for (int k = 0; k < stores[i].count; k++)
                if (stores[i].versions[k].complete && stores[i].versions[k].version > newest)
                    newest = stores[i].versions[k].version;
        versions_free(stores, count);
    }
    return newest;
}

/* Those on the nodes' own disks are not looked at. */
bool run_has_version(const struct run_job *job)
{
    return newest_in(job->dir) >= 0;
}

/* The same line, typed again or in a script that is submitted again, must not destroy the checkpoints of a job that
 * was stopped or cut off. */
static int refuse_unfinished(const char *dir)
{
    json_t *file = NULL;
    char why[600];
    int unknown = jobfile_read(dir, &file); /* damaged; or none, as in a job of mend exec */
    snprintf(why, sizeof why, "%s", unknown ? mend_error_text() : "");
    const char *state = unknown ? "?" : jobfile_member(file, "state");
    bool over = !state || strcmp(state, "done") == 0 || strcmp(state, "failed") == 0;
    json_decref(file);
    mend_version_t newest = over ? -1 : newest_in(dir);
    if (newest >= 0 && unknown)
        return tool_failed("run",
                           "%s holds version %" PRId64 " of a job, but not whether the job has "
                           "ended (%s): remove the folder to start from the beginning",
                           dir, (int64_t)newest, why);
    return newest < 0 ? TOOL_OK
                      : tool_failed("run",
                                    "%s holds a job that has not ended, and its version %" PRId64
                                    ": resume it with mend restart %s, or remove the folder to "
                                    "start from the beginning",
                                    dir, (int64_t)newest, dir);
}

static bool exists(const char *dir, const char *name)
{
    char path[4800];
    struct stat st;
    snprintf(path, sizeof path, "%s/%s", dir, name);
    return lstat(path, &st) == 0;
}

/* Something that could be missed: not an empty folder. */
static bool holds(const char *dir, const char *name)
{
    char path[4400];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    DIR *folder = opendir(path);
    bool some = !folder && exists(dir, name);
    for (struct dirent *e; folder && !some && (e = readdir(folder));)
        some = strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    if (folder)
        closedir(folder);
    return some;
}

static bool has_job(const char *dir)
{
    return exists(dir, "job.json") || exists(dir, "events.jsonl");
}

/* May this be in a folder in which no job has run? What is left of an attempt to start one, or of mend exec; jobs with folders
 * of their own; what mkfs leaves. */
static bool may_be_there(const char *dir, const char *name)
{
    static const char *const early[] = {"running", "alive", "input", "ends", "lost+found"};
    char below[4400];
    for (size_t i = 0; i < sizeof early / sizeof *early; i++)
        if (strcmp(name, early[i]) == 0)
            return true;
    for (size_t i = 0; i < REMAINS; i++)
        if (strcmp(name, remains[i]) == 0)
            return true;
    snprintf(below, sizeof below, "%s/%s", dir, name);
    return has_job(below);
}

static int refuse_entry(const char *dir, const char *name)
{
    return tool_failed("run",
                       "%s/%s does not come from a job, so %s cannot be the folder of one: name "
                       "another folder with --dir",
                       strcmp(dir, "/") == 0 ? "" : dir, name, dir);
}

/* A folder in which no job has run belongs to the user: /, the home folder, that of the program. We leave nothing there. */
static int refuse_foreign(const char *dir)
{
    char found[256] = "";
    if (has_job(dir))
        return TOOL_OK;
    DIR *folder = opendir(dir);
    if (!folder)
        return tool_failed("run", "cannot read %s: %s", dir, strerror(errno));
    for (struct dirent *e; !found[0] && (e = readdir(folder));)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 &&
            !may_be_there(dir, e->d_name))
            snprintf(found, sizeof found, "%s", e->d_name);
    closedir(folder);
    return found[0] ? refuse_entry(dir, found) : TOOL_OK;
}

/* Nor is what has these names there ours to replace. */
static int refuse_remains(const char *dir)
{
    for (size_t i = 0; i < REMAINS && !has_job(dir); i++)
        if (holds(dir, remains[i]))
            return refuse_entry(dir, remains[i]);
    return TOOL_OK;
}

int run_prepare_folder(struct run_job *job)
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
    if (mend_io_make_folders(job->dir)) /* by its whole path, as each rank will */
        return tool_failed("run", "%s", mend_error_text());
    int rc = job->resume ? TOOL_OK : refuse_foreign(job->dir);
    if (!rc)
        rc = take_folder(job->dir);
    if (!rc && !job->resume)
        rc = refuse_unfinished(job->dir);
    if (!rc && !job->resume)
        rc = refuse_remains(job->dir);
    if (rc)
        return rc;
    if (!job->resume) { /* the remains of an older job are not ours to resume */
        for (size_t i = 0; i < REMAINS; i++) {
            snprintf(path, sizeof path, "%s/%s", job->dir, remains[i]);
            mend_io_remove_tree(path);
        }
        snprintf(path, sizeof path, "%s/events.jsonl", job->dir);
        unlink(path);
        run_added_path(job->dir, path, sizeof path);
        unlink(path);
    }
    rc = job->resume ? TOOL_OK : find_input(job);
    if (rc)
        return rc;
    snprintf(path, sizeof path, "%s/events.jsonl", job->dir);
    if (mend_event_open(path) || run_job_write(job, "running") ||
        mend_ends_make(job->dir, job->ranks + job->spares))
        return tool_failed("run", "%s", mend_error_text());
    run_reserve(job);
    return TOOL_OK;
}

enum { RESERVE = 1 << 20 };

static void reserve_path(const struct run_job *job, char *path, size_t size)
{
    snprintf(path, size, "%s/reserve", job->dir);
}

void run_reserve(const struct run_job *job)
{
    char path[4400];
    reserve_path(job, path, sizeof path);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd >= 0 && posix_fallocate(fd, 0, RESERVE)) /* no space now, so none to reserve */
        unlink(path);
    if (fd >= 0)
        close(fd);
}

void run_release(const struct run_job *job)
{
    char path[4400];
    reserve_path(job, path, sizeof path);
    unlink(path);
}

/* The working directory, the program's arguments, and everything else that is bytes. */
static bool put_bytes(json_t *j, const struct run_job *job)
{
    char *here = getcwd(NULL, 0), build[20];
    snprintf(build, sizeof build, "%016" PRIx64, job->identity.build);
    const struct {
        const char *key, *bytes;
    } more[] = {
        {"folder", here},
        {"levels", job->levels},
        {"id", job->id},
        {"build", build},
        {"abi", mend_abi_name(job->identity.abi)},
        {"local_dir", job->local_dir},
        {"host", job->placed ? NULL : job->host},
        {"hostfile", job->hostfile},
        {"launcher_args", job->launcher_args},
        {"launcher", job->placed ? NULL : job->launcher},
        {"slurm", job->slurm.job[0] ? job->slurm.job : NULL},
        {"bind", job->bind},
        {"interface", job->interface},
        {"metrics", job->metrics},
        {"input", job->input[0] ? job->input : NULL},
    };
    bool ok = here;
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        if (more[i].bytes && json_object_set_new(j, more[i].key, jobfile_bytes(more[i].bytes)))
            ok = false;
    free(here);
    json_t *program = json_array();
    for (char **p = job->program; *p; p++)
        if (json_array_append_new(program, jobfile_bytes(*p)))
            ok = false;
    return json_object_set_new(j, "program", program) == 0 && ok;
}

int run_job_write(const struct run_job *job, const char *state)
{
    json_t *j =
        json_pack("{s:i,s:s,s:i,s:i,s:s,s:b,s:f,s:b,s:b,s:b,s:i,s:i,s:f,s:I,s:i,s:f,s:f,s:f,s:b}",
                  "mend", 1, "state", state, "ranks", job->ranks, "spares", job->spares, "mpi",
                  job->mpi, "online", job->online, "every", job->every, "auto", job->automatic,
                  "full_images", job->full, "refill", job->refill, "global_every", job->disk_every,
                  "retries", job->retries, "node_timeout", job->node_timeout, "input_at",
                  (json_int_t)job->input_at, "life", job->slurm.life, "hang_timeout",
                  job->hang_timeout, "patience", job->patience, "mtbf", job->mtbf, "raw", job->raw);
    int rc = j && put_bytes(j, job) ? jobfile_write(job->dir, j)
                                    : mend_fail(MEND_ERR_NO_MEMORY,
                                                "cannot describe the job in %s/job.json: no "
                                                "memory, or no working directory",
                                                job->dir);
    json_decref(j);
    return rc;
}
