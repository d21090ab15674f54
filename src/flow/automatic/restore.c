/* Going back to a version of a program with MEND_STATE_ALL (auto.c). Survivors, replacements and a job that starts
 * again all do the same:
 *
 *   A. The meeting of recover.c: repair, bind, agree on a version. A process that comes from a failure inside MPI has
 *   left its stack by then and works on one of ours, because its own will be overwritten.
 *   C1. Is this the same program, at the same addresses (layout.c)?
 *   C2. Copy heap, variables and stack into place. No communication.
 *   C3. Replace the stack's guard words by this process's. Set words to NULL that point to memory outside the version
 *   (an MPI handle, a FILE, memory of a library). Keep those that were already there when the program called
 *   MPI_Init, because this process has them itself.
 *   C4. Agree that all could do that.
 *   C5. Run the builders that the version knows. They make the handles again.
 *   C6. Is any of the words of C3, in heap or variables, still NULL? On the stack and in registers we consider them
 *   leftovers; if we are wrong, the next use of a NULL handle is an MPI error.
 *   C7. Agree again (B2 in restore.c). All continue, or all stop with the reason.
 *   C8. Load the registers: mend_point() returns 1, as it did when the version was saved.
 * If a process dies inside, all start again from A. If there is no version yet, the program goes back to MPI_Init
 * with memory as it was then (origin.c). */
#include <base/event.h>
#include <base/fail.h>
#include <base/fault.h>
#include <stdlib.h>

#include "automatic/arena.h"
#include "automatic/version.h"

static int other(const char *what)
{
    return mend_fail(MEND_ERR_PROGRAM,
                     "MEND_STATE_ALL: %s than in the process that saved the version; it cannot be "
                     "restored here",
                     what);
}

/* C1 */
static int check(mend_flow *f, struct outline *c)
{
    size_t bytes = 0;
    int rc = f->store.size(f->store.arg, ID_OUTLINE, &bytes);
    if (rc || bytes != sizeof *c)
        return mend_fail(MEND_ERR_PROGRAM,
                         "version %ld was not saved by a program with "
                         "MEND_STATE_ALL",
                         f->target);
    rc = f->store.read(f->store.arg, ID_OUTLINE, 0, c, sizeof *c);
    if (rc)
        return rc;
    if (c->magic != OUTLINE_MAGIC || c->builder_count > BUILDERS_MAX ||
        c->foreign_count > AUTO_FOREIGN_MAX)
        return mend_fail(MEND_ERR_FORMAT, "the description of version %ld is damaged", f->target);
    if (f->meta->ranks != f->size)
        return mend_fail(MEND_ERR_RANK_COUNT,
                         "version %ld has %d ranks, this job %d, and with MEND_STATE_ALL memory "
                         "belongs to its rank",
                         f->target, f->meta->ranks, f->size);
    if (c->program != auto_program.hash || c->data_count != (uint32_t)auto_program.data_count)
        return other("this is another program");
    if (c->base != (uint64_t)auto_program.base || c->tls != (uint64_t)auto_program.tls)
        return other("the program is at another address");
    if (c->objects != auto_program.objects_hash)
        return other("there are other libraries, or they are at other addresses,");
    if (c->arguments != (uint64_t)auto_program.arguments ||
        c->stack_top != (uint64_t)the_automatic.stack_top)
        return other("the stack begins at another address (other arguments?)");
    return 0;
}

/* C2 */
static int copy_part(mend_flow *f, int id, const char *label, char *from, size_t bytes)
{
    size_t saved = 0;
    int rc = f->store.size(f->store.arg, id, &saved);
    if (!rc && saved != bytes)
        rc = mend_fail(MEND_ERR_FORMAT, "%s has %zu bytes in version %ld, not %zu", label, saved,
                       f->target, bytes);
    return rc ? rc : f->store.read(f->store.arg, id, 0, from, bytes);
}

/* C3 */
static int clear_foreign(mend_flow *f, int id, const char *label, char *from, size_t bytes)
{
    struct automatic *a = &the_automatic;
    const struct outline *c = &a->then;
    char *end = from + bytes;
    (void)f;
    for (uint64_t *w; (w = foreign_next(c->foreign, c->foreign_count, from, end)) != NULL;) {
        from = (char *)(w + 1);
        if (id != ID_STACK && a->hit_count == HITS_MAX)
            return mend_fail(MEND_ERR_UNSUPPORTED,
                             "MEND_STATE_ALL: too many pointers to memory of libraries (%s)",
                             label);
        if (id != ID_STACK)
            a->hits[a->hit_count++] = w;
        *w = 0;
    }
    return 0;
}

static void own_guards(struct outline *c)
{
    uint64_t mine = registers_guard();
    for (uint64_t *w = (uint64_t *)c->registers.stack; w < (uint64_t *)c->stack_top; w++)
        if (*w == c->guard)
            *w = mine;
    for (int i = 0; i < AUTO_REGISTERS; i++)
        if (foreign_is(c->foreign, c->foreign_count, c->registers.saved[i]) &&
            c->registers.saved[i] != the_automatic.at_start.saved[i])
            c->registers.saved[i] = 0;
}

static int restore(mend_flow *f, struct outline *c)
{
    struct automatic *a = &the_automatic;
    int rc = check(f, c);
    if (!rc)
        rc = arena_set_bytes(c->heap_bytes);
    if (!rc)
        rc = auto_each_part(f, c, copy_part);
    if (rc)
        return rc;
    a->hit_count = 0;
    rc = auto_each_part(f, c, clear_foreign);
    own_guards(c);
    f->builder_count = 0;
    for (uint32_t i = 0; i < c->builder_count && !rc; i++)
        rc = flow_add_builder(f, c->builders[i].build, c->builders[i].arg);
    return rc;
}

/* C5, C6 */
static int rebuild(mend_flow *f)
{
    const struct automatic *a = &the_automatic;
    int rc = run_builders(f);
    for (int i = 0; i < a->hit_count && !rc; i++)
        if (!*a->hits[i])
            rc = mend_fail(MEND_ERR_UNSUPPORTED,
                           "MEND_STATE_ALL: the word at %p was a pointer to memory of a library (a "
                           "handle of MPI, a FILE?), and no mend_rebuild() function made it again",
                           (void *)a->hits[i]);
    return rc;
}

/* C1 to C8, on a stack of ours. */
static void restore_and_resume(mend_flow *f)
{
    struct outline *c = &the_automatic.then;
    double begin = mend_now();
    f->has_data = false;
    f->safe_point = NULL;
    f->landing = LANDING_INIT; /* until C8: failures arrive through jump_away() anyway */
    long code = restore(f, c);
    MEND_FAULT_POINT(flow_restored);
    int rc = recover_agree(f, &code);
    if (!rc && code == 0)
        code = rebuild(f);
    if (!rc)
        rc = recover_together(f, code, begin);
    if (rc) {
        flow_fail(f, rc);
        flow_abort(f->comm); /* there is nowhere to return to */
    }
    f->landing = LANDING_POINT;
    f->site = NULL; /* so that the next arrival takes the slow path */
    f->inside = f->quiet = false;
    registers_resume(&c->registers, 1);
}

static void enter_stack(void)
{
    the_automatic.run(the_automatic.flow);
    abort(); /* they do not return */
}

static _Noreturn void on_our_stack(mend_flow *f, void (*run)(mend_flow *f))
{
    struct automatic *a = &the_automatic;
    a->stack = !a->stack;
    a->run = run;
    a->flow = f;
    getcontext(&a->context);
    a->context.uc_stack.ss_sp = a->stacks[a->stack];
    a->context.uc_stack.ss_size = STACK_BYTES;
    a->context.uc_link = NULL;
    makecontext(&a->context, enter_stack, 0);
    setcontext(&a->context);
    abort();
}

_Noreturn void auto_resume(mend_flow *f)
{
    on_our_stack(f, restore_and_resume);
}

static void start_over(mend_flow *f)
{
    f->joining = false;
    jump_to_start(f);
}

_Noreturn void auto_start_over(mend_flow *f)
{
    on_our_stack(f, start_over);
}

static void recover(mend_flow *f)
{
    f->inside = true;
    mend_event("flow.failure", ev_int("point", f->points),
               ev_real("since", mend_now() - f->failed_at));
    int rc = recover_meet(f, true);
    if (rc) {
        flow_fail(f, rc);
        flow_abort(f->comm);
    }
    if (f->fresh || f->finished)
        start_over(f);
    restore_and_resume(f);
}

_Noreturn void auto_recover(mend_flow *f)
{
    on_our_stack(f, recover);
}
