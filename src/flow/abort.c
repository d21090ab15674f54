/* Ending the job. With fault tolerance, Open MPI's launcher hangs in 2 of 8 cases when several ranks call MPI_Abort
 * at the same moment, and never when one does. So the ranks take turns, and the first one ends the others while they
 * wait. */
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "flow.h"

enum { TURN_MS = 200, TURNS = 25 };

void flow_abort(MPI_Comm comm)
{
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    long wait_ms = (long)TURN_MS * (rank < TURNS ? rank : TURNS);
    nanosleep(&(struct timespec){wait_ms / 1000, wait_ms % 1000 * 1000000}, NULL);
    MPI_Abort(comm == MPI_COMM_NULL ? MPI_COMM_WORLD : comm, 1);
    _exit(1);
}
