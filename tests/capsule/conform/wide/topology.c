/* wide/topology.c - topology.c once more, with large counts: for a library that has them. */
#include "conform.h"
#ifdef MPICH
#include "wide/wide.h"
#define part_topology part_wide_topology
#include "../topology.c"
#endif
