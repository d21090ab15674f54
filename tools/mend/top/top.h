/* Inside `mend top`: a job's folder as it grows (folder.c, note.c, levels.c), drawn as lines (view.c), on a terminal
 * (terminal.c). Nothing from the folder is trusted: note.c bounds it, and view.c alone prints, so that no byte of it
 * reaches the terminal unescaped. */
#ifndef MEND_TOOL_TOP_H
#define MEND_TOOL_TOP_H

#include "report/report.h"

#include <jansson.h>
#include <mend/types.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>
#include <termios.h>

enum { TOP_LEVELS = 5, TOP_PENDING = 8, TOP_FAILURES = 64 };

enum top_state {
    TOP_UNKNOWN,
    TOP_STARTING,
    TOP_PLAYING,
    TOP_RECOVERING,
    TOP_SILENT,
    TOP_LOST, /* with its node */
    TOP_CRASHED,
    TOP_TORN_DOWN,
    TOP_STOPPED, /* after a checkpoint, on request */
    TOP_ENDED,
    TOP_STATES
};

struct top_rank {
    double since;
    long pid; /* 0: not known */
    char node[64];
    enum top_state state;
};

struct top_version {    /* what the ranks have reported of a version at a level */
    int told;           /* ranks that have reported; 0: there is no such version */
    unsigned char *who; /* which, a bit each, `room` bytes */
    size_t room;
    mend_version_t version;
    double bytes, moved; /* of all of them together; moved: less where only changes are sent */
    double seconds, at;  /* the slowest rank's, the last rank's */
};

struct top_level {
    struct top_version newest; /* complete: all ranks have reported it */
    struct top_version pending[TOP_PENDING];
    int failures;
    long every;     /* versions; 0: the job does not use it */
    double planned; /* seconds that the planner chose; negative: it did not */
};

struct top_failure {
    double t, seconds; /* seconds: of a recovery */
    char text[240], phases[400];
};

struct top {
    char dir[4096];
    struct report sums; /* what mend report also computes */
    off_t at;           /* bytes of events.jsonl read so far */
    ino_t inode;        /* of it: another job in the same folder has another */
    char *held;         /* the beginning of a line that is not complete */
    size_t held_size;
    bool skipping; /* the rest of a line that is too long */
    struct top_rank *rank;
    int ranks, spares_left;
    struct top_level level[TOP_LEVELS];
    struct top_failure failure[TOP_FAILURES]; /* the newest, round and round */
    long failures;
    long recovery;         /* which of these is the last recovery; -1: none */
    double recovery_until; /* when its last rank continued */
    double every;          /* seconds between versions, the planner's; 0: as job.json says */
    double round_since;    /* a checkpoint is being taken; 0: none */
    double counted_from;   /* from then on the next checkpoint is counted */
    bool noticed, torn;    /* a failure that is not repaired yet; between two launches */
    bool again;            /* it was relaunched, and no event has said from which version */
    bool online, gone;     /* gone: nobody runs the job, and no event reports its end */
};

void top_begin(struct top *t, const char *dir);
void top_end(struct top *t);
/* Continue reading where the last call ended. 0, or a negative code; MEND_ERR_NOT_FOUND: there is no such job (yet). */
int top_update(struct top *t);
/* The same without files: one line or more of events, which are cut; and job.json. */
void top_note_events(struct top *t, char *text);
void top_note_job(struct top *t, json_t *job);
bool top_over(const struct top *t);

/* note.c */
void top_note(void *to, const json_t *event); /* to: a struct top */

/* levels.c */
extern const char *const top_level_name[TOP_LEVELS];
int top_level_of(const char *name); /* "": global */
void top_levels_asked(struct top *t, const char *text);
/* A rank has reported, or all ranks (rank < 0). True: now the version is complete. */
bool top_level_saved(struct top *t, int level, const struct top_version *said, int rank);
/* Forget versions newer than the one that the job went back to. */
void top_levels_rollback(struct top *t, mend_version_t version);
void top_levels_launch(struct top *t); /* what was in memory is gone */
void top_levels_free(struct top *t);
double top_level_period(const struct top *t, int level); /* seconds between versions; 0: none */
double top_level_next(const struct top *t, int level,
                      double now); /* seconds; negative: not known */
const struct top_version *top_newest(const struct top *t);

/* view.c: lines, cut to the window and escaped. rows, columns: 0 for no limit. */
struct top_page {
    FILE *out;
    int rows, columns, used;
    bool escapes; /* of a terminal */
};
void top_draw(struct top_page *page, const struct top *t, double now);
void top_draw_head(struct top_page *page, const struct top *t, double now);

/* terminal.c */
enum top_word { TOP_GO_ON, TOP_QUIT, TOP_KILLED };
struct top_terminal {
    struct termios before;
    bool keys;           /* standard input is a terminal, and set to single keys */
    int signals, signal; /* signal: the one that said TOP_KILLED */
};
int top_terminal_open(struct top_terminal *terminal);
void top_terminal_close(struct top_terminal *terminal);
/* Waits until the time is over, a key is pressed, or the window changes its size. */
enum top_word top_terminal_wait(struct top_terminal *terminal, double seconds);
void top_terminal_size(int *rows, int *columns);

#endif
