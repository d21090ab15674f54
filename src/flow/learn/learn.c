/* Learn mode: finds by experiment which views need not be saved.
 *
 * A view is dead at a safe point if the next iteration overwrites it before reading it. Then a version without it is
 * just as good. We cannot see that from outside, but we can try it: we do here what a restore of such a version would
 * do, before we save the version. An experiment at a point where a save is due:
 *
 *   1. Copy all views (the shadow).
 *   2. Reference: run the iteration. At the next arrival take the hash of every view, and put the shadow back.
 *   3. Control (in the first experiment): run it again. If the hashes differ, the program does not repeat itself
 *      bitwise, or has state that is not a view; learning ends with a warning.
 *   4. Trial: fill a candidate with zeros, run the iteration, compare the hashes of all views on all ranks, and put
 *      the shadow back. In the first experiment try each candidate alone, then always all dead ones together.
 *   5. Save. Leave out views that passed; a restore fills them with zeros. So the first iteration after a restore has
 *      already run, at this very point, and has produced bitwise the right state.
 *
 * This is safe even for state that is read rarely: nothing learned at one point is assumed at another.
 *
 * Safeguards. We only try views of floating-point type (or flagged MEND_TRY): zeros in an index could crash the
 * program. We never try small views, or views with flags, aliases and overlaps. We never try a view again that has
 * failed once. stdout is silent during the runs that are undone. If a trial leaves the loop (because a convergence
 * test read the view), an ordinary rollback undoes it, and learning ends.
 *
 * If a process dies inside an experiment, the survivors put the shadow back first; then it is a failure like any
 * other.
 */
#include <base/event.h>
#include <base/fail.h>
#include <base/log.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "learn/learn.h"

enum { SMALL_BYTES = 4096, SMALL_SHARE = 100, CANDIDATES_MAX = 64 };

int learn_start(mend_flow *f)
{
    f->learner = calloc(1, sizeof *f->learner);
    if (!f->learner)
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for learn mode");
    f->learner->muted = -1;
    return 0;
}

bool learn_active(const mend_flow *f)
{
    return f->learner && !f->learner->off;
}

bool learn_running(const mend_flow *f)
{
    return f->learner && f->learner->stage != REST;
}

/* ---- stdout ---- */

static void mute(struct learner *l)
{
    if (l->muted >= 0)
        return;
    fflush(stdout);
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    l->muted = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 100);
    if (null >= 0 && l->muted >= 0)
        dup2(null, STDOUT_FILENO);
    if (null >= 0)
        close(null);
}

static void unmute(struct learner *l)
{
    if (l->muted < 0)
        return;
    fflush(stdout);
    dup2(l->muted, STDOUT_FILENO);
    close(l->muted);
    l->muted = -1;
}

/* ---- verdicts ---- */

/* 0: the same on all ranks. 1: different. 2: a rank left the loop. */
static int verdict(mend_flow *f, int mine, int *all)
{
    int rc = MPI_Allreduce(&mine, all, 1, MPI_INT, MPI_MAX, f->comm);
    return rc == MPI_SUCCESS ? 0 : mend_fail(MEND_ERR_MPI, "MPI_Allreduce failed in learn mode");
}

/* ---- candidates ---- */

static bool candidate(const mend_flow *f, const struct shadow *s, size_t total)
{
    const view *v = s->of;
    bool typed = v->floating || (v->flags & MEND_TRY);
    (void)f;
    return typed && !v->never_dead && (v->fate == FATE_SAVED || v->fate == FATE_DEAD) &&
           v->span_bytes == s->bytes && !(v->flags & (MEND_CONTROL | MEND_KEEP)) && !v->total &&
           s->bytes >= SMALL_BYTES && s->bytes >= total / SMALL_SHARE;
}

/* All ranks must try the same labels, but sizes may differ: try what is a candidate on every rank. One bit for each
 * shadow. */
static int choose_candidates(mend_flow *f, uint64_t *chosen)
{
    struct learner *l = f->learner;
    size_t total = 0;
    *chosen = 0;
    for (int i = 0; i < l->count; i++)
        total += l->shadows[i].bytes;
    for (int i = 0; i < l->count && i < CANDIDATES_MAX; i++)
        if (candidate(f, &l->shadows[i], total))
            *chosen |= (uint64_t)1 << i;
    uint64_t mine = *chosen;
    int rc = MPI_Allreduce(&mine, chosen, 1, MPI_UINT64_T, MPI_BAND, f->comm);
    return rc == MPI_SUCCESS ? 0 : mend_fail(MEND_ERR_MPI, "MPI_Allreduce failed in learn mode");
}

static int next_candidate(const struct learner *l, uint64_t chosen, int from)
{
    for (int i = from; i < l->count && i < CANDIDATES_MAX; i++)
        if (((chosen >> i) & 1) && !l->shadows[i].of->tested)
            return i;
    return -1;
}

static int dead_count(const struct learner *l)
{
    int n = 0;
    for (int i = 0; i < l->count; i++)
        n += l->shadows[i].of->dead;
    return n;
}

/* ---- the course of an experiment ---- */

static int begin_run(mend_flow *f, stage next)
{
    f->learner->stage = next;
    f->points = f->learner->points;
    f->quiet = false; /* learn mode handles the next arrival */
    mute(f->learner);
    return 1;
}

static int end_experiment(mend_flow *f, bool *save)
{
    struct learner *l = f->learner;
    l->stage = REST;
    l->experiments++;
    f->points = l->points;
    unmute(l);
    *save = true;
    mend_event("flow.learn", ev_int("point", f->points), ev_int("dead", dead_count(l)),
               ev_int("views", l->count));
    return l->off ? 0 : constants_judge(f);
}

static void switch_off(mend_flow *f, const char *why)
{
    struct learner *l = f->learner;
    mend_log(MEND_LOG_WARNING, "learn mode ends: %s; every view is saved", why);
    mend_event("flow.learn_off", ev_str("why", why));
    for (int i = 0; i < f->views.count; i++)
        f->views.all[i]->dead = f->views.all[i]->constant = false;
    unmute(l);
    l->off = true;
    l->stage = REST;
}

/* What to try next with the shadow in place: a single candidate, all dead ones, or nothing. */
static int next_trial(mend_flow *f, bool *save)
{
    struct learner *l = f->learner;
    uint64_t chosen;
    int rc = choose_candidates(f, &chosen);
    if (rc)
        return rc;
    int i = l->stage == TOGETHER ? -1 : next_candidate(l, chosen, 0);
    if (i >= 0) {
        l->candidate = i;
        rc = view_clear(l->shadows[i].of);
        return rc ? rc : begin_run(f, SINGLE);
    }
    if (l->stage == TOGETHER || dead_count(l) == 0 ||
        (l->stage == SINGLE && dead_count(l) == 1 && l->fresh_dead))
        return end_experiment(f, save);
    for (int k = 0; k < l->count && !rc; k++)
        if (l->shadows[k].of->dead)
            rc = view_clear(l->shadows[k].of);
    return rc ? rc : begin_run(f, TOGETHER);
}

static void judge_single(struct learner *l, int differs)
{
    view *v = l->shadows[l->candidate].of;
    v->tested = true;
    v->dead = !differs;
    v->never_dead = differs;
    l->fresh_dead |= !differs;
}

/* Together they are not dead here: save them this time, and try them one by one at the next save. */
static void judge_together(struct learner *l, int differs)
{
    for (int i = 0; i < l->count && differs; i++) {
        l->shadows[i].of->tested &= !l->shadows[i].of->dead;
        l->shadows[i].of->dead = false;
    }
}

static int start_experiment(mend_flow *f)
{
    struct learner *l = f->learner;
    l->at = f->safe_point;
    l->points = f->points;
    l->fresh_dead = false;
    int rc = shadow_take(f);
    return rc ? rc : begin_run(f, REFERENCE);
}

/* An arrival at another place: the program has left the loop, or there are loops inside it. */
static int wrong_safe_point(mend_flow *f, bool *save)
{
    struct learner *l = f->learner;
    *save = false;
    if (l->stage == REFERENCE || l->stage == CONTROL) {
        switch_off(f, "the next safe point was another one"); /* nothing was disturbed */
        return 0;
    }
    return learn_left(f);
}

int learn_arrive(mend_flow *f, bool due, bool *save)
{
    struct learner *l = f->learner;
    int differs = 0;
    *save = false;
    if (l->stage == REST)
        return due ? start_experiment(f) : 0;
    if (f->safe_point != l->at)
        return wrong_safe_point(f, save);
    if (l->stage == REFERENCE)
        shadow_note(l);
    int rc = verdict(f, !shadow_same(l), &differs);
    if (rc)
        return rc;
    if (differs == 2)
        return learn_rollback(f);
    if ((rc = shadow_put(f)) != 0)
        return rc;
    switch (l->stage) {
    case REFERENCE:
        if (!l->controlled)
            return begin_run(f, CONTROL);
        break;
    case CONTROL:
        l->controlled = true;
        if (differs) {
            switch_off(
                f, "an iteration that was run twice gave two results (state that is not a view?)");
            return end_experiment(f, save);
        }
        break;
    case SINGLE: judge_single(l, differs); break;
    case TOGETHER: judge_together(l, differs); break;
    case REST: break;
    }
    return next_trial(f, save);
}

/* ---- trials that went out of the loop, failures ---- */

/* All go back to the last version, or to the start; nothing that a trial did remains. */
int learn_rollback(mend_flow *f)
{
    for (int i = 0; i < f->views.count; i++)
        f->views.all[i]->never_dead = true;
    switch_off(f, "a trial left the loop");
    f->learner->count = 0;
    int rc = recover_meet(f, false);
    if (rc)
        return rc;
    f->has_data = false;
    if (!jump_can_start(f))
        return mend_fail(
            MEND_ERR_STATE,
            "learn mode: a trial left the loop, and the function that called MPI_Init has "
            "returned");
    jump_to_start(f);
}

/* This rank has left the loop during an experiment. The others may have left it, too, or wait with their hashes. */
int learn_left(mend_flow *f)
{
    int all;
    if (f->learner->stage == REFERENCE || f->learner->stage == CONTROL) {
        switch_off(f, "the loop ended");
        return 0;
    }
    int rc = verdict(f, 2, &all);
    return rc ? rc : learn_rollback(f);
}

void learn_reset(mend_flow *f)
{
    struct learner *l = f->learner;
    if (!l)
        return;
    unmute(l);
    if (l->stage != REST && l->count)
        shadow_put(f);
    l->stage = REST;
}

/* A replacement knows nothing of earlier experiments, and all ranks must run the same ones. */
void learn_anew(mend_flow *f, bool off)
{
    if (!f->learner)
        return;
    constants_anew(f);
    f->learner->off = off;
    f->learner->controlled = false;
    for (int i = 0; i < f->views.count; i++)
        f->views.all[i]->dead = f->views.all[i]->tested = f->views.all[i]->never_dead = false;
}

/* The views are gone: there is nothing to restore. */
void learn_drop(mend_flow *f)
{
    struct learner *l = f->learner;
    if (!l)
        return;
    unmute(l);
    l->stage = REST;
    l->count = 0;
}

bool learn_rehearsal(const mend_flow *f)
{
    return f->learner && f->learner->stage != REST;
}

void learn_free(mend_flow *f)
{
    struct learner *l = f->learner;
    if (!l)
        return;
    unmute(l);
    shadow_free(l);
    free(l);
    f->learner = NULL;
}
