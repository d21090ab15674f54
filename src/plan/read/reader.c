/* Reads a model from an INI file. libinih splits the lines, but it does not know line numbers, or empty and repeated
 * sections, so the lines pass through here first. */
#include "read/reader.h"

#include <ini.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <base/fail.h>
#include <base/grow.h>

static int enter(reader *reader, enum section section, int *line, const char *name)
{
    if (*line)
        return mend_plan_lines_fail(&reader->lines, "the section [%s] began in line %d already",
                                    name, *line);
    *line = reader->lines.number;
    reader->section = section;
    return 0;
}

/* A line that begins with '['. */
static int open_section(reader *reader)
{
    char name[64];
    const char *open = reader->lines.line + 1, *close = strchr(open, ']');
    if (!close || close[1] || close - open >= (int)sizeof name)
        return mend_plan_lines_fail(&reader->lines, "this is not a section in brackets");
    snprintf(name, sizeof name, "%.*s", (int)(close - open), open);
    if (!strcmp(name, "job"))
        return enter(reader, SECTION_JOB, &reader->job_line, name);
    if (!strcmp(name, "power"))
        return enter(reader, SECTION_POWER, &reader->power_line, name);
    if (!strncmp(name, "level ", 6)) {
        if (name[6] < '1' || name[6] > '0' + MEND_PLAN_LEVELS || name[7])
            return mend_plan_lines_fail(&reader->lines, "levels are numbered 1 to %d, not \"%s\"",
                                        MEND_PLAN_LEVELS, name + 6);
        reader->level = name[6] - '1';
        return enter(reader, SECTION_LEVEL, &reader->level_line[reader->level], name);
    }
    return mend_plan_lines_fail(
        &reader->lines, "there is no section [%s] ([job], [power], [level 1] to [level %d])", name,
        MEND_PLAN_LEVELS);
}

/* libinih calls this instead of fgets. The lines have no leading blanks any more, so it sees no continued lines. */
static char *next_line(char *buffer, int size, void *stream)
{
    reader *reader = stream;
    if (reader->code)
        return NULL;
    int more = mend_plan_lines_next(&reader->lines);
    if (more <= 0) {
        reader->code = more;
        return NULL;
    }
    const char *line = reader->lines.line;
    if (*line == '[')
        reader->code = open_section(reader);
    else if (*line && !strpbrk(line, "=:"))
        reader->code = mend_plan_lines_fail(&reader->lines, "this is not 'key = value'");
    else if (snprintf(buffer, (size_t)size, "%s\n", line) >= size)
        reader->code =
            mend_plan_lines_fail(&reader->lines, "the line is longer than %d bytes", size - 2);
    if (!reader->code && *line == '[')
        snprintf(buffer, (size_t)size, "\n"); /* we handle sections */
    return reader->code ? NULL : buffer;
}

static int take_key(void *user, const char *section, const char *name, const char *value)
{
    reader *reader = user;
    (void)section;
    if (!reader->code)
        reader->code = mend_plan_key(reader, name, value);
    return reader->code == 0;
}

static int parse(mend_plan_model *model, const char *name, const char *folder, const char *text,
                 size_t bytes)
{
    reader reader;
    memset(&reader, 0, sizeof reader);
    reader.model = model;
    reader.folder = folder;
    mend_plan_model_init(model);
    mend_plan_lines_start(&reader.lines, name, text, bytes);
    int result = ini_parse_stream(next_line, &reader, take_key, &reader);
    if (reader.code)
        return reader.code;
    if (result)
        return mend_fail(MEND_ERR_CONFIG, "%s:%d: the line is not understood", name, result);
    return mend_plan_keys_finish(&reader);
}

int mend_plan_model_parse_sized(mend_plan_model *model, size_t size, const char *name,
                                const char *text, size_t bytes)
{
    if (mend_size_same("mend_plan_model", size, sizeof *model))
        return MEND_ERR_UNSUPPORTED;
    return parse(model, name, NULL, text, bytes);
}

int mend_plan_model_read_sized(mend_plan_model *model, size_t size, const char *path)
{
    if (mend_size_same("mend_plan_model", size, sizeof *model))
        return MEND_ERR_UNSUPPORTED;
    char *text, folder[1024];
    size_t bytes;
    const char *slash = strrchr(path, '/');
    int length = slash ? (int)(slash - path) + 1 : 0;
    if (snprintf(folder, sizeof folder, "%.*s", length, path) >= (int)sizeof folder)
        return mend_fail(MEND_ERR_CONFIG, "the path %s is too long", path);
    int code = mend_plan_slurp(path, 1 << 20, &text, &bytes);
    if (code)
        return code;
    code = parse(model, path, folder, text, bytes);
    free(text);
    return code;
}
