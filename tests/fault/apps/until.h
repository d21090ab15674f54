/* How long a program goes on: its argument is a number of steps, or the name of a file. Then it goes on until that file
 * is there, so that a test need not know how fast a machine is. All ranks end after the same step, whose number the
 * program prints; run with that number as its argument, it gives the same output. The file may hold a number: at least
 * so many steps, because output that shows them has been seen. */
#ifndef UNTIL_H
#define UNTIL_H

#include <ctype.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

struct until {
    const char *file; /* NULL: so many steps */
    int steps;        /* done, when it has ended */
    int every;        /* so many steps it looks for the file */
};

static inline struct until until(const char *word, int steps_without)
{
    if (!word)
        return (struct until){NULL, steps_without, 0};
    if (isdigit((unsigned char)word[0]))
        return (struct until){NULL, atoi(word), 0};
    return (struct until){word, 0, 50};
}

/* Collective: whether step `s` is to be done. Rank 0 looks, now and then. */
static inline int until_more(struct until *u, int s)
{
    if (!u->file)
        return s < u->steps;
    if (s == 0 || s % u->every)
        return 1;
    int seen = 0;
    FILE *f = fopen(u->file, "r");
    int enough = f && (fscanf(f, "%d", &seen) != 1 || s > seen);
    if (f)
        fclose(f);
    MPI_Bcast(&enough, 1, MPI_INT, 0, MPI_COMM_WORLD);
    u->steps = s;
    return !enough;
}

#endif
