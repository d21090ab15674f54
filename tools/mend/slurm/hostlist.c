#include "hostlist.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_MAX_LENGTH = 255 };

static bool add(struct hostlist *list, const char *name)
{
    if (list->count == HOSTLIST_MAX || !*name)
        return false;
    if (list->count == list->room) {
        int room = list->room ? 2 * list->room : 64;
        char **more = realloc(list->name, (size_t)room * sizeof *more);
        if (!more)
            return false;
        list->name = more;
        list->room = room;
    }
    list->name[list->count] = strdup(name);
    return list->name[list->count] && ++list->count;
}

static bool expand(const char *before, const char *rest, struct hostlist *list);

/* "01-03": each number, with as many digits as the first. */
static bool expand_range(const char *before, char *range, const char *after, struct hostlist *list)
{
    char *dash = strchr(range, '-'), *end;
    int digits = (int)(dash ? dash - range : (long)strlen(range));
    if (digits < 1 || digits > 9 || (int)strspn(range, "0123456789") != digits)
        return false;
    long first = strtol(range, NULL, 10), last = first;
    if (dash) {
        last = strtol(dash + 1, &end, 10);
        if (dash[1] < '0' || dash[1] > '9' || *end || last < first || last - first >= HOSTLIST_MAX)
            return false;
    }
    for (long i = first; i <= last; i++) {
        char name[NAME_MAX_LENGTH + 1];
        int n = snprintf(name, sizeof name, "%s%0*ld", before, digits, i);
        if (n >= (int)sizeof name || !expand(name, after, list))
            return false;
    }
    return true;
}

/* One name without commas outside brackets: `before` is expanded, `rest` may have brackets. */
static bool expand(const char *before, const char *rest, struct hostlist *list)
{
    char name[NAME_MAX_LENGTH + 1];
    const char *open = strchr(rest, '['), *close = open ? strchr(open, ']') : NULL;
    int n = snprintf(name, sizeof name, "%s%.*s", before,
                     open ? (int)(open - rest) : NAME_MAX_LENGTH, rest);
    if (n >= (int)sizeof name || (!open && strchr(rest, ']')) || (open && !close))
        return false;
    if (!open)
        return add(list, name);
    char *ranges = strndup(open + 1, (size_t)(close - open - 1)), *left = ranges;
    bool ok = ranges != NULL;
    for (char *range; ok && (range = strsep(&left, ","));)
        ok = expand_range(name, range, close + 1, list);
    free(ranges);
    return ok;
}

bool hostlist_expand(const char *text, struct hostlist *list)
{
    bool ok = true;
    while (ok && *text) {
        size_t length = 0;
        int depth = 0;
        for (; text[length] && (depth || text[length] != ','); length++)
            depth += (text[length] == '[') - (text[length] == ']');
        char *one = strndup(text, length);
        ok = one && expand("", one, list);
        free(one);
        text += length + (text[length] == ',');
    }
    return ok && list->count > 0;
}

void hostlist_free(struct hostlist *list)
{
    for (int i = 0; i < list->count; i++)
        free(list->name[i]);
    free(list->name);
    *list = (struct hostlist){0};
}

bool hostlist_numbers(const char *text, int *value, int count)
{
    int n = 0;
    while (*text) {
        char *end;
        long number = strtol(text, &end, 10), times = 1;
        if (end == text || number < 1 || number > HOSTLIST_MAX)
            return false;
        if (strncmp(end, "(x", 2) == 0) {
            times = strtol(end + 2, &end, 10);
            if (times < 1 || *end++ != ')')
                return false;
        }
        for (; times > 0 && n < count; times--)
            value[n++] = (int)number;
        if (*end && *end != ',')
            return false;
        text = end + (*end == ',');
    }
    for (; n > 0 && n < count; n++)
        value[n] = value[n - 1];
    return n > 0;
}
