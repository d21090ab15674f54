/* mpi/twin.h - memory of the MPI library that the program also has, at another address. */
#ifndef CAPSULE_MPI_TWIN_H
#define CAPSULE_MPI_TWIN_H
#include <stddef.h>

/* Maps the pages of `library` a second time, at some address; NULL if that is impossible (private memory, not
 * whole pages, or an address that belongs to the upper half). */
void *twin_make(void *library, size_t bytes);
void twin_drop(void *twin, size_t bytes);
/* Moves it to `program`, in place of what is mapped there. */
void twin_move(void *twin, void *program, size_t bytes);
/* Puts a private copy of `library` at `program`, in place of its twin. */
void twin_part(const void *library, void *program, size_t bytes);
#endif
