/* Files, lines, numbers and units. */
#ifndef PLAN_TEXT_H
#define PLAN_TEXT_H

#include <stddef.h>

/* Read a file of at most `limit` bytes. *text ends with a zero byte; the caller frees it. */
int mend_plan_slurp(const char *path, size_t limit, char **text, size_t *bytes);

/* The lines of a text, one at a time, copied without line end and comments (# or ;). A line that is too long or
 * contains a zero byte is an error with name and line number. */
typedef struct lines {
    const char *name, *next, *end;
    int number;
    char line[512];
} lines;

void mend_plan_lines_start(lines *lines, const char *name, const char *text, size_t bytes);
/* 1: there is a line; 0: no more; or MEND_ERR_CONFIG. */
int mend_plan_lines_next(lines *lines);
/* Set the message "NAME:LINE: …" and return MEND_ERR_CONFIG. */
int mend_plan_lines_fail(const lines *lines, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Scanners move *text past what they took and the blanks after it. They return 0 if there is nothing of the kind.
 * Numbers are decimal with a point in every locale, and finite. */
void mend_plan_skip_blanks(const char **text);
int mend_plan_scan_number(const char **text, double *value);
int mend_plan_scan_word(const char **text, const char *word);
/* A number with a unit of time, or a bare number of seconds. */
int mend_plan_scan_seconds(const char **text, double *seconds);

/* Two columns of a file of measurements: the first, and number `column` (from 2). */
typedef struct columns {
    int count;
    double *first, *second;
} columns;

int mend_plan_columns_read(columns *columns, const char *path, int column);
int mend_plan_columns_parse(columns *columns, const char *name, const char *text, size_t bytes,
                            int column);
void mend_plan_columns_free(columns *columns);

#endif
