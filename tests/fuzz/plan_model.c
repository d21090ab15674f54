/* Any bytes as a model: refused with a sentence, or a model that can be used. Plans are not made
 * here: one may take a second, and thousands of inputs in that second find more. */
#include <mend/plan.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    mend_plan_model model;
    int code = mend_plan_model_parse(&model, "fuzz", (const char *)data, size);
    if (code) {
        if (code != MEND_ERR_CONFIG || strncmp(mend_error_text(), "fuzz:", 5))
            abort();
        return 0;
    }
    if (mend_plan_model_check(&model))
        abort(); /* what was read must be usable */
    double most = model.cores > 0 ? model.cores : model.max_cores;
    mend_plan_speedup_at(&model.speedup, most);
    mend_plan_load(&model, most);
    return 0;
}
