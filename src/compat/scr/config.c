/* SCR's parameters: the environment, what SCR_Config was told, and a file of KEY=VALUE lines. */
#include "client.h"

#include <base/config.h>
#include <base/fail.h>
#include <base/io.h>
#include <base/log.h>
#include <scr.h>

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { FILE_LIMIT = 1 << 20 };

struct pair {
    char *key, *value;
};
struct pairs {
    struct pair *list;
    int count;
};

static struct pairs told; /* by SCR_Config: there is no handle yet when it is called */

static struct pair *find(const struct pairs *pairs, const char *key)
{
    for (int i = 0; i < pairs->count; i++)
        if (strcmp(pairs->list[i].key, key) == 0)
            return &pairs->list[i];
    return NULL;
}

static int set(struct pairs *pairs, const char *key, const char *value)
{
    char *copy = strdup(value);
    struct pair *p = find(pairs, key);
    if (copy && p) {
        free(p->value);
        p->value = copy;
        return MEND_OK;
    }
    char *name = strdup(key);
    struct pair *more = realloc(pairs->list, (size_t)(pairs->count + 1) * sizeof *more);
    if (more)
        pairs->list = more;
    if (!copy || !name || !more) {
        free(copy);
        free(name);
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for the SCR parameter %s", key);
    }
    pairs->list[pairs->count].key = name;
    pairs->list[pairs->count++].value = copy;
    return MEND_OK;
}

static void clear(struct pairs *pairs)
{
    for (int i = 0; i < pairs->count; i++) {
        free(pairs->list[i].key);
        free(pairs->list[i].value);
    }
    free(pairs->list);
    *pairs = (struct pairs){0};
}

/* "DEBUG" and "SCR_DEBUG" are the same parameter. */
static void full_name(const char *key, size_t length, char *name, size_t size)
{
    bool full = length > 4 && strncmp(key, "SCR_", 4) == 0;
    snprintf(name, size, "%s%.*s", full ? "" : "SCR_", (int)length, key);
}

/* Cut blanks at both ends, in place. */
static char *trim(char *text)
{
    while (isspace((unsigned char)*text))
        text++;
    for (size_t n = strlen(text); n > 0 && isspace((unsigned char)text[n - 1]); n--)
        text[n - 1] = '\0';
    return text;
}

/* ---- SCR_Config ------------------------------------------------------------------------------ */

/* "KEY=VALUE", "KEY=" or "KEY", without blanks around its parts. A second pair, or a name after the pair, belongs to a
 * descriptor. */
static int take_apart(char *text, char **key, char **value)
{
    char *equals = strchr(text, '=');
    *value = NULL;
    if (equals) {
        *equals = '\0';
        *value = trim(equals + 1);
    }
    *key = trim(text);
    if (!**key || strpbrk(*key, " \t") || strlen(*key) >= SCR_NAME - 4)
        return mend_fail(MEND_ERR_ARGUMENT, "SCR_Config needs KEY, KEY= or KEY=VALUE");
    return MEND_OK;
}

static bool is_descriptor(const char *name)
{
    static const char *const names[] = {"SCR_STORE", "SCR_GROUP", "SCR_CKPT", "SCR_NODE"};
    bool is = false;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        is = is || strcmp(name, names[i]) == 0;
    return is;
}

/* The value that was set, which stays the library's; *asked: a copy for the caller instead. */
static int config(char *text, char **asked, const char **was_set)
{
    char name[SCR_NAME], *key, *value;
    int code = take_apart(text, &key, &value);
    if (code)
        return code;
    full_name(key, strlen(key), name, sizeof name);
    const struct pair *p = find(&told, name);
    if (value && is_descriptor(name) && strpbrk(value, " \t") && !strchr(value, '='))
        return mend_fail(MEND_ERR_UNSUPPORTED,
                         "SCR_Config: %s=%s asks for a part of a descriptor, which is not "
                         "supported by Mend's scr.h",
                         key, value);
    if (value) {
        code = set(&told, name, value);
        p = find(&told, name);
        *was_set = !code && *p->value ? p->value : NULL;
    } else {
        const char *known = getenv(name);
        if (!known && p && *p->value)
            known = p->value;
        *asked = known ? strdup(known) : NULL;
    }
    return code;
}

const char *SCR_Config(const char *config_string)
{
    char *copy = config_string ? strdup(config_string) : NULL, *asked = NULL;
    const char *was_set = NULL;
    mend_scr_result(copy ? config(copy, &asked, &was_set)
                         : mend_fail(MEND_ERR_ARGUMENT, "SCR_Config needs KEY, KEY= or KEY=VALUE"));
    free(copy);
    return asked ? asked : was_set;
}

const char *SCR_Configf(const char *format, ...)
{
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (length < 0)
        return NULL;
    const char *answer = SCR_Config(text);
    free(text);
    return answer;
}

/* ---- the file -------------------------------------------------------------------------------- */

static int read_file(struct pairs *pairs)
{
    const char *path = getenv("SCR_CONF_FILE");
    char *text;
    size_t size;
    if (!path || !*path)
        return MEND_OK;
    int code = mend_io_read_input(path, FILE_LIMIT, &text, &size);
    if (code)
        return mend_fail_within(code, "SCR_CONF_FILE");
    int number = 0;
    for (char *rest = text, *line; !code && (line = strsep(&rest, "\n"));) {
        number++;
        line[strcspn(line, "#")] = '\0';
        line = trim(line);
        char *equals = strchr(line, '='), name[SCR_NAME];
        if (!*line)
            continue;
        if (!equals) {
            code = mend_fail(MEND_ERR_CONFIG, "%s:%d: \"%s\" is not KEY=VALUE", path, number, line);
            break;
        }
        size_t length = (size_t)(equals - line);
        while (length > 0 && isspace((unsigned char)line[length - 1]))
            length--;
        full_name(line, length, name, sizeof name);
        if (!find(pairs, name)) /* SCR_Config's word comes first */
            code = set(pairs, name, trim(equals + 1));
    }
    free(text);
    return code;
}

/* ---- values ---------------------------------------------------------------------------------- */

static const char *value_of(const struct pairs *pairs, const char *key)
{
    const char *value = getenv(key);
    const struct pair *p = find(pairs, key);
    if (value && *value)
        return value;
    return p && *p->value ? p->value : NULL;
}

static int take_text(const struct pairs *pairs, const char *key, const char *otherwise, char **to)
{
    const char *value = value_of(pairs, key);
    *to = strdup(value ? value : otherwise);
    return *to ? MEND_OK : mend_fail(MEND_ERR_NO_MEMORY, "no memory for %s", key);
}

static int take_number(const struct pairs *pairs, const char *key, long lowest, long *to)
{
    const char *value = value_of(pairs, key);
    int code = value ? mend_parse_integer(value, to) : MEND_OK;
    if (!code && *to < lowest)
        code = mend_fail(MEND_ERR_CONFIG, "%ld is less than %ld", *to, lowest);
    return code ? mend_fail_within(code, "%s", key) : MEND_OK;
}

static int take_switch(const struct pairs *pairs, const char *key, bool *to)
{
    const char *value = value_of(pairs, key);
    int code = value ? mend_parse_boolean(value, to) : MEND_OK;
    return code ? mend_fail_within(code, "%s", key) : MEND_OK;
}

static int take_copy(const struct pairs *pairs, enum scr_copy *copy)
{
    static const char *const names[] = {"SINGLE", "PARTNER", "XOR", "RS"};
    const char *value = value_of(pairs, "SCR_COPY_TYPE");
    *copy = SCR_COPY_XOR;
    for (int i = 0; value && i < 4; i++)
        if (strcasecmp(value, names[i]) == 0) {
            *copy = (enum scr_copy)i;
            return MEND_OK;
        }
    return value ? mend_fail(MEND_ERR_CONFIG,
                             "SCR_COPY_TYPE=%s is not supported: SINGLE, PARTNER, XOR or RS", value)
                 : MEND_OK;
}

static int take_percent(const struct pairs *pairs, double *to)
{
    const char *value = value_of(pairs, "SCR_CHECKPOINT_OVERHEAD");
    char *end = NULL;
    *to = value ? strtod(value, &end) : 0;
    if (value && (end == value || *end || !(*to >= 0 && *to <= 1e6)))
        return mend_fail(MEND_ERR_CONFIG, "SCR_CHECKPOINT_OVERHEAD=%s is not a percentage", value);
    return MEND_OK;
}

/* What is not supported: descriptors fail by name, other parameters are named once. */
static int refuse_unknown(const struct pairs *pairs, bool speak)
{
    static const char *const known[] = {"SCR_PREFIX",
                                        "SCR_CACHE_BASE",
                                        "SCR_CACHE_SIZE",
                                        "SCR_COPY_TYPE",
                                        "SCR_SET_SIZE",
                                        "SCR_SET_FAILURES",
                                        "SCR_FLUSH",
                                        "SCR_PREFIX_SIZE",
                                        "SCR_CURRENT",
                                        "SCR_JOB_NAME",
                                        "SCR_CHECKPOINT_INTERVAL",
                                        "SCR_CHECKPOINT_SECONDS",
                                        "SCR_CHECKPOINT_OVERHEAD",
                                        "SCR_HALT_SECONDS",
                                        "SCR_HALT_ENABLED",
                                        "SCR_END_TIME",
                                        "SCR_ENABLE",
                                        NULL};
    for (int i = 0; i < pairs->count; i++) {
        const char *key = pairs->list[i].key;
        if (is_descriptor(key) && strchr(pairs->list[i].value, '='))
            return mend_fail(MEND_ERR_UNSUPPORTED,
                             "the descriptor %s=%s is not supported by Mend's scr.h: use "
                             "SCR_COPY_TYPE, SCR_SET_SIZE, SCR_FLUSH and SCR_CACHE_BASE",
                             key + 4, pairs->list[i].value);
        bool is_known = false;
        for (int k = 0; known[k] && !is_known; k++)
            is_known = strcmp(key, known[k]) == 0;
        if (!is_known && speak)
            mend_log(MEND_LOG_INFO, "the SCR parameter %s has no effect here", key);
    }
    return MEND_OK;
}

static int fill(struct scr_config *c, const struct pairs *pairs)
{
    char here[PATH_MAX];
    bool enabled = true;
    const char *end = getenv("SLURM_JOB_END_TIME");
    if (!getcwd(here, sizeof here))
        return mend_fail_errno("the current folder has no name");
    if (end && mend_parse_integer(end, &c->end_time))
        c->end_time = 0;
    int code = take_text(pairs, "SCR_PREFIX", here, &c->prefix);
    if (!code && c->prefix[0] != '/')
        code = mend_fail(MEND_ERR_CONFIG, "SCR_PREFIX=%s is not an absolute path", c->prefix);
    for (size_t n = code ? 0 : strlen(c->prefix); n > 1 && c->prefix[n - 1] == '/'; n--)
        c->prefix[n - 1] = '\0';
    code = code ? code : take_text(pairs, "SCR_CACHE_BASE", "/dev/shm", &c->cache_base);
    code = code ? code : take_text(pairs, "SCR_JOB_NAME", "", &c->job_name);
    code = code ? code : take_text(pairs, "SCR_CURRENT", "", &c->current);
    code = code ? code : take_copy(pairs, &c->copy);
    code = code ? code : take_percent(pairs, &c->checkpoint_overhead);
    code = code ? code : take_number(pairs, "SCR_SET_SIZE", 2, &c->set_size);
    code = code ? code : take_number(pairs, "SCR_SET_FAILURES", 1, &c->set_failures);
    code = code ? code : take_number(pairs, "SCR_CACHE_SIZE", 1, &c->cache_size);
    code = code ? code : take_number(pairs, "SCR_FLUSH", 0, &c->flush);
    code = code ? code : take_number(pairs, "SCR_CHECKPOINT_INTERVAL", 0, &c->checkpoint_interval);
    code = code ? code : take_number(pairs, "SCR_CHECKPOINT_SECONDS", 0, &c->checkpoint_seconds);
    code = code ? code : take_number(pairs, "SCR_HALT_SECONDS", 0, &c->halt_seconds);
    code = code ? code : take_number(pairs, "SCR_END_TIME", 0, &c->end_time);
    code = code ? code : take_switch(pairs, "SCR_HALT_ENABLED", &c->halt_enabled);
    code = code ? code : take_number(pairs, "SCR_PREFIX_SIZE", 0, &c->prefix_size);
    code = code ? code : take_switch(pairs, "SCR_ENABLE", &enabled);
    if (!code && !enabled)
        code = mend_fail(MEND_ERR_STATE, "SCR_ENABLE is 0: no call has an effect");
    if (!code && c->copy == SCR_COPY_RS && c->set_failures >= c->set_size)
        code = mend_fail(MEND_ERR_CONFIG, "SCR_SET_FAILURES %ld is not less than SCR_SET_SIZE %ld",
                         c->set_failures, c->set_size);
    return code;
}

int mend_scr_config_read(struct scr_config *config)
{
    *config = (struct scr_config){
        .set_size = 8, .set_failures = 2, .cache_size = 1, .flush = 10, .halt_enabled = true};
    struct pairs pairs = {0};
    int code = MEND_OK, rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < told.count && !code; i++)
        code = set(&pairs, told.list[i].key, told.list[i].value);
    if (!code)
        code = read_file(&pairs);
    if (!code)
        code = refuse_unknown(&pairs, rank == 0);
    if (!code)
        code = fill(config, &pairs);
    clear(&pairs);
    if (code)
        mend_scr_config_free(config);
    return code;
}

void mend_scr_config_free(struct scr_config *config)
{
    free(config->prefix);
    free(config->cache_base);
    free(config->job_name);
    free(config->current);
    *config = (struct scr_config){0};
}
