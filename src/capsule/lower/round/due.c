/* round/due.c - see due.h.
 *
 * `mend run` writes DIR/every and replaces it as a whole: the first line is the seconds between versions;
 * each other line is the name of a level and the seconds between versions that are written there, 0 for none.
 * The first version goes to every level in use. After that a version is due at a level when at most half a
 * step between versions is missing: then it is nearer to the due time than the next version.
 */
#include "round/due.h"
#include "ground/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const name_of[DUE_LEVELS] = {"local", "erasure", "global"};
static struct {
    double looked;
    int planned[DUE_LEVELS];   /* the plan mentions this level */
    double period[DUE_LEVELS]; /* seconds; 0: not used */
    double saved[DUE_LEVELS];  /* when it was last written; 0: not by order of this process */
} due;

static void take_line(char *line)
{
    char *number = strchr(line, ' ');
    if (!number) {
        double every = atof(line);
        if (every > 0)
            settings.every = every;
        return;
    }
    *number = 0;
    for (int i = 0; i < DUE_LEVELS; i++)
        if (strcmp(line, name_of[i]) == 0) {
            due.planned[i] = 1;
            due.period[i] = atof(number + 1);
        }
}

void due_follow_plan(double now)
{
    char path[4300], line[128];
    if (!settings.dir[0] || now - due.looked < 1)
        return;
    due.looked = now;
    snprintf(path, sizeof path, "%s/every", settings.dir);
    FILE *f = fopen(path, "re");
    if (!f)
        return;
    memset(due.planned, 0, sizeof due.planned);
    while (fgets(line, sizeof line, f))
        take_line(line);
    fclose(f);
}

uint64_t due_levels(double now)
{
    uint64_t levels = 0;
    for (int i = 0; i < DUE_LEVELS; i++) {
        if (!due.planned[i])
            continue;
        levels |= 1ull << i;
        if (due.period[i] > 0 &&
            (due.saved[i] <= 0 || now - due.saved[i] + settings.every / 2 >= due.period[i]))
            levels |= 1ull << i << DUE_NOW;
    }
    return levels;
}

void due_saved(uint64_t levels, double now)
{
    for (int i = 0; i < DUE_LEVELS; i++)
        if (due_at(levels, (enum due_level)i) == 1)
            due.saved[i] = now;
}

int due_at(uint64_t levels, enum due_level level)
{
    if (!(levels >> level & 1))
        return -1;
    return levels >> level >> DUE_NOW & 1;
}
