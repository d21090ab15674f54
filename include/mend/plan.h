/* mend/plan.h: how often to checkpoint, at which level, on how many cores, and a check of the answer.
 *
 * The planner models a job as an amount of work, a speedup curve, and up to eight checkpoint levels,
 * each with a cost to write, a cost to recover and a rate of failures that need it. From this it
 * makes a plan (the number of cores and of intervals of every level), computes the exact expected
 * time of any plan, and simulates it to confirm the figure. A second, small part follows a running
 * job and answers one question: is a checkpoint due now, and at which level?
 *
 * What the model means:
 *  - a failure of level i destroys the checkpoints below level i; the job goes back to its newest
 *    checkpoint of level i or higher, or to the start when there is none;
 *  - after a failure come the allocation time and the recovery time of the checkpoint that is read
 *    (at the start of the run: the recovery time of the failure's own level);
 *  - failures happen at any time: in work, checkpoints, allocation and recovery;
 *  - the end of the run needs no checkpoint: x intervals have x - 1 checkpoints.
 *
 * All times are seconds, all work is in core-seconds, levels count from 1. Structures are plain
 * values without pointers, except mend_plan_trace and mend_plan_trial.
 *
 * No function here is collective. None uses MPI, so nothing is agreed and the death of a peer has
 * no effect. In a job, one rank decides and informs the others (a mend_plan_online may be broadcast
 * as bytes). Functions that return int return 0 or a negative MEND_ERR_ code with a message in
 * mend_error_text(), unless they say otherwise; all others cannot fail. All functions are
 * thread-safe as long as two threads do not use the same object.
 */
#ifndef MEND_PLAN_H
#define MEND_PLAN_H

#include <stddef.h>
#include <stdint.h>

#include <mend/error.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MEND_PLAN_LEVELS 8  /* most levels of a model */
#define MEND_PLAN_POINTS 64 /* most points of a measured speedup */

/* ---- the model ---------------------------------------------------------------------------- */

/* Seconds as a function of the cores: fixed + slope * cores^power. */
typedef struct mend_plan_cost {
    double fixed, slope, power;
} mend_plan_cost;

typedef enum mend_plan_curve {
    MEND_PLAN_LINEAR,    /* slope * N */
    MEND_PLAN_QUADRATIC, /* slope * N * (1 - N / (2 peak)), formula 12 of the paper */
    MEND_PLAN_AMDAHL,    /* N / (1 + serial * (N - 1)) */
    MEND_PLAN_TABLE,     /* measured points, joined by a smooth curve that never overshoots */
} mend_plan_curve;

typedef struct mend_plan_speedup {
    mend_plan_curve curve;
    double slope, peak, serial;
    int points; /* of a table: strictly growing cores; set by mend_plan_speedup_table */
    double cores[MEND_PLAN_POINTS], speedup[MEND_PLAN_POINTS], tangent[MEND_PLAN_POINTS];
} mend_plan_speedup;

typedef struct mend_plan_level {
    mend_plan_cost checkpoint, recovery;
    double rate_per_core;  /* failures per second and core that need this level */
    double total_per_core; /* or: failures per core over the whole run, however long it takes */
} mend_plan_level;

/* Which levels to write when several are due together. They commit one by one, the lowest first,
 * and hold the same work: if a failure happens while a high level is being written, the job goes
 * back only to the lower ones written just before. Mend's store works like this (all). */
typedef enum mend_plan_write {
    MEND_PLAN_HIGHEST, /* only the highest */
    MEND_PLAN_ALL,     /* all of them */
    MEND_PLAN_CHOSEN,  /* the highest, and before it those that the plan chooses (default) */
} mend_plan_write;

typedef struct mend_plan_model {
    size_t size; /* sizeof(mend_plan_model), set by mend_plan_model_init() and the readers */
    double work; /* seconds of work on one core, without any failure */
    mend_plan_speedup speedup;
    double cores;                /* 0: free between min_cores and max_cores */
    double min_cores, max_cores; /* used when cores is 0 */
    double allocation;           /* seconds to get new resources after a failure */
    double cores_per_node;       /* free cores are rounded to whole nodes; 0: no nodes */
    double rates_at;             /* the number of cores of a recorded failure trace */
    int levels;
    mend_plan_level level[MEND_PLAN_LEVELS];
    mend_plan_write write;
    double watts_compute, watts_io, watts_idle; /* per core, for the energy objective */
    double weibull_shape;                       /* of failures in the simulator; 1: exponential */
    double jitter; /* in the simulator: costs vary by up to this share */
    /* If the number of cores is free, very few would be best for an objective other than the time.
     * So the planner takes the cheapest plan that is expected to end before the deadline; or,
     * without one, the fastest plan that costs at most this share (slack, 0.1 by default) more than
     * the cheapest. */
    double deadline; /* seconds; 0: none */
    double slack;
    /* The name of each level in Mend: memory, local, partner, erasure or global; empty: unknown. */
    char name[MEND_PLAN_LEVELS][16];
} mend_plan_model;

/* A model with a free number of cores, no level yet and the defaults above. Every model begins
 * with this, or is read. Not collective. No errors. */
MEND_API void mend_plan_model_init_sized(mend_plan_model *model, size_t size);
static inline void mend_plan_model_init(mend_plan_model *model)
{ /* here and below: the sizes that this header gives structures, so that a library that was built with others refuses
     them (MEND_ERR_UNSUPPORTED) */
    mend_plan_model_init_sized(model, sizeof *model);
}

/* Check every number of the model. Errors: MEND_ERR_CONFIG (names the first that is wrong),
 * MEND_ERR_UNSUPPORTED (a model of another size, or one that did not begin with
 * mend_plan_model_init()). Not collective. */
MEND_API int mend_plan_model_check(const mend_plan_model *model);

/* Read a model from an INI file (see mend-plan(1)). Messages name file and line. Not collective.
 * Errors: MEND_ERR_IO, MEND_ERR_NOT_FOUND, MEND_ERR_PERMISSION, MEND_ERR_CONFIG,
 * MEND_ERR_NO_MEMORY, MEND_ERR_UNSUPPORTED. */
MEND_API int mend_plan_model_read_sized(mend_plan_model *model, size_t size, const char *path);
static inline int mend_plan_model_read(mend_plan_model *model, const char *path)
{
    return mend_plan_model_read_sized(model, sizeof *model, path);
}

/* The same from memory; `name` stands for the file in messages. The text cannot name other files.
 * Not collective.
 * Errors: MEND_ERR_CONFIG, MEND_ERR_NO_MEMORY, MEND_ERR_UNSUPPORTED. */
MEND_API int mend_plan_model_parse_sized(mend_plan_model *model, size_t size, const char *name,
                                         const char *text, size_t bytes);
static inline int mend_plan_model_parse(mend_plan_model *model, const char *name, const char *text,
                                        size_t bytes)
{
    return mend_plan_model_parse_sized(model, sizeof *model, name, text, bytes);
}

/* Seconds, and speedup, on `cores` cores. Not collective. No errors. */
MEND_API double mend_plan_cost_at(const mend_plan_cost *cost, double cores);
MEND_API double mend_plan_speedup_at(const mend_plan_speedup *speedup, double cores);

/* The number of cores beyond which more do not help; infinity for linear and Amdahl. Not
 * collective. No errors. */
MEND_API double mend_plan_speedup_peak(const mend_plan_speedup *speedup);

/* The sum over all levels of rate * (checkpoint / 2 + allocation + recovery) on `cores` cores.
 * From 1 on, the first-order formulas have no solution, and the methods built on them make no
 * plan; the method best does, as long as there is one. Levels whose failures are given for the
 * whole run add nothing. Not collective. No errors. */
MEND_API double mend_plan_load(const mend_plan_model *model, double cores);

/* ---- fits of measurements, by least squares ------------------------------------------------- */

/* Errors of all four: MEND_ERR_CONFIG (too few or too many points, or points that no such curve
 * fits), MEND_ERR_ARGUMENT (a curve that cannot be fitted). Not collective. */
MEND_API int mend_plan_fit_mean(mend_plan_cost *cost, const double *seconds, int count);
MEND_API int mend_plan_fit_cost(mend_plan_cost *cost, const double *cores, const double *seconds,
                                int count);
/* `curve` is linear, quadratic or amdahl. Not collective. Errors: as above. */
MEND_API int mend_plan_fit_speedup(mend_plan_speedup *speedup, mend_plan_curve curve,
                                   const double *cores, const double *speedups, int count);
/* The measured points as they are, without a fit. Not collective. Errors: as above. */
MEND_API int mend_plan_speedup_table(mend_plan_speedup *speedup, const double *cores,
                                     const double *speedups, int count);

/* ---- plans ---------------------------------------------------------------------------------- */

typedef enum mend_plan_method {
    MEND_PLAN_BEST,            /* search with the exact evaluator */
    MEND_PLAN_ALGORITHM1,      /* the paper's algorithm, converged */
    MEND_PLAN_ALGORITHM1_ONCE, /* the paper's algorithm, one pass (as its Table III) */
    MEND_PLAN_YOUNG,           /* only the highest level, sqrt(2 C M), all cores */
    MEND_PLAN_DALY,            /* only the highest level, Daly's higher-order interval, all cores */
} mend_plan_method;

typedef enum mend_plan_objective {
    MEND_PLAN_TIME,
    MEND_PLAN_CORE_HOURS,
    MEND_PLAN_ENERGY,
} mend_plan_objective;

typedef struct mend_plan_request {
    mend_plan_method method;
    mend_plan_objective objective; /* other than time: only with method best */
    int single_level;              /* algorithm 1 with the highest level for all failures */
} mend_plan_request;

/* Where the time of a run goes. work + checkpoint + restart + lost = seconds. */
typedef struct mend_plan_outcome {
    double seconds;
    double work;                               /* work that was kept */
    double checkpoint;                         /* checkpoints that were kept */
    double restart;                            /* allocation and recovery, also those that failed */
    double lost;                               /* work and checkpoints that had to be done again */
    double level_checkpoint[MEND_PLAN_LEVELS]; /* the checkpoints that were kept, by level */
    double failures;
    double joules;
} mend_plan_outcome;

typedef struct mend_plan {
    mend_plan_method method;
    double cores;
    double intervals[MEND_PLAN_LEVELS]; /* x of every level; 1: the level is not used */
    /* Bit k: where this level is written and level k + 1 is due too, level k + 1 is written just
     * before. With MEND_PLAN_ALL every lower level is, no matter what this field says. */
    unsigned first[MEND_PLAN_LEVELS];
    double last;                /* nested: the last interval, which needs no checkpoint, is so many
                                   times as long as the others; 0: as long as the others */
    int nested;                 /* 1: whole counts, each a multiple of the next higher level's;
                                   0: every level on its own grid */
    int iterations;             /* passes of the method */
    int converged;              /* 0: one pass only, or the limit of passes was reached */
    double model_seconds;       /* expected time by the paper's first-order formula */
    mend_plan_outcome expected; /* exact for exponential failures, else the mean of `runs` */
    int runs;                   /* simulated for that; 0: exact */
    double standard_error;      /* of the expected seconds then */
    double least, least_cores;  /* of the objective, if a deadline or slack made it more; else 0 */
} mend_plan;

/* Make a plan. If failures are not exponential, the method best plans with the simulator, and the
 * expected time of any plan is simulated. Not collective.
 * Errors: MEND_ERR_CONFIG, MEND_ERR_ARGUMENT (unknown method or objective), MEND_ERR_INFEASIBLE
 * (no plan leaves a millionth of the time for work, or meets the deadline; other methods than
 * best: mend_plan_load is 1 or more), MEND_ERR_NO_MEMORY, MEND_ERR_UNSUPPORTED. */
MEND_API int mend_plan_make_sized(const mend_plan_model *model, const mend_plan_request *request,
                                  size_t request_size, mend_plan *plan, size_t plan_size);
static inline int mend_plan_make(const mend_plan_model *model, const mend_plan_request *request,
                                 mend_plan *plan)
{
    return mend_plan_make_sized(model, request, sizeof *request, plan, sizeof *plan);
}

/* Seconds of work between checkpoints of `level` (from 1) or higher. Not collective. No errors. */
MEND_API double mend_plan_period(const mend_plan_model *model, const mend_plan *plan, int level);

/* The exact expected outcome of plan->cores, intervals, first, last and nested. Not collective.
 * Errors: MEND_ERR_CONFIG (not a plan for this model), MEND_ERR_INFEASIBLE (the expected time is
 * beyond what a double can hold), MEND_ERR_UNSUPPORTED. */
MEND_API int mend_plan_expect_sized(const mend_plan_model *model, const mend_plan *plan,
                                    size_t plan_size, mend_plan_outcome *outcome,
                                    size_t outcome_size);
static inline int mend_plan_expect(const mend_plan_model *model, const mend_plan *plan,
                                   mend_plan_outcome *outcome)
{
    return mend_plan_expect_sized(model, plan, sizeof *plan, outcome, sizeof *outcome);
}

/* The paper's first-order expected time of the same plan, a / (1 - h); infinity when h >= 1.
 * Failures of an unused level count for the next higher level that is used. Not collective. No
 * errors. */
MEND_API double mend_plan_first_order(const mend_plan_model *model, const mend_plan *plan);

/* Value of an objective: seconds, core-hours or joules. Not collective. No errors. */
MEND_API double mend_plan_value(mend_plan_objective objective, double cores,
                                const mend_plan_outcome *outcome);

/* Seconds of work between checkpoints for one level; `mtbf` is the mean time between failures. Not
 * collective. No errors. */
MEND_API double mend_plan_young(double checkpoint, double mtbf);
MEND_API double mend_plan_daly(double checkpoint, double mtbf);

/* "best", "algorithm1", …; NULL for an unknown value. And back. Errors: MEND_ERR_CONFIG. Not
 * collective. */
MEND_API const char *mend_plan_method_name(mend_plan_method method);
MEND_API int mend_plan_method_parse(const char *name, mend_plan_method *method);
MEND_API const char *mend_plan_objective_name(mend_plan_objective objective);
MEND_API int mend_plan_objective_parse(const char *name, mend_plan_objective *objective);

/* ---- simulation ------------------------------------------------------------------------------ */

/* These two fields never change, because a trace is an array of them. */
typedef struct mend_plan_event {
    double seconds; /* since the start of the trace */
    int level;
} mend_plan_event;

/* Failures recorded on `rates_at` cores of the model. A run starts at a random place of the trace
 * and wraps around; on fewer cores every failure hits with probability cores / rates_at. */
typedef struct mend_plan_trace {
    mend_plan_event *events;
    size_t count;
    double seconds; /* length of the trace */
} mend_plan_trace;

/* Read "seconds level" lines, from a file or from memory; free them. Errors: MEND_ERR_IO,
 * MEND_ERR_NOT_FOUND, MEND_ERR_PERMISSION (files only), MEND_ERR_CONFIG, MEND_ERR_NO_MEMORY. Not
 * collective. */
MEND_API int mend_plan_trace_read(mend_plan_trace *trace, const char *path);
MEND_API int mend_plan_trace_parse(mend_plan_trace *trace, const char *name, const char *text,
                                   size_t bytes);
MEND_API void mend_plan_trace_free(mend_plan_trace *trace);

typedef struct mend_plan_trial {
    int runs;
    uint64_t seed;
    const mend_plan_trace *trace; /* NULL: random failures */
    double *seconds;              /* NULL, or room for the time of every run */
} mend_plan_trial;

typedef struct mend_plan_sample {
    int runs;
    mend_plan_outcome mean;
    double deviation;      /* standard deviation of the time of a run */
    double standard_error; /* of mean.seconds */
    double low, high;      /* 95 % confidence interval of mean.seconds */
    double fastest, slowest;
} mend_plan_sample;

/* Simulate the plan `runs` times. The same seed gives the same result on every machine. Not
 * collective.
 * Errors: MEND_ERR_CONFIG, MEND_ERR_INFEASIBLE (a run did not end within ten million failures),
 * MEND_ERR_NO_MEMORY, MEND_ERR_UNSUPPORTED. */
MEND_API int mend_plan_simulate_sized(const mend_plan_model *model, const mend_plan *plan,
                                      size_t plan_size, const mend_plan_trial *trial,
                                      size_t trial_size, mend_plan_sample *sample,
                                      size_t sample_size);
static inline int mend_plan_simulate(const mend_plan_model *model, const mend_plan *plan,
                                     const mend_plan_trial *trial, mend_plan_sample *sample)
{
    return mend_plan_simulate_sized(model, plan, sizeof *plan, trial, sizeof *trial, sample,
                                    sizeof *sample);
}

/* ---- while the job runs ---------------------------------------------------------------------- */

/* Assumptions before anything was measured. Level i is the i-th of the levels that the job writes,
 * cheapest first; only a checkpoint of level i or higher survives a failure of level i. */
typedef struct mend_plan_online_options {
    int levels;
    double mtbf[MEND_PLAN_LEVELS];       /* assumed mean time between failures of every level */
    double prior_failures;               /* weight of that assumption, in failures; 0: 1 */
    double checkpoint[MEND_PLAN_LEVELS]; /* assumed seconds that a save stops the job; 0: 1 s */
    double recovery[MEND_PLAN_LEVELS];   /* assumed seconds of a recovery; 0: as checkpoint */
    double allocation;
    double gain;       /* re-plan only when it saves this share of the overhead; 0: 0.1 */
    double min_period; /* never save more often than this; 0: no limit */
    double max_period; /* save the lowest level at least this often; 0: no limit */
} mend_plan_online_options;

/* Plain bytes: may be copied, saved and broadcast between equal machines. Fields are private. */
typedef struct mend_plan_online {
    mend_plan_online_options options;
    double exposure;                                                 /* seconds observed */
    double failures[MEND_PLAN_LEVELS];                               /* failures observed */
    double checkpoint[MEND_PLAN_LEVELS], recovery[MEND_PLAN_LEVELS]; /* measured, smoothed */
    int64_t saves[MEND_PLAN_LEVELS], recoveries[MEND_PLAN_LEVELS];
    double beside[MEND_PLAN_LEVELS]; /* core seconds that a save used while the job continued */
    int64_t besides[MEND_PLAN_LEVELS];
    double clock;                    /* the last `now` */
    double done;                     /* seconds of work done that are not lost */
    double safe[MEND_PLAN_LEVELS];   /* `done` at the newest save of this level or higher */
    double retry;                    /* no save before `done` reaches this */
    double asked;                    /* `done` at the last question */
    double step;                     /* seconds of work between two questions, smoothed */
    double period[MEND_PLAN_LEVELS]; /* the plan in force; 0: level not used */
    double planned_rate[MEND_PLAN_LEVELS], planned_checkpoint[MEND_PLAN_LEVELS];
    double planned_recovery[MEND_PLAN_LEVELS]; /* the estimates at the last review of the plan */
    int64_t plans;                             /* how often the plan changed */
    int working;                               /* 0: in a save or recovery, time is not work */
} mend_plan_online;

/* Every `now` is in seconds of one clock that never runs back (for example MPI_Wtime of the rank
 * that decides). A `now` before the last one is taken as the last one. */

/* Start to follow a job that begins its work now, and make a first plan. Errors: MEND_ERR_CONFIG,
 * MEND_ERR_UNSUPPORTED. Not collective. */
MEND_API int mend_plan_online_start_sized(mend_plan_online *online, size_t size,
                                          const mend_plan_online_options *options,
                                          size_t options_size, double now);
static inline int mend_plan_online_start(mend_plan_online *online,
                                         const mend_plan_online_options *options, double now)
{
    return mend_plan_online_start_sized(online, sizeof *online, options, sizeof *options, now);
}

/* Is a save due now? Returns its level, or 0. Never negative. Ask at every safe point: from the
 * mean time between two questions it chooses the safe point nearest to the due time. Not
 * collective. No errors. */
MEND_API int mend_plan_online_due(mend_plan_online *online, double now);

/* A save of `level` stopped the job from `began` to `ended`, and is safe. Not collective. No
 * errors. */
MEND_API void mend_plan_online_saved(mend_plan_online *online, int level, double began,
                                     double ended);

/* A save of `level` used `seconds` of the job's cores in the background. The planner adds this to
 * the cost, like the time for which the save stopped the job. Not collective. No errors. */
MEND_API void mend_plan_online_beside(mend_plan_online *online, int level, double seconds);

/* A save was tried and failed; it is due again one period of the lowest level later. Not
 * collective. No errors. */
MEND_API void mend_plan_online_save_failed(mend_plan_online *online, double began, double ended);

/* A failure that needs `level` or higher has happened; work since that checkpoint is lost. Not
 * collective. No errors. */
MEND_API void mend_plan_online_failure(mend_plan_online *online, int level, double now);

/* The job works again after a failure, from a checkpoint of `level`; `began` is the time of the
 * failure. With level 0 the job went back to its start. Not collective. No errors. */
MEND_API void mend_plan_online_recovered(mend_plan_online *online, int level, double began,
                                         double ended);

/* The plan in force: seconds of work between saves of `level` or higher; 0: not used. Not
 * collective. No errors. */
MEND_API double mend_plan_online_period(const mend_plan_online *online, int level);

/* Failures per second that need `level`: mean of the Gamma posterior, and in *deviation (may be
 * NULL) its standard deviation. Not collective. No errors. */
MEND_API double mend_plan_online_rate(const mend_plan_online *online, int level, double *deviation);

/* Expected share of time that is not work, under the plan in force and the present estimates. Not
 * collective. No errors. */
MEND_API double mend_plan_online_overhead(const mend_plan_online *online);

#ifdef __cplusplus
}
#endif

#endif
