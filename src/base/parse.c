/* Text to numbers with units. */
#include <base/config.h>
#include <base/fail.h>

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct unit {
    const char *name;
    double factor;
};

static const struct unit time_units[] = {{"", 1},       {"s", 1},  {"ms", 1e-3}, {"us", 1e-6},
                                         {"min", 60},   {"m", 60}, {"h", 3600},  {"d", 86400},
                                         {"w", 604800}, {NULL, 0}};
static const struct unit byte_units[] = {{"", 1},
                                         {"B", 1},
                                         {"k", 1e3},
                                         {"M", 1e6},
                                         {"G", 1e9},
                                         {"T", 1e12},
                                         {"KiB", 1024},
                                         {"MiB", 1048576},
                                         {"GiB", 1073741824.0},
                                         {"TiB", 1099511627776.0},
                                         {NULL, 0}};

static int parse_scaled(const char *text, const struct unit *units, const char *what, double *value)
{
    char *end;
    errno = 0;
    double number = strtod(text, &end);
    if (end == text || errno || !isfinite(number) || number < 0)
        return mend_fail(MEND_ERR_CONFIG, "\"%s\" is not %s", text, what);
    while (isspace((unsigned char)*end))
        end++;
    for (const struct unit *unit = units; unit->name; unit++) {
        if (strcmp(end, unit->name) == 0) {
            *value = number * unit->factor;
            return MEND_OK;
        }
    }
    return mend_fail(MEND_ERR_CONFIG, "\"%s\" has an unknown unit \"%s\"", text, end);
}

int mend_parse_seconds(const char *text, double *seconds)
{
    return parse_scaled(text, time_units, "a time (as 90 s, 5 min, 2 h)", seconds);
}

int mend_parse_bytes(const char *text, unsigned long long *bytes)
{
    double value;
    int code = parse_scaled(text, byte_units, "a size (as 4096, 64 MiB, 2 G)", &value);
    if (code)
        return code;
    if (value >= 9.2e18)
        return mend_fail(MEND_ERR_CONFIG, "\"%s\" is too large", text);
    *bytes = (unsigned long long)value;
    return MEND_OK;
}

int mend_parse_boolean(const char *text, bool *value)
{
    static const char *const yes[] = {"yes", "true", "on", "1"};
    static const char *const no[] = {"no", "false", "off", "0"};
    for (int i = 0; i < 4; i++) {
        if (strcasecmp(text, yes[i]) == 0 || strcasecmp(text, no[i]) == 0) {
            *value = strcasecmp(text, yes[i]) == 0;
            return MEND_OK;
        }
    }
    return mend_fail(MEND_ERR_CONFIG, "\"%s\" is neither yes nor no", text);
}

int mend_parse_integer(const char *text, long *value)
{
    char *end;
    errno = 0;
    long number = strtol(text, &end, 10);
    if (end == text || *end || errno)
        return mend_fail(MEND_ERR_CONFIG, "\"%s\" is not a whole number", text);
    *value = number;
    return MEND_OK;
}
