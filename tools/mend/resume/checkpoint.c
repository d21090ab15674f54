/* mend checkpoint: ask a running job for a checkpoint now.
 *
 * The request is a file in the job's folder, which the coordinator of the job looks for
 * (src/capsule/lower/round/coordinator.c); it answers with another file, named after our token. So the command
 * works from any machine that sees the folder, and needs only permission to write there.
 *
 *  1. Write the request to DIR/request.TOKEN, and link it to DIR/request. That fails while another request waits there; the
 *     job takes that one within a moment, and then ours gets the name.
 *  2. The coordinator renames it to DIR/request.taken, makes a checkpoint, writes DIR/answer.TOKEN, removes the request.
 *  3. Read the answer and remove it. If none comes in time, remove the request, if it is still ours.
 */
#include "jobfile.h"
#include "tool.h"

#include <base/config.h>
#include <base/event.h>
#include <base/fail.h>
#include <base/io.h>
#include <mend/error.h>

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char help[] =
    "Usage: mend checkpoint DIR [--stop] [--full-images] [--timeout SECONDS] [--json]\n"
    "Ask the job whose folder is DIR for a checkpoint now, and wait until it is complete.\n"
    "A job that repairs itself (the default of mend run) resumes from it on Open MPI only.\n\n"
    "  --stop             then stop the job; `mend restart DIR` resumes it\n"
    "  --full-images      store all pages, even unmodified ones of the program's files, so that\n"
    "                     you can resume the job on a machine with other libraries\n"
    "  --timeout SECONDS  how long to wait (default 600)\n"
    "  --json             {\"mend\":1,\"version\":V,\"seconds\":S}\n";

struct request {
    const char *dir;
    bool stop, json, full;
    double limit, began; /* seconds to wait */
    char token[64];
    int alive; /* a descriptor of DIR/alive; negative: none */
};

/* Has the last process of the job released DIR/alive? (src/capsule/lower/ground/settings.c) */
static int is_over(const struct request *r)
{
    if (r->alive < 0)
        return 0;
    if (flock(r->alive, LOCK_EX | LOCK_NB))
        return mend_io_without_locks(errno) && jobfile_held(r->dir) == 0;
    flock(r->alive, LOCK_UN);
    return 1;
}

static bool is_late(const struct request *r)
{
    return mend_now() - r->began >= r->limit;
}

static void pause_a_moment(void)
{
    nanosleep(&(struct timespec){0, 20000000}, NULL);
}

/* Give the request its name. */
static int submit(const struct request *r, const char *own, const char *path)
{
    while (link(own, path)) {
        if (errno != EEXIST) /* a file system without links */
            return mend_io_rename(own, path);
        if (is_over(r))
            mend_io_remove(path);
        else if (is_late(r))
            return mend_fail(MEND_ERR_TIMEOUT, "nobody took the request that waits in %s", path);
        pause_a_moment();
    }
    return 0;
}

static int ask(const struct request *r)
{
    char path[4300], own[4400], text[128];
    snprintf(path, sizeof path, "%s/request", r->dir);
    snprintf(own, sizeof own, "%s.%s", path, r->token);
    int n = snprintf(text, sizeof text, "%s %s%s\n", r->stop ? "stop" : "go", r->token,
                     r->full ? " full" : "");
    int rc = mend_io_replace_file(own, text, (size_t)n);
    if (!rc)
        rc = submit(r, own, path);
    unlink(own);
    return rc;
}

static int await(const struct request *r, char *text, size_t size)
{
    char answer[4300];
    snprintf(answer, sizeof answer, "%s/answer.%s", r->dir, r->token);
    while (!is_late(r)) {
        char *found = NULL;
        size_t n = 0;
        if (access(answer, R_OK) == 0 && mend_io_read_file(answer, 4096, &found, &n) == 0) {
            snprintf(text, size, "%s", found);
            free(found);
            mend_io_remove(answer);
            return 1;
        }
        if (is_over(r) && access(answer, R_OK))
            return 0;
        pause_a_moment();
    }
    return 0;
}

/* Others may have taken its place. */
static void withdraw(const struct request *r)
{
    static const char *const name[] = {"request", "request.taken"};
    for (int i = 0; i < 2; i++) {
        char path[4300], token[64] = "", *text = NULL;
        size_t n = 0;
        snprintf(path, sizeof path, "%s/%s", r->dir, name[i]);
        if (mend_io_read_file(path, 4096, &text, &n) == 0 &&
            sscanf(text, "%*15s %63s", token) == 1 && strcmp(token, r->token) == 0)
            mend_io_remove(path);
        free(text);
    }
}

static int report(const struct request *r, const char *text)
{
    long long number = 0;
    char word[16] = "";
    sscanf(text, "%15s %lld", word, &number);
    if (strcmp(word, "ended") == 0)
        return tool_failed("checkpoint", "the job is ending; it made no checkpoint");
    if (strcmp(word, "ok") != 0)
        return tool_failed("checkpoint", "the job made no checkpoint: %s",
                           mend_error_sentence((int)number));
    double seconds = mend_now() - r->began;
    if (r->json)
        return tool_print_json("checkpoint", json_pack("{s:i,s:I,s:f}", "mend", 1, "version",
                                                       (json_int_t)number, "seconds", seconds));
    printf("version %lld is complete (%.3f s)\n", number, seconds);
    return TOOL_OK;
}

static int make_request(struct request *r)
{
    char path[4300], text[256];
    struct stat st;
    snprintf(path, sizeof path, "%s/versions", r->dir);
    if (stat(path, &st) || !S_ISDIR(st.st_mode))
        return tool_failed("checkpoint", "%s is not the folder of a job", r->dir);
    snprintf(path, sizeof path, "%s/alive", r->dir);
    snprintf(r->token, sizeof r->token, "%d-%lld", (int)getpid(), (long long)time(NULL));
    r->alive = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    r->began = mend_now();
    int rc = ask(r), answered = rc == 0 && await(r, text, sizeof text), over = is_over(r);
    if (r->alive >= 0)
        close(r->alive);
    if (answered)
        return report(r, text);
    withdraw(r);
    return over ? tool_failed("checkpoint", "no job is running in %s", r->dir)
           : rc ? tool_failed("checkpoint", "%s", mend_error_text())
                : tool_failed("checkpoint", "the job in %s did not answer in %g s", r->dir,
                              r->limit);
}

int mend_cmd_checkpoint(int argc, char **argv)
{
    struct request r = {.limit = 600};
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0) {
            fputs(help, stdout);
            return TOOL_OK;
        }
        if (strcmp(argv[i], "--stop") == 0)
            r.stop = true;
        else if (strcmp(argv[i], "--full-images") == 0)
            r.full = true;
        else if (strcmp(argv[i], "--json") == 0)
            r.json = true;
        else if (strcmp(argv[i], "--timeout") == 0 && i + 1 < argc) {
            if (mend_parse_seconds(argv[++i], &r.limit) != MEND_OK)
                return tool_wrong_value("checkpoint", "--timeout", argv[i],
                                        "a number of seconds, or a time such as 10min");
        } else if (argv[i][0] != '-' && !r.dir)
            r.dir = argv[i];
        else
            return tool_wrong_use("checkpoint", "unknown argument %s", argv[i]);
    }
    return r.dir ? make_request(&r) : tool_wrong_use("checkpoint", "name the job's folder");
}
