/* mend run --metrics FILE. */
#include "follow.h"
#include "tool.h"

#include <base/event.h>
#include <mend/error.h>

#include <stdio.h>
#include <stdlib.h>

void follow_metrics(struct run_follower *f, bool last)
{
    enum { PERIOD = 10 }; /* seconds; exporters are asked every 15 or so */
    double now = mend_now();
    if (!f->job->metrics || (!last && f->metrics && now - f->metrics_at < PERIOD))
        return;
    if (!f->metrics) {
        f->metrics = tool_need(calloc(1, sizeof *f->metrics));
        snprintf(f->metrics->dir, sizeof f->metrics->dir, "%s", f->job->dir);
    }
    f->metrics_at = now;
    if (metrics_update(f->metrics, f->job->metrics)) {
        fprintf(stderr, "mend: WARNING: metrics are no longer written: %s\n", mend_error_text());
        f->job->metrics = NULL;
    }
    if (last) {
        free(f->metrics);
        f->metrics = NULL;
    }
}
