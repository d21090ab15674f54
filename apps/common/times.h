/* "--events PATH": where the time of rank 0 went, as a line among Mend's own events, so that an
 * evaluation has one source for all its numbers. The plain programs write it, too. */
#ifndef MEND_APPS_TIMES_H
#define MEND_APPS_TIMES_H

#include <stdarg.h>
#include <stdio.h>
#include <time.h>

/* format: the fields, as JSON. */
__attribute__((format(printf, 3, 4))) static inline void times_event(const char *path,
                                                                     const char *event,
                                                                     const char *format, ...)
{
    struct timespec t;
    va_list list;
    FILE *to = path[0] ? fopen(path, "a") : NULL;
    if (!to)
        return;
    clock_gettime(CLOCK_REALTIME, &t);
    fprintf(to, "{\"mend\":1,\"t\":%.6f,\"rank\":0,\"event\":\"%s\",",
            (double)t.tv_sec + 1e-9 * (double)t.tv_nsec, event);
    va_start(list, format);
    vfprintf(to, format, list);
    va_end(list);
    fputs("}\n", to);
    fclose(to);
}

#endif
