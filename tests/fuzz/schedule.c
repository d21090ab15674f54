/* Schedules of `mend chaos`: any text is a plan in the order of time whose faults can be carried out, or refused with
 * a sentence that names a line that exists. */
#include "../../tools/mend/chaos/chaos.h"

#include <base/fail.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check_fault(const struct chaos_fault *f)
{
    if (!(f->at >= 0) || !isfinite(f->at) || !(f->lasts >= 0) || f->kind >= CHAOS_KINDS ||
        f->count < 1 || f->count > CHAOS_TARGETS || f->targets < 0 || f->targets > CHAOS_TARGETS)
        abort();
    for (int i = 0; i < f->targets; i++)
        if (f->target[i] < 0)
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = 0;
    int lines = 1, line = 0;
    for (const char *p = text; *p; p++)
        lines += *p == '\n' || *p == ';';
    struct chaos_plan plan = {0};
    int rc = chaos_plan_schedule(&plan, text);
    if (rc &&
        (sscanf(mend_error_text(), "schedule line %d:", &line) != 1 || line < 1 || line > lines))
        abort();
    for (int i = 0; !rc && i < plan.count; i++) {
        check_fault(&plan.fault[i]);
        if (i && plan.fault[i].at < plan.fault[i - 1].at)
            abort();
    }
    free(plan.fault);
    free(text);
    return 0;
}
