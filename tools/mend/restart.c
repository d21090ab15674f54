/* mend restart: resume a job from its images.
 *
 * A job that repaired itself online (mend run) keeps its images in DIR/images: `mend run` takes it up
 * again. All others keep theirs in DIR/versions, bound to no MPI library: the ranks are launched, and
 * each becomes the rank whose image it reads.
 */
#include "capsule.h"
#include "tool.h"

#include <base/io.h>
#include <image/folder.h>
#include <mend/error.h>

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "Usage: mend restart DIR [OPTIONS]\n"
    "Resume the job whose folder is DIR from its newest complete version.\n\n"
    "  -n N                 number of ranks (default, and only possible: that of the images)\n"
    "  --version V          this version instead\n"
    "  --mpi openmpi|mpich  on this MPI (default: the one it ran on; images are bound to none)\n"
    "  --every T            time between further checkpoints\n"
    "  --truncate           cut files that grew since the image back to their length then\n"
    "  --launcher-args \"…\"  for the launcher\n";

bool capsule_find(const char *mpi, char *path, size_t size)
{
    char self[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n > 0) {
        self[n] = 0;
        char *slash = strrchr(self, '/');
        if (slash)
            *slash = 0;
        static const char *const places[] = {"lib/mend", "lib64/mend"};
        for (int i = 0; i < 2; i++) {
            snprintf(path, size, "%s/../%s/capsule.%s", self, places[i], mpi);
            if (access(path, X_OK) == 0)
                return true;
        }
    }
    snprintf(path, size, "%s/lib/mend/capsule.%s", MEND_BUILD_DIR, mpi);
    return access(path, X_OK) == 0;
}

/* Ranks of the newest version that is complete; 0: there is none. */
static int ranks_of(const char *dir, long wanted)
{
    char folder[4300], path[4500], name[MEND_FILE_NAME_MAX];
    mend_file *files = NULL;
    int count = 0, ranks = 0;
    snprintf(folder, sizeof folder, "%s/versions", dir);
    if (mend_folder_list(folder, &files, &count))
        return 0;
    for (int i = count; i-- > 0 && !ranks;) {
        mend_image *image;
        if (files[i].kind != MEND_FILE_GLOBAL || (wanted >= 0 && files[i].version != wanted))
            continue;
        mend_file_name(&files[i], name);
        snprintf(path, sizeof path, "%s/%s", folder, name);
        if (mend_image_open_file(path, &image))
            continue;
        int all = mend_image_info(image)->ranks, there = 0;
        mend_image_close(image);
        for (int j = 0; j < count; j++)
            there += files[j].version == files[i].version && files[j].save_id == files[i].save_id;
        if (there == all)
            ranks = all;
    }
    free(files);
    return ranks;
}

static json_t *job_of(const char *dir)
{
    char path[4300];
    snprintf(path, sizeof path, "%s/job.json", dir);
    return json_load_file(path, 0, NULL);
}

static int resume_online(const char *dir, json_t *job)
{
    char n[16], spares[16];
    json_t *program = json_object_get(job, "program");
    size_t words = json_array_size(program), at = 0;
    char **w = calloc(words + 24, sizeof *w);
    if (!w)
        return tool_failed("restart", "no memory");
    snprintf(n, sizeof n, "%d", (int)json_integer_value(json_object_get(job, "ranks")));
    snprintf(spares, sizeof spares, "%d", (int)json_integer_value(json_object_get(job, "spares")));
    const char *folder = json_string_value(json_object_get(job, "folder"));
    char *whole = realpath(dir, NULL);
    if (folder && chdir(folder)) {
        free(w);
        free(whole);
        return tool_failed("restart", "cannot go to %s: %s", folder, strerror(errno));
    }
    w[at++] = "run";
    w[at++] = "--resume";
    w[at++] = "-n";
    w[at++] = n;
    w[at++] = "--spares";
    w[at++] = spares;
    w[at++] = "--dir";
    w[at++] = whole ? whole : (char *)dir;
    static const char *const kept[][2] = {
        {"levels", "--levels"}, {"id", "--job-id"}, {"local_dir", "--local-dir"}};
    for (int i = 0; i < 3; i++)
        if (json_is_string(json_object_get(job, kept[i][0]))) {
            w[at++] = (char *)kept[i][1];
            w[at++] = (char *)json_string_value(json_object_get(job, kept[i][0]));
        }
    w[at++] = "--";
    for (size_t i = 0; i < words; i++)
        w[at++] = (char *)json_string_value(json_array_get(program, i));
    return mend_cmd_run((int)at, w);
}

static int launch(const char *dir, const char *mpi, int ranks, const char *version,
                  const char *more)
{
    char capsule[4400], launcher[32], number[16], *words[64];
    int n = 0;
    if (!capsule_find(mpi, capsule, sizeof capsule))
        return tool_failed("restart", "there is no capsule for %s here (%s)", mpi, capsule);
    snprintf(launcher, sizeof launcher, "mpirun.%s", mpi);
    snprintf(number, sizeof number, "%d", ranks);
    words[n++] = launcher;
    if (strcmp(mpi, "openmpi") == 0)
        words[n++] = "--oversubscribe";
    char *copy = strdup(more ? more : ""), *rest = NULL;
    for (char *a = strtok_r(copy, " ", &rest); a && n < 50; a = strtok_r(NULL, " ", &rest))
        words[n++] = a;
    words[n++] = "-n";
    words[n++] = number;
    words[n++] = capsule;
    words[n++] = "--restart";
    words[n++] = (char *)dir;
    words[n++] = (char *)version;
    words[n] = NULL;
    setenv("MEND_CAPSULE_DIR", dir, 1);
    execvp(launcher, words);
    words[0] = "mpirun";
    execvp("mpirun", words);
    return tool_failed("restart", "cannot run %s: %s", launcher, strerror(errno));
}

int mend_cmd_restart(int argc, char **argv)
{
    const char *dir = NULL, *mpi = NULL, *version = NULL, *more = NULL;
    long wanted = -1;
    int ranks = 0;
    for (int i = 1; i < argc; i++) {
        const char *a = argv[i], *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (strcmp(a, "--help") == 0) {
            fputs(help, stdout);
            return TOOL_OK;
        }
        if (strcmp(a, "--truncate") == 0) {
            setenv("MEND_CAPSULE_TRUNCATE", "yes", 1);
            continue;
        }
        if (a[0] != '-' && !dir) {
            dir = a;
            continue;
        }
        if (a[0] != '-' || !value)
            return tool_wrong_use("restart", "%s is not valid here", a);
        if (strcmp(a, "-n") == 0)
            ranks = atoi(value);
        else if (strcmp(a, "--version") == 0)
            version = value, wanted = atol(value);
        else if (strcmp(a, "--mpi") == 0)
            mpi = value;
        else if (strcmp(a, "--every") == 0)
            setenv("MEND_CAPSULE_EVERY", value, 1);
        else if (strcmp(a, "--launcher-args") == 0)
            more = value;
        else
            return tool_wrong_use("restart", "unknown option %s", a);
        i++;
    }
    if (!dir)
        return tool_wrong_use("restart", "name the job's folder");
    if (mpi && strcmp(mpi, "openmpi") != 0 && strcmp(mpi, "mpich") != 0)
        return tool_wrong_use("restart", "--mpi is openmpi or mpich");
    json_t *job = job_of(dir);
    int saved = ranks_of(dir, wanted);
    if (job && json_is_true(json_object_get(job, "online")) && !saved)
        return resume_online(dir, job);
    if (!saved)
        return tool_failed("restart", "%s holds no complete version%s%s", dir, version ? " " : "",
                           version ? version : "");
    if (ranks && ranks != saved)
        return tool_failed("restart", "the images in %s are of %d ranks, not of %d", dir, saved,
                           ranks);
    if (!mpi)
        mpi = job ? json_string_value(json_object_get(job, "mpi")) : NULL;
    return launch(dir, mpi ? mpi : "openmpi", saved, version, more);
}
