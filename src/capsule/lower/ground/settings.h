/* ground/settings.h - what the job was started with. */
#ifndef CAPSULE_SETTINGS_H
#define CAPSULE_SETTINGS_H

struct settings {
    char dir[4096];     /* the job's folder; "": no checkpoints */
    double every;       /* seconds between checkpoints, 0: none by time */
    double limit;       /* seconds after which the job is saved and stopped, 0: none */
    int keep;           /* complete versions to keep */
    int chain;          /* incremental images that may follow a full one */
    int background;     /* images are written while the program goes on */
    char local[4096];   /* node-local folder that images go to first; "": none */
    int leave;          /* stop the job after the first checkpoint (tests) */
    long request_at;    /* ask for a checkpoint at this collective (tests) */
    long request_again; /* and again after so many (tests) */
    double patience;    /* seconds after which a round that does not come to rest is given up */
    int request_signal;
};
extern struct settings settings;
void settings_load(void);
#endif
