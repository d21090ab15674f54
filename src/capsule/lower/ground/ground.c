/* ground.c - words at the end, time, the page. */
#include "ground/ground.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

struct ground ground;

void die(const char *format, ...)
{
    char text[2048];
    va_list list;
    va_start(list, format);
    int n = vsnprintf(text, sizeof text - 2, format, list);
    va_end(list);
    n = n<0 ? 0 : n>(int) sizeof text - 2 ? (int)sizeof text - 2 : n;
    text[n] = '\n';
    fprintf(stderr, "mend: %.*s", n + 1, text);
    /* Open MPI's launcher ends a job at the first code that is not 0, and drops what it has not read by then */
    nanosleep(&(struct timespec){0, 300000000}, NULL);
    _exit(1);
}

double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void *need(void *memory)
{
    if (!memory)
        die("no memory is left");
    return memory;
}
