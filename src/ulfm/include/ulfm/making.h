/* The steps in which Open MPI makes a communicator (making.c). */
#ifndef ULFM_MAKING_H
#define ULFM_MAKING_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    MAKING_FAILED = -1
}; /* the library's OMPI_ERROR: the call that makes the communicator fails */

/* Does this library have the functions that we need? If not, use none of the others here. */
bool mend_making_known(void);

typedef int mend_making_step(MPI_Request request);

/* The library is about to append `step` (NULL: none) to a request: it runs when all `parts` are complete. Returns 0, or
 * 1 if this has appended something else in its place. */
typedef int mend_making_see(MPI_Request request, mend_making_step *step, MPI_Request *parts,
                            int count, uint32_t flags);

/* Be shown each step that is appended from now on. NULL: not any more. Returns who was shown them until now. */
mend_making_see *mend_making_show(mend_making_see *see);

/* Append a step. */
int mend_making_append(MPI_Request request, mend_making_step *step, MPI_Request *parts, int count,
                       uint32_t flags);

/* A call that makes a communicator and fails may leave the library waiting for its turn to choose a number: end that
 * turn. Local. */
void mend_making_end_turn(void);

/* MPI_Comm_create_group, also on a communicator with dead members that are not in the group. */
int mend_making_of_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *made);

#endif
