/* Inside `mend report`: what happened (read.c), drawn (svg.c), on a page (page.c). */
#ifndef MEND_TOOL_REPORT_H
#define MEND_TOOL_REPORT_H

#include <mend/types.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

enum { REPORT_RANKS = 1 << 22 }; /* more are not credible */

struct report_save { /* one rank's part of a version at one level */
    double t, seconds;
    int rank; /* -1: all ranks together; bytes are those of one */
    mend_version_t version;
    char level[16];
    double bytes, moved; /* moved: written or sent, if less than all of it */
    bool failed;
    bool stops; /* the job stood still for these seconds */
};

struct report_fault { /* on purpose (chaos), or noticed */
    double t;
    int rank;
    bool noticed;
    char what[160];
};

struct report_recovery { /* one rank's view of one recovery */
    double t, seconds;   /* its end, and the time since the failure was noticed */
    int rank;
    mend_version_t version;
    char how[16], phases[400];
};

struct report_relaunch {    /* the job was torn down, and launched again */
    double t, up;           /* up: its ranks work again; 0: they never did */
    mend_version_t version; /* from which */
    bool stopped;           /* it was not torn down: it had ended, and was resumed */
};

struct report_mark { /* launches, intervals, the processes behind a rank */
    double t, value;
    int rank;
    char what[16], host[64];
};

struct report {
    double begin, end; /* of the job */
    int ranks, spares, launches, code;
    bool ended;
    char program[400], mpi[32], state[32], dir[4096];
    double every;
    bool automatic;
    struct report_save *save;
    struct report_fault *fault;
    struct report_recovery *recovery;
    struct report_mark *mark;
    struct report_relaunch *relaunch;
    int relaunches;
    double last; /* event, while reading */
    int saves, faults, recoveries, marks, lines, bad_lines;
    bool live;         /* the page is written again while the job runs */
    const char *files; /* where the page finds the job's files; NULL: nowhere */
    void (*also)(void *to, const json_t *event); /* gets every credible event */
    void *to;
};

/* Read DIR/job.json (if there) and DIR/events.jsonl. 0 or a negative code. */
int report_read(struct report *r, const char *dir);
/* The same without files, events first (the text is cut into lines); r is zero before. */
void report_note_events(struct report *r, char *text);
void report_note_job(struct report *r, json_t *job);
void report_free(struct report *r);

/* What the report derives from it. */
struct report_sums {
    double seconds, saving, recovering, lost; /* of the job as a whole: the slowest rank counts */
    double down;                              /* between tear-down and the next launch's work */
    int versions, recoveries;                 /* distinct ones */
    int relaunches;                           /* that came to work */
    double save_mean, recovery_mean, recovery_longest, bytes_mean;
};
struct report_sums report_sum(const struct report *r);
/* Seconds of work between the version that was restored and the moment when the failure was noticed. */
double report_lost_since(const struct report *r, mend_version_t version, double noticed);

/* Core-hours (cores.c); a rank is one core. paid = worked + lost + ready. */
struct report_cores {
    double paid;   /* ranks and spares, from the first to the last event */
    double worked; /* ranks doing work that counts */
    double lost;   /* ranks while they saved, recovered, did work again, or were torn down */
    double ready;  /* spares */
    double
        again; /* what a relaunch from the beginning would have done again, at each failure by itself */
    double saved; /* that, minus the actual cost of these failures */
};
struct report_cores report_core_hours(const struct report *r, const struct report_sums *s);
void report_cores(FILE *out, const struct report *r, const struct report_sums *s);

/* Recoveries of the whole job: index of the slowest rank's entry of each; returns how many. */
int report_whole_recoveries(const struct report *r, int *index, int room);

enum { REPORT_NODES = 4096 };
struct report_stay { /* a rank was on a node; -1: unknown */
    int rank, node;
    double from, to;
};
struct report_places { /* places.c; names of nodes are the report's */
    const char *node[REPORT_NODES];
    struct report_stay *stay;
    int nodes, stays;
    double end;
};
void report_places(struct report_places *p, const struct report *r);
void report_places_free(struct report_places *p);
const char *report_node_colour(int node);

void report_timeline(FILE *out, const struct report *r, const struct report_places *places);
void report_time_bar(FILE *out, const struct report *r);
void report_phases(FILE *out, const struct report *r);
/* The best plan for what happened, beside what the job did (hindsight.c). */
void report_hindsight(FILE *out, const struct report *r, const struct report_sums *s);
void report_head(FILE *out, const struct report *r, const struct report_sums *s);
void report_failures(FILE *out, const struct report *r);
void report_page(FILE *out, const struct report *r);
/* Write it to a file now, and again whenever there are new events, until the job has ended (watch.c). An exit code. */
int report_watch(const char *dir, const char *path);
int report_write(struct report *r, const char *path);          /* "-": standard output */
void report_text(FILE *out, const char *text);                 /* escaped for HTML */
void report_duration(char *text, size_t size, double seconds); /* "2.5 s" */
void report_amount(char *text, size_t size, double bytes, const char *after); /* "1.2 MiB" */
void report_put_duration(FILE *out, double seconds);
void report_put_version(FILE *out, mend_version_t version); /* " from version 3" */
void report_json(FILE *out, const struct report *r);
#endif
