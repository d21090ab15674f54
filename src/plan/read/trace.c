/* Recorded failures: lines of "TIME LEVEL", and optionally "end TIME". */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <base/fail.h>
#include <mend/plan.h>

#include "read/text.h"

static int grow(mend_plan_trace *trace, size_t *room)
{
    if (trace->count < *room)
        return 0;
    size_t more = *room ? *room * 2 : 256;
    mend_plan_event *events = realloc(trace->events, more * sizeof *events);
    if (!events)
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for %zu failures", more);
    trace->events = events;
    *room = more;
    return 0;
}

static int parse_line(mend_plan_trace *trace, size_t *room, const lines *lines)
{
    const char *at = lines->line;
    double seconds, level;
    double last = trace->count ? trace->events[trace->count - 1].seconds : 0;
    if (trace->seconds > 0)
        return mend_plan_lines_fail(lines, "the trace goes on after its end");
    if (mend_plan_scan_word(&at, "end")) {
        if (!mend_plan_scan_seconds(&at, &seconds) || *at)
            return mend_plan_lines_fail(lines, "this is not 'end TIME'");
        if (seconds < last || seconds <= 0)
            return mend_plan_lines_fail(lines, "the trace ends before its last failure");
        trace->seconds = seconds;
        return 0;
    }
    if (!mend_plan_scan_seconds(&at, &seconds) || !mend_plan_scan_number(&at, &level) || *at)
        return mend_plan_lines_fail(lines, "this is not 'TIME LEVEL'");
    if (seconds < last)
        return mend_plan_lines_fail(lines, "the failure at %.10g s comes after one at %.10g s",
                                    seconds, last);
    if (level != rint(level) || level < 1 || level > MEND_PLAN_LEVELS)
        return mend_plan_lines_fail(lines, "the level must be a whole number from 1 to %d",
                                    MEND_PLAN_LEVELS);
    int code = grow(trace, room);
    if (!code)
        trace->events[trace->count++] = (mend_plan_event){seconds, (int)level};
    return code;
}

int mend_plan_trace_parse(mend_plan_trace *trace, const char *name, const char *text, size_t bytes)
{
    lines lines;
    size_t room = 0;
    int more = 0, code = 0;
    memset(trace, 0, sizeof *trace);
    mend_plan_lines_start(&lines, name, text, bytes);
    while (!code && (more = mend_plan_lines_next(&lines)) > 0)
        if (*lines.line)
            code = parse_line(trace, &room, &lines);
    if (!code && more < 0)
        code = more;
    if (!code && !(trace->seconds > 0)) {
        /* As if the last gap had the mean length. */
        if (trace->count)
            trace->seconds = trace->events[trace->count - 1].seconds * ((double)trace->count + 1) /
                             (double)trace->count;
        if (!(trace->seconds > 0))
            code = mend_plan_lines_fail(&lines, "the trace has no length; add 'end TIME'");
    }
    if (code)
        mend_plan_trace_free(trace);
    return code;
}

int mend_plan_trace_read(mend_plan_trace *trace, const char *path)
{
    char *text;
    size_t bytes;
    memset(trace, 0, sizeof *trace);
    int code = mend_plan_slurp(path, (size_t)256 << 20, &text, &bytes);
    if (code)
        return code;
    code = mend_plan_trace_parse(trace, path, text, bytes);
    free(text);
    return code;
}

void mend_plan_trace_free(mend_plan_trace *trace)
{
    free(trace->events);
    memset(trace, 0, sizeof *trace);
}
