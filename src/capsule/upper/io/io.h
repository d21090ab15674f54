/* io/io.h - MPI-IO. */
#ifndef CAPSULE_IO_H
#define CAPSULE_IO_H
#include "core/core.h"
#pragma GCC visibility push(hidden)

/* --- file.c --- */
struct open_file {
    object *comm;
    char *name;
    int amode, atomic;
    int loosened; /* open below without MPI_MODE_SEQUENTIAL, which forbids to go back to a position */
    long disp;
    object *etype, *filetype;
    char *datarep;
    int split;                            /* a split collective is open */
    struct status split_status;           /* its status */
    long position, shared_position, size; /* as of the latest checkpoint */
};
void files_before_image(void);
void rebind_files(void);

#pragma GCC visibility pop
#endif
