/* One save.
 *
 * 1. Arrange the views: which bytes, each once.
 * 2. Describe them (meta.c).
 * 3. Give everything to the store as one version. It returns when the program may continue.
 * 4. Remember where to come back to if this version is restored.
 *
 * If a process dies before or in 3, there is no such version, and all go back to the previous one. If it dies after
 * 3, the store says after the repair whether the version is complete everywhere; if not, all go back to the previous
 * one. A save that the store could not do (disk full, still busy) is an event, not the end of the job. The disk is written
 * in the background: what failed there is told at the next save. */
#include <base/event.h>
#include <base/fail.h>
#include <base/fault.h>
#include <base/log.h>
#include <string.h>

#include "flow.h"

static uint64_t total_bytes(const mend_flow_part *parts, int count)
{
    uint64_t sum = 0;
    for (int i = 0; i < count; i++)
        sum += parts[i].bytes;
    return sum;
}

static void remember(mend_flow *f, const safe_point *at)
{
    for (safe_point *p = f->safe_points; p; p = p->next)
        if (p == at) {
            memcpy(p->buffer, f->now, sizeof p->buffer);
            p->has_buffer = true;
        }
}

static void look_back(mend_flow *f)
{
    mend_version_t version;
    int rc = backing_outcome(f, &version);
    if (!rc || rc == MEND_ERR_PEER_FAILED) /* the recovery sees to that */
        return;
    mend_log(MEND_LOG_WARNING, "%s", mend_error_text());
    if (rc == MEND_ERR_DEGRADED)
        return;
    f->saves--;
    f->save_errors++;
    mend_event("flow.save_failed", ev_int("version", version), ev_int("code", rc));
}

int save_version(mend_flow *f, const safe_point *at, int level, int finished)
{
    double begin = mend_now();
    size_t meta_bytes;
    int count = 0;
    mend_version_t version = f->base + f->points + (finished ? 1 : 0);
    MEND_FAULT_POINT(flow_save_before);
    look_back(f);
    int rc = views_arrange(&f->views);
    if (!rc)
        rc = auto_on(f) && !finished ? auto_parts(f, &count) : views_parts(f, &count);
    if (!rc)
        rc = meta_write(f, at, finished, &meta_bytes);
    if (rc)
        return rc;
    if (finished)
        count = 0;
    f->parts[count] = (mend_flow_part){META_REGION, "mend.flow", f->meta_buffer, meta_bytes, 0, 0};
    unsigned levels = finished ? backing_levels(f, false) : plan_levels(f, level);
    rc = f->store.save(f->store.arg, version, f->parts, count + 1, levels);
    MEND_FAULT_POINT(flow_save_after);
    double seconds = mend_now() - begin;
    f->tried = version > f->tried ? version : f->tried;
    f->seconds_saving += seconds;
    if (rc == MEND_ERR_PEER_FAILED)
        return rc;
    f->last_save = mend_now();
    if (rc) {
        f->save_errors++;
        mend_log(finished ? MEND_LOG_INFO : MEND_LOG_WARNING, "version %ld was not saved: %s",
                 version, mend_error_text());
        mend_event("flow.save_failed", ev_int("version", version), ev_int("code", rc));
        return 0;
    }
    f->version = version;
    f->saves++;
    if (at)
        remember(f, at);
    plan_saved(f, level, seconds);
    mend_event("flow.save", ev_int("version", version), ev_int("point", f->points),
               ev_int("bytes", (long long)total_bytes(f->parts, count)), ev_int("levels", levels),
               ev_real("seconds", seconds));
    return 0;
}
