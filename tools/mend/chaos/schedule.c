/* The plan of `mend chaos`, fixed before the job starts: by seed and rate, or by a schedule. */
#include "chaos.h"

#include <base/config.h>
#include <base/fail.h>

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const chaos_kind_name[CHAOS_KINDS] = {"kill", "node", "stop", "fill", "break", "flip"};

/* splitmix64: the whole state is one word, so a seed describes it completely. */
uint64_t chaos_next(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static double uniform(uint64_t *state)
{
    return ((double)(chaos_next(state) >> 11) + 0.5) * 0x1p-53;
}

static struct chaos_fault *append(struct chaos_plan *plan)
{
    struct chaos_fault *grown =
        realloc(plan->fault, (size_t)(plan->count + 1) * sizeof *plan->fault);
    if (!grown)
        return NULL;
    plan->fault = grown;
    struct chaos_fault *fault = &plan->fault[plan->count++];
    memset(fault, 0, sizeof *fault);
    fault->count = 1;
    fault->done_at = -1;
    return fault;
}

int chaos_plan_random(struct chaos_plan *plan, uint64_t seed, double mtbf, double duration,
                      const int weight[CHAOS_KINDS], double lasts)
{
    uint64_t state = seed;
    int sum = 0;
    for (int k = 0; k < CHAOS_KINDS; k++)
        sum += weight[k];
    for (double t = 0; sum > 0;) {
        /* every fault draws the same number of values, so a fault that is impossible (no such
         * target at that moment) does not shift those after it */
        t += -mtbf * log(uniform(&state));
        int pick = (int)(uniform(&state) * sum);
        uint64_t draw = chaos_next(&state);
        double second = uniform(&state);
        if (t > duration || plan->count >= 100000)
            return MEND_OK;
        struct chaos_fault *fault = append(plan);
        if (!fault)
            return mend_fail(MEND_ERR_NO_MEMORY, "no memory for %d faults", plan->count);
        fault->at = t;
        fault->draw = draw;
        while (pick >= weight[fault->kind])
            pick -= weight[fault->kind++];
        /* one kill in ten takes two at once */
        fault->count = fault->kind == CHAOS_KILL && second < 0.1 ? 2 : 1;
        fault->lasts = fault->kind >= CHAOS_STOP && fault->kind <= CHAOS_BREAK ? lasts : 0;
    }
    return mend_fail(MEND_ERR_ARGUMENT, "no kind of fault is allowed");
}

static int parse_targets(struct chaos_fault *fault, char *text)
{
    long value;
    if (text[0] == '*') {
        if (mend_parse_integer(text + 1, &value) || value < 1 || value > CHAOS_TARGETS)
            return -1;
        fault->count = (int)value;
        return 0;
    }
    char *rest = NULL;
    for (char *word = strtok_r(text, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
        if (mend_parse_integer(word, &value) || value < 0 || value > INT_MAX ||
            fault->targets == CHAOS_TARGETS)
            return -1;
        fault->target[fault->targets++] = (int)value;
    }
    return fault->targets ? 0 : -1;
}

/* "1.5s kill 0,1", "3s kill *2", "2s stop 3 500ms", "4s node 1", "5s fill 2s", "6s flip" */
static int parse_line(struct chaos_plan *plan, char *line, int number)
{
    char *rest = NULL, *word[4] = {NULL};
    int words = 0;
    for (char *w = strtok_r(line, " \t", &rest); w; w = strtok_r(NULL, " \t", &rest)) {
        if (words == 4)
            return mend_fail(MEND_ERR_ARGUMENT, "schedule line %d: too many words", number);
        word[words++] = w;
    }
    if (words == 0)
        return MEND_OK;
    struct chaos_fault *fault = append(plan);
    if (!fault)
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for %d faults", plan->count);
    if (mend_parse_seconds(word[0], &fault->at) || fault->at < 0)
        return mend_fail(MEND_ERR_ARGUMENT, "schedule line %d: \"%s\" is not a time", number,
                         word[0]);
    int kind = 0;
    while (kind < CHAOS_KINDS && (!word[1] || strcmp(word[1], chaos_kind_name[kind]) != 0))
        kind++;
    if (kind == CHAOS_KINDS)
        return mend_fail(MEND_ERR_ARGUMENT,
                         "schedule line %d: \"%s\" is not kill, node, stop, fill, break or flip",
                         number, word[1] ? word[1] : "");
    fault->kind = (enum chaos_kind)kind;
    bool on_storage = kind >= CHAOS_FILL;
    char *targets = on_storage ? NULL : word[2], *lasts = on_storage ? word[2] : word[3];
    if (targets && parse_targets(fault, targets))
        return mend_fail(MEND_ERR_ARGUMENT, "schedule line %d: targets are 0,1,… or *N", number);
    if (lasts && mend_parse_seconds(lasts, &fault->lasts))
        return mend_fail(MEND_ERR_ARGUMENT, "schedule line %d: \"%s\" is not a time", number,
                         lasts);
    fault->draw = 0x6d656e64u + (uint64_t)number;
    return MEND_OK;
}

static int by_time(const void *a, const void *b)
{
    double x = ((const struct chaos_fault *)a)->at, y = ((const struct chaos_fault *)b)->at;
    return (x > y) - (x < y);
}

int chaos_plan_schedule(struct chaos_plan *plan, const char *text)
{
    char *copy = strdup(text), *rest = NULL;
    int number = 0, rc = MEND_OK;
    if (!copy)
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for the schedule");
    /* strsep keeps empty lines, so the line numbers are right */
    rest = copy;
    for (char *line; !rc && (line = strsep(&rest, "\n;"));) {
        number++;
        line[strcspn(line, "#")] = 0;
        rc = parse_line(plan, line, number);
    }
    free(copy);
    if (!rc && plan->count)
        qsort(plan->fault, (size_t)plan->count, sizeof *plan->fault, by_time);
    return rc;
}
