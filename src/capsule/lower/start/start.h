/* start/start.h - the upper half begins: its addresses, its loader, its pages. */
#ifndef CAPSULE_START_H
#define CAPSULE_START_H
#include "ground/ground.h"

/* --- steer.c --- */
struct steering {        /* what a restart must know of it */
    uintptr_t cursor;    /* next address to hand out */
    uintptr_t break_now; /* emulated program break */
};
extern struct steering steering;
long arena_mmap(size_t length, int prot, int flags, int fd, long offset);
void steering_install(void);

/* --- load.c --- */
void load_remember_environment(void); /* before MPI_Init, if that comes first */
void load_and_enter(int argc, char **argv) __attribute__((noreturn));

/* --- ahead.c: pages made before they are needed --- */
void ahead_reserve(size_t bytes); /* so many shall be ready */
int ahead_more(void);             /* makes a part of them; 0: all are there */
/* The private anonymous mapping at `to`, which nobody has written to, gets pages that are ready. 0: there are not so
 * many, and it stays as it is. */
int ahead_take(void *to, size_t bytes);
void ahead_free(void); /* those that are left */

/* --- discard.c: pages given back later --- */
/* Private memory becomes zero, and its pages free, sooner or later. 0: it could not be done. */
int discard(uintptr_t from, size_t length);
void discard_free(void); /* all of it, meanwhile the caller goes on */
void discard_wait(void); /* that is done */
#endif
