/* Shared by the files of this layer. */
#ifndef PROCESS_INTERNAL_H
#define PROCESS_INTERNAL_H

#include "board.h"
#include "comms.h"
#include "nudge.h"
#include "seating.h"

#include <mend/process.h>
#include <process/hooks.h>
#include <ulfm/hall.h>
#include <ulfm/ulfm.h>

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <unistd.h>

enum mend_process_stage {
    STAGE_MEETING, /* agreeing with the others */
    STAGE_SPARE,   /* waiting for a failure */
    STAGE_CALLING, /* running callbacks */
    STAGE_WORKING, /* the program has the resilient communicator */
    STAGE_FINISHED,
    STAGE_STOPPED
};

struct attempt;

struct callback {
    mend_process_callback *call;
    void *arg;
};

/* Communicators of past generations. We free them only some generations later, because their context ids must not be
 * reused while late messages may be in flight. If the list is full, the oldest ones go earlier. */
enum { RETIRED_GENERATIONS = 4, RETIRED_MAX = 64 };

struct retired {
    MPI_Comm comm;
    int generation;
};

struct mend_process {
    mend_process_options options;
    struct mend_seating_rules rules;
    int rules_hash;
    pthread_t owner; /* the thread that repairs and jumps */

    enum mend_process_stage stage;
    atomic_bool trouble; /* a failure was seen and not repaired yet */
    bool armed;          /* the jump buffer is set */
    bool callbacks_due;
    jmp_buf jump;          /* mend_process_resume_here */
    jmp_buf callback_jump; /* out of a callback, back into the repair that runs it */
    MPI_Errhandler handler;

    MPI_Comm base;              /* all living processes, including spares */
    struct mend_family *family; /* the resilient communicator and what was made from it */
    bool fresh;                 /* base is the caller's: do not revoke it */
    int seat;                   /* rank in the initial communicator */
    int seats;                  /* and its size */
    int born, settled;
    int passed; /* finalize: all ranks have come */
    int spawn_failures;
    int *domains;     /* [size] failure domain of every rank */
    mend_role *roles; /* [size] */
    bool *is_spare;   /* [processes in base] */
    int domain;

    mend_repair now;
    int *failed, *replaced;
    double t_callbacks;
    double t_detect; /* CLOCK_REALTIME; 0: no failure noticed */

    struct callback *callbacks;
    int n_callbacks, max_callbacks;
    mend_process_builder *builders;
    MPI_Comm *built, *building; /* by builder: for this generation; for the current attempt */
    int n_builders, max_builders;

    void (*adopted)(const mend_repair *now, void *arg); /* see process/hooks.h */
    void (*returning)(const mend_repair *now, void *arg);
    void *hook_arg;

    struct retired retired[RETIRED_MAX];
    int n_retired;

    struct mend_board *board;
    struct mend_nudge *nudge;
    struct mend_hall *hall; /* at first of the caller's communicator; a new one after a spawn */
    struct attempt *doubt;  /* meet.c: an attempt whose vote was left */
    int end;                /* the result of a meeting that has ended in doubt */
    char hung_text[600];
    sigjmp_buf hung; /* where the watchdog throws a call that hangs */
};

/* The only handle of this process: MPI gives an error handler no other way to find it. */
extern mend_process *mend_process_current;

/* meet.c: the agreed loop. Returns 0 in STAGE_CALLING (callbacks come next), STAGE_SPARE or STAGE_FINISHED; otherwise
 * MEND_ERR_STOPPED, MEND_ERR_HUNG, MEND_ERR_ARGUMENT or MEND_ERR_NO_MEMORY. */
int mend_process_meet(mend_process *p);
/* Report a failure: wake all processes. Safe in any thread and in error handlers. */
void mend_process_alarm(mend_process *p, int mpi_code);
/* Wait, as a spare, until something happens to the base communicator. */
int mend_process_idle(mend_process *p);
void mend_process_retire(mend_process *p, MPI_Comm comm);
void mend_process_free_retired(mend_process *p, bool all);

/* resume.c: repair and run the callbacks until there is nothing left to repair. */
int mend_process_recover(mend_process *p);
int mend_process_after_repair(mend_process *p, int rc);
void mend_process_on_mpi_error(MPI_Comm *comm, int *code, ...);
/* May the program make this call now? 0, or MEND_ERR_ARGUMENT, MEND_ERR_THREAD or MEND_ERR_STOPPED. */
int mend_process_usable(const mend_process *p, const char *call);
/* Did a death cause the error of a call on comm? It waits a while if it cannot know yet. */
bool mend_process_comes_from_failure(const mend_process *p, MPI_Comm comm, int code);

/* additions.c */
int mend_process_keep_builder(mend_process *p, const mend_process_builder *builder);

/* world.c: make the communicators of a new generation from a plan. */
int mend_world_make(mend_process *p, const struct mend_seating *plan, int me, MPI_Comm *world,
                    struct mend_family **family);
void mend_world_discard(mend_process *p);
int mend_world_build(mend_process *p, struct mend_family *family, int count);
int mend_world_adopt(mend_process *p, const struct mend_seating *plan,
                     const struct mend_meeting_card *cards, int n, int me, MPI_Comm world,
                     struct mend_family *family);

/* spawn.c */
bool mend_spawn_is_child(MPI_Comm *parents);
int mend_spawn_join(mend_process *p, MPI_Comm parents);
int mend_spawn_more(mend_process *p, struct attempt *a);

double mend_process_wall(void);

#endif
