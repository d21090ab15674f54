/* The environment, a line NAME=VALUE each: what configures Mend is taken or refused with a sentence that names the
 * variable, and what was taken can be read as what it is. */
#include <base/config.h>
#include <base/fail.h>

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1), *rest = text, *names[MOST];
    int count = 0;
    memcpy(text, data, size);
    text[size] = 0;
    for (char *line; count < MOST && (line = strsep(&rest, "\n"));) {
        char *equals = strchr(line, '=');
        if (!equals || strncmp(line, "MEND_", 5) != 0)
            continue;
        *equals = 0;
        if (strcmp(line, "MEND_CONFIG") == 0 || setenv(line, equals + 1, 1))
            continue;
        names[count++] = line;
    }
    mend_config config;
    int code = mend_config_load(&config, NULL);
    if (code && (code != MEND_ERR_CONFIG || !strstr(mend_error_text(), "MEND_")))
        abort();
    for (int key = 0; !code && key < MEND_CONFIG_KEYS; key++) {
        mend_config_string(&config, (enum mend_config_key)key);
        mend_config_bytes(&config, (enum mend_config_key)key);
        mend_config_seconds(&config, (enum mend_config_key)key);
    }
    if (!code)
        mend_config_free(&config);
    for (int i = 0; i < count; i++)
        unsetenv(names[i]);
    free(text);
    return 0;
}
