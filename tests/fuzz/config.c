/* The INI reader and the configuration: any text is either taken or refused with a sentence that
 * names the file and a line that exists. */
#include <base/config.h>
#include <base/fail.h>
#include <base/ini.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct seen {
    mend_config *config;
    int last_line, lines;
};

static int on_entry(void *user, const char *section, const char *name, const char *value, int line)
{
    struct seen *seen = user;
    char dotted[512], where[64];
    if (line < seen->last_line || line > seen->lines)
        abort(); /* lines are told in order, and exist */
    seen->last_line = line;
    snprintf(dotted, sizeof dotted, "%s.%s", section, name);
    snprintf(where, sizeof where, "file:%d", line);
    int code = mend_config_set_named(seen->config, dotted, value, where);
    if (code && (code != MEND_ERR_CONFIG || strncmp(mend_error_text(), where, strlen(where)) != 0))
        abort();
    return line % 2 ? MEND_OK : code; /* now and then go on */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = 0;
    mend_config config;
    unsetenv("MEND_CONFIG");
    if (mend_config_load(&config, NULL))
        abort();
    struct seen seen = {.config = &config, .lines = 1};
    for (const char *p = text; *p; p++)
        seen.lines += *p == '\n';
    int code = mend_ini_read_text(text, "file", on_entry, &seen);
    if (code > 0 || (code && mend_error_text()[0] == 0))
        abort();
    for (int key = 0; key < MEND_CONFIG_KEYS;
         key++) { /* what was taken can be read as what it is */
        mend_config_string(&config, (enum mend_config_key)key);
        mend_config_bytes(&config, (enum mend_config_key)key);
        mend_config_seconds(&config, (enum mend_config_key)key);
    }
    mend_config_free(&config);
    free(text);
    return 0;
}
