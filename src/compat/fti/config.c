/* FTI's configuration file: read, and written back. */
#include "client.h"

#include <base/config.h>
#include <base/fail.h>
#include <base/ini.h>
#include <base/io.h>
#include <base/log.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { FILE_LIMIT = 1 << 20 };

static int set_text(char **field, const char *value)
{
    char *copy = strdup(value);
    if (!copy)
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for the FTI configuration");
    free(*field);
    *field = copy;
    return MEND_OK;
}

static int set_minutes(double *field, const char *value)
{
    char *end;
    *field = strtod(value, &end);
    if (end == value || *end || !(*field < 1e9))
        return mend_fail(MEND_ERR_CONFIG, "\"%s\" is not a number of minutes", value);
    if (*field < 0)
        *field = 0;
    return MEND_OK;
}

static int set_exec_id(struct fti_config *config, const char *value)
{
    size_t length = strlen(value);
    if (length >= FTI_EXEC_ID ||
        strspn(value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.") < length)
        return mend_fail(MEND_ERR_CONFIG,
                         "exec_id \"%s\" is not a name of at most %d letters, digits, _ - .", value,
                         FTI_EXEC_ID - 1);
    strcpy(config->exec_id, value);
    return MEND_OK;
}

static int set_head(const char *value)
{
    long head;
    int code = mend_parse_integer(value, &head);
    if (!code && head != 0)
        code = mend_fail(MEND_ERR_CONFIG,
                         "head = %ld: Mend dedicates no process to checkpoints; use head = 0 and "
                         "start one process fewer on each node",
                         head);
    return code;
}

static int set_failure(const char *value, long *failure)
{
    int code = mend_parse_integer(value, failure);
    if (!code && *failure == 3)
        code =
            mend_fail(MEND_ERR_CONFIG, "failure = 3: Mend's FTI has no restart on another number "
                                       "of processes");
    return code;
}

static int set_key(struct fti_config *c, const char *name, const char *value, bool *known)
{
    static const char *const missed[] = {"keep_l4_ckpt", "enable_staging", "h5_single_file_enable",
                                         "h5_single_file_keep"};
    *known = true;
    if (strcasecmp(name, "ckpt_dir") == 0)
        return set_text(&c->local_dir, value);
    if (strcasecmp(name, "glbl_dir") == 0)
        return set_text(&c->global_dir, value);
    if (strncasecmp(name, "ckpt_l", 6) == 0 && name[6] >= '1' && name[6] <= '4' && !name[7])
        return set_minutes(&c->minutes[name[6] - '1'], value);
    if (strcasecmp(name, "node_size") == 0)
        return mend_parse_integer(value, &c->node_size);
    if (strcasecmp(name, "group_size") == 0)
        return mend_parse_integer(value, &c->group_size);
    if (strcasecmp(name, "failure") == 0)
        return set_failure(value, &c->failure);
    if (strcasecmp(name, "keep_last_ckpt") == 0)
        return mend_parse_boolean(value, &c->keep_last);
    if (strcasecmp(name, "local_test") == 0)
        return mend_parse_boolean(value, &c->local_test);
    if (strcasecmp(name, "exec_id") == 0)
        return set_exec_id(c, value);
    if (strcasecmp(name, "head") == 0)
        return set_head(value);
    for (int i = 0; i < 4; i++)
        if (strcasecmp(name, missed[i]) == 0 && strcmp(value, "0") != 0 && *value)
            mend_log(MEND_LOG_WARNING, "%s = %s is not supported by Mend's FTI", name, value);
    *known = false;
    return MEND_OK;
}

static int on_entry(void *user, const char *section, const char *name, const char *value, int line)
{
    struct fti_config *config = user;
    bool known;
    int code = set_key(config, name, value, &known);
    if (code)
        return mend_fail_within(code, "%s:%d", config->path, line);
    if (!known)
        mend_log(MEND_LOG_INFO, "%s:%d: the key \"%s\" of [%s] has no effect here", config->path,
                 line, name, section);
    return MEND_OK;
}

static int check(const struct fti_config *c)
{
    if (!c->local_dir || !c->global_dir)
        return mend_fail(MEND_ERR_CONFIG, "%s names no %s", c->path,
                         c->local_dir ? "glbl_dir" : "ckpt_dir");
    if (c->node_size < 1 || c->group_size < 2 || c->group_size > 32)
        return mend_fail(MEND_ERR_CONFIG,
                         "%s: node_size %ld must be at least 1, group_size %ld 2 to 32", c->path,
                         c->node_size, c->group_size);
    if (c->failure < 0 || c->failure > 2)
        return mend_fail(MEND_ERR_CONFIG, "%s: failure is %ld, not 0, 1 or 2", c->path, c->failure);
    if (c->failure && !c->exec_id[0])
        return mend_fail(MEND_ERR_CONFIG, "%s: failure is %ld, but exec_id names no run", c->path,
                         c->failure);
    return MEND_OK;
}

int mend_fti_config_read(struct fti_config *config, const char *path)
{
    *config = (struct fti_config){.node_size = 1, .group_size = 4};
    if (!path)
        return mend_fail(MEND_ERR_ARGUMENT, "FTI_Init was given no configuration file");
    int code = set_text(&config->path, path);
    if (!code)
        code = mend_ini_read(path, on_entry, config);
    if (!code)
        code = check(config);
    if (code)
        mend_fti_config_free(config);
    return code;
}

void mend_fti_config_free(struct fti_config *config)
{
    free(config->path);
    free(config->local_dir);
    free(config->global_dir);
    *config = (struct fti_config){0};
}

/* ---- writing back ---------------------------------------------------------------------------- */

/* Does this line set `name`? */
static bool sets(const char *line, const char *name)
{
    line += strspn(line, " \t");
    size_t length = strlen(name);
    return strncasecmp(line, name, length) == 0 &&
           line[length + strspn(line + length, " \t")] == '=';
}

static bool is_section(const char *line, const char *name)
{
    line += strspn(line, " \t");
    return *line == '[' && strncasecmp(line + 1, name, strlen(name)) == 0 &&
           line[1 + strlen(name)] == ']';
}

static void put_restart(FILE *out, const struct fti_config *config, long failure)
{
    fprintf(out, "failure = %ld\nexec_id = %s\n", failure, config->exec_id);
}

int mend_fti_config_write(const struct fti_config *config, long failure)
{
    char *text, *result = NULL;
    size_t size, result_size;
    bool written = false;
    int code = mend_io_read_file(config->path, FILE_LIMIT, &text, &size);
    if (code)
        return code;
    FILE *out = open_memstream(&result, &result_size);
    if (!out) {
        free(text);
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for %s", config->path);
    }
    for (char *rest = text, *line; (line = strsep(&rest, "\n")) && (rest || *line);) {
        if (sets(line, "failure") || sets(line, "exec_id"))
            continue;
        fprintf(out, "%s\n", line);
        if (!written && is_section(line, "restart")) {
            put_restart(out, config, failure);
            written = true;
        }
    }
    if (!written) {
        fputs("[restart]\n", out);
        put_restart(out, config, failure);
    }
    if (fclose(out))
        code = mend_fail(MEND_ERR_NO_MEMORY, "no memory for %s", config->path);
    else
        code = mend_io_replace_file(config->path, result, result_size);
    free(result);
    free(text);
    return code;
}
