#include <base/fail.h>
#include <base/ini.h>
#include <base/io.h>

#include <ini.h>
#include <stdlib.h>
#include <string.h>

enum { INI_SIZE_MAX = 1 << 20 };

struct reading {
    const char *rest;
    int line;
    int code;
    int code_line; /* where `code` came from */
    mend_ini_entry *entry;
    void *user;
};

/* Like fgets on a text, and counts lines: libinih calls the handler right after it has read the
 * line. */
static char *next_line(char *out, int size, void *stream)
{
    struct reading *reading = stream;
    const char *from = reading->rest;
    if (!*from || size < 2)
        return NULL;
    const char *end = strchr(from, '\n');
    size_t length = end ? (size_t)(end - from) + 1 : strlen(from);
    if (length > (size_t)size - 1)
        length = (size_t)size - 1;
    else
        reading->line++;
    memcpy(out, from, length);
    out[length] = 0;
    reading->rest = from + length;
    return out;
}

static int on_entry(void *user, const char *section, const char *name, const char *value)
{
    struct reading *reading = user;
    if (!name || reading->code)
        return reading->code == MEND_OK;
    reading->code = reading->entry(reading->user, section, name, value ? value : "", reading->line);
    reading->code_line = reading->line;
    return reading->code == MEND_OK;
}

int mend_ini_read_text(const char *text, const char *path, mend_ini_entry *entry, void *user)
{
    struct reading reading = {.rest = text, .entry = entry, .user = user};
    int line = ini_parse_stream(next_line, &reading, on_entry, &reading);
    if (line < 0)
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory to read %s", path);
    /* libinih continues after a line that does not parse: report the first error */
    if (line > 0 && (!reading.code || line < reading.code_line))
        return mend_fail(MEND_ERR_CONFIG, "%s:%d: this line does not parse", path, line);
    return reading.code;
}

int mend_ini_read(const char *path, mend_ini_entry *entry, void *user)
{
    char *text;
    size_t size;
    int code = mend_io_read_input(path, INI_SIZE_MAX, &text, &size);
    if (code)
        return code;
    if (strlen(text) != size)
        code = mend_fail(MEND_ERR_CONFIG, "%s holds a NUL byte: it is not a text file", path);
    else
        code = mend_ini_read_text(text, path, entry, user);
    free(text);
    return code;
}
