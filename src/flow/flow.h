/* What the files of this layer share. See include/mend/flow.h for what it is all about.
 *
 *   views.c    the register of views; which bytes have to be saved
 *   meta.c     the description that is saved with every version, and its reader
 *   point.c    arriving at a safe point; when to save
 *   save.c     one save
 *   recover.c  after a failure, or at the start of a job: which version
 *   restore.c  who restores what of it
 *   jump.c     where a failure leads to; are the frames still there?
 *   context.c  opening and closing; options.c  what the configuration says
 *   init.c     MPI_Init and MPI_Finalize of the short form
 *   backing.c  Mend's store and Mend's process layer behind the two tables of functions
 *   plan.c     every = auto: the planner
 *   report.c   what is saved and why
 *   learn/     experiments that find dead views (learn.c, undone by shadow.c); constants.c: views
 *              that are never written, saved once in a store beside
 *   automatic/ MEND_STATE_ALL: the whole program is state (auto.c), going back (restore.c), its heap
 *              (arena.c), calls of malloc (divert.c), addresses (layout.c), handles (foreign.c),
 *              registers.c; origin.c: globals and stack as they were at MPI_Init, for a set-up that
 *              runs again
 */
#ifndef FLOW_FLOW_H
#define FLOW_FLOW_H

#define MEND_FLOW_NO_WORLD
#include <mend/flow.h>
#include <pthread.h>
#include <stdbool.h>

enum { LABEL_MAX = 63, META_REGION = 0 };

/* Why a view is or is not in a version. The values are part of the saved description. */
typedef enum fate {
    FATE_SAVED = 0,
    FATE_PART = 1,     /* inside (or overlapping) another view, and saved with it */
    FATE_ALIAS = 2,    /* declared to hold the same data as another */
    FATE_SCRATCH = 3,  /* declared dead */
    FATE_CONSTANT = 4, /* declared constant: its hash only */
    FATE_DEAD = 5,     /* found dead at this very point */
    FATE_FOUND = 6,    /* found constant: in the side store (learn/constants.c) */
} fate;

typedef struct view {
    char label[LABEL_MAX + 1];
    int id;
    unsigned flags;
    /* Where: a fixed address, or a pointer and a count to follow. */
    void *address;
    size_t bytes;
    void **pointer;
    size_t *count, element;
    uint64_t offset, total; /* total > 0: a part of a global array */
    char alias_of[LABEL_MAX + 1];
    /* decided by views_arrange() */
    fate fate;
    struct view *leader; /* FATE_PART: the view it is saved with */
    size_t inside;       /* ... and where in it */
    void *span;          /* FATE_SAVED: what is saved, a union of overlapping views */
    size_t span_bytes;
    /* constants and learning */
    uint64_t hash;
    bool hashed, floating, dead, tested, never_dead;
    bool constant, changes; /* learn/constants.c: found constant; changed after that */
    int steady;             /* saves at which it had the same content */
    uint64_t steady_hash;
} view;

typedef struct views {
    view **all;
    int count, room;
    uint64_t generation; /* changes with every registration */
} views;

/* A mend_point() in the source. */
typedef struct safe_point {
    struct safe_point *next;
    const mend_site *site;
    uint64_t hash;
    void *frame, *function; /* of the last arrival */
    bool has_buffer;
    jmp_buf buffer; /* of the last save here */
    long arrivals, last_arrival;
    bool repeated; /* met twice with no other place in between */
    bool reopened; /* met again after another one */
} safe_point;

/* The saved description of a version, in memory. */
typedef struct meta_view {
    char label[LABEL_MAX + 1];
    int fate;
    unsigned flags;
    uint64_t bytes, span_bytes, inside, hash;
    int leader; /* index */
    int dynamic;
} meta_view;

typedef struct meta {
    int finished;
    int ranks;
    long points;
    uint64_t place;
    char place_text[256];
    int open_count;
    uint64_t *open;           /* [open_count] */
    mend_version_t constants; /* the number of the constant views; -1: none */
    int view_count;
    meta_view *views;
} meta;

typedef enum landing { LANDING_NONE, LANDING_INIT, LANDING_POINT, LANDING_FINALIZE } landing;

typedef struct builder {
    mend_flow_builder *build;
    void *arg;
} builder;

struct learner;
struct constants;
struct planner;
struct origin;

struct mend_flow {
    /* Every arrival looks at these. */
    long points, next; /* this arrival's number; the next one with something to do */
    const mend_site *site;
    void *frame;
    pthread_t owner;
    bool quiet; /* only points < next needs to be checked */
    /* the rest */
    jmp_buf now, start;
    landing landing;
    void *start_frame, *start_function;
    bool is_default, open, joining, fresh, finished, has_data, failed, inside, own_store,
        settled_by_end;
    int status;
    char status_text[512];
    mend_flow_options options;
    char *name, *report;
    mend_flow_store store;
    mend_flow_repair repair;
    bool has_repair, store_open;
    void *process; /* mend_process *, when this context started it */
    MPI_Comm comm;
    int rank, size, saved_size;
    MPI_Errhandler handler;
    bool has_handler;
    views views;
    safe_point *safe_points, *safe_point;
    builder *builders;
    int builder_count;
    /* versions */
    mend_version_t base, version, tried; /* version = base + points, the newest saved or restored;
                                          * the highest tried */
    double last_save, last_points_time;
    long last_save_points, last_look;
    bool save_asked;
    int repairs;
    /* Between agreeing on a version and having restored it. */
    mend_version_t target;
    meta *meta;
    bool reading;
    void *meta_buffer;
    size_t meta_room;
    void *outcomes;
    mend_flow_part *parts;
    int part_room, auto_parts;
    struct learner *learner;
    struct constants *constants;
    struct planner *planner;
    struct origin *origin;
    /* figures */
    double seconds_saving, seconds_restoring, failed_at;
    long saves, save_errors, restores;
};

/* context.c */
mend_flow *flow_of(mend_flow *flow); /* NULL: the default context */
mend_flow *flow_catching(void);      /* the context that catches MPI errors, or NULL */
void flow_abort(MPI_Comm comm) __attribute__((noreturn));
int flow_fail(mend_flow *f, int code); /* notes the thread's message; applies the policy */
int flow_add_builder(mend_flow *f, mend_flow_builder *build, void *arg);
void flow_forget_setup(mend_flow *f); /* set-up will run again: drop views and builders */
int context_open(mend_flow *f);       /* its parts: store, planner, learn mode */
void context_close(mend_flow *f);
void context_begin(mend_flow *f); /* after a meeting: on the way to a version, or at a beginning? */
int flow_say(mend_flow *f, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* options.c; contexts: for mend_flow_open(), where errors are returned */
struct mend_config;
int options_read(const struct mend_config *c, mend_flow_options *o, bool contexts);

/* views.c */
void views_free(views *v);
view *views_find(const views *v, const char *label);
int views_arrange(views *v); /* looks at pointers, sets fate, leader, span */
void *view_address(const view *v);
size_t view_bytes(const view *v);
uint64_t view_hash(const view *v);
/* The content out of the view and into it, or zeros; dynamic: realloc. In host or device memory. */
int view_get(const view *v, void *to);
int view_set(const view *v, const void *from);
int view_clear(const view *v);
int view_resize(const view *v, size_t bytes);
int parts_room(mend_flow *f, int need);    /* for so many in f->parts */
int views_parts(mend_flow *f, int *count); /* fills f->parts: the saved views */

/* meta.c */
int meta_write(mend_flow *f, const safe_point *at, int finished,
               size_t *bytes); /* into f->meta_buffer */
int meta_read(const void *bytes, size_t size, meta **m);
void meta_free(meta *m);

/* point.c */
void point_schedule(mend_flow *f); /* when is the next arrival with something to do? */
safe_point *safe_point_of(mend_flow *f, mend_site *site);
/* How many loops are open around it; open[] gets the first `room` of them. */
int safe_point_open(const mend_flow *f, const safe_point *at, uint64_t *open, int room);

/* save.c */
int save_version(mend_flow *f, const safe_point *at, int level,
                 int finished); /* level: the planner's, or 0 */

/* recover.c */
int recover_meet(mend_flow *f, bool repair); /* stage A */
int recover_agree(mend_flow *f, long *code); /* the lowest of all ranks */
int recover_after_failure(mend_flow *f, mend_site *site);
bool recover_keeps(const mend_flow *f); /* a survivor with partial rollback */
bool recover_other_ranks(const mend_flow *f);
void recover_end(mend_flow *f);
int run_builders(mend_flow *f);

/* restore.c */
int recover_here(mend_flow *f, safe_point *at);              /* stage B */
int recover_views(mend_flow *f, bool all);                   /* the local part of B */
bool restore_possible(const mend_flow *f);                   /* on this process as it is */
int recover_together(mend_flow *f, long code, double begin); /* B2, B3 */

/* automatic/auto.c, restore.c */
bool auto_on(const mend_flow *f);
int auto_start(mend_flow *f); /* at MPI_Init */
int auto_parts(mend_flow *f, int *count);
_Noreturn void auto_recover(mend_flow *f);    /* a failure was seen */
_Noreturn void auto_resume(mend_flow *f);     /* to the agreed version */
_Noreturn void auto_start_over(mend_flow *f); /* there is none */
void auto_report(FILE *to);

/* jump.c */
void jump_catch(mend_flow *f); /* set the error handler on f->comm */
void jump_release(mend_flow *f,
                  bool catching);       /* ERRORS_RETURN while the store uses it, and back */
_Noreturn void jump_away(mend_flow *f); /* a failure was seen: jump to the right landing */
_Noreturn void jump_to_start(mend_flow *f);
_Noreturn void jump_to_safe_point(mend_flow *f, safe_point *at);
bool jump_frame_alive(void *frame, void *function);
bool jump_can_start(const mend_flow *f);
void *jump_function_of(void *frame,
                       bool *in_signal); /* start of the function that owns the frame */

/* backing.c */
int backing_store(mend_flow *f);                             /* Mend's store into f->store */
int backing_side_store(mend_flow *f, mend_flow_store *side); /* another one, synchronous */
/* The levels that it was opened with; implied: also those that are on by default. */
unsigned backing_levels(const mend_flow *f, bool implied);
/* What became of the last save, if it is over and nobody has asked; 0: well, or not known. */
int backing_outcome(mend_flow *f, mend_version_t *version);
/* Seconds of computing time that saves have taken from this rank in the background so far. */
double backing_background(const mend_flow *f);
int backing_process(mend_flow *f, int spares, bool required,
                    bool *released); /* into f->repair, f->comm */
bool backing_is_replacement(const mend_flow *f);
int backing_process_end(
    mend_flow *f); /* MEND_ERR_PEER_FAILED: repaired, there is work to do again */
void backing_settled(mend_flow *f);

/* learn/learn.c */
int learn_start(mend_flow *f);
void learn_free(mend_flow *f);
void learn_reset(mend_flow *f);          /* a failure: end the current experiment and undo it */
void learn_drop(mend_flow *f);           /* the same when the views are gone */
void learn_anew(mend_flow *f, bool off); /* all ranks start again with the same knowledge: none */
bool learn_active(const mend_flow *f);
bool learn_running(const mend_flow *f);
bool learn_rehearsal(const mend_flow *f);
int learn_arrive(mend_flow *f, bool due, bool *save); /* 1: a run begins, continue into the loop */
int learn_left(mend_flow *f); /* the program left the loop inside an experiment */
int learn_rollback(mend_flow *f);

/* learn/constants.c */
int constants_start(mend_flow *f);
void constants_free(mend_flow *f);
int constants_bind(mend_flow *f);
void constants_anew(mend_flow *f);
int constants_judge(mend_flow *f); /* before a save; collective */
mend_version_t constants_version(const mend_flow *f);
int constants_newest(mend_flow *f, mend_version_t *version);
void constants_set_newest(mend_flow *f, mend_version_t version);
int constants_open(mend_flow *f, mend_version_t version);
int constants_read(mend_flow *f, const view *v, size_t bytes);
void constants_end(mend_flow *f);

/* plan.c */
int plan_start(mend_flow *f);
void plan_free(mend_flow *f);
void *plan_state(mend_flow *f, size_t *bytes); /* what rank 0 has learned, to copy to the others */
int plan_due(mend_flow *f, double *seconds_ahead); /* 0, or the planner's level that is due */
unsigned plan_levels(const mend_flow *f, int due); /* the store's levels for it */
void plan_saved(mend_flow *f, int level, double seconds);
void plan_failed(mend_flow *f);
void plan_recovered(mend_flow *f, double seconds);

/* automatic/origin.c */
int origin_take(mend_flow *f, char *stack);
void origin_put(mend_flow *f);
void origin_free(mend_flow *f);
uint64_t origin_word(const uint64_t *at); /* what was there at MPI_Init; else another value */

/* report.c */
int report_to_file(mend_flow *f);

#endif
