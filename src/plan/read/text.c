#include "read/text.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <base/fail.h>

int mend_plan_slurp(const char *path, size_t limit, char **text, size_t *bytes)
{
    FILE *file = fopen(path, "re");
    if (!file)
        return mend_fail_errno("cannot open %s", path);
    size_t room = 4096, used = 0;
    char *data = malloc(room);
    while (data) {
        used += fread(data + used, 1, room - used, file);
        if (used < room || used > limit)
            break;
        char *more = realloc(data, room *= 2);
        if (!more)
            free(data);
        data = more;
    }
    int code = 0;
    if (!data)
        code = mend_fail(MEND_ERR_NO_MEMORY, "no memory to read %s", path);
    else if (ferror(file))
        code = mend_fail_errno("cannot read %s", path);
    else if (used > limit)
        code = mend_fail(MEND_ERR_CONFIG, "%s is longer than %zu bytes", path, limit);
    fclose(file);
    if (code) {
        free(data);
        return code;
    }
    data[used] = 0; /* used < room here */
    *text = data;
    *bytes = used;
    return 0;
}

void mend_plan_lines_start(lines *lines, const char *name, const char *text, size_t bytes)
{
    lines->name = name;
    lines->next = text;
    lines->end = text + bytes;
    lines->number = 0;
    lines->line[0] = 0;
    if (bytes >= 3 && !memcmp(text, "\xef\xbb\xbf", 3))
        lines->next += 3; /* byte order mark */
}

int mend_plan_lines_fail(const lines *lines, const char *format, ...)
{
    char sentence[400];
    va_list args;
    va_start(args, format);
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    return mend_fail(MEND_ERR_CONFIG, "%s:%d: %s", lines->name, lines->number, sentence);
}

int mend_plan_lines_next(lines *lines)
{
    if (lines->next >= lines->end)
        return 0;
    size_t left = (size_t)(lines->end - lines->next);
    const char *newline = memchr(lines->next, '\n', left);
    size_t length = newline ? (size_t)(newline - lines->next) : left;
    const char *line = lines->next;
    lines->next += length + (newline != NULL);
    lines->number++;
    if (memchr(line, 0, length))
        return mend_plan_lines_fail(lines, "the line holds a zero byte");
    while (length && (*line == ' ' || *line == '\t'))
        line++, length--;
    if (length && (*line == '#' || *line == ';'))
        length = 0;
    for (size_t i = 1; i < length; i++)
        if ((line[i] == '#' || line[i] == ';') && (line[i - 1] == ' ' || line[i - 1] == '\t'))
            length = i;
    while (length && isspace((unsigned char)line[length - 1]))
        length--;
    if (length >= sizeof lines->line)
        return mend_plan_lines_fail(lines, "the line is longer than %zu bytes",
                                    sizeof lines->line - 1);
    memcpy(lines->line, line, length);
    lines->line[length] = 0;
    return 1;
}

void mend_plan_skip_blanks(const char **text)
{
    while (**text == ' ' || **text == '\t')
        ++*text;
}

/* We check the characters of a number here, so that strtod never sees inf, nan or hexadecimal. For a locale with a
 * decimal comma we insert its own decimal point. */
int mend_plan_scan_number(const char **text, double *value)
{
    char copy[64], *end;
    const char *at = *text;
    size_t length = 0;
    int digits = 0;
    if (*at == '+' || *at == '-')
        copy[length++] = *at++;
    while (length < sizeof copy - 8 && (isdigit((unsigned char)*at) || *at == '.')) {
        digits += *at != '.';
        copy[length++] = *at++;
    }
    if (!digits)
        return 0;
    if ((*at == 'e' || *at == 'E') &&
        (isdigit((unsigned char)at[1]) ||
         ((at[1] == '+' || at[1] == '-') && isdigit((unsigned char)at[2])))) {
        copy[length++] = *at++;
        copy[length++] = *at++;
        while (length < sizeof copy - 1 && isdigit((unsigned char)*at))
            copy[length++] = *at++;
    }
    copy[length] = 0;
    char point[4];
    snprintf(point, sizeof point, "%.1f", 0.5);
    for (char *c = copy; *c; c++)
        if (*c == '.')
            *c = point[1];
    *value = strtod(copy, &end);
    if (end != copy + length || !isfinite(*value) || isdigit((unsigned char)*at) || *at == '.')
        return 0;
    mend_plan_skip_blanks(&at);
    *text = at;
    return 1;
}

int mend_plan_scan_word(const char **text, const char *word)
{
    size_t length = strlen(word);
    if (strncmp(*text, word, length))
        return 0;
    if (isalnum((unsigned char)word[length - 1]) &&
        (isalnum((unsigned char)(*text)[length]) || (*text)[length] == '-' ||
         (*text)[length] == '_'))
        return 0;
    *text += length;
    mend_plan_skip_blanks(text);
    return 1;
}

int mend_plan_scan_seconds(const char **text, double *seconds)
{
    static const struct {
        const char *name;
        double seconds;
    } units[] = {{"us", 1e-6}, {"ms", 1e-3}, {"s", 1},      {"min", 60},
                 {"h", 3600},  {"d", 86400}, {"w", 604800}, {"y", 31557600}};
    const char *at = *text;
    if (!mend_plan_scan_number(&at, seconds))
        return 0;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (mend_plan_scan_word(&at, units[i].name)) {
            *seconds *= units[i].seconds;
            break;
        }
    *text = at;
    return 1;
}

void mend_plan_columns_free(columns *columns)
{
    free(columns->first);
    free(columns->second);
    memset(columns, 0, sizeof *columns);
}

/* Scan one line of measurements; 0: it is not one. */
static int scan_row(const char *at, int column, double *first, double *second)
{
    double value;
    int found = 0;
    for (int i = 1; *at; i++) {
        if (!mend_plan_scan_number(&at, &value))
            return 0;
        if (i == 1)
            *first = value;
        if (i == column) {
            *second = value;
            found = 1;
        }
    }
    return found;
}

int mend_plan_columns_parse(columns *columns, const char *name, const char *text, size_t bytes,
                            int column)
{
    enum { MOST_ROWS = 4096 };
    lines lines;
    int more, code = 0;
    memset(columns, 0, sizeof *columns);
    columns->first = malloc(MOST_ROWS * sizeof(double));
    columns->second = malloc(MOST_ROWS * sizeof(double));
    if (!columns->first || !columns->second)
        code = mend_fail(MEND_ERR_NO_MEMORY, "no memory to read %s", name);
    mend_plan_lines_start(&lines, name, text, bytes);
    while (!code && (more = mend_plan_lines_next(&lines)) != 0) {
        if (more < 0)
            code = more;
        else if (!*lines.line)
            continue;
        else if (columns->count == MOST_ROWS)
            code = mend_plan_lines_fail(&lines, "there are more than %d measurements", MOST_ROWS);
        else if (!scan_row(lines.line, column, &columns->first[columns->count],
                           &columns->second[columns->count]))
            code = mend_plan_lines_fail(&lines, "this is not a row of at least %d numbers", column);
        else
            columns->count++;
    }
    if (code)
        mend_plan_columns_free(columns);
    return code;
}

int mend_plan_columns_read(columns *columns, const char *path, int column)
{
    char *text;
    size_t bytes;
    int code = mend_plan_slurp(path, 1 << 20, &text, &bytes);
    if (code)
        return code;
    code = mend_plan_columns_parse(columns, path, text, bytes, column);
    free(text);
    return code;
}
