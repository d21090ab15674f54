/* settings.c - the settings of the job: MEND_CAPSULE_* (base/config_keys.def). */
#include "ground/ground.h"
#include "ground/settings.h"

#include <base/config.h>
#include <base/event.h>
#include <base/io.h>
#include <mend/error.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>
#include <xxhash.h>

struct settings settings;

/* All processes of the job share a lock on DIR/alive. The kernel releases it with the last of them, so `mend
 * checkpoint` can tell whether anybody is left to answer. The descriptor stays open on purpose. */
static void show_life(void)
{
    char path[4300];
    if (mend_io_make_folders(settings.dir))
        die("%s", mend_error_text());
    snprintf(path, sizeof path, "%s/alive", settings.dir);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0 || (flock(fd, LOCK_SH) && !mend_io_without_locks(errno)))
        die("cannot lock %s: %s", path, strerror(errno));
}

/* LOCAL/mend-<hash of DIR>: several jobs may share a node-local folder. DIR/local records where the images of
 * this job are, for a restart. */
static void find_local(const char *wanted)
{
    char path[4300], *text = NULL;
    size_t size = 0, room = sizeof settings.local;
    snprintf(path, sizeof path, "%s/local", settings.dir);
    if (wanted[0] && mend_io_replace_file(path, wanted, strlen(wanted)))
        die("%s", mend_error_text());
    if (!wanted[0] && access(path, F_OK) == 0) {
        if (mend_io_read_file(path, sizeof settings.local, &text, &size))
            die("%s", mend_error_text());
        wanted = text;
    }
    char *whole = realpath(settings.dir, NULL); /* the same, whichever path names the folder */
    if (wanted[0] && !whole)
        die("cannot resolve the path of the job's folder %s: %s", settings.dir, strerror(errno));
    if (wanted[0]) {
        unsigned long long sum = XXH3_64bits(whole, strlen(whole));
        if (snprintf(settings.local, room, "%s/mend-%016llx", wanted, sum) >= (int)room)
            die("the path of the node-local folder %s is too long", wanted);
        if (mend_io_make_folders(settings.local))
            die("%s", mend_error_text());
    }
    free(whole);
    free(text);
}

void settings_adopt(const mend_image_job *job)
{
    settings.job = *job;
    ground.job_sum = mend_image_job_sum(job);
    mend_image_belong_to(job);
}

/* The job that these images belong to. `mend run` and `mend exec` pass its identity; otherwise DIR/identity
 * holds it. `mend restart` of a job that `mend exec` started does not know the program, so it accepts the
 * program of the images. */
static void find_job(const char *told)
{
    char path[4300], *text = NULL;
    size_t size = 0;
    mend_image_job job = {0};
    snprintf(path, sizeof path, "%s/identity", settings.dir);
    if (!told[0] && settings.dir[0] && access(path, F_OK) == 0) {
        if (mend_io_read_file(path, MEND_JOB_TEXT, &text, &size))
            die("%s", mend_error_text());
        text[strcspn(text, "\n")] = 0;
    }
    if ((told[0] || text) && mend_image_job_parse(told[0] ? told : text, &job))
        die("%s", mend_error_text());
    if (text)
        job.build = job.arguments = 0;
    free(text);
    settings_adopt(&job);
}

/* The kernel accepts no path longer than these arrays. A path that was cut would name another folder. */
static void take_text(char *to, size_t room, const mend_config *c, enum mend_config_key key,
                      const char *name)
{
    const char *value = mend_config_string(c, key);
    if (snprintf(to, room, "%s", value) >= (int)room)
        die("%s is too long: %s", name, value);
}

static void make_dir_absolute(void) /* the application may change its working directory */
{
    char *here = getcwd(NULL, 0), relative[sizeof settings.dir];
    size_t room = sizeof settings.dir;
    memcpy(relative, settings.dir, room);
    if (!here || snprintf(settings.dir, room, "%s/%s", here, relative) >= (int)room)
        die("the path of the job's folder %s is too long", relative);
    free(here);
}

void settings_load(void)
{
    mend_config c;
    char local[sizeof settings.local], job[4096];
    if (mend_settings_load() || mend_config_load(&c, NULL))
        die("%s", mend_error_text());
    take_text(settings.dir, sizeof settings.dir, &c, MEND_KEY_CAPSULE_DIR, "the job's folder");
    settings.every = mend_config_seconds(&c, MEND_KEY_CAPSULE_EVERY);
    settings.limit = mend_config_seconds(&c, MEND_KEY_CAPSULE_LIMIT);
    settings.keep = (int)mend_config_integer(&c, MEND_KEY_CAPSULE_KEEP);
    settings.background = mend_config_boolean(&c, MEND_KEY_CAPSULE_BACKGROUND);
    if (mend_config_boolean(&c, MEND_KEY_CAPSULE_INCREMENTAL))
        settings.chain = (int)mend_config_integer(&c, MEND_KEY_CAPSULE_CHAIN);
    settings.full = mend_config_boolean(&c, MEND_KEY_CAPSULE_FULL_IMAGES);
    settings.leave = mend_config_boolean(&c, MEND_KEY_CAPSULE_EXIT);
    settings.request_at = mend_config_integer(&c, MEND_KEY_CAPSULE_AT);
    settings.request_again = mend_config_integer(&c, MEND_KEY_CAPSULE_AGAIN);
    settings.patience = mend_config_seconds(&c, MEND_KEY_CAPSULE_PATIENCE);
    settings.silence = mend_config_seconds(&c, MEND_KEY_CAPSULE_SILENCE);
    settings.request_signal = (int)mend_config_integer(&c, MEND_KEY_CAPSULE_SIGNAL);
    lower.threads = mend_config_boolean(&c, MEND_KEY_CAPSULE_THREADS);
    lower.rolls_back = mend_config_boolean(&c, MEND_KEY_CAPSULE_TRUNCATE);
    take_text(settings.interface, sizeof settings.interface, &c, MEND_KEY_CAPSULE_INTERFACE,
              "capsule.interface");
    take_text(local, sizeof local, &c, MEND_KEY_CAPSULE_LOCAL, "the node-local folder");
    take_text(job, sizeof job, &c, MEND_KEY_CAPSULE_JOB, "capsule.job");
    mend_config_free(&c);
    if (settings.keep < 1)
        settings.keep = 1;
    if (settings.dir[0]) {
        char path[4300];
        if (settings.dir[0] != '/')
            make_dir_absolute();
        show_life();
        find_job(job);
        snprintf(path, sizeof path, "%s/versions", settings.dir);
        if (mend_io_make_folders(path))
            die("%s", mend_error_text());
        find_local(local);
        snprintf(path, sizeof path, "%s/events.jsonl", settings.dir);
        mend_event_open(path);
    }
}
