/* start/start.h - the upper half begins: its addresses, its loader. */
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
#endif
