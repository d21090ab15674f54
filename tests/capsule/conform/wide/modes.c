/* wide/modes.c - modes.c once more, with large counts: for a library that has them. */
#include "conform.h"
#ifdef MPICH
#include "wide/wide.h"
#define part_modes part_wide_modes
#include "../modes.c"
#endif
