#include <base/config.h>
#include <base/fail.h>
#include <base/ini.h>

#include <ctype.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum type { STRING, INTEGER, SECONDS, BYTES, BOOLEAN };

static const struct key {
    const char *section, *name, *default_value, *help;
    enum type type;
} keys[] = {
#define CONFIG_KEY(id, section_, name_, type_, default_, help_) \
    {.section = section_, .name = name_, .default_value = default_, .help = help_, .type = type_},
#include <base/config_keys.def>
#undef CONFIG_KEY
};

static int check_value(enum type type, const char *value)
{
    long integer;
    double seconds;
    unsigned long long bytes;
    bool boolean;
    switch (type) {
    case STRING: return MEND_OK;
    case INTEGER: return mend_parse_integer(value, &integer);
    case SECONDS: return mend_parse_seconds(value, &seconds);
    case BYTES: return mend_parse_bytes(value, &bytes);
    case BOOLEAN: return mend_parse_boolean(value, &boolean);
    }
    return MEND_ERR_INTERNAL;
}

int mend_config_set(mend_config *config, enum mend_config_key key, const char *value,
                    const char *where)
{
    int code = check_value(keys[key].type, value);
    if (code)
        return mend_fail_within(code, "%s", where);
    char *copy = strdup(value);
    if (!copy)
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for %s", where);
    free(config->value[key]);
    config->value[key] = copy;
    return MEND_OK;
}

static int find_key(const char *section, const char *name)
{
    for (int i = 0; i < MEND_CONFIG_KEYS; i++)
        if (strcmp(keys[i].section, section) == 0 && strcmp(keys[i].name, name) == 0)
            return i;
    return -1;
}

int mend_config_set_named(mend_config *config, const char *dotted, const char *value,
                          const char *where)
{
    char section[64] = "";
    const char *dot = strchr(dotted, '.');
    if (dot && (size_t)(dot - dotted) < sizeof section)
        memcpy(section, dotted, (size_t)(dot - dotted));
    int key = dot ? find_key(section, dot + 1) : -1;
    if (key < 0)
        return mend_fail(MEND_ERR_CONFIG, "%s: unknown key \"%s\"", where, dotted);
    return mend_config_set(config, (enum mend_config_key)key, value, where);
}

struct ini_context {
    mend_config *config;
    const char *path;
};

static int on_ini_entry(void *user, const char *section, const char *name, const char *value,
                        int line)
{
    struct ini_context *context = user;
    char where[512], dotted[256];
    snprintf(where, sizeof where, "%s:%d", context->path, line);
    snprintf(dotted, sizeof dotted, "%s.%s", section, name);
    return mend_config_set_named(context->config, dotted, value, where);
}

static void variable_name(char *out, size_t size, const struct key *key)
{
    snprintf(out, size, "MEND_%s_%s", key->section, key->name);
    for (char *p = out; *p; p++)
        *p = *p == '-' || *p == '.' ? '_' : (char)toupper((unsigned char)*p);
}

/* Refuse a variable in one of our sections that no key has, such as MEND_STORE_LOCL=…: it is a typing error. Variables
 * outside of the sections (MEND_CONFIG, MEND_FAULT, …) have other readers. */
static int find_mistakes(void)
{
    for (char **v = environ; v && *v; v++) {
        if (strncmp(*v, "MEND_", 5) != 0)
            continue;
        bool in_section = false, known = false;
        for (int i = 0; i < MEND_CONFIG_KEYS && !known; i++) {
            char variable[128];
            variable_name(variable, sizeof variable, &keys[i]);
            size_t whole = strlen(variable), section = 5 + strlen(keys[i].section) + 1;
            known = strncmp(*v, variable, whole) == 0 && (*v)[whole] == '=';
            in_section = in_section || strncmp(*v, variable, section) == 0;
        }
        if (in_section && !known)
            return mend_fail(MEND_ERR_CONFIG, "no key belongs to the environment variable %.*s",
                             (int)strcspn(*v, "="), *v);
    }
    return MEND_OK;
}

static int load_environment(mend_config *config)
{
    for (int i = 0; i < MEND_CONFIG_KEYS; i++) {
        char variable[128];
        variable_name(variable, sizeof variable, &keys[i]);
        const char *value = getenv(variable);
        int code = value ? mend_config_set(config, (enum mend_config_key)i, value, variable) : 0;
        if (code)
            return code;
    }
    return find_mistakes();
}

int mend_config_load(mend_config *config, const char *ini_path)
{
    *config = (mend_config){0};
    int code = MEND_OK;
    for (int i = 0; i < MEND_CONFIG_KEYS && !code; i++)
        code =
            mend_config_set(config, (enum mend_config_key)i, keys[i].default_value, keys[i].name);
    if (!ini_path)
        ini_path = getenv("MEND_CONFIG");
    if (!code && ini_path && *ini_path)
        code = mend_ini_read(ini_path, on_ini_entry,
                             &(struct ini_context){.config = config, .path = ini_path});
    if (!code)
        code = load_environment(config);
    if (code)
        mend_config_free(config);
    return code;
}

void mend_config_free(mend_config *config)
{
    for (int i = 0; i < MEND_CONFIG_KEYS; i++)
        free(config->value[i]);
    *config = (mend_config){0};
}

const char *mend_config_string(const mend_config *config, enum mend_config_key key)
{
    return config->value[key] ? config->value[key] : keys[key].default_value;
}

long mend_config_integer(const mend_config *config, enum mend_config_key key)
{
    long value = 0;
    mend_parse_integer(mend_config_string(config, key), &value);
    return value;
}

double mend_config_seconds(const mend_config *config, enum mend_config_key key)
{
    double value = 0;
    mend_parse_seconds(mend_config_string(config, key), &value);
    return value;
}

unsigned long long mend_config_bytes(const mend_config *config, enum mend_config_key key)
{
    unsigned long long value = 0;
    mend_parse_bytes(mend_config_string(config, key), &value);
    return value;
}

bool mend_config_boolean(const mend_config *config, enum mend_config_key key)
{
    bool value = false;
    mend_parse_boolean(mend_config_string(config, key), &value);
    return value;
}

static struct {
    pthread_once_t once;
    mend_config config;
    int code;
    char text[512];
} process = {.once = PTHREAD_ONCE_INIT};

static void load_process(void)
{
    process.code = mend_config_load(&process.config, NULL);
    if (process.code)
        snprintf(process.text, sizeof process.text, "%s", mend_error_text());
}

static const mend_config *settings(void)
{
    pthread_once(&process.once, load_process);
    return &process.config;
}

int mend_settings_load(void)
{
    settings();
    return process.code ? mend_fail(process.code, "%s", process.text) : MEND_OK;
}

const char *mend_setting_string(enum mend_config_key key)
{
    return mend_config_string(settings(), key);
}

long mend_setting_integer(enum mend_config_key key)
{
    return mend_config_integer(settings(), key);
}

double mend_setting_seconds(enum mend_config_key key)
{
    return mend_config_seconds(settings(), key);
}

unsigned long long mend_setting_bytes(enum mend_config_key key)
{
    return mend_config_bytes(settings(), key);
}

bool mend_setting_boolean(enum mend_config_key key)
{
    return mend_config_boolean(settings(), key);
}

const char *mend_config_key_section(enum mend_config_key key)
{
    return keys[key].section;
}

const char *mend_config_key_name(enum mend_config_key key)
{
    return keys[key].name;
}

const char *mend_config_key_default(enum mend_config_key key)
{
    return keys[key].default_value;
}

const char *mend_config_key_help(enum mend_config_key key)
{
    return keys[key].help;
}
