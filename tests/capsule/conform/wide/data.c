/* wide/data.c - data.c once more, with large counts: for a library that has them. */
#include "conform.h"
#ifdef MPICH
#include "wide/wide.h"
#define part_data part_wide_data
#include "../data.c"
#endif
