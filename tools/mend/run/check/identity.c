/* The identity of a job: a random id, made when it is first launched, and its program: sums of the file and of the
 * arguments, its name, and the ABI it was built for. Every image and every log of changed files carries it, so that Mend
 * never takes those of another job for this one's. The ranks get it from MEND_CAPSULE_JOB, the next launch from job.json
 * (mend run) or DIR/identity (mend exec). */
#include "identity.h"
#include "run/run.h"
#include "tool.h"

#include <base/config.h>
#include <base/fail.h>
#include <base/io.h>
#include <image/abi.h>
#include <mend/error.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

void identity_program(const char *name, char *path, size_t size)
{
    const char *list = getenv("PATH");
    snprintf(path, size, "%s", name);
    if (strchr(name, '/') || !list)
        return;
    char *copy = strdup(list), *rest = copy;
    for (char *folder; copy && (folder = strsep(&rest, ":"));) {
        char one[4400];
        snprintf(one, sizeof one, "%s/%s", folder[0] ? folder : ".", name);
        if (access(one, X_OK) == 0) {
            snprintf(path, size, "%s", one);
            break;
        }
    }
    free(copy);
}

void identity_new(char id[MEND_JOB_ID])
{
    unsigned char bytes[16];
    for (size_t done = 0; done < sizeof bytes;) {
        ssize_t n = getrandom(bytes + done, sizeof bytes - done, 0);
        if (n < 0 && errno != EINTR)
            abort();
        done += n > 0 ? (size_t)n : 0;
    }
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(id + 2 * i, 3, "%02x", bytes[i]);
}

/* As a rank will find it (src/capsule/lower/start/load.c). */
static uint32_t abi_of(const char *program)
{
    const char *said = mend_setting_string(MEND_KEY_CAPSULE_ABI);
    return said[0] ? mend_abi_parse(said) : mend_abi_of_program(program);
}

void identity_make(mend_image_job *job, const char *id, char *const *program)
{
    char path[4400];
    *job = (mend_image_job){0};
    strncpy(job->id, id, sizeof job->id - 1);
    mend_image_job_name(job, program[0]);
    identity_program(program[0], path, sizeof path);
    job->abi = abi_of(path);
    job->build = mend_image_job_build(path);
    job->arguments = mend_image_job_arguments(program + 1);
}

/* If several ranks come here at once, one creates the file, atomically; the others read it. */
int identity_of_folder(const char *dir, mend_image_job *job)
{
    char path[4400], temporary[4440], text[MEND_JOB_TEXT + 1], *there = NULL;
    size_t size;
    snprintf(path, sizeof path, "%s/identity", dir);
    if (access(path, F_OK)) {
        mend_image_job_text(job, text);
        snprintf(temporary, sizeof temporary, "%s.%s", path, job->id);
        int fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
        int rc = fd < 0 ? mend_fail_errno("cannot make %s", temporary)
                        : mend_io_write(fd, text, strlen(text), temporary);
        if (fd >= 0)
            close(fd);
        if (!rc && link(temporary, path) && errno != EEXIST)
            rc = mend_fail_errno("cannot make %s", path);
        unlink(temporary);
        if (rc)
            return rc;
    }
    int rc = mend_io_read_file(path, MEND_JOB_TEXT, &there, &size);
    mend_image_job found;
    if (!rc)
        rc = mend_image_job_parse(there, &found);
    free(there);
    if (rc)
        return mend_fail_within(rc, "%s", path);
    memcpy(job->id, found.id, sizeof job->id);
    return MEND_OK;
}

/* A job that is resumed keeps its identity. Its images hold the program as it was when the job began. If the program
 * has been rebuilt since, the user may not know which one continues. */
int identity_find(struct run_job *job)
{
    if (!job->id[0])
        identity_new(job->id);
    identity_make(&job->identity, job->id, job->program);
    uint64_t now = job->identity.build;
    if (!job->build)
        return TOOL_OK;
    char *end;
    job->identity.build = strtoull(job->build, &end, 16);
    if (*end)
        return tool_wrong_use("run", "--build %s is not valid", job->build);
    if (job->abi)
        job->identity.abi = mend_abi_parse(job->abi);
    else if (now != job->identity.build)
        job->identity.abi = MEND_ABI_UNKNOWN; /* the images are of another program */
    if (!now || now == job->identity.build || job->rebuilt)
        return TOOL_OK;
    return tool_failed("restart",
                       "%s was rebuilt since the job in %s began, and the job's images are of the "
                       "old program; --rebuilt resumes with that one if they hold it "
                       "(--full-images), mend run starts a new job",
                       job->program[0], job->dir);
}
