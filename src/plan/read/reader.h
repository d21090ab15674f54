/* Reading a model from an INI file: shared by reader.c (the file) and keys.c (its meaning). */
#ifndef PLAN_READER_H
#define PLAN_READER_H

#include "search/site.h"
#include "read/text.h"

enum section { SECTION_NONE, SECTION_JOB, SECTION_POWER, SECTION_LEVEL };

/* The keys of all sections. `seen` holds the line of each, or 0. */
enum key {
    KEY_WORK,
    KEY_SPEEDUP,
    KEY_CORES,
    KEY_MIN_CORES,
    KEY_MAX_CORES,
    KEY_ALLOCATION,
    KEY_RATES_AT,
    KEY_WRITE,
    KEY_FAILURES,
    KEY_JITTER,
    KEY_NODES,
    KEY_MIN_NODES,
    KEY_MAX_NODES,
    KEY_CORES_PER_NODE,
    KEY_DEADLINE,
    KEY_SLACK,
    KEY_COMPUTE,
    KEY_IO,
    KEY_IDLE,
    KEY_COST,
    KEY_RECOVERY,
    KEY_FAILURES_PER_DAY,
    KEY_MTBF,
    KEY_FAILURES_TOTAL,
    KEY_NODE_MTBF,
    KEY_NAME,
    KEYS
};

typedef struct reader {
    lines lines; /* name and number of the current line */
    mend_plan_model *model;
    const char *folder; /* for other files; NULL: the model must not name any */
    int code;           /* first error */
    enum section section;
    int level; /* of the current section, 0-based */
    int job_line, power_line, level_line[MEND_PLAN_LEVELS];
    int seen[MEND_PLAN_LEVELS + 1][KEYS]; /* [0] for job and power, then by level */
    double per_second[MEND_PLAN_LEVELS];  /* failure rates at rates_at, or of one node */
    double nodes, min_nodes, max_nodes;   /* 0: not given */
} reader;

/* Handle one "key = value" of the current section. Returns 0 or MEND_ERR_CONFIG. */
int mend_plan_key(reader *reader, const char *key, const char *value);

/* Values (values.c): each returns 0, or MEND_ERR_CONFIG with file and line in the message. */
int mend_plan_read_number(reader *reader, const char *key, const char *at, double least,
                          double *out);
int mend_plan_read_seconds(reader *reader, const char *key, const char *at, double *out);
int mend_plan_read_cost(reader *reader, const char *key, const char *at, mend_plan_cost *cost);
int mend_plan_read_watts(reader *reader, const char *key, const char *at, double *watts);
int mend_plan_read_work(reader *reader, const char *at, double *out);
int mend_plan_read_speedup(reader *reader, const char *at);
int mend_plan_read_distribution(reader *reader, const char *at);
int mend_plan_read_write(reader *reader, const char *at);
int mend_plan_read_jitter(reader *reader, const char *at);
int mend_plan_read_total(reader *reader, const char *at, double *per_core);
int mend_plan_read_mtbf(reader *reader, const char *key, const char *at, double *rate);
int mend_plan_read_slack(reader *reader, const char *at);
int mend_plan_read_name(reader *reader, const char *at);
/* A number, or "free", which means 0. */
int mend_plan_read_free(reader *reader, const char *key, const char *at, double *out);

/* Pass on the message of a call that failed, with file and line. */
int mend_plan_pass_on(reader *reader, const char *key, int code);

/* After the last line: check what is missing, and what does not fit together. */
int mend_plan_keys_finish(reader *reader);

#endif
