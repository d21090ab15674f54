/* Reading a model from an INI file: what reader.c (the file) and keys.c (its meaning) share. */
#ifndef PLAN_READER_H
#define PLAN_READER_H

#include "site.h"
#include "text.h"

enum section { SECTION_NONE, SECTION_JOB, SECTION_POWER, SECTION_LEVEL };

/* Keys of all sections: the line where each was seen, 0 if not. */
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
    KEY_COMPUTE,
    KEY_IO,
    KEY_IDLE,
    KEY_COST,
    KEY_RECOVERY,
    KEY_FAILURES_PER_DAY,
    KEY_MTBF,
    KEY_FAILURES_TOTAL,
    KEYS
};

typedef struct reader {
    lines lines; /* name and number of the present line */
    mend_plan_model *model;
    const char *folder; /* of other files; NULL: they may not be named */
    int code;           /* first error */
    enum section section;
    int level; /* of the present section, 0-based */
    int job_line, power_line, level_line[MEND_PLAN_LEVELS];
    int seen[MEND_PLAN_LEVELS + 1][KEYS]; /* [0] for job and power, then by level */
    double per_second[MEND_PLAN_LEVELS];  /* failure rates at rates_at */
} reader;

/* One "key = value" of the present section. Returns 0 or MEND_ERR_CONFIG. */
int mend_plan_key(reader *reader, const char *key, const char *value);

/* After the last line: what is missing, what does not fit together. */
int mend_plan_keys_finish(reader *reader);

#endif
