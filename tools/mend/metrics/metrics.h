/* Figures of a job from its events, as a text file for Prometheus' node exporter. */
#ifndef MEND_TOOL_METRICS_H
#define MEND_TOOL_METRICS_H

#include <mend/types.h>
#include <stdio.h>

enum { METRICS_LEVELS = 5 };

struct metrics_level {
    long long versions, failures, bytes;
    mend_version_t last;
    double seconds;
};

struct metrics {
    char dir[4096];
    long long at; /* bytes of events.jsonl read so far */
    long long events, unreadable;
    long long launches, recoveries, restarts, nodes_lost, crashes, silent, given_up, ranks, spares;
    mend_version_t version;
    double version_at, interval, began, recovery_seconds, recovery_longest, last_recovery;
    struct metrics_level level[METRICS_LEVELS];
};

/* Continue reading where the last call ended. A file that does not exist yet has no events. */
int metrics_read(struct metrics *m);
/* The text, with labels from DIR/job.json. */
void metrics_print(const struct metrics *m, FILE *to);
/* Read and write: replace FILE atomically, readable by all, because the exporter is another user. */
int metrics_update(struct metrics *m, const char *file);

#endif
