/* start/start.h - the start of the upper half: its addresses, its loader, its pages. */
#ifndef CAPSULE_START_H
#define CAPSULE_START_H
#include "ground/ground.h"

/* --- steer.c --- */
struct steering {        /* what a restart must know */
    uintptr_t cursor;    /* next address to hand out */
    uintptr_t break_now; /* emulated program break */
};
extern struct steering steering;
long arena_mmap(size_t length, int prot, int flags, int fd, long offset);
void steering_install(void);

/* --- load.c --- */
void load_remember_environment(void); /* call it before MPI_Init, if that comes first */
void load_and_enter(int argc, char **argv) __attribute__((noreturn));

/* --- ahead.c: pages made before they are needed --- */
void ahead_reserve(size_t bytes); /* this many shall be ready */
int ahead_more(void);             /* makes a part of them; 0: all are ready */
/* Gives ready pages to the private anonymous mapping at `to`, which nobody has written to. 0: there are not
 * enough, and the mapping stays as it is. */
int ahead_take(void *to, size_t bytes);
void ahead_free(void); /* the rest of them */

/* --- discard.c: pages freed later --- */
/* Private memory becomes zero now; its pages are freed sooner or later. 0: failed. */
int discard(uintptr_t from, size_t length);
void discard_free(void); /* frees them all while the caller continues */
void discard_wait(void); /* until that is done */
#endif
