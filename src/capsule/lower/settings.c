/* settings.c - what the job was started with: MEND_CAPSULE_* (base/config_keys.def). */
#include "agent.h"

#include <base/config.h>
#include <base/event.h>
#include <base/io.h>
#include <mend/error.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct settings settings;

void settings_load(void)
{
    mend_config c;
    if (mend_config_load(&c, NULL))
        die("%s", mend_error_text());
    snprintf(settings.dir, sizeof settings.dir, "%s", mend_config_string(&c, MEND_KEY_CAPSULE_DIR));
    settings.every = mend_config_seconds(&c, MEND_KEY_CAPSULE_EVERY);
    settings.limit = mend_config_seconds(&c, MEND_KEY_CAPSULE_LIMIT);
    settings.keep = (int)mend_config_integer(&c, MEND_KEY_CAPSULE_KEEP);
    settings.leave = mend_config_boolean(&c, MEND_KEY_CAPSULE_EXIT);
    settings.request_at = mend_config_integer(&c, MEND_KEY_CAPSULE_AT);
    settings.request_again = mend_config_integer(&c, MEND_KEY_CAPSULE_AGAIN);
    settings.patience = mend_config_seconds(&c, MEND_KEY_CAPSULE_PATIENCE);
    settings.request_signal = (int)mend_config_integer(&c, MEND_KEY_CAPSULE_SIGNAL);
    lower.rolls_back = mend_config_boolean(&c, MEND_KEY_CAPSULE_TRUNCATE);
    mend_config_free(&c);
    if (settings.keep < 1)
        settings.keep = 1;
    if (settings.dir[0]) {
        char path[4300];
        if (settings.dir[0] != '/') { /* the application may change its folder */
            char *here = getcwd(NULL, 0), relative[4096];
            snprintf(relative, sizeof relative, "%s", settings.dir);
            if (!here || snprintf(settings.dir, sizeof settings.dir, "%s/%s", here, relative) >=
                             (int)sizeof settings.dir)
                die("the path of the job's folder %s is too long", relative);
            free(here);
        }
        snprintf(path, sizeof path, "%s/versions", settings.dir);
        if (mend_io_make_folders(path))
            die("%s", mend_error_text());
        snprintf(path, sizeof path, "%s/events.jsonl", settings.dir);
        mend_event_open(path);
    }
}
