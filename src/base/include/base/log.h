/* Log lines to stderr, for people. Programs should evaluate events (event.h) instead. */
#ifndef BASE_LOG_H
#define BASE_LOG_H

enum mend_log_level { MEND_LOG_ERROR, MEND_LOG_WARNING, MEND_LOG_INFO, MEND_LOG_DEBUG };

/* "mend[rank]: text", one write(). Levels above MEND_LOG_LEVEL (default: warning) are dropped. */
void mend_log(enum mend_log_level level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void mend_log_set_rank(int rank);

#endif
