/* anything - a program that nobody has written: what it does is drawn from a seed.
 *
 *   anything STEPS SEED [FILE]
 *
 * All ranks draw the same steps. Whatever is received is known beforehand and compared as soon as it is there, which
 * may be many steps later; it also goes into a sum that does not depend on the order. Rank 0 prints that sum now and then.
 */
#ifndef ANYTHING_H
#define ANYTHING_H
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PLACES = 8, TYPES = 6, WINDOWS = 4, OPEN = 24 };

/* A communicator, or none for this rank. The first one is the world. */
struct place {
    MPI_Comm comm;
    int inter, side; /* of an inter-communicator: which of both groups we are */
    int n, rank, m; /* own group, own rank in it, remote group (or own, in an intra-communicator) */
    int *members, *peers; /* world ranks of the own and of the remote group */
    int dims;             /* of a Cartesian one; -1: a graph, a ring */
};

/* A type made of ints: where they are in an element is found by packing one. */
struct shape {
    MPI_Datatype type;
    int ints, extent, *map;
};

/* An operation under way: what `in` must be at its end. */
struct work {
    const char *what;
    MPI_Request request[2];
    int requests, count, *in, *want, *out;
    void *extra; /* counts and displacements, which a non-blocking call may read until its end */
    int step, due;
};

extern int me, ranks, step;
extern long failures;
extern uint64_t sum;
extern struct place place[PLACES];
extern struct shape shape[TYPES];

unsigned draw(
    unsigned below); /* the same on all ranks: never after a test of what only this rank has */
unsigned any(unsigned below); /* of this rank alone */
int value(int world, int s, int i);
void *need(size_t n, size_t size);
struct work *begin(const char *what, int count_in, int count_out);
void end_now(struct work *w);      /* completed already: compare */
void end_sometime(struct work *w); /* now or in a later step, in one of MPI's ways */
enum { DUE, ALL };
void finish(int which); /* what is due, or everything */
void fail(const char *what, long got, long wanted);

void change_place(int k);
void make_shape(int k);
void places_end(void);
void message(struct place *p);
void collective(struct place *p);
void collectives_end(void);
void one_sided(void);
void windows_end(void);
void file_step(void);
void file_begin(const char *name);
void file_end(void);
#endif
