/* Any bytes as a trace of failures: refused with a sentence, or ordered, with levels in range. */
#include <mend/plan.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "read/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    mend_plan_trace trace;
    if (mend_plan_trace_parse(&trace, "fuzz", (const char *)data, size)) {
        if (strncmp(mend_error_text(), "fuzz:", 5))
            abort();
    } else {
        for (size_t i = 0; i < trace.count; i++)
            if (trace.events[i].level < 1 || trace.events[i].level > MEND_PLAN_LEVELS ||
                trace.events[i].seconds > trace.seconds ||
                (i && trace.events[i].seconds < trace.events[i - 1].seconds))
                abort();
        mend_plan_trace_free(&trace);
    }
    columns columns; /* files of measurements are the third kind that is read */
    if (!mend_plan_columns_parse(&columns, "fuzz", (const char *)data, size, 2)) {
        mend_plan_speedup speedup;
        mend_plan_cost cost;
        mend_plan_fit_cost(&cost, columns.first, columns.second, columns.count);
        mend_plan_speedup_table(&speedup, columns.first, columns.second, columns.count);
        mend_plan_columns_free(&columns);
    }
    return 0;
}
