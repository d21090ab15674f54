/* mend run --detach, and mend attach: a job without a terminal, and a command that shows it.
 *
 * The job's own `mend run` continues in a session of its own and prints to DIR/run.out and DIR/run.err. It holds the lock
 * on DIR/running as long as it lives, so a process that gets that lock knows that the job has ended. */
#include "jobfile.h"
#include "run.h"
#include "tool.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char help[] = "Usage: mend attach DIR\n"
                           "Show the output of a job started with mend run --detach, from the "
                           "beginning, and follow it until\n"
                           "the job ends. Ending this command does not end the job. To end the "
                           "job, use mend checkpoint --stop,\n"
                           "or send SIGTERM to its mend run.\n\n"
                           "Exit code: that of the job's mend run; 2 wrong usage.\n";

static const char *const file_names[] = {"run.out", "run.err"};

int run_detach(const struct run_job *job)
{
    int fd[2];
    char path[4400];
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s", job->dir, file_names[i]);
        fd[i] = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (fd[i] < 0)
            return tool_failed("run", "cannot write %s: %s", path, strerror(errno));
    }
    fflush(NULL);
    pid_t pid = fork();
    if (pid < 0)
        return tool_failed("run", "cannot detach: %s", strerror(errno));
    if (pid > 0) {
        if (!job->quiet)
            fprintf(stderr, "mend: detached as process %d; mend attach %s shows it\n", (int)pid,
                    job->dir);
        return TOOL_OK;
    }
    setsid();
    int nothing = isatty(0) ? open("/dev/null", O_RDONLY | O_CLOEXEC) : -1;
    if (nothing >= 0)
        dup2(nothing, 0);
    dup2(fd[0], 1);
    dup2(fd[1], 2);
    return -1;
}

static void print_new(const char *dir, int i, off_t *at)
{
    char path[4400], bytes[1 << 16];
    snprintf(path, sizeof path, "%s/%s", dir, file_names[i]);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    for (ssize_t n; fd >= 0 && (n = pread(fd, bytes, sizeof bytes, *at)) > 0; *at += n)
        fwrite(bytes, 1, (size_t)n, i ? stderr : stdout);
    if (fd >= 0)
        close(fd);
    fflush(stdout);
}

static int code_of(const char *dir)
{
    char path[4400];
    json_error_t error;
    snprintf(path, sizeof path, "%s/job.json", dir);
    json_t *job = json_load_file(path, 0, &error);
    const char *state = json_string_value(json_object_get(job, "state"));
    int code = TOOL_FAILED;
    if (state && strcmp(state, "done") == 0)
        code = TOOL_OK;
    else if (state && strcmp(state, "running") == 0)
        tool_failed("attach", "the job's mend run was killed; mend restart %s resumes the job",
                    dir);
    json_decref(job);
    return code;
}

int mend_cmd_attach(int argc, char **argv)
{
    off_t at[2] = {0, 0};
    char path[4400];
    struct stat st;
    if (argc == 2 && strcmp(argv[1], "--help") == 0) {
        fputs(help, stdout);
        return TOOL_OK;
    }
    if (argc != 2 || argv[1][0] == '-')
        return tool_wrong_use("attach", "name the job's folder");
    snprintf(path, sizeof path, "%s/%s", argv[1], file_names[0]);
    if (stat(path, &st))
        return tool_failed("attach", "%s is not the folder of a job started with run --detach",
                           argv[1]);
    for (bool ended = false; !ended;) {
        ended = jobfile_held(argv[1]) == 0;
        for (int i = 0; i < 2; i++)
            print_new(argv[1], i, &at[i]);
        if (!ended)
            nanosleep(&(struct timespec){0, 50000000}, NULL);
    }
    return code_of(argv[1]);
}
