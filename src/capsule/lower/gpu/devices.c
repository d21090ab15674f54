/* devices.c - the devices on which a program continues; in the helper.
 *
 *   1. At a checkpoint the helper names the devices that it sees (devices_name): their kinds and their unique ids.
 *      The rank keeps this line in the image.
 *   2. At a restore it gets the line back. If all devices of the line are here and the user gave no map, the driver
 *      finds them by itself.
 *   3. Otherwise the driver gets pairs, old and new (driver 580 or newer). The user's map (capsule.gpu_map) gives them;
 *      without it, each device goes to the one at the same position. Kinds and counts must agree; if they do not, the
 *      restore ends with a message.
 *
 * A line: GPU-01234567-89ab-cdef-0123-456789abcdef=KIND, and so on, separated by commas.
 */
#include "gpu/devices.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KIND = 64 };
struct device {
    unsigned char id[DEVICE_ID];
    char kind[KIND];
};
struct devices {
    int count;
    struct device list[DEVICES_MOST];
};

/* ---- as text --------------------------------------------------------------------------------- */

static void id_text(const unsigned char *id, char text[DEVICE_TEXT])
{
    int n = snprintf(text, DEVICE_TEXT, "GPU-");
    for (int i = 0; i < DEVICE_ID; i++)
        n += snprintf(text + n, DEVICE_TEXT - (size_t)n, "%s%02x",
                      i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", id[i]);
}

/* Returns what follows the id; NULL: there is none. */
static const char *id_read(const char *text, unsigned char *id)
{
    if (strncmp(text, "GPU-", 4))
        return NULL;
    text += 4;
    for (int i = 0; i < DEVICE_ID; i++) {
        char two[3] = "";
        text += *text == '-';
        if (!isxdigit((unsigned char)text[0]) || !isxdigit((unsigned char)text[1]))
            return NULL;
        memcpy(two, text, 2);
        id[i] = (unsigned char)strtoul(two, NULL, 16);
        text += 2;
    }
    return text;
}

static void devices_read(const char *line, struct devices *d)
{
    d->count = 0;
    while (d->count < DEVICES_MOST && *line) {
        struct device *one = &d->list[d->count];
        const char *kind = id_read(line, one->id);
        if (!kind || *kind++ != '=')
            return;
        snprintf(one->kind, sizeof one->kind, "%.*s", (int)strcspn(kind, ","), kind);
        d->count++;
        line = kind + strcspn(kind, ",");
        line += *line == ',';
    }
}

static void devices_write(const struct devices *d, char *line, size_t room)
{
    size_t n = 0;
    line[0] = 0;
    for (int i = 0; i < d->count && n + DEVICE_TEXT + KIND + 2 < room; i++) {
        char id[DEVICE_TEXT];
        id_text(d->list[i].id, id);
        n += (size_t)snprintf(line + n, room - n, "%s%s=%s", i ? "," : "", id, d->list[i].kind);
    }
}

/* ---- the devices that are here ---------------------------------------------------------------- */

static void devices_look(void *library, struct devices *d)
{
    int (*count)(int *) = NULL, (*get)(int *, int) = NULL, (*name)(char *, int, int) = NULL;
    int (*id)(void *, int) = NULL, n = 0;
    *(void **)&count = dlsym(library, "cuDeviceGetCount");
    *(void **)&get = dlsym(library, "cuDeviceGet");
    *(void **)&name = dlsym(library, "cuDeviceGetName");
    *(void **)&id = dlsym(library, "cuDeviceGetUuid_v2");
    if (!id)
        *(void **)&id = dlsym(library, "cuDeviceGetUuid");
    d->count = 0;
    if (!count || !get || !name || !id || count(&n))
        return;
    for (int i = 0; i < n && d->count < DEVICES_MOST; i++) {
        struct device *one = &d->list[d->count];
        int device;
        *one = (struct device){.kind = ""};
        if (get(&device, i) || id(one->id, device) || name(one->kind, KIND - 1, device))
            continue;
        one->kind[strcspn(one->kind, ",\n")] = 0;
        d->count++;
    }
}

void devices_name(void *library, char *line, size_t room)
{
    struct devices here;
    devices_look(library, &here);
    devices_write(&here, line, room);
}

static const struct device *find(const struct devices *d, const unsigned char *id)
{
    for (int i = 0; i < d->count; i++)
        if (!memcmp(d->list[i].id, id, DEVICE_ID))
            return &d->list[i];
    return NULL;
}

/* ---- from the old ones to the new ------------------------------------------------------------ */

/* OLD:NEW, separated by commas. -1: not a map. */
static int map_read(const char *map, struct device_pair *pairs, unsigned *count)
{
    for (*count = 0; *map; (*count)++) {
        struct device_pair *p = &pairs[*count];
        if (*count == DEVICES_MOST || !(map = id_read(map, p->from)) || *map++ != ':' ||
            !(map = id_read(map, p->to)) || (*map && *map++ != ','))
            return -1;
    }
    return 0;
}

static int fails(const char *what, const struct devices *from, const struct devices *here)
{
    char then[1000], now[1000];
    devices_write(from, then, sizeof then);
    devices_write(here, now, sizeof now);
    printf("%s: %s then, %s now\n", what, then, *now ? now : "none");
    return -1;
}

/* Where the i-th goes: by the map; else to the same position (by_position) or to itself. */
static const struct device *target(const struct devices *from, int i, const struct devices *here,
                                   const struct device_pair *map, unsigned in_map, int by_position)
{
    for (unsigned k = 0; k < in_map; k++)
        if (!memcmp(map[k].from, from->list[i].id, DEVICE_ID))
            return find(here, map[k].to);
    return by_position ? &here->list[i] : find(here, from->list[i].id);
}

int devices_pair(void *library, const char *line, const char *map, struct device_pair *pairs,
                 unsigned *count)
{
    struct devices from, here;
    struct device_pair wanted[DEVICES_MOST];
    unsigned in_map = 0;
    int missing = 0;
    *count = 0;
    if (map_read(map, wanted, &in_map)) {
        printf("capsule.gpu_map is not a list of GPU-…:GPU-… (%.100s)\n", map);
        return -1;
    }
    devices_read(line, &from);
    devices_look(library, &here);
    for (int i = 0; i < from.count; i++)
        missing += !find(&here, from.list[i].id);
    if (!from.count || (!missing && !in_map))
        return 0;
    if (!in_map && from.count != here.count)
        return fails("the program used another number of GPUs (capsule.gpu_map says which to use)",
                     &from, &here);
    for (int i = 0; i < from.count; i++) {
        const struct device *to = target(&from, i, &here, wanted, in_map, missing && !in_map);
        if (!to)
            return fails("a GPU that the program used, or that capsule.gpu_map names, is not here",
                         &from, &here);
        if (strcmp(to->kind, from.list[i].kind))
            return fails("the program used GPUs of another kind", &from, &here);
        memcpy(pairs[*count].from, from.list[i].id, DEVICE_ID);
        memcpy(pairs[(*count)++].to, to->id, DEVICE_ID);
    }
    return 0;
}
