/* A scratch folder of its own for a unit test, removed at the end. */
#ifndef TEST_SCRATCH_H
#define TEST_SCRATCH_H

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char scratch[64];

static inline int scratch_setup(void **state)
{
    (void)state;
    const char *base = getenv("TMPDIR");
    snprintf(scratch, sizeof scratch, "%.40s/mend-unit-XXXXXX", base && *base ? base : "/tmp");
    return mkdtemp(scratch) ? 0 : -1;
}

static inline int scratch_remove_entry(const char *path, const struct stat *st, int type,
                                       struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

static inline int scratch_teardown(void **state)
{
    (void)state;
    return nftw(scratch, scratch_remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

/* "SCRATCH/name"; valid until the fourth call from here. */
static inline const char *in_scratch(const char *name)
{
    static char paths[4][512];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", scratch, name);
    return path;
}

static inline void put_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    if (!f || fputs(text, f) < 0 || fclose(f))
        abort();
}

#endif
