/* wide/collectives.c - collectives.c once more, with large counts: for a library that has them. */
#include "conform.h"
#ifdef MPICH
#include "wide/wide.h"
#define part_collectives part_wide_collectives
#include "../collectives.c"
#endif
