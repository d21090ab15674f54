/* Any bytes as a model: refused with a sentence, or a model that can be planned without harm. */
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
    static const mend_plan_method methods[] = {MEND_PLAN_ALGORITHM1_ONCE, MEND_PLAN_YOUNG};
    for (int i = 0; i < 2; i++) {
        mend_plan plan;
        mend_plan_request request = {.method = methods[i]};
        code = mend_plan_make(&model, &request, &plan);
        if (!code && !(plan.expected.seconds > 0))
            abort();
    }
    return 0;
}
