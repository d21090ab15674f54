/* ground/settings.h - what the job was started with. */
#ifndef CAPSULE_SETTINGS_H
#define CAPSULE_SETTINGS_H
#include <image/image.h>

struct settings {
    char dir[4096];     /* the job's folder; "": no checkpoints */
    double every;       /* seconds between checkpoints, 0: none by time */
    double limit;       /* seconds after which the job is saved and stopped, 0: none */
    int keep;           /* complete versions to keep */
    int chain;          /* incremental images that may follow a full one */
    int background;     /* images are written while the program goes on */
    char local[4096];   /* node-local folder that images go to first; "": none */
    int full;           /* images hold all pages, also those that nobody has written to */
    int leave;          /* stop the job after the first checkpoint (tests) */
    long request_at;    /* ask for a checkpoint at this collective (tests) */
    long request_again; /* and again after so many (tests) */
    double patience;    /* seconds after which a round that does not come to rest is given up */
    int request_signal;
    mend_image_job job; /* that images and logs belong to; no id: none */
    double silence;     /* seconds after which a rank that does not answer is named; 0: never */
    char interface[64]; /* for ranks of other nodes; "": not said */
};
extern struct settings settings;
void settings_load(void);
/* An image was resumed: what follows belongs to the same job. */
void settings_adopt(const mend_image_job *job);
#endif
