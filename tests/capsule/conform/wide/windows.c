/* wide/windows.c - windows.c once more, with large counts: for a library that has them. */
#include "conform.h"
#ifdef MPICH
#include "wide/wide.h"
#define part_windows part_wide_windows
#include "../windows.c"
#endif
