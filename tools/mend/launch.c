#include "launch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static bool try_path(char *path, size_t size, const char *base, const char *middle,
                     const char *name)
{
    int n = snprintf(path, size, "%s%s%s", base, middle, name);
    return n > 0 && (size_t)n < size && access(path, R_OK) == 0;
}

bool tool_find_file(const char *name, char *path, size_t size)
{
    char own[4096];
    ssize_t n = readlink("/proc/self/exe", own, sizeof own - 1);
    if (n <= 0)
        return false;
    own[n] = 0;
    for (int up = 0; up < 2 && strrchr(own, '/'); up++)
        *strrchr(own, '/') = 0;
    if (strncmp(name, "share/", 6) == 0)
        return try_path(path, size, own, "/share/mend/", name + 6);
    return try_path(path, size, own, "/" MEND_LIBDIR "/", name + 4) ||
           try_path(path, size, own, "/", name); /* the build's folder is always lib */
}

bool tool_find_program(const char *name, char *path, size_t size)
{
    const char *rest = getenv("PATH");
    while (rest && *rest) {
        size_t length = strcspn(rest, ":");
        int n = snprintf(path, size, "%.*s/%s", (int)length, rest, name);
        if (length > 0 && n > 0 && (size_t)n < size && access(path, X_OK) == 0)
            return true;
        rest += length + (rest[length] == ':');
    }
    return false;
}

bool tool_add(tool_arguments *arguments, const char *word)
{
    if (arguments->count == TOOL_ARGUMENTS_MAX)
        return false;
    char *copy = strdup(word);
    if (!copy)
        return false;
    arguments->list[arguments->count++] = copy;
    arguments->list[arguments->count] = NULL;
    return true;
}

bool tool_add_flags(tool_arguments *arguments, const char *name)
{
    char relative[128], path[4096], line[512];
    snprintf(relative, sizeof relative, "share/launch/%s", name);
    if (!tool_find_file(relative, path, sizeof path))
        return false;
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    bool ok = true;
    while (ok && fgets(line, sizeof line, file)) {
        line[strcspn(line, "#\n")] = 0;
        char *word = line + strspn(line, " \t");
        for (size_t end = strlen(word); end > 0 && strchr(" \t\r", word[end - 1]); end--)
            word[end - 1] = 0;
        if (*word)
            ok = tool_add(arguments, word);
    }
    fclose(file);
    return ok;
}

void tool_arguments_free(tool_arguments *arguments)
{
    for (int i = 0; i < arguments->count; i++)
        free(arguments->list[i]);
    *arguments = (tool_arguments){.count = 0};
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void run_child(char *const arguments[], int output)
{
    setpgid(0, 0);
    int nothing = open("/dev/null", O_RDONLY);
    dup2(nothing, STDIN_FILENO);
    dup2(output, STDOUT_FILENO);
    dup2(output, STDERR_FILENO);
    execvp(arguments[0], arguments);
    _exit(127);
}

/* Read until the end; false if the time runs out first. Drops output that does not fit. */
static bool read_output(int from, double until, char *output, size_t size)
{
    size_t used = 0;
    char chunk[4096];
    for (;;) {
        struct pollfd wait = {.fd = from, .events = POLLIN};
        double left = until - now();
        if (left <= 0)
            break;
        int ready = poll(&wait, 1, (int)(left * 1000) + 1);
        if (ready <= 0)
            continue;
        ssize_t n = read(from, chunk, sizeof chunk);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            output[used] = 0;
            return true;
        }
        size_t take = (size_t)n < size - 1 - used ? (size_t)n : size - 1 - used;
        memcpy(output + used, chunk, take);
        used += take;
    }
    output[used] = 0;
    return false;
}

/* Ask a launcher to end its job; kill the group if it does not. */
static void end_group(pid_t group)
{
    kill(-group, SIGTERM);
    for (int i = 0; i < 50 && waitpid(group, NULL, WNOHANG) == 0; i++)
        usleep(100000);
    kill(-group, SIGKILL);
    waitpid(group, NULL, 0);
}

int tool_capture(char *const arguments[], double seconds, char *output, size_t size)
{
    int ends[2], status;
    output[0] = 0;
    if (pipe2(ends, O_CLOEXEC))
        return TOOL_NOT_STARTED;
    pid_t child = fork();
    if (child == 0)
        run_child(arguments, ends[1]);
    close(ends[1]);
    if (child < 0) {
        close(ends[0]);
        return TOOL_NOT_STARTED;
    }
    setpgid(child, child);
    bool ended = read_output(ends[0], now() + seconds, output, size);
    close(ends[0]);
    if (!ended) {
        end_group(child);
        return TOOL_TIMED_OUT;
    }
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return TOOL_NOT_STARTED;
    if (WIFSIGNALED(status))
        return TOOL_KILLED;
    return WEXITSTATUS(status) == 127 ? TOOL_NOT_STARTED : WEXITSTATUS(status);
}
