/* mend restart: resume a job from its images.
 *
 * `mend run` resumes its own jobs, which have a job.json. For all others (`mend exec`), this launches the ranks,
 * and each becomes the rank whose image it reads from DIR/versions. Images do not depend on the MPI library.
 */
#include "run/check/capsule.h"
#include "run/start/start.h"
#include "jobfile.h"
#include "launch.h"
#include "mpi_paths.h"
#include "session.h"
#include "tool.h"

#include <base/config.h>
#include <base/io.h>
#include <image/folder.h>
#include <mend/error.h>

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "Usage: mend restart DIR [OPTIONS]\n"
    "Resume the job whose folder is DIR from its newest complete version.\n\n"
    "  -n N                 number of ranks; must be that of the images (the default)\n"
    "  --version V          resume from this version instead\n"
    "  --mpi openmpi|mpich  run on this MPI (default: the one it ran on). Images of mend exec "
    "work\n"
    "                       with both; a job of mend run that repairs itself (the default) "
    "resumes\n"
    "                       on Open MPI only\n"
    "  --every T            time between further checkpoints\n"
    "  --host, --hostfile   where to launch (default: the hosts given to mend run)\n"
    "  --rebuilt            resume although the program was rebuilt, with the old one from the\n"
    "                       images (only full images hold it, see mend-run(1))\n"
    "  --from-start         move all versions to DIR/damaged and start from the beginning\n"
    "  --truncate           cut files that grew since the image back to their length then\n"
    "  --launcher-args \"…\"  for the launcher\n"
    "  --stop-before T      in a Slurm job: checkpoint and stop this long before its limit\n"
    "  -q, --quiet, --json  as for mend run\n\n"
    "Exit codes: as for mend run.\n";

bool capsule_find(const char *mpi, char *path, size_t size)
{
    char name[64];
    snprintf(name, sizeof name, "lib/mend/capsule.%s", mpi);
    return tool_find_file(name, path, size);
}

/* Number of ranks of the newest complete version; 0: there is none. */
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

/* Options given now override those that the job was started with. */
struct wish {
    const char *mpi, *version, *every, *host, *hostfile, *launcher_args, *launcher, *stop_before;
    int ranks;
    bool rebuilt, from_start, quiet, json;
};

struct words {
    char **word;
    size_t count;
};

static void add(struct words *w, const char *option, const char *value)
{
    if (!value)
        return;
    w->word[w->count++] = (char *)option;
    w->word[w->count++] = (char *)value;
}

static const char *or_of(const char *wish, json_t *job, const char *key)
{
    return wish ? wish : jobfile_member(job, key);
}

/* A time of the job, as text for an option; NULL: it has none. */
static const char *seconds_of(json_t *job, const char *key, char text[32])
{
    double seconds = json_number_value(json_object_get(job, key));
    snprintf(text, 32, "%.9g", seconds);
    return seconds > 0 ? text : NULL;
}

static bool is_same_mpi(const struct wish *wish, json_t *job)
{
    const char *mpi = jobfile_member(job, "mpi");
    return !wish->mpi || !mpi || strcmp(wish->mpi, mpi) == 0;
}

static bool refills(json_t *job, const struct wish *wish)
{
    bool other = wish->launcher && strcmp(wish->launcher, "mpirun") == 0; /* cannot */
    return json_is_true(json_object_get(job, "refill")) && !other && is_same_mpi(wish, job);
}

/* `mend run` resumes its own jobs: their output and their files also belong to versions. */
static int resume(const char *dir, json_t *job, const struct wish *wish)
{
    char ranks[16], spares[16], retries[16], every[32], input_at[32], times[4][32];
    json_t *program = json_object_get(job, "program");
    bool online = json_is_true(json_object_get(job, "online"));
    int started = (int)json_integer_value(json_object_get(job, "ranks"));
    if (wish->ranks && wish->ranks != started)
        return tool_failed("restart", "the job in %s has %d ranks, not %d", dir, started,
                           wish->ranks);
    if (wish->from_start && wish->version)
        return tool_wrong_use("restart", "--from-start and --version contradict each other");
    if (online && wish->version)
        return tool_failed(
            "restart", "the job in %s repairs itself: it can resume only from its newest version",
            dir);
    if (wish->version && !ranks_of(dir, atol(wish->version)))
        return tool_failed("restart", "%s holds no complete version %s", dir, wish->version);
    if (online && wish->mpi && strcmp(wish->mpi, "openmpi") != 0)
        return tool_failed("restart",
                           "the job in %s repairs itself: it can resume only on Open MPI (a job of "
                           "mend run --no-online resumes on both)",
                           dir);
    struct words w = {calloc(json_array_size(program) + 80, sizeof *w.word), 0};
    const char *folder = jobfile_member(job, "folder");
    char *whole = realpath(dir, NULL);
    if (!w.word || (folder && chdir(folder))) {
        free(w.word);
        free(whole);
        return tool_failed("restart", "cannot go to %s: %s", folder, strerror(errno));
    }
    snprintf(ranks, sizeof ranks, "%d", started);
    snprintf(spares, sizeof spares, "%d", (int)json_integer_value(json_object_get(job, "spares")));
    snprintf(retries, sizeof retries, "%d",
             (int)json_integer_value(json_object_get(job, "retries")));
    snprintf(every, sizeof every, "%.6g", json_number_value(json_object_get(job, "every")));
    w.word[w.count++] = "run";
    w.word[w.count++] = "--resume";
    w.word[w.count++] = online ? "--online" : "--no-online";
    if (json_is_true(json_object_get(job, "full_images")))
        w.word[w.count++] = "--full-images";
    w.word[w.count++] = refills(job, wish) ? "--refill" : "--no-refill";
    add(&w, "-n", ranks);
    add(&w, "--spares", spares);
    add(&w, "--retries", json_object_get(job, "retries") ? retries : NULL);
    add(&w, "--dir", whole ? whole : dir);
    add(&w, "--mpi", or_of(wish->mpi, job, "mpi"));
    add(&w, "--version", wish->version);
    add(&w, "--every",
        wish->every                                  ? wish->every
        : json_is_true(json_object_get(job, "auto")) ? "auto"
        : json_object_get(job, "every")              ? every
                                                     : NULL);
    add(&w, "--levels", or_of(NULL, job, "levels"));
    add(&w, "--job-id", or_of(NULL, job, "id"));
    add(&w, "--build", or_of(NULL, job, "build"));
    add(&w, "--abi", or_of(NULL, job, "abi"));
    if (wish->quiet)
        w.word[w.count++] = "--quiet";
    if (wish->json)
        w.word[w.count++] = "--json";
    add(&w, "--stop-before", wish->stop_before);
    if (wish->rebuilt)
        w.word[w.count++] = "--rebuilt";
    if (wish->from_start)
        w.word[w.count++] = "--from-start";
    add(&w, "--local-dir", or_of(NULL, job, "local_dir"));
    add(&w, "--host", or_of(wish->host, job, "host"));
    add(&w, "--hostfile", or_of(wish->hostfile, job, "hostfile"));
    /* another MPI has another default launcher, with other options */
    json_t *same = is_same_mpi(wish, job) ? job : NULL;
    add(&w, "--launcher-args", or_of(wish->launcher_args, same, "launcher_args"));
    add(&w, "--launcher", or_of(wish->launcher, same, "launcher"));
    add(&w, "--bind", or_of(NULL, job, "bind"));
    add(&w, "--interface", or_of(NULL, job, "interface"));
    add(&w, "--metrics", or_of(NULL, job, "metrics"));
    add(&w, "--node-timeout", seconds_of(job, "node_timeout", times[0]));
    add(&w, "--hang-timeout", seconds_of(job, "hang_timeout", times[1]));
    add(&w, "--patience", seconds_of(job, "patience", times[2]));
    add(&w, "--mtbf", seconds_of(job, "mtbf", times[3]));
    if (json_is_true(json_object_get(job, "raw")))
        w.word[w.count++] = "--raw";
    snprintf(input_at, sizeof input_at, "%lld",
             (long long)json_integer_value(json_object_get(job, "input_at")));
    add(&w, "--input", or_of(NULL, job, "input"));
    add(&w, "--input-at", input_at);
    w.word[w.count++] = "--";
    for (size_t i = 0; i < json_array_size(program); i++)
        w.word[w.count++] = (char *)jobfile_text(json_array_get(program, i));
    return mend_cmd_run((int)w.count, w.word);
}

static int launch(const char *dir, const char *mpi, int ranks, const struct wish *wish)
{
    char capsule[4400], launcher[4400], session[SESSION_PATH], number[16];
    struct run_words w = {0};
    if (!capsule_find(mpi, capsule, sizeof capsule))
        return tool_failed("restart", "this Mend has no capsule for %s (%s is missing)", mpi,
                           capsule);
    if (!tool_mpi_program(mpi, "mpirun", launcher, sizeof launcher))
        return tool_failed("restart", "%s is missing", launcher);
    snprintf(number, sizeof number, "%d", ranks);
    run_add(&w, launcher);
    if (strcmp(mpi, "openmpi") == 0) {
        run_add(&w, "--oversubscribe");
        enum session made = session_make(launcher, wish->launcher_args, session);
        if (made == SESSION_FAILED)
            return tool_failed("restart", "%s", mend_error_text());
        if (made == SESSION_MADE) {
            run_add_option(&w, "--prtemca", session_parameter);
            run_add(&w, session);
            session_remove_at_end(session);
        }
    }
    if (wish->launcher_args)
        run_add_split(&w, wish->launcher_args);
    run_add_option(&w, wish->host ? "--host" : "--hostfile",
                   wish->host ? wish->host : wish->hostfile);
    run_add_option(&w, "-n", number);
    run_add(&w, capsule);
    run_add_option(&w, "--restart", dir);
    if (wish->version)
        run_add(&w, wish->version);
    unsetenv("MEND_CAPSULE_JOB"); /* the folder knows it */
    setenv("MEND_CAPSULE_DIR", dir, 1);
    if (wish->every)
        setenv("MEND_CAPSULE_EVERY", wish->every, 1);
    tool_mpi_environment();
    execv(launcher, w.word);
    return tool_failed("restart", "cannot run %s: %s", launcher, strerror(errno));
}

static int take_value(struct wish *wish, const char *name, const char *value)
{
    const struct {
        const char *name, **to;
    } options[] = {{"--version", &wish->version},   {"--mpi", &wish->mpi},
                   {"--every", &wish->every},       {"--host", &wish->host},
                   {"--hostfile", &wish->hostfile}, {"--launcher-args", &wish->launcher_args},
                   {"--launcher", &wish->launcher}, {"--stop-before", &wish->stop_before}};
    long number = -1;
    bool is_ranks = strcmp(name, "-n") == 0;
    if (mend_parse_integer(value, &number) != MEND_OK)
        number = -1;
    if (is_ranks && (number < 1 || number > INT_MAX))
        return tool_wrong_value("restart", name, value, "a number from 1 on");
    if (strcmp(name, "--version") == 0 && number < 0)
        return tool_wrong_value("restart", name, value, "the number of a version");
    if (is_ranks)
        wish->ranks = (int)number;
    for (size_t k = 0; k < sizeof options / sizeof *options; k++)
        if (strcmp(name, options[k].name) == 0) {
            *options[k].to = value;
            return TOOL_OK;
        }
    return is_ranks ? TOOL_OK : tool_wrong_use("restart", "unknown option %s", name);
}

int mend_cmd_restart(int argc, char **argv)
{
    const char *dir = NULL;
    struct wish wish = {0};
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
        if (strcmp(a, "--rebuilt") == 0 || strcmp(a, "--from-start") == 0) {
            *(a[2] == 'r' ? &wish.rebuilt : &wish.from_start) = true;
            continue;
        }
        if (strcmp(a, "-q") == 0 || strcmp(a, "--json") == 0) {
            *(a[1] == 'q' ? &wish.quiet : &wish.json) = true;
            continue;
        }
        if (a[0] != '-' && !dir) {
            dir = a;
            continue;
        }
        if (a[0] != '-' || !value)
            return tool_wrong_use("restart", "%s is not valid here", a);
        int rc = take_value(&wish, a, value);
        if (rc)
            return rc;
        i++;
    }
    if (!dir)
        return tool_wrong_use("restart", "name the job's folder");
    if (wish.mpi && strcmp(wish.mpi, "openmpi") != 0 && strcmp(wish.mpi, "mpich") != 0)
        return tool_wrong_value("restart", "--mpi", wish.mpi, "openmpi or mpich");
    json_t *job;
    int rc = jobfile_read(dir, &job);
    if (rc == MEND_OK)
        return resume(dir, job, &wish);
    if (rc != MEND_ERR_NOT_FOUND)
        return tool_failed("restart", "%s", mend_error_text());
    if (access(dir, F_OK))
        return tool_failed("restart", "there is no folder %s", dir);
    if (wish.from_start)
        return tool_failed("restart",
                           "the job in %s was not started by mend run: to start over, start its "
                           "program again",
                           dir);
    int saved = ranks_of(dir, wish.version ? atol(wish.version) : -1);
    if (!saved)
        return tool_failed("restart", "%s holds no complete version%s%s", dir,
                           wish.version ? " " : "", wish.version ? wish.version : "");
    if (wish.ranks && wish.ranks != saved)
        return tool_failed("restart", "the images in %s are from %d ranks, not %d", dir, saved,
                           wish.ranks);
    return launch(dir, wish.mpi ? wish.mpi : "openmpi", saved, &wish);
}
