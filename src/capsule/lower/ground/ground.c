/* ground.c - the last message, the clock, checked allocation. */
#include "ground/ground.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

struct ground ground;

void die(const char *format, ...)
{
    char text[2 * PATH_MAX + 1024]; /* two paths, and what is wrong with them */
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    fprintf(stderr, "mend: %s\n", text);
    /* Open MPI's launcher ends a job at the first nonzero exit code and drops output that it has not read
     * yet. */
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
