/* recover_plan.h - who plays which rank, from which version: computed, not negotiated. */
#ifndef CAPSULE_RECOVER_PLAN_H
#define CAPSULE_RECOVER_PLAN_H
#include "recover.h"

#define EXIT_GAVE_UP    113
#define EXIT_REFUSED    115
#define SIGNAL_PATIENCE 63

struct card { /* what a process shows in a meeting */
    int rank, finished;
    int on_disk; /* newest version complete on disk, as far as this process may use it */
    int epoch;
    unsigned host;
    struct {
        int rank, version;
    } image[IMAGES_HELD];
};

struct plan {
    int processes, me; /* in the meeting, this one */
    int rank;          /* this process will play; -1: spare */
    int version;       /* to load; 0: from the beginning */
    int finished;      /* all ranks have */
    int hopeless;      /* there is no process for some rank */
    int ranks;
    int epoch;
    int shift;         /* rank r's second image is at rank r+shift */
    int *player;       /* [ranks]: which process */
    struct card *card; /* [processes] */
};

void plan_make(struct plan *plan, int ranks);
int plan_holds(const struct plan *plan, int process, int rank, int version);
int plan_holder(const struct plan *plan, int rank, int version); /* its player first; -1: nobody */
int plan_partner(const struct plan *plan, int rank);             /* who keeps its second image */
int plan_partner_of(const struct plan *plan, int rank);          /* whose second image it keeps */
unsigned host_number(void);

/* --- recover_disk.c: versions in DIR/images, for a job that was torn down --- */
void disk_open(const char *dir);
void disk_offer(struct held_image *image);      /* write it in the background, if it is due */
void disk_flush(void);                          /* wait for the background */
int disk_write(const struct held_image *image); /* now; 0: failed */
int disk_read(struct held_image *image, int rank, int version); /* 0: missing or damaged */
int disk_newest(int ranks);                                     /* complete version; 0: none */
extern int disk_epoch;
#endif
