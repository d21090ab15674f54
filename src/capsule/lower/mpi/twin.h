/* mpi/twin.h - memory of the MPI library that the program has, too, at another address. */
#ifndef CAPSULE_MPI_TWIN_H
#define CAPSULE_MPI_TWIN_H
#include <stddef.h>

/* The pages of `library`, mapped a second time at some address; NULL where that cannot be (private memory, not
 * whole pages, or an address that belongs to the upper half). */
void *twin_make(void *library, size_t bytes);
void twin_drop(void *twin, size_t bytes);
/* Moves it to `program`, in place of what is mapped there. */
void twin_move(void *twin, void *program, size_t bytes);
/* Puts a private copy of `library` at `program`, in place of its twin. */
void twin_part(const void *library, void *program, size_t bytes);
#endif
