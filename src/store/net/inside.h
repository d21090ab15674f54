/* Shared by the files of the net, the only ones of this layer besides store/open.c that call MPI. */
#ifndef STORE_NET_INSIDE_H
#define STORE_NET_INSIDE_H

#include "net/net.h"

#include <mpi.h>
#include <stdatomic.h>
#include <ulfm/ulfm.h>

enum { TAG_COLLECTIVE = 1, TAG_NEVER = 2 };

struct requests {
    MPI_Request *list;
    int count, room;
};

struct net {
    bool alone, threads;
    int rank, size;
    MPI_Comm comm[2];
    atomic_bool broken, urgent;
    struct requests posted[2];
};

/* MPI_Test, but never while another thread is inside an agreement. */
int net_test(MPI_Request *request, int *flag);
/* MEND_ERR_PEER_FAILED if the net is broken. */
int net_check(struct net *net);
/* Turn what MPI said into a code. The net is broken after that. */
int net_failed(struct net *net, int mpi_code);

#endif
