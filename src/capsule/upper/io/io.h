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
    const char *lost; /* why it could not be opened again: to use it ends the job */
    long disp;
    object *etype, *filetype;
    char *datarep;
    int split;                            /* a split collective is open */
    struct status split_status;           /* its status */
    long position, shared_position, size; /* as of the latest checkpoint */
};
/* Whether the program's library refuses MPI_`function` on this file: MPI_ERR_UNSUPPORTED_OPERATION, or 0. */
int file_refuses(const object *file, const char *function);
void files_before_image(void);
void rebind_files(void);

#pragma GCC visibility pop
#endif
