/* What a plan means for Mend: the options of `mend run` and the lines of mend.conf. */
#ifndef MEND_TOOL_PLAN_LINES_H
#define MEND_TOOL_PLAN_LINES_H

#include "planning.h"

void plan_lines_text(const planning *planning);
/* {"every":…,"levels":…,"expected_seconds":…}; NULL: there are none. */
json_t *plan_lines_json(const planning *planning);

#endif
