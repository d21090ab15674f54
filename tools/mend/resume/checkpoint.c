/* mend checkpoint: ask a running job for an image now.
 *
 * The request is a file in the job's folder, which the coordinator of the job looks for
 * (src/capsule/lower/round/coordinator.c); it answers by another file, named by our token. So it works from
 * any machine that sees the folder, and needs no permission but that to write there.
 */
#include "tool.h"

#include <base/event.h>
#include <base/io.h>
#include <mend/error.h>

#include <fcntl.h>
#include <jansson.h>
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

/* Has the last process of the job let go of DIR/alive? (src/capsule/lower/ground/settings.c) */
static int is_over(int alive)
{
    if (alive < 0 || flock(alive, LOCK_EX | LOCK_NB))
        return 0;
    flock(alive, LOCK_UN);
    return 1;
}

static int await(const char *answer, int alive, double limit, char *text, size_t size)
{
    for (double end = mend_now() + limit; mend_now() < end;) {
        char *found = NULL;
        size_t n = 0;
        if (access(answer, R_OK) == 0 && mend_io_read_file(answer, 4096, &found, &n) == 0) {
            snprintf(text, size, "%s", found);
            free(found);
            mend_io_remove(answer);
            return 1;
        }
        if (is_over(alive) && access(answer, R_OK))
            return 0;
        nanosleep(&(struct timespec){0, 20000000}, NULL);
    }
    return 0;
}

int mend_cmd_checkpoint(int argc, char **argv)
{
    const char *dir = NULL;
    int stop = 0, json = 0, full = 0;
    double limit = 600;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0) {
            fputs(help, stdout);
            return TOOL_OK;
        }
        if (strcmp(argv[i], "--stop") == 0)
            stop = 1;
        else if (strcmp(argv[i], "--full-images") == 0)
            full = 1;
        else if (strcmp(argv[i], "--json") == 0)
            json = 1;
        else if (strcmp(argv[i], "--timeout") == 0 && i + 1 < argc)
            limit = atof(argv[++i]);
        else if (argv[i][0] != '-' && !dir)
            dir = argv[i];
        else
            return tool_wrong_use("checkpoint", "unknown argument %s", argv[i]);
    }
    struct stat st;
    char request[4300], answer[4300], alive_path[4300], token[64], text[256];
    if (!dir)
        return tool_wrong_use("checkpoint", "name the job's folder");
    snprintf(request, sizeof request, "%s/versions", dir);
    if (stat(request, &st) || !S_ISDIR(st.st_mode))
        return tool_failed("checkpoint", "%s is not the folder of a job", dir);
    snprintf(token, sizeof token, "%d-%lld", (int)getpid(), (long long)time(NULL));
    snprintf(request, sizeof request, "%s/request", dir);
    snprintf(answer, sizeof answer, "%s/answer.%s", dir, token);
    int n =
        snprintf(text, sizeof text, "%s %s%s\n", stop ? "stop" : "go", token, full ? " full" : "");
    double start = mend_now();
    if (mend_io_replace_file(request, text, (size_t)n))
        return tool_failed("checkpoint", "%s", mend_error_text());
    snprintf(alive_path, sizeof alive_path, "%s/alive", dir);
    int alive = open(alive_path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    int answered = await(answer, alive, limit, text, sizeof text);
    int over = is_over(alive);
    if (alive >= 0)
        close(alive);
    if (!answered) {
        mend_io_remove(request);
        snprintf(request, sizeof request, "%s/request.taken", dir);
        mend_io_remove(request);
        return over ? tool_failed("checkpoint", "no job is running in %s", dir)
                    : tool_failed("checkpoint", "the job in %s did not answer in %g s", dir, limit);
    }
    long long number = 0;
    char word[16] = "";
    sscanf(text, "%15s %lld", word, &number);
    if (strcmp(word, "ended") == 0)
        return tool_failed("checkpoint", "the job is ending; it made no checkpoint");
    if (strcmp(word, "ok") != 0)
        return tool_failed("checkpoint", "the job made no checkpoint: %s",
                           mend_error_sentence((int)number));
    double seconds = mend_now() - start;
    if (json)
        return tool_print_json("checkpoint", json_pack("{s:i,s:I,s:f}", "mend", 1, "version",
                                                       (json_int_t)number, "seconds", seconds));
    printf("version %lld is complete (%.3f s)\n", number, seconds);
    return TOOL_OK;
}
