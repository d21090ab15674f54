/* How long a program goes on: its argument is a number of steps, or the name of a file. Then it goes on until that file
 * is there, so that a test need not know how fast a machine is. All ranks end after the same step, whose number the
 * program prints; run with that number as its argument, it gives the same output. */
#ifndef UNTIL_H
#define UNTIL_H

#include <ctype.h>
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

struct until {
    const char *file; /* NULL: so many steps */
    int steps;        /* done, when it has ended */
};

static inline struct until until(const char *word, int steps_without)
{
    if (!word)
        return (struct until){NULL, steps_without};
    if (isdigit((unsigned char)word[0]))
        return (struct until){NULL, atoi(word)};
    return (struct until){word, 0};
}

/* Collective: whether step `s` is to be done. Rank 0 looks, now and then. */
static inline int until_more(struct until *u, int s)
{
    if (!u->file)
        return s < u->steps;
    if (s == 0 || s % 50)
        return 1;
    int enough = access(u->file, F_OK) == 0;
    MPI_Bcast(&enough, 1, MPI_INT, 0, MPI_COMM_WORLD);
    u->steps = s;
    return !enough;
}

#endif
