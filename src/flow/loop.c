/* Loops with a safe point for languages without setjmp. We call the body from here, and a process comes back to this
 * function. */
#include <base/fail.h>
#include <mend/fortran.h>
#include <stdlib.h>
#include <string.h>

#include "flow.h"

struct named_site {
    mend_site site;
    struct named_site *next;
};

/* Within a process, an address identifies a safe point; across runs, a name does. Only the thread that passes safe
 * points makes them, and they live as long as the process. */
static mend_site *site_of(const char *name)
{
    static struct named_site *sites;
    for (struct named_site *s = sites; s; s = s->next)
        if (strcmp(s->site.function, name) == 0)
            return &s->site;
    struct named_site *s = calloc(1, sizeof *s);
    char *copy = strdup(name);
    if (!s || !copy) {
        free(s);
        free(copy);
        return NULL;
    }
    s->site = (mend_site){.size = sizeof(mend_site), .file = "loop", .function = copy};
    s->next = sites;
    sites = s;
    return &s->site;
}

/* Consecutive loops have the same frame; only the current loop can be a target of jumps. */
static void forget_others(const mend_site *site, const void *frame)
{
    for (safe_point *p = flow_of(NULL)->safe_points; p; p = p->next)
        if (p->site != site && p->frame == frame)
            p->frame = NULL;
}

void mend_flow_loop_fortran(const char *name, mend_fortran_body *body)
{
    mend_site *site = site_of(name);
    if (!site) {
        mend_flow_checked(mend_fail(MEND_ERR_NO_MEMORY, "no memory for the loop %s", name));
        return;
    }
    forget_others(site, __builtin_frame_address(0));
    while (mend_flow_arrive(NULL, site, __builtin_frame_address(0),
                            _setjmp(*mend_flow_buffer(NULL))) &&
           body())
        continue;
}
