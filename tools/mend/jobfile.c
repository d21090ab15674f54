#include "jobfile.h"

#include <base/fail.h>
#include <base/io.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum { LARGEST = 64 << 20 }; /* the kernel allows 2 MiB of arguments by default, 6 MiB at most */

json_t *jobfile_bytes(const char *bytes)
{
    json_t *text = json_string(bytes); /* NULL for what is not UTF-8 */
    if (text)
        return text;
    size_t size = strlen(bytes);
    char *hex = malloc(2 * size + 1);
    if (!hex)
        return NULL;
    for (size_t i = 0; i < size; i++)
        snprintf(hex + 2 * i, 3, "%02x", (unsigned char)bytes[i]);
    json_t *value = json_pack("{s:s}", "hex", hex);
    free(hex);
    return value;
}

static int digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Decodes the digits in place: afterwards the value is "bytes", a string that need not be UTF-8. */
static const char *decoded(json_t *value)
{
    json_t *done = json_object_get(value, "bytes");
    if (done)
        return json_string_value(done);
    const char *hex = json_string_value(json_object_get(value, "hex"));
    size_t size = hex ? strlen(hex) : 1;
    char *bytes = size % 2 ? NULL : malloc(size / 2 + 1);
    if (!bytes)
        return NULL;
    for (size_t i = 0; i < size / 2; i++) {
        int high = digit(hex[2 * i]), low = digit(hex[2 * i + 1]);
        if (high < 0 || low < 0 || high + low == 0) {
            free(bytes);
            return NULL;
        }
        bytes[i] = (char)(high << 4 | low);
    }
    bytes[size / 2] = 0;
    json_object_set_new(value, "bytes", json_string_nocheck(bytes));
    free(bytes);
    return json_string_value(json_object_get(value, "bytes"));
}

const char *jobfile_text(json_t *value)
{
    return json_is_object(value) ? decoded(value) : json_string_value(value);
}

const char *jobfile_member(json_t *object, const char *key)
{
    return jobfile_text(json_object_get(object, key));
}

/* Is every word of the program there? A job must not run with different arguments. */
static int check_program(json_t *job, const char *path)
{
    json_t *program = json_object_get(job, "program");
    size_t count = json_array_size(program);
    for (size_t i = 0; i < count; i++)
        if (!jobfile_text(json_array_get(program, i)))
            return mend_fail(MEND_ERR_DAMAGED, "%s: word %zu of the program is not text", path, i);
    return count ? MEND_OK
                 : mend_fail(MEND_ERR_DAMAGED, "%s does not say which program the job runs", path);
}

int jobfile_parse(const char *text, size_t size, const char *path, json_t **job)
{
    json_error_t error;
    *job = json_loadb(text, size, 0, &error);
    if (!*job)
        return mend_fail(MEND_ERR_DAMAGED, "%s, line %d: %s", path, error.line, error.text);
    int rc = check_program(*job, path);
    if (rc)
        json_decref(*job);
    return rc;
}

int jobfile_read(const char *dir, json_t **job)
{
    char path[4400], *text;
    size_t size;
    snprintf(path, sizeof path, "%s/job.json", dir);
    int rc = mend_io_read_file(path, LARGEST, &text, &size);
    if (rc)
        return rc;
    rc = jobfile_parse(text, size, path, job);
    free(text);
    return rc;
}

int jobfile_write(const char *dir, json_t *job)
{
    char path[4400];
    char *text = job ? json_dumps(job, JSON_INDENT(2)) : NULL;
    if (!text)
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for %s/job.json", dir);
    snprintf(path, sizeof path, "%s/job.json", dir);
    int rc = mend_io_replace_file(path, text, strlen(text));
    free(text);
    return rc;
}

/* What the file says, where the file system has no locks: a mend run that was killed could not change it. */
static int said_running(const char *dir)
{
    json_t *job = NULL;
    if (jobfile_read(dir, &job))
        return -1;
    const char *state = jobfile_member(job, "state");
    int running = state && strcmp(state, "running") == 0;
    json_decref(job);
    return running;
}

int jobfile_held(const char *dir)
{
    char path[4400];
    snprintf(path, sizeof path, "%s/running", dir);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return -1;
    int rc = flock(fd, LOCK_SH | LOCK_NB);
    int held = rc == 0                        ? 0
               : errno == EWOULDBLOCK         ? 1
               : mend_io_without_locks(errno) ? said_running(dir)
                                              : -1;
    close(fd);
    return held;
}
