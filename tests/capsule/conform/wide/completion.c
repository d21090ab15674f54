/* wide/completion.c - completion.c once more, with large counts: for a library that has them. */
#include "conform.h"
#ifdef MPICH
#include "wide/wide.h"
#define part_completion part_wide_completion
#include "../completion.c"
#endif
