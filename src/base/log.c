#include <base/config.h>
#include <base/log.h>

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int log_rank = -1;

static enum mend_log_level threshold(void)
{
    static const char *const names[] = {"error", "warning", "info", "debug"};
    const char *wanted = mend_setting_string(MEND_KEY_LOG_LEVEL);
    for (int i = 0; i < 4; i++)
        if (strcmp(wanted, names[i]) == 0)
            return (enum mend_log_level)i;
    return MEND_LOG_WARNING;
}

void mend_log_set_rank(int rank)
{
    log_rank = rank;
}

void mend_log(enum mend_log_level level, const char *format, ...)
{
    if (level > threshold())
        return;
    int saved_errno = errno;
    char line[1024];
    int n = log_rank < 0 ? snprintf(line, sizeof line, "mend: ")
                         : snprintf(line, sizeof line, "mend[%d]: ", log_rank);
    va_list args;
    va_start(args, format);
    int m = vsnprintf(line + n, sizeof line - (size_t)n - 1, format, args);
    va_end(args);
    size_t size = (size_t)n + (size_t)(m < 0 ? 0 : m);
    if (size > sizeof line - 2)
        size = sizeof line - 2;
    line[size] = '\n';
    ssize_t ignored = write(STDERR_FILENO, line, size + 1);
    (void)ignored;
    errno = saved_errno;
}
