/* shared.c - the memory of MPI_Win_allocate_shared: one file in /dev/shm that all ranks of the window
 * map. An image cannot hold a shared mapping. So during a checkpoint each rank copies its own part
 * into private memory and unmaps the file. Afterwards (and after a restart) the ranks map a new file
 * at the same addresses and fill it again.
 */
#include "windows/windows.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct segment {
    int n;
    long *sizes, *offsets;
    int *units;
    long total;
    char *map;   /* address of the whole segment here, for the life of the window */
    char *saved; /* our part, during a checkpoint */
};
enum { PAGE = 65536 }; /* the largest page size of any supported machine */

static int shm_file(const char *name, int flags) /* not open(): the file is ours, see os/files.c */
{
    return (int)raw_syscall(SYS_openat, AT_FDCWD, (long)name,
                            O_RDWR | O_NOFOLLOW | O_CLOEXEC | flags, 0600, 0, 0);
}

/* Rank 0 creates the file and broadcasts its name, all ranks map it, and rank 0 unlinks it. This calls
 * the lower half directly: after a checkpoint it runs while nothing counts collectives. */
static int map_file(object *comm, struct segment *s, char *place)
{
    static int count;
    char name[64] = "";
    int rank = comm->comm.rank, fd = -1, ok, all;
    if (rank == 0) {
        do { /* a process that died may have left a file of this name */
            snprintf(name, sizeof name, "/dev/shm/mend-%d-%d-%d", (int)getpid(), upper.rank,
                     count++);
            fd = shm_file(name, O_CREAT | O_EXCL);
        } while (fd == -EEXIST);
        if (fd >= 0 && posix_fallocate(fd, 0, s->total)) {
            unlink(name);
            close(fd);
            fd = -1;
        }
        if (fd < 0)
            name[0] = 0;
    }
    int rc = LOWER(Bcast, name, sizeof name, TYPE_BYTE->real, 0, comm->real);
    if (!rc && name[0] && rank)
        fd = shm_file(name, 0);
    ok = fd >= 0 && name[0];
    if (ok) {
        s->map = mmap(place, s->total, PROT_READ | PROT_WRITE, MAP_SHARED | (place ? MAP_FIXED : 0),
                      fd, 0);
        ok = s->map != MAP_FAILED;
        if (!ok)
            s->map = NULL;
    }
    if (!rc)
        rc = LOWER(Allreduce, &ok, &all, 1, predef[PRE_MPI_INT]->real, predef[PRE_MPI_MIN]->real,
                   comm->real);
    if (rank == 0 && name[0])
        unlink(name);
    if (fd >= 0)
        close(fd);
    return rc ? rc : all ? 0 : NEUTRAL_MPI_ERR_RMA_SHARED;
}
int segment_create(object *comm, long size, int unit, struct window *w)
{
    struct segment *s = need(calloc(1, sizeof *s));
    int n = s->n = comm->comm.size;
    s->sizes = need(malloc(n * sizeof(long)));
    s->offsets = need(malloc(n * sizeof(long)));
    s->units = need(malloc(n * sizeof(int)));
    object *l = predef[PRE_MPI_LONG];
    long mine[] = {size, unit}, *all = need(malloc(2 * (size_t)n * sizeof *all));
    int rc = core_Allgather(mine, 2, l, all, 2, l, comm);
    for (int k = 0; k < n && !rc; k++) { /* contiguous, even with the hint alloc_shared_noncontig */
        s->sizes[k] = all[2 * k];
        s->units[k] = (int)all[2 * k + 1];
        s->offsets[k] = s->total;
        s->total += s->sizes[k];
    }
    free(all);
    s->total = (s->total + PAGE - 1) / PAGE * PAGE + (s->total == 0) * PAGE;
    w->segment = s;
    int entered =
        exclusive_enter(comm, &w->gate); /* make() in window.c leaves it, also after an error */
    if (!rc)
        rc = entered ? entered : map_file(comm, s, NULL);
    if (rc) {
        segment_free(w);
        return rc;
    }
    w->base = s->map + s->offsets[comm->comm.rank];
    return 0;
}
void segment_free(struct window *w)
{
    struct segment *s = w->segment;
    if (!s)
        return;
    if (s->map)
        munmap(s->map, s->total);
    free(s->sizes);
    free(s->offsets);
    free(s->units);
    free(s);
    w->segment = NULL;
}
int segment_query(struct window *w, int rank, long *size, int *unit, void **base)
{
    struct segment *s = w->segment;
    if (rank == NEUTRAL_PROC_NULL) /* means the lowest rank with any memory */
        for (rank = 0; rank < s->n - 1 && !s->sizes[rank]; rank++)
            ;
    if (rank < 0 || rank >= s->n)
        return NEUTRAL_MPI_ERR_RANK;
    *size = s->sizes[rank];
    *unit = s->units[rank];
    *base = s->map + s->offsets[rank];
    return 0;
}
void segment_save(struct window *w)
{
    struct segment *s = w->segment;
    if (!s)
        return;
    s->saved = keep_alloc(w->size + 1); /* the program may be inside malloc */
    memcpy(s->saved, w->base, w->size);
    /* Reserve the addresses, so that nothing else is mapped there. If this fails, the file stays mapped. */
    void *place = mmap(s->map, s->total, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    (void)place;
}
int segment_restore(struct window *w, int resumed)
{
    struct segment *s = w->segment;
    (void)resumed;
    if (!s)
        return 0;
    int rc = map_file(w->comm, s, s->map);
    if (!rc)
        memcpy(w->base, s->saved, w->size);
    keep_free(s->saved);
    s->saved = NULL;
    if (!rc)
        rc = LOWER(Barrier, w->comm->real);
    return rc;
}
