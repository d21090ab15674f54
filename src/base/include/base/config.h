/* Configuration from one table of keys (config_keys.def): default, then INI file, then environment
 * (MEND_SECTION_NAME), then what the caller sets (command-line flags). An unknown key or a value
 * that does not parse is MEND_ERR_CONFIG with file and line. */
#ifndef BASE_CONFIG_H
#define BASE_CONFIG_H

#include <stdbool.h>

enum mend_config_key {
#define CONFIG_KEY(id, section, name, type, default_value, help) MEND_KEY_##id,
#include <base/config_keys.def>
#undef CONFIG_KEY
    MEND_CONFIG_KEYS
};

typedef struct mend_config {
    char *value[MEND_CONFIG_KEYS];
} mend_config;

/* Defaults, the INI file (NULL: the one MEND_CONFIG names, or none) and the environment. */
int mend_config_load(mend_config *config, const char *ini_path);
void mend_config_free(mend_config *config);

/* The configuration of this process. The first call of any of these functions reads it. load
 * reports what is wrong with it: call it early, and do not go on after an error. Before it is
 * called, and if it fails, the others return defaults. Thread-safe. */
int mend_settings_load(void);
const char *mend_setting_string(enum mend_config_key key);
long mend_setting_integer(enum mend_config_key key);
double mend_setting_seconds(enum mend_config_key key);
unsigned long long mend_setting_bytes(enum mend_config_key key);
bool mend_setting_boolean(enum mend_config_key key);

/* Set a key by its "section.name" (or the key itself); `where` is for the message, e.g. "--every". */
int mend_config_set_named(mend_config *config, const char *dotted, const char *value,
                          const char *where);
int mend_config_set(mend_config *config, enum mend_config_key key, const char *value,
                    const char *where);

/* These cannot fail: values were checked when they were set. */
const char *mend_config_string(const mend_config *config, enum mend_config_key key);
long mend_config_integer(const mend_config *config, enum mend_config_key key);
double mend_config_seconds(const mend_config *config, enum mend_config_key key);
unsigned long long mend_config_bytes(const mend_config *config, enum mend_config_key key);
bool mend_config_boolean(const mend_config *config, enum mend_config_key key);

/* The parsers on their own, for other readers: MEND_OK or MEND_ERR_CONFIG. */
int mend_parse_seconds(const char *text, double *seconds);
int mend_parse_bytes(const char *text, unsigned long long *bytes);
int mend_parse_boolean(const char *text, bool *value);
int mend_parse_integer(const char *text, long *value);

/* For manuals and tests: the table's columns. */
const char *mend_config_key_section(enum mend_config_key key);
const char *mend_config_key_name(enum mend_config_key key);
const char *mend_config_key_default(enum mend_config_key key);
const char *mend_config_key_help(enum mend_config_key key);

#endif
