/* Meeting on a channel: everybody who lives has come and knows the same deaths (arrive.c). */
#ifndef ULFM_ARRIVE_H
#define ULFM_ARRIVE_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

enum { MEMBERS_MAX = 512 }; /* everybody sends to everybody */

struct mend_arrival {
    MPI_Comm channel; /* errors are returned */
    int size, rank;
    int32_t round;   /* attempt */
    int32_t adopted; /* the last one that this process has acted upon; -1: none */
    int32_t asked;   /* has anybody acted upon this one? -1: no question */
    double seconds;  /* the news of a death that others know may take so long */
};

enum mend_arrived { ARRIVED_ALL, ARRIVED_REVOKED, ARRIVED_NO_MEMORY };

/* Wait, without a limit, for the word of all who live: they may compute. Collective over the living. *was_adopted
 * answers `asked`. */
enum mend_arrived mend_arrive(const struct mend_arrival *arrival, bool *was_adopted);

#endif
