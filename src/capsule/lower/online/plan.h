/* online/plan.h - who plays which rank, from which version: computed, not negotiated. */
#ifndef CAPSULE_RECOVER_PLAN_H
#define CAPSULE_RECOVER_PLAN_H
#include "online/online.h"

#include <mend/types.h>
#ifdef OPEN_MPI
#include <ulfm/ulfm.h>
#endif

#define EXIT_GAVE_UP    113
#define SIGNAL_PATIENCE 63

struct meeting_card { /* what a process shows in a meeting */
    int rank, finished;
    int windows;          /* open */
    int unclean;          /* creations that failed: it will not call MPI_Finalize */
    mend_version_t floor; /* files cannot be put back beyond this version */
    uint64_t id;          /* the time by this process' clock: the latest names the meeting */
    unsigned host;
    uint64_t machine; /* processes with the same number see each other's /proc */
    int pid;          /* there */
    struct {
        int rank;
        mend_version_t version;
    } image[IMAGES_HELD];
};

struct plan {
    int processes, me;      /* in the meeting; the number of this one */
    int rank;               /* that this process will play; -1: spare */
    mend_version_t version; /* to load, from memory; 0: from another level, or from the beginning */
    int finished;           /* all ranks have */
    int replaced;           /* number of ranks that have a new player */
    int hopeless;           /* no process is left for some rank, or some process has windows open */
    int windows;            /* some process has windows open: see online/hear.c */
    int unclean;            /* some is: nobody calls MPI_Finalize, which would wait for it */
    int ranks;
    uint64_t id;
    int shift;                 /* rank r's second image is at rank r+shift */
    int *player;               /* [ranks]: which process */
    struct meeting_card *card; /* [processes] */
};

void plan_make(struct plan *plan, int ranks);
int plan_holds(const struct plan *plan, int process, int rank, mend_version_t version);
int plan_holder(const struct plan *plan, int rank,
                mend_version_t version);                /* its player first; -1: nobody */
int plan_partner(const struct plan *plan, int rank);    /* who keeps its second image */
int plan_partner_of(const struct plan *plan, int rank); /* whose second image it keeps */
int plan_is_near(const struct plan *plan, int rank);    /* its player is on this machine */
unsigned host_number(void);
uint64_t machine_number(void);
#ifdef OPEN_MPI
/* Is every process that plays a rank alive? Asks the kernel about those on this machine. */
enum mend_news plan_look_at_players(const struct plan *plan);
#endif

/* --- online/steps.c: steps of a meeting --- */
int build_world(const struct plan *plan, MPI_Comm base, MPI_Comm *control);
int flush_messages(const struct plan *plan, MPI_Comm base);
int spread_images(struct plan *plan, MPI_Comm base, MPI_Comm control);
void job_give_up(const struct plan *plan, MPI_Comm base) __attribute__((noreturn));

/* --- online/join.c: processes that came later --- */
/* At the end of a checkpoint. If a new process waits, this does not return: all meet it. */
void join_refill(MPI_Comm base, MPI_Comm control, const struct plan *plan, mend_version_t version);
/* In a meeting. 0: a peer has failed. `port`: MPI_MAX_PORT_NAME characters; empty: nobody waits. */
int join_ask(MPI_Comm base, int world_size, int finished, char *port);
int join_take_in(MPI_Comm *base, const char *port, int world_size);  /* 1: *base has it, too */
void join_them(const char *number, MPI_Comm *base, int *world_size); /* in the new process */
void join_part(MPI_Comm base);                                       /* at the end of the job */
int join_is_wanted(void);

/* --- online/spare.c --- */
void spare_wait(const struct plan *plan, MPI_Comm base);
void spares_tell(const struct plan *plan, MPI_Comm base, size_t size); /* the size of an image */

#endif
