/* ground/settings.h - the settings of the job. */
#ifndef CAPSULE_SETTINGS_H
#define CAPSULE_SETTINGS_H
#include <image/image.h>

struct settings {
    char dir[4096];     /* the job's folder; "": no checkpoints */
    double every;       /* seconds between checkpoints; 0: none by time */
    double limit;       /* seconds after which the job is saved and stopped; 0: no limit */
    int keep;           /* complete versions to keep */
    int chain;          /* incremental images that may follow a full one */
    int background;     /* write images while the program continues */
    char local[4096];   /* node-local folder that images go to first; "": none */
    int full;           /* images hold all pages, including those that nobody has written */
    int leave;          /* stop the job after the first checkpoint (tests) */
    long request_at;    /* request a checkpoint at this collective (tests) */
    long request_again; /* and again after this many (tests) */
    double patience;    /* seconds until we give up a round that does not come to rest */
    int request_signal;
    mend_image_job job; /* owns the images and logs; no id: none */
    double silence;     /* seconds until we name a rank that does not answer; 0: never */
    char interface[64]; /* for ranks on other nodes; "": not set */
};
extern struct settings settings;
void settings_load(void);
/* After a resume from an image: everything from now on belongs to the same job. */
void settings_adopt(const mend_image_job *job);
#endif
