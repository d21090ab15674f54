/* border/services.h - types of the services in table/services.def. */
#ifndef CAPSULE_BORDER_SERVICES_H
#define CAPSULE_BORDER_SERVICES_H
#include "border/tool.h"

/* Memory of MPI_Win_allocate. Where the library's memory can also be mapped at `program`, both are the same pages. */
struct twin {
    void *program, *library;
    long size;
    int allocated; /* by the library, on all ranks; else the library uses the memory at `program` */
};

enum hints_of { HINTS_OF_COMM, HINTS_OF_WIN, HINTS_OF_FILE, HINTS_OF_ENV };
#endif
