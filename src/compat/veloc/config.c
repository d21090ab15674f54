/* VeloC's configuration file: key = value, without sections. */
#include "client.h"

#include <base/config.h>
#include <base/fail.h>
#include <base/ini.h>
#include <base/log.h>

#include <stdlib.h>
#include <string.h>

struct reading {
    struct veloc_config *config;
    const char *path;
};

static int set_text(char **field, const char *value)
{
    char *copy = strdup(value);
    if (!copy)
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for the VeloC configuration");
    free(*field);
    *field = copy;
    return MEND_OK;
}

static int set_mode(struct veloc_config *config, const char *value)
{
    if (strcmp(value, "sync") != 0 && strcmp(value, "async") != 0)
        return mend_fail(MEND_ERR_CONFIG, "mode is \"%s\", neither sync nor async", value);
    config->sync = strcmp(value, "sync") == 0;
    return MEND_OK;
}

static int set_count(long *field, const char *value)
{
    int code = mend_parse_integer(value, field);
    if (!code && *field < 0)
        code = mend_fail(MEND_ERR_CONFIG, "%s versions cannot be kept", value);
    return code;
}

static int set_key(struct veloc_config *config, const char *name, const char *value, bool *known)
{
    *known = true;
    if (strcmp(name, "scratch") == 0)
        return set_text(&config->scratch, value);
    if (strcmp(name, "persistent") == 0)
        return set_text(&config->persistent, value);
    if (strcmp(name, "failure_domain") == 0)
        return set_text(&config->failure_domain, value);
    if (strcmp(name, "mode") == 0)
        return set_mode(config, value);
    if (strcmp(name, "max_versions") == 0)
        return set_count(&config->max_versions, value);
    if (strcmp(name, "scratch_versions") == 0)
        return set_count(&config->scratch_versions, value);
    if (strcmp(name, "ec_interval") == 0)
        return mend_parse_integer(value, &config->ec_interval);
    if (strcmp(name, "persistent_interval") == 0)
        return mend_parse_integer(value, &config->persistent_interval);
    *known = false;
    return MEND_OK;
}

/* Keys of VeloC's that need nothing here: checksums are always on, there is no back end. */
static bool is_needless(const char *name)
{
    static const char *const names[] = {
        "axl_type",          "chksum",         "meta",   "axl_config",
        "watchdog_interval", "max_cache_size", "ec_type"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

static int on_entry(void *user, const char *section, const char *name, const char *value, int line)
{
    struct reading *reading = user;
    bool known;
    (void)section;
    int code = set_key(reading->config, name, value, &known);
    if (code)
        return mend_fail_within(code, "%s:%d", reading->path, line);
    if (!known)
        mend_log(is_needless(name) ? MEND_LOG_INFO : MEND_LOG_WARNING,
                 "%s:%d: the key \"%s\" has no effect here", reading->path, line, name);
    return MEND_OK;
}

int mend_veloc_config_read(struct veloc_config *config, const char *path)
{
    *config = (struct veloc_config){0};
    if (!path)
        return mend_fail(MEND_ERR_ARGUMENT, "VELOC_Init was given no configuration file");
    int code = mend_ini_read(path, on_entry, &(struct reading){config, path});
    if (!code && !config->scratch)
        code = mend_fail(MEND_ERR_CONFIG, "%s names no scratch folder", path);
    if (!code && !config->persistent && config->persistent_interval >= 0)
        code = mend_fail(MEND_ERR_CONFIG, "%s names no persistent folder", path);
    if (code)
        mend_veloc_config_free(config);
    return code;
}

void mend_veloc_config_free(struct veloc_config *config)
{
    free(config->scratch);
    free(config->persistent);
    free(config->failure_domain);
    *config = (struct veloc_config){0};
}
