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
    long disp;
    object *etype, *filetype;
    char *datarep;
    int split; /* a split collective is open: its status */
    struct status split_status;
    long position, shared_position, size; /* filled at a checkpoint */
};
void files_before_image(void);
void rebind_files(void);

#pragma GCC visibility pop
#endif
