/* mpi/windows.c - the lower half of windows (table/services.def); built once per MPI library. */
#include "online/online.h"
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include "mpi/services.h"
#include "mpi/twin.h"

#define WIN(h)  ((MPI_Win)(h))
#define COMM(h) ((MPI_Comm)(h))

static int win_ready(int rc, MPI_Win w, handle_t *out)
{
    if (!rc) {
        MPI_Win_set_errhandler(w, MPI_ERRORS_RETURN);
        *out = (handle_t)w;
        rc = DEAF("Win_lock_all", MPI_Win_lock_all(MPI_MODE_NOCHECK, w));
    }
    online.windows_open -= rc != 0;
    return error_out(rc);
}
int lower_win_create(void *base, long size, int unit, handle_t comm, handle_t *out)
{
    MPI_Win w = MPI_WIN_NULL;
    windows_allowed();
    online.windows_open++; /* before the call: a half-made window cannot be repaired either */
    int rc = DEAF("Win_create", MPI_Win_create(base, size, unit, MPI_INFO_NULL, COMM(comm), &w));
    return win_ready(rc, w, out);
}
int lower_win_create_dynamic(handle_t comm, handle_t *out)
{
    MPI_Win w = MPI_WIN_NULL;
    windows_allowed();
    online.windows_open++;
    int rc = DEAF("Win_create_dynamic", MPI_Win_create_dynamic(MPI_INFO_NULL, COMM(comm), &w));
    return win_ready(rc, w, out);
}
/* --- memory of the library --- */

/* Allocates so that the memory of each rank begins at a page, and shares its last page with nobody. */
#ifdef OPEN_MPI
static int allocate(long size, int unit, MPI_Comm comm, void **base, MPI_Win *w)
{
    char page[24];
    MPI_Info whole_pages;
    snprintf(page, sizeof page, "%zu", ground.page_size);
    MPI_Info_create(&whole_pages);
    MPI_Info_set(whole_pages, "alloc_shared_noncontig", "true");
    MPI_Info_set(whole_pages, "mpi_minimum_memory_alignment", page);
    int rc = MPI_Win_allocate(size, unit, whole_pages, comm, base, w);
    MPI_Info_free(&whole_pages);
    return rc;
}
#else
/* With that hint, or if all sizes are whole pages, MPICH looks for a random address that is free on all
 * ranks. It may lie in the upper half's part: so the last rank asks for one byte more. */
static int allocate(long size, int unit, MPI_Comm comm, void **base, MPI_Win *w)
{
    int rank = 0, ranks = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    MPI_Aint pages = (MPI_Aint)ROUND_UP(size, ground.page_size);
    return MPI_Win_allocate(pages + (rank == ranks - 1), unit, MPI_INFO_NULL, comm, base, w);
}
#endif
/* The window that the program asks for.
 *
 *   1. The library allocates.
 *   2. Each rank maps the memory a second time, and puts the program's data there.
 *   3. All learn whether all could. If not, they free the window and expose the memory at the program's address instead,
 *      or fail if one has none.
 *   4. The second mapping moves to the program's address.
 *
 * The third step is a barrier as well: nobody accesses memory that does not have its data yet. A job that loses a rank
 * in any of these steps ends. Jobs that repair themselves never come here: an image in memory needs private pages.
 */
static int allocate_twin(struct twin *t, int unit, int filled, MPI_Comm comm, MPI_Win *w)
{
    enum { MADE, MAPPED, HAVE, FACTS };
    int mine[FACTS] = {0}, all[FACTS] = {0};
    size_t bytes = (size_t)t->size;
    void *second = NULL;
    t->library = NULL;
    int rc = allocate(t->size, unit, comm, &t->library, w);
    mine[MADE] = !rc;
    mine[HAVE] = t->program != NULL;
    if (!rc && bytes)
        second = twin_make(t->library, bytes);
    mine[MAPPED] = !rc && (second || !bytes);
    if (second && filled && t->program)
        memcpy(second, t->program, bytes);
    rc = MPI_Allreduce(mine, all, FACTS, MPI_INT, MPI_MIN, comm);
    t->allocated = !rc && all[MAPPED] && all[HAVE];
    if (second && t->allocated)
        twin_move(second, t->program, bytes);
    else if (second)
        twin_drop(second, bytes);
    if (!t->allocated && all[MADE]) /* what only some ranks have cannot be freed */
        MPI_Win_free(w);
    return rc ? rc : all[HAVE] ? 0 : MPI_ERR_NO_MEM;
}
static int all_have(const struct twin *t, handle_t comm)
{
    int mine = t->program != NULL, all = 0;
    int rc =
        lower.Allreduce(&mine, &all, 1, lower.predef[PRE_MPI_INT], lower.predef[PRE_MPI_MIN], comm);
    return rc ? rc : all ? 0 : error_out(MPI_ERR_NO_MEM);
}
int lower_win_allocate(struct twin *t, int unit, int filled, handle_t comm, handle_t *out)
{
    MPI_Win w = MPI_WIN_NULL;
    t->allocated = 0;
    int rc = ground.recovering ? all_have(t, comm)
                               : error_out(allocate_twin(t, unit, filled, COMM(comm), &w));
    if (rc)
        return rc;
    if (!t->allocated)
        return lower_win_create(t->program, t->size, unit, comm, out);
    online.windows_open++;
    return win_ready(0, w, out);
}
void lower_win_part(const struct twin *t)
{
    if (t->allocated && t->size)
        twin_part(t->library, t->program, (size_t)t->size);
}
void lower_win_join(const struct twin *t)
{
    if (!t->allocated || !t->size)
        return;
    void *second = twin_make(t->library, (size_t)t->size);
    if (!second)
        die("cannot map the memory of a window of %ld bytes again", t->size);
    twin_move(second, t->program, (size_t)t->size);
}
/* A window of n words per rank, for locks. On memory that a library did not allocate itself, it may ask the
 * target's process to act: with more ranks than cores each attempt to lock would wait until that process
 * runs. So the words lie in memory of the library, and start with the values of ours. If the job repairs
 * itself, they are ours, which an image holds. */
int lower_win_lock_words(long *own, int n, handle_t comm, long **words, handle_t *out)
{
    MPI_Win w = MPI_WIN_NULL;
    long bytes = n * (long)sizeof *own;
    if (ground.recovering) {
        *words = own;
        return lower_win_create(own, bytes, sizeof *own, comm, out);
    }
    int rc = MPI_Win_allocate(bytes, sizeof *own, MPI_INFO_NULL, COMM(comm), words, &w);
    if (!rc) {
        memcpy(*words, own, (size_t)bytes);
        rc = MPI_Barrier(COMM(comm)); /* nobody tries before all words are there */
    }
    online.windows_open++;
    return win_ready(rc, w, out);
}

/* --- what is done with windows --- */

int lower_win_attach(handle_t win, void *base, long size)
{
    return error_out(DEAF("Win_attach", MPI_Win_attach(WIN(win), base, size)));
}
int lower_win_detach(handle_t win, const void *base)
{
    return error_out(DEAF("Win_detach", MPI_Win_detach(WIN(win), base)));
}
int lower_win_free(handle_t win)
{
    MPI_Win w = WIN(win);
    int rc = DEAF("Win_unlock_all", MPI_Win_unlock_all(w));
    int rc2 = DEAF("Win_free", MPI_Win_free(&w));
    online.windows_open -= !rc2;
    return error_out(rc ? rc : rc2);
}
int lower_win_flush(int rank, handle_t win)
{
    return error_out(DEAF("Win_flush", MPI_Win_flush(rank, WIN(win))));
}
int lower_win_flush_local(int rank, handle_t win)
{
    return error_out(DEAF("Win_flush_local", MPI_Win_flush_local(rank, WIN(win))));
}
int lower_win_flush_all(handle_t win)
{
    return error_out(DEAF("Win_flush_all", MPI_Win_flush_all(WIN(win))));
}
int lower_win_flush_local_all(handle_t win)
{
    return error_out(DEAF("Win_flush_local_all", MPI_Win_flush_local_all(WIN(win))));
}
int lower_win_sync(handle_t win)
{
    return error_out(DEAF("Win_sync", MPI_Win_sync(WIN(win))));
}
