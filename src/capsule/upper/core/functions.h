/* core/functions.h - core_Name() for each row of the table, and for functions without a row. */
#ifndef CAPSULE_CORE_FUNCTIONS_H
#define CAPSULE_CORE_FUNCTIONS_H
#include "core/object.h"
#pragma GCC visibility push(hidden)

#define OBJECT                           struct object *
#define FUNCTION(class, Name, name, ...) int core_##Name(LIST(PARAM, __VA_ARGS__));
#include "table/functions.def"
#undef FUNCTION
#undef OBJECT
int core_Init_thread(int required, int *provided);
int core_Finalize(void);
double core_Wtime(void);
int core_Op_create(void *fn, int commute, int fortran, object **op);
enum { ATTR_TAG_UB, ATTR_HOST, ATTR_IO, ATTR_WTIME_IS_GLOBAL };

#pragma GCC visibility pop
#endif
