/* Meeting on a channel: all living processes have come and know of the same deaths (arrive.c). */
#ifndef ULFM_ARRIVE_H
#define ULFM_ARRIVE_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

enum { MEMBERS_MAX = 512 }; /* every process sends to every other */

struct mend_arrival {
    MPI_Comm channel; /* errors are returned */
    int size, rank;
    int32_t round;   /* the attempt */
    int32_t adopted; /* the last attempt that this process adopted; -1: none */
    int32_t asked;   /* has anybody adopted this attempt? -1: no question */
    double seconds;  /* how long to wait for notices of deaths that others know of */
};

enum mend_arrived { ARRIVED_ALL, ARRIVED_REVOKED, ARRIVED_NO_MEMORY };

/* Wait, without a limit, until all living processes have come: they may be computing. Collective over the living.
 * *was_adopted answers `asked`. */
enum mend_arrived mend_arrive(const struct mend_arrival *arrival, bool *was_adopted);

#endif
