/* border/services.h - further functions of the lower half that no row of the table describes
 * (lower/mpi: services.c, windows.c): buffers, windows, files. Continues LOWER_SERVICES of border/border.h.
 */
#ifndef CAPSULE_BORDER_SERVICES_H
#define CAPSULE_BORDER_SERVICES_H
#include "border/tool.h"

/* Memory of MPI_Win_allocate. Where the library's own memory can be mapped at `program`, too, both are the same pages. */
struct twin {
    void *program, *library;
    long size;
    int allocated; /* by the library, on all ranks; else it was given what is at `program` */
};

// clang-format off
#define LOWER_SERVICES_MORE(X) \
    X(int, Buffer_attach, (void *buf, int size)) \
    X(int, Buffer_detach, (void)) \
    X(int, comm_idup, (handle_t comm, handle_t *out, handle_t *request)) \
    X(int, comm_remote_size, (handle_t comm, int *size)) \
    X(int, comm_remote_ranks, (handle_t comm, int *world_ranks)) \
    X(int, tool, (int function, long *arguments)) \
    X(int, type_bytes, (handle_t type, long *bytes)) \
    X(int, elements, (handle_t type, size_t bytes, long *count)) \
    /* windows: always inside an access epoch to everybody, see upper/windows/window.c */ \
    X(int, win_create, (void *base, long size, int unit, handle_t comm, handle_t *out)) \
    X(int, win_allocate, (struct twin *t, int unit, int filled, handle_t comm, handle_t *out)) \
    X(void, win_part, (const struct twin *t)) /* for an image: a private copy at `program` */ \
    X(void, win_join, (const struct twin *t)) \
    X(int, win_create_dynamic, (handle_t comm, handle_t *out)) \
    X(int, win_lock_words, (long *own, handle_t comm, long **word, handle_t *out)) \
    X(int, win_attach, (handle_t win, void *base, long size)) \
    X(int, win_detach, (handle_t win, const void *base)) \
    X(int, win_free, (handle_t win)) \
    X(int, win_flush, (int rank, handle_t win)) \
    X(int, win_flush_local, (int rank, handle_t win)) \
    X(int, win_flush_all, (handle_t win)) \
    X(int, win_flush_local_all, (handle_t win)) \
    X(int, win_sync, (handle_t win)) \
    X(int, file_open, (handle_t comm, const char *name, int amode, int n_words, char *const *words, handle_t *out)) \
    X(int, file_close, (handle_t file)) \
    X(int, file_delete, (const char *name)) \
    X(int, file_set_view, (handle_t file, long disp, handle_t etype, handle_t filetype, const char *datarep))
// clang-format on
#endif
