/* A folder for the stores of a unit test, and options for a store in it: level local on every save. */
#ifndef TEST_STORE_FOLDER_H
#define TEST_STORE_FOLDER_H

#include <mend/store.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char dir[64];

static inline int set_up(void **state)
{
    (void)state;
    strcpy(dir, "/tmp/mend-store-XXXXXX");
    return mkdtemp(dir) ? 0 : -1;
}

static inline int tear_down(void **state)
{
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", dir);
    return system(command);
}

static inline mend_store_options plain(void)
{
    static char local[96], global[96];
    mend_store_options o;
    assert_int_equal(mend_store_defaults(&o), 0);
    snprintf(local, sizeof local, "%s/local", dir);
    snprintf(global, sizeof global, "%s/global", dir);
    o.local_dir = local;
    o.global_dir = global;
    o.level[MEND_LEVEL_LOCAL] = (mend_level_options){.every = 1, .keep = 3};
    o.level[MEND_LEVEL_GLOBAL].every = 0;
    return o;
}

#endif
