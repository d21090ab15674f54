/* The public functions: start, finalize. meet.c has the repair itself. */
#include "internal.h"

#include <base/config.h>
#include <base/event.h>
#include <base/fail.h>
#include <base/grow.h>
#include <base/fault.h>
#include <base/log.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

mend_process *mend_process_current;

/* ---- options --------------------------------------------------------------------------------- */

static int parse_policies(const char *text, int order[PLAN_POLICIES])
{
    static const char *const names[] = {"", "spare", "spawn", "shrink", "stop"};
    int n = 0;
    char word[16];
    for (const char *at = text; *at;) {
        size_t length = strcspn(at, ", ");
        int policy = 0;
        snprintf(word, sizeof word, "%.*s", (int)(length < sizeof word ? length : 0), at);
        for (int i = 1; i <= MEND_POLICY_STOP; i++)
            if (strcmp(word, names[i]) == 0)
                policy = i;
        if (policy == 0 || n == PLAN_POLICIES)
            return mend_fail(MEND_ERR_CONFIG,
                             "process.policy = %s: expected some of spare, spawn, shrink, stop",
                             text);
        order[n++] = policy;
        at += length + strspn(at + length, ", ");
    }
    return 0;
}

static int check_policies(const mend_process_options *o, int order[PLAN_POLICIES])
{
    for (int i = 0; i < MEND_POLICIES; i++) {
        if (o->order[i] < MEND_POLICY_NONE || o->order[i] > MEND_POLICY_STOP)
            return mend_fail(MEND_ERR_ARGUMENT, "options.order[%d] = %d is not a policy", i,
                             (int)o->order[i]);
        order[i] = o->order[i];
    }
    return 0;
}

static int read_options(mend_process *p, const mend_process_options *given, size_t size,
                        size_t builder_size)
{
    mend_config config;
    mend_process_options *o = &p->options;
    int rc = mend_options_take(o, sizeof *o, given, size, "mend_process_options");
    if (rc == 0 && o->n_builders > 0)
        rc = mend_size_same("mend_process_builder", builder_size, sizeof *o->builders);
    if (rc == 0)
        rc = mend_config_load(&config, NULL);
    if (rc != 0)
        return rc;
    if (o->order[0] == MEND_POLICY_NONE)
        rc = parse_policies(mend_config_string(&config, MEND_KEY_PROCESS_POLICY), p->rules.order);
    else
        rc = check_policies(o, p->rules.order);
    if (o->watchdog <= 0)
        o->watchdog = mend_config_seconds(&config, MEND_KEY_PROCESS_WATCHDOG);
    if (o->hang_timeout <= 0)
        o->hang_timeout = mend_config_seconds(&config, MEND_KEY_PROCESS_HANG_TIMEOUT);
    mend_config_free(&config);
    if (rc != 0)
        return rc;
    if ((unsigned)o->resume > MEND_RESUME_RETURN)
        return mend_fail(MEND_ERR_ARGUMENT, "options.resume = %d is not a mode", (int)o->resume);
    if (o->n_builders < 0 || (o->n_builders > 0 && !o->builders) || o->domain < 0)
        return mend_fail(MEND_ERR_ARGUMENT, "options: n_builders %d, builders %p, domain %d",
                         o->n_builders, (const void *)o->builders, o->domain);
    for (int i = 0; i < o->n_builders; i++) {
        rc = mend_process_keep_builder(p, &o->builders[i]);
        if (rc != 0)
            return rc;
    }
    p->rules.keep_apart = o->keep_apart;
    p->rules.keep_apart_arg = o->keep_apart_arg;
    unsigned hash = (unsigned)o->resume * 3 + (unsigned)!!o->explicit_settle + 7;
    for (int i = 0; i < PLAN_POLICIES; i++)
        hash = hash * 31 + (unsigned)p->rules.order[i];
    p->rules_hash = (int)(hash * 31 + (unsigned)o->n_builders);
    return 0;
}

/* The default failure domain is the node, by its name. */
static int node_domain(void)
{
    char name[256] = "";
    unsigned hash = 2166136261u;
    gethostname(name, sizeof name - 1);
    for (const char *c = name; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 16777619u;
    return (int)(hash & 0x7fffffff) | 1;
}

/* ---- the watchdog's throw -------------------------------------------------------------------- */

static void thrown(int signal)
{
    (void)signal;
    mend_process *p = mend_process_current;
    if (p && pthread_equal(pthread_self(), p->owner) && p->stage == STAGE_MEETING)
        siglongjmp(p->hung, 1);
}

/* The board does not show ranks in other failure domains. The process waits for some of them; only their own nodes
 * can tell which. */
static void name_far_ranks(const mend_process *p, char *text, size_t size)
{
    size_t n = strlen(text);
    int named = 0;
    for (int rank = 0; p->domains && rank < p->now.size && n + 16 < size; rank++)
        if (p->domains[rank] != p->domain)
            n += (size_t)snprintf(text + n, size - n, "%s%d",
                                  named++ ? ", " : " (some of the ranks ", rank);
    if (named > 0)
        snprintf(text + n, size - n, ")");
}

/* Runs in the guard thread: the owner is in an MPI call that does not end. The job is beyond repair, so leaving that
 * call by force does no further harm. The owner gets an error that says whom it waited for. The default action of
 * SIGURG is to ignore it; we set a handler for this moment only. */
static void on_hung(const char *who, void *arg)
{
    mend_process *p = arg;
    snprintf(p->hung_text, sizeof p->hung_text, "%s", who);
    if (strstr(who, "of other nodes"))
        name_far_ranks(p, p->hung_text, sizeof p->hung_text);
    mend_event("process.watchdog", ev_int("generation", p->now.generation),
               ev_str("text", p->hung_text));
    mend_log(MEND_LOG_ERROR, "process: %s", p->hung_text);
    struct sigaction action = {.sa_handler = thrown, .sa_flags = SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    sigaction(SIGURG, &action, NULL);
    pthread_kill(p->owner, SIGURG);
}

static void tick(enum mend_phase phase, void *arg)
{
    mend_process *p = arg;
    mend_nudge_tick(p->nudge, phase);
}

/* ---- start ----------------------------------------------------------------------------------- */

static void destroy(mend_process *p)
{
    if (!p)
        return;
    mend_nudge_watch(p->nudge, MPI_COMM_NULL, MPI_COMM_NULL);
    if (p->family) {
        MPI_Comm world = mend_comms_root(p->family);
        mend_comms_set_errhandler(p->family, MPI_ERRORS_RETURN);
        mend_comms_dissolve(p->family);
        mend_process_retire(p, world);
    }
    if (p->base != MPI_COMM_NULL && !p->fresh)
        mend_process_retire(p, p->base);
    for (int i = 0; i < p->n_builders; i++)
        mend_process_retire(p, p->built[i]);
    if (p->stage != STAGE_STOPPED) /* after a stop, others may still use them */
        mend_process_free_retired(p, true);
    if (p->handler != MPI_ERRHANDLER_NULL)
        PMPI_Errhandler_free(&p->handler);
    mend_board_close(p->board);
    mend_nudge_close(p->nudge);
    mend_hall_close(p->hall);
    if (mend_process_current == p)
        mend_process_current = NULL;
    free(p->domains);
    free(p->failed);
    free(p->replaced);
    free(p->roles);
    free(p->is_spare);
    free(p->callbacks);
    free(p->builders);
    free(p->built);
    free(p->building);
    free(p);
}

static int check_base(MPI_Comm base, mend_process **process)
{
    int yes = 0, inter = 0;
    if (!process)
        return mend_fail(MEND_ERR_ARGUMENT, "mend_process_open: no place for the handle (NULL)");
    *process = NULL;
    if (PMPI_Initialized(&yes) != MPI_SUCCESS || !yes)
        return mend_fail(MEND_ERR_STATE, "mend_process_open: MPI is not initialized");
    if (PMPI_Finalized(&yes) != MPI_SUCCESS || yes)
        return mend_fail(MEND_ERR_STATE, "mend_process_open: MPI is finalized");
    if (mend_process_current)
        return mend_fail(MEND_ERR_STATE, "mend_process_open: this process belongs to a resilient "
                                         "communicator already; make others from it");
    if (base == MPI_COMM_NULL)
        return mend_fail(MEND_ERR_ARGUMENT, "mend_process_open: MPI_COMM_NULL as base");
    PMPI_Comm_test_inter(base, &inter);
    if (inter)
        return mend_fail(MEND_ERR_ARGUMENT, "mend_process_open: the base is an intercommunicator");
    return mend_ulfm_require();
}

/* Prepare the state. Open MPI runs our error handler for every member of the family; see resume.c. */
static int prepare(mend_process *p, MPI_Comm base)
{
    MPI_Comm parents;
    struct mend_board_calls calls = {on_hung, tick, p};
    p->owner = pthread_self();
    p->handler = MPI_ERRHANDLER_NULL;
    p->now = (mend_repair){.generation = -1, .rank = -1, .comm = MPI_COMM_NULL};
    p->settled = -1;
    p->base = base;
    p->fresh = true;
    p->domain = p->options.domain ? p->options.domain : node_domain();
    p->nudge = mend_nudge_open();
    if (!p->nudge)
        calls.tick = NULL;
    if (PMPI_Comm_create_errhandler(mend_process_on_mpi_error, &p->handler) != MPI_SUCCESS)
        return mend_fail(MEND_ERR_MPI, "cannot make an error handler");
    if (mend_spawn_is_child(&parents)) {
        p->seat = -1;
        p->board = mend_board_open(0, 1, p->options.watchdog, 0, &calls);
        p->fresh = false;
        if (mend_spawn_join(p, parents) != MPI_SUCCESS)
            return mend_fail(MEND_ERR_MPI, "a spawned process cannot join its parents");
    } else {
        p->hall = mend_hall_borrow(base, false);
        PMPI_Comm_rank(base, &p->seat);
        PMPI_Comm_size(base, &p->seats);
        p->now.size = p->seats - p->options.spares;
        p->now.rank = p->seat < p->now.size ? p->seat : -1;
        p->board = mend_board_open(p->seat, p->seats, p->options.watchdog, p->options.hang_timeout,
                                   &calls);
    }
    return p->board ? 0 : mend_fail(MEND_ERR_NO_MEMORY, "no memory for the board");
}

int mend_process_open_sized(MPI_Comm base, const mend_process_options *options, size_t size,
                            size_t builder_size, mend_process **process)
{
    int rc = check_base(base, process);
    if (rc == 0)
        rc = mend_comms_intercept();
    if (rc != 0)
        return rc;
    mend_ulfm_survive_broken_pipes();
    mend_process *p = calloc(1, sizeof *p);
    if (!p)
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for the handle");
    p->base = MPI_COMM_NULL;
    p->handler = MPI_ERRHANDLER_NULL;
    rc = read_options(p, options, size, builder_size);
    if (rc == 0)
        rc = prepare(p, base);
    if (rc != 0) {
        destroy(p);
        return rc;
    }
    MEND_FAULT_POINT(process_start);
    mend_process_current = p;
    /* All agree on a wrong number of spares like on anything else, so nobody waits for this process. */
    if (p->seat >= 0 && (p->options.spares < 0 || p->options.spares >= p->seats)) {
        int seats = p->seats;
        p->stage = STAGE_STOPPED;
        p->now.size = p->seats;
        p->now.rank = p->seat;
        mend_process_meet(p);
        destroy(p);
        return mend_fail(MEND_ERR_ARGUMENT,
                         "mend_process_open: %d spares of %d processes: there must be none or "
                         "more, and at least one active rank",
                         options->spares, seats);
    }
    rc = mend_process_meet(p);
    if (rc == 0 && p->stage != STAGE_SPARE)
        rc = mend_process_recover(p);
    else if (rc == 0 && !p->options.spares_return)
        rc = mend_process_wait(p);
    if (rc != 0) {
        destroy(p);
        return rc;
    }
    mend_event("process.start", ev_int("of", p->now.rank), ev_int("size", p->now.size),
               ev_int("spares", p->now.spares), ev_int("generation", p->now.generation));
    *process = p;
    return 0;
}

/* ---- the end --------------------------------------------------------------------------------- */

/* Protocol:
 *  1. Every active rank waits in a barrier on the resilient communicator. A revoke ends it.
 *  2. A rank that passes the barrier knows that all have come, and writes "passed" on its card.
 *  3. In the meeting, one card with "passed" is enough to finish, spares included. Without any, a process died before
 *     all had come, and the meeting repairs the job instead. */
int mend_process_close(mend_process *p)
{
    if (!p)
        return mend_fail(MEND_ERR_ARGUMENT, "mend_process_close: NULL");
    if (p->stage == STAGE_STOPPED || p->stage == STAGE_FINISHED) {
        destroy(p);
        return 0;
    }
    if (!pthread_equal(pthread_self(), p->owner))
        return mend_fail(
            MEND_ERR_THREAD,
            "mend_process_close: called by a thread other than that of mend_process_open");
    if (p->stage != STAGE_WORKING)
        return mend_fail(MEND_ERR_STATE, "mend_process_close: inside a repair");
    int code = mend_ulfm_revoked_code();
    MEND_FAULT_POINT(process_finalize_enter);
    mend_board_phase(p->board, PHASE_FINALIZE);
    if (!atomic_load(&p->trouble)) {
        mend_comms_set_errhandler(p->family, MPI_ERRORS_RETURN);
        code = PMPI_Barrier(p->now.comm);
        p->passed = code == MPI_SUCCESS;
    }
    if (p->passed)
        atomic_store(&p->trouble, true); /* all are here, so no alarm is needed */
    else
        mend_process_alarm(p, code);
    MEND_FAULT_POINT(process_finalize_passed);
    int rc = mend_process_meet(p);
    MEND_FAULT_POINT(process_finalize_agreed);
    if (rc == 0 && p->stage == STAGE_FINISHED) {
        mend_event("process.finalize", ev_int("generation", p->now.generation));
        destroy(p);
        return 0;
    }
    return mend_process_after_repair(p, rc);
}
