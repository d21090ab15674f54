/* Options of a context, from the configuration. */
#include <base/config.h>
#include <base/fail.h>
#include <base/grow.h>
#include <stdlib.h>
#include <string.h>

#include "flow.h"

static int parse_every(const char *text, mend_flow_options *o)
{
    char *end;
    long n = strtol(text, &end, 10);
    if (strcmp(text, "auto") == 0) {
        o->automatic = 1;
        return 0;
    }
    if (strcmp(text, "never") == 0)
        return 0;
    if (end != text && *end == 0 && n >= 0) {
        o->every = n;
        return 0;
    }
    if (mend_parse_seconds(text, &o->seconds) || o->seconds <= 0)
        return mend_fail(MEND_ERR_CONFIG,
                         "flow.every is '%s': a number of points, a time, auto, or never", text);
    return 0;
}

int options_read(const mend_config *c, mend_flow_options *o, bool contexts)
{
    const char *rollback = mend_config_string(c, MEND_KEY_FLOW_ROLLBACK);
    const char *on_error = mend_config_string(c, MEND_KEY_FLOW_ON_ERROR);
    *o = (mend_flow_options){.size = sizeof *o,
                             .mtbf = mend_config_seconds(c, MEND_KEY_FLOW_MTBF),
                             .learn = mend_config_boolean(c, MEND_KEY_FLOW_LEARN),
                             .on_error = contexts ? MEND_ON_ERROR_RETURN : MEND_ON_ERROR_ABORT};
    if (strcmp(rollback, "partial") == 0)
        o->rollback = MEND_ROLLBACK_PARTIAL;
    else if (strcmp(rollback, "full") != 0)
        return mend_fail(MEND_ERR_CONFIG, "flow.rollback is '%s': full or partial", rollback);
    if (strcmp(on_error, "return") == 0)
        o->on_error = MEND_ON_ERROR_RETURN;
    else if (strcmp(on_error, "abort") != 0)
        return mend_fail(MEND_ERR_CONFIG, "flow.on_error is '%s': abort or return", on_error);
    return parse_every(mend_config_string(c, MEND_KEY_FLOW_EVERY), o);
}

int mend_flow_defaults_sized(mend_flow_options *options, size_t size)
{
    mend_config c;
    if (!options)
        return mend_fail(MEND_ERR_ARGUMENT, "options are NULL");
    int rc = mend_config_load(&c, NULL);
    if (rc)
        return rc;
    mend_flow_options own;
    rc = options_read(&c, &own, true);
    mend_config_free(&c);
    own.size = size;
    if (!rc)
        mend_result_give(options, size, &own, sizeof own);
    return rc;
}
