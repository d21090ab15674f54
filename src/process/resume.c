/* From a failure back to work: the error handler, the three ways to resume, queries. */
#include "internal.h"

#include <base/event.h>
#include <base/fail.h>
#include <base/grow.h>
#include <base/fault.h>

int mend_process_usable(const mend_process *p, const char *call)
{
    if (!p)
        return mend_fail(MEND_ERR_ARGUMENT, "%s: NULL", call);
    if (!pthread_equal(pthread_self(), p->owner))
        return mend_fail(MEND_ERR_THREAD,
                         "%s: called by a thread other than that of mend_process_open", call);
    if (p->stage == STAGE_STOPPED)
        return mend_fail(MEND_ERR_STOPPED, "%s: the job was stopped", call);
    return 0;
}

/* ---- back to work ---------------------------------------------------------------------------- */

static void run_callbacks(mend_process *p)
{
    p->stage = STAGE_CALLING;
    p->callbacks_due = false;
    if (p->adopted)
        p->adopted(&p->now, p->hook_arg);
    for (int i = p->n_callbacks - 1; i >= 0 && !atomic_load(&p->trouble); i--) {
        MEND_FAULT_POINT(process_callback);
        p->callbacks[i].call(p, &p->now, p->callbacks[i].arg);
    }
    if (p->options.on_repair && !atomic_load(&p->trouble)) {
        MEND_FAULT_POINT(process_callback);
        p->options.on_repair(p, &p->now, p->options.on_repair_arg);
    }
}

/* Repair until the callbacks run without a new failure. */
int mend_process_recover(mend_process *p)
{
    for (;;) {
        if (atomic_load(&p->trouble)) {
            int rc = mend_process_meet(p);
            if (rc != 0 || p->stage == STAGE_FINISHED || p->stage == STAGE_SPARE)
                return rc;
        }
        p->t_callbacks = mend_now();
        if (p->callbacks_due && _setjmp(p->callback_jump) == 0)
            run_callbacks(p);
        if (atomic_load(&p->trouble))
            continue;
        MEND_FAULT_POINT(process_resume);
        p->stage = STAGE_WORKING;
        if (!p->options.explicit_settle)
            p->settled = p->now.generation;
        if (p->now.generation > 0)
            mend_event("process.resume", ev_int("generation", p->now.generation),
                       ev_int("role", p->now.role),
                       ev_real("callbacks", mend_now() - p->t_callbacks),
                       ev_real("since_detection", mend_process_wall() - p->now.detected));
        return 0;
    }
}

/* A call of ours has repaired the job, where the program expected no repair. */
int mend_process_after_repair(mend_process *p, int rc)
{
    if (p->options.resume == MEND_RESUME_JUMP && p->armed)
        longjmp(p->jump, 1);
    if (rc == 0)
        rc = mend_process_recover(p);
    if (rc != 0)
        return rc;
    return mend_fail(MEND_ERR_PEER_FAILED,
                     "%d ranks have failed; the job was repaired, this is "
                     "generation %d",
                     p->now.n_failed, p->now.generation);
}

struct suspicion {
    const mend_process *process;
    MPI_Comm comm;
};

static enum mend_news news(void *arg)
{
    const struct suspicion *s = arg;
    if (mend_ulfm_is_revoked(s->comm) || mend_ulfm_failed(s->process->now.comm, NULL) > 0)
        return NEWS_DEATH;
    mend_ulfm_progress(MPI_COMM_SELF);
    return NEWS_UNKNOWN;
}

/* The rule is that of all layers (ulfm/failure.c). MPI_Waitall, for one, hides the cause in the statuses. */
bool mend_process_comes_from_failure(const mend_process *p, MPI_Comm comm, int code)
{
    struct suspicion suspicion = {p, comm};
    return mend_ulfm_caused_by_death(code, news, &suspicion);
}

/* MPI calls this for an error on any member of the family. It ignores stale errors (requests of a past generation). */
void mend_process_on_mpi_error(MPI_Comm *comm, int *code, ...)
{
    mend_process *p = mend_process_current;
    struct mend_family *family = mend_comms_of(*comm);
    if (!p || p->stage == STAGE_FINISHED || p->stage == STAGE_STOPPED || p->stage == STAGE_MEETING)
        return;
    if (!family && p->family) {
        mend_comms_refresh(p->family);
        family = mend_comms_of(*comm);
    }
    if (!family ? mend_ulfm_is_revoked(*comm) : family != p->family)
        return;
    if (!mend_process_comes_from_failure(p, *comm, *code)) {
        if (p->options.on_error)
            p->options.on_error(*comm, *code, p->options.on_error_arg);
        return;
    }
    mend_process_alarm(p, *code);
    if (!pthread_equal(pthread_self(), p->owner))
        return; /* the owner will see the revoke */
    if (p->options.resume == MEND_RESUME_JUMP && p->stage == STAGE_CALLING)
        longjmp(p->callback_jump, 1);
    if (p->options.resume == MEND_RESUME_JUMP && p->armed)
        longjmp(p->jump, 1);
    if (p->options.resume != MEND_RESUME_RETURN || p->stage != STAGE_WORKING)
        return;
    mend_process_recover(p); /* the layer's next call returns the error */
    if (p->returning)
        p->returning(&p->now, p->hook_arg);
}

void mend_process_set_hooks(mend_process *p, void (*adopted)(const mend_repair *now, void *arg),
                            void (*returning)(const mend_repair *now, void *arg), void *arg)
{
    p->adopted = adopted;
    p->returning = returning;
    p->hook_arg = arg;
}

void mend_process_set_resume(mend_process *p, mend_resume resume)
{
    p->options.resume = resume;
    p->armed = resume == MEND_RESUME_JUMP;
    if (p->family)
        mend_comms_set_errhandler(p->family,
                                  resume == MEND_RESUME_MANUAL ? MPI_ERRORS_RETURN : p->handler);
}

int mend_process_run_callbacks(mend_process *p)
{
    int rc = mend_process_usable(p, "callbacks");
    if (rc != 0 || p->stage != STAGE_WORKING)
        return rc != 0 ? rc : mend_fail(MEND_ERR_STATE, "callbacks: not at work");
    p->callbacks_due = true;
    return mend_process_recover(p);
}

jmp_buf *mend_process_jump_buffer(mend_process *p)
{
    static jmp_buf nowhere; /* so that the macro accepts NULL and reports it */
    return p ? &p->jump : &nowhere;
}

int mend_process_resume(mend_process *p)
{
    if (!p)
        return mend_fail(MEND_ERR_ARGUMENT, "mend_process_resume_here: NULL");
    if (p->stage == STAGE_FINISHED)
        return 0;
    int rc = mend_process_usable(p, "mend_process_resume_here");
    if (rc != 0)
        return rc;
    p->armed = p->options.resume == MEND_RESUME_JUMP;
    return atomic_load(&p->trouble) || p->callbacks_due || p->stage == STAGE_CALLING
               ? mend_process_recover(p)
               : 0;
}

int mend_process_repair(mend_process *p)
{
    int rc = mend_process_usable(p, "mend_process_repair");
    if (rc != 0)
        return rc;
    if (p->stage != STAGE_WORKING && p->stage != STAGE_CALLING)
        return mend_fail(MEND_ERR_STATE, "mend_process_repair: this process is a spare, or "
                                         "repairing, or finished");
    if (p->stage == STAGE_CALLING) { /* in a callback: the loop that runs it repairs */
        mend_process_alarm(p, 0);
        return mend_fail(MEND_ERR_PEER_FAILED, "mend_process_repair: inside a callback; return");
    }
    mend_process_alarm(p, 0);
    return mend_process_recover(p);
}

int mend_process_wait(mend_process *p)
{
    int rc = mend_process_usable(p, "mend_process_wait");
    if (rc != 0)
        return rc;
    while (rc == 0 && p->stage == STAGE_SPARE) {
        mend_process_idle(p);
        rc = mend_process_recover(p);
    }
    if (rc == 0 && p->stage == STAGE_FINISHED)
        p->now.role = MEND_ROLE_RELEASED;
    return rc;
}

int mend_process_run_sized(MPI_Comm base, const mend_process_options *options, size_t size,
                           size_t builder_size, mend_process_body *body, void *arg, int *result)
{
    mend_process_options o = {0};
    mend_process *p;
    if (!body)
        return mend_fail(MEND_ERR_ARGUMENT, "mend_process_run: no body (NULL)");
    int rc = mend_options_take(&o, sizeof o, options, size, "mend_process_options");
    if (rc != 0)
        return rc;
    o.resume = MEND_RESUME_JUMP;
    o.spares_return = 0;
    rc = mend_process_open_sized(base, &o, sizeof o, builder_size, &p);
    if (rc != 0)
        return rc;
    /* p does not change after this line, so its value survives the jump. */
    rc = mend_process_resume_here(p);
    if (result)
        *result = 0;
    if (rc == 0 && p->now.role != MEND_ROLE_RELEASED) {
        int value = body(p, &p->now, arg);
        if (result)
            *result = value;
    }
    int end = mend_process_close(p); /* jumps back if a rank has work to do again */
    return rc != 0 ? rc : end;
}

/* ---- what can be asked ----------------------------------------------------------------------- */

const mend_repair *mend_process_state(const mend_process *p)
{
    return p ? &p->now : NULL;
}

int mend_process_role_of(const mend_process *p, int rank, mend_role *role)
{
    if (!p || !role || rank < 0 || rank >= p->now.size || !p->roles)
        return mend_fail(MEND_ERR_ARGUMENT, "mend_process_role_of: rank %d of %d", rank,
                         p ? p->now.size : 0);
    *role = p->roles[rank];
    return 0;
}

int mend_process_count_role(const mend_process *p, mend_role role, int *count)
{
    if (!p || !count || (unsigned)role > MEND_ROLE_RELEASED)
        return mend_fail(MEND_ERR_ARGUMENT, "mend_process_count_role: role %d", (int)role);
    *count = role == MEND_ROLE_SPARE ? p->now.spares : 0;
    for (int rank = 0; rank < p->now.size && p->roles; rank++)
        *count += p->roles[rank] == role;
    return 0;
}

int mend_process_check(mend_process *p, int act)
{
    int rc = mend_process_usable(p, "mend_process_check");
    if (rc != 0)
        return rc;
    if (p->stage != STAGE_WORKING)
        return mend_fail(MEND_ERR_STATE, "mend_process_check: not at work");
    if (!atomic_load(&p->trouble)) {
        int flag;
        PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
        if (!mend_ulfm_is_revoked(p->now.comm) && mend_ulfm_failed(p->now.comm, NULL) == 0)
            return 0;
    }
    if (!act || p->options.resume == MEND_RESUME_MANUAL)
        return mend_fail(MEND_ERR_PEER_FAILED, "a rank has failed");
    mend_process_alarm(p, mend_ulfm_failed_code());
    return mend_process_after_repair(p, 0);
}

int mend_process_is_failure(int mpi_error_code)
{
    return mend_ulfm_is_failure(mpi_error_code);
}

int mend_process_request(mend_process *p, MPI_Request *request, MPI_Status *status,
                         mend_request_fate *fate)
{
    int rc = mend_process_usable(p, "mend_process_request"), done = 0, cancelled = 0,
        code = MPI_SUCCESS;
    MPI_Status own;
    if (rc != 0)
        return rc;
    if (!request || !fate)
        return mend_fail(MEND_ERR_ARGUMENT, "mend_process_request: NULL");
    *fate = MEND_REQUEST_COMPLETED;
    if (*request == MPI_REQUEST_NULL)
        return 0;
    /* MPI still completes a message whose receive was in progress when the communicator was revoked. */
    for (double limit = mend_now() + 1; !done && code == MPI_SUCCESS && mend_now() < limit;)
        code = PMPI_Test(request, &done, &own);
    if (code == MPI_SUCCESS && done) {
        PMPI_Test_cancelled(&own, &cancelled);
        if (status != MPI_STATUS_IGNORE)
            *status = own;
        *fate = cancelled ? MEND_REQUEST_LOST : MEND_REQUEST_COMPLETED;
        return 0;
    }
    /* Do not free it: Open MPI ends the job when a request fails after it was freed. */
    *fate = MEND_REQUEST_LOST;
    *request = MPI_REQUEST_NULL;
    return 0;
}
