/* The automatic tier (MEND_STATE_ALL): the whole program is state.
 *
 * This is for programs whose data are trees, lists and tables, which nobody could name as views. The executable's
 * heap lives in an arena (arena.c, divert.c). The heap, the executable's variables, the stack from the safe point up
 * to main() and the registers make a version. So a version is the whole program: to go back to it, neither set-up nor
 * the function with the safe point has to run or exist. Survivors, replacements and a job that starts again all do
 * the same (restore.c). */
#include <base/fail.h>
#include <base/log.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "automatic/arena.h"
#include "automatic/version.h"

static bool wanted; /* MEND_STATE_ALL is in the program */
struct automatic the_automatic;

bool auto_on(const mend_flow *f)
{
    return wanted && f->is_default;
}

/* ---- before main() ---- */

void mend_flow_everything(int argc, char **argv, char **envp)
{
    if (argc < 1 || wanted)
        return;
    int rc = layout_fix(argv, envp);
    if (rc)
        mend_log(MEND_LOG_WARNING, "MEND_STATE_ALL: %s", mend_error_text());
    rc = layout_find();
    auto_program.arguments = argv[0];
    if (!rc)
        rc = arena_open();
    if (!rc)
        rc = divert_calls(&auto_program);
    if (rc) {
        mend_log(MEND_LOG_ERROR, "%s", mend_error_text());
        _Exit(1);
    }
    wanted = true;
}

int auto_start(mend_flow *f)
{
    struct automatic *a = &the_automatic;
    if (f->options.learn || f->options.rollback == MEND_ROLLBACK_PARTIAL)
        return mend_fail(MEND_ERR_CONFIG,
                         "learn mode and partial rollback need views; the program has "
                         "MEND_STATE_ALL");
    a->flow = f;
    a->hits = malloc(HITS_MAX * sizeof *a->hits);
    for (int i = 0; i < 2; i++) {
        a->stacks[i] = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
        if (a->stacks[i] == MAP_FAILED || !a->hits)
            return mend_fail(MEND_ERR_NO_MEMORY, "no memory for a stack");
    }
    return registers_take(&a->at_start, &a->stack_top);
}

/* ---- saving ---- */

static int describe(mend_flow *f, struct outline *c)
{
    char *top;
    int rc = registers_take(&c->registers, &top);
    if (rc)
        return rc;
    if (f->builder_count > BUILDERS_MAX)
        return mend_fail(MEND_ERR_UNSUPPORTED, "MEND_STATE_ALL: more than %d builders",
                         BUILDERS_MAX);
    c->magic = OUTLINE_MAGIC;
    c->program = auto_program.hash;
    c->objects = auto_program.objects_hash;
    c->base = (uint64_t)auto_program.base;
    c->arguments = (uint64_t)auto_program.arguments;
    c->tls = (uint64_t)auto_program.tls;
    c->heap_bytes = arena_bytes();
    c->stack_top = (uint64_t)top;
    c->guard = registers_guard();
    c->data_count = (uint32_t)auto_program.data_count;
    c->builder_count = (uint32_t)f->builder_count;
    if (f->builder_count)
        memcpy(c->builders, f->builders, (size_t)f->builder_count * sizeof *f->builders);
    c->foreign_count = (uint32_t)layout_foreign(c->foreign, AUTO_FOREIGN_MAX);
    return 0;
}

int auto_each_part(mend_flow *f, const struct outline *c, auto_part *act)
{
    int rc = act(f, ID_HEAP, "mend.heap", arena_base(), c->heap_bytes);
    if (!rc)
        rc = act(f, ID_STACK, "mend.stack", (char *)c->registers.stack,
                 c->stack_top - c->registers.stack);
    if (!rc && auto_program.tls_bytes)
        rc = act(f, ID_TLS, "mend.tls", auto_program.tls, auto_program.tls_bytes);
    for (int i = 0; i < auto_program.data_count && !rc; i++) {
        const struct auto_range *r = &auto_program.data[i];
        rc = r->to > r->from ? act(f, ID_DATA + i, "mend.data", r->from, (size_t)(r->to - r->from))
                             : 0;
    }
    return rc;
}

/* ---- words that point to memory that is not saved (foreign.c) ---- */

/* The first save reports at once what a restore would refuse. */
static int look_at(mend_flow *f, int id, const char *label, char *from, size_t bytes)
{
    if (id == ID_STACK || f->builder_count)
        return 0;
    const struct outline *c = &the_automatic.now;
    uint64_t *hit = foreign_next(c->foreign, c->foreign_count, from, from + bytes);
    return hit ? mend_fail(MEND_ERR_UNSUPPORTED,
                           "MEND_STATE_ALL: the word at %p (%s) points to %p, memory of a library "
                           "that is not saved (a handle of MPI, a FILE?): make it in a "
                           "mend_rebuild() function, or set it to NULL before the safe point",
                           (void *)hit, label + 5, (void *)*hit)
               : 0;
}

static int add_part(mend_flow *f, int id, const char *label, char *from, size_t bytes)
{
    (void)label;
    int n = f->auto_parts++;
    f->parts[n] = (mend_flow_part){.id = id, .label = "mend.auto", .address = from, .bytes = bytes};
    return 0;
}

int auto_parts(mend_flow *f, int *count)
{
    struct automatic *a = &the_automatic;
    if (parts_room(f, ID_DATA - FIRST_ID + AUTO_DATA_MAX + 1))
        return MEND_ERR_NO_MEMORY;
    fflush(stdout); /* a rollback does not undo output from before a version */
    int rc = describe(f, &a->now);
    if (!rc && !a->checked)
        rc = auto_each_part(f, &a->now, look_at);
    if (rc)
        return rc;
    a->checked = true;
    f->auto_parts = 0;
    add_part(f, ID_OUTLINE, NULL, (char *)&a->now, sizeof a->now);
    rc = auto_each_part(f, &a->now, add_part);
    *count = f->auto_parts;
    return rc;
}

void auto_report(FILE *to)
{
    const struct outline *c = &the_automatic.now;
    size_t data = 0;
    for (int i = 0; i < auto_program.data_count; i++)
        data += (size_t)(auto_program.data[i].to - auto_program.data[i].from);
    fprintf(to, "%-24s %14zu  saved (MEND_STATE_ALL)\n", "heap", arena_bytes());
    fprintf(to, "%-24s %14zu  saved\n", "variables", data + auto_program.tls_bytes);
    fprintf(to, "%-24s %14zu  saved\n", "stack", (size_t)(c->stack_top - c->registers.stack));
}
