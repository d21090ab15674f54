/* What is saved and what is not, view by view. */
#include <base/event.h>
#include <base/fail.h>
#include <errno.h>
#include <string.h>

#include "flow.h"

static const char *fate_text(const view *v)
{
    switch (v->fate) {
    case FATE_SAVED: return "saved";
    case FATE_PART: return "skipped (saved with another)";
    case FATE_ALIAS: return "alias";
    case FATE_SCRATCH: return "scratch";
    case FATE_CONSTANT: return "constant";
    case FATE_DEAD: return "dead (found)";
    case FATE_FOUND: return "constant (found)";
    }
    return "?";
}

static const char *other(const view *v)
{
    return v->fate == FATE_PART && v->leader ? v->leader->label : v->alias_of;
}

int mend_flow_report(const mend_flow *flow, FILE *to)
{
    mend_flow *f = flow_of((mend_flow *)flow);
    size_t saved = 0, all = 0;
    if (!to)
        to = stderr;
    int rc = views_arrange(&f->views);
    if (rc)
        return rc;
    fprintf(to, "%-24s %14s  %s\n", "view", "bytes", "what Mend does with it");
    if (auto_on(f))
        auto_report(to);
    for (int i = 0; i < f->views.count; i++) {
        const view *v = f->views.all[i];
        const char *with = other(v);
        fprintf(to, "%-24s %14zu  %s%s%s\n", v->label, view_bytes(v), fate_text(v),
                with[0] ? ": " : "", with);
        all += view_bytes(v);
        saved += v->fate == FATE_SAVED ? v->span_bytes : 0;
        mend_event("flow.view", ev_str("label", v->label),
                   ev_int("bytes", (long long)view_bytes(v)), ev_str("fate", fate_text(v)));
    }
    fprintf(to, "%-24s %14zu  of %zu named (%.1f %%)\n", "saved in a version", saved, all,
            all ? 100.0 * (double)saved / (double)all : 0.0);
    fprintf(to, "%ld saves in %.6f s, %ld failed; %ld restores in %.6f s; %d repairs\n", f->saves,
            f->seconds_saving, f->save_errors, f->restores, f->seconds_restoring, f->repairs);
    return 0;
}

int report_to_file(mend_flow *f)
{
    if (strcmp(f->report, "-") == 0)
        return mend_flow_report(f, stderr);
    FILE *to = fopen(f->report, "w");
    if (!to)
        return mend_fail(MEND_ERR_IO, "cannot write the report %s: %s", f->report, strerror(errno));
    int rc = mend_flow_report(f, to);
    fclose(to);
    return rc;
}
