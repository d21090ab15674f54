/* mpi/windows.c - the lower half of windows (border/services.h); built once per MPI library. */
#include "online/online.h"
#include <mpi.h>
#include <string.h>
#include "mpi/services.h"

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
    online.windows_open++; /* before: one that is half made cannot be repaired either */
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
/* A window of LOCK_WORDS words per rank. MPICH asks the target's process to act on memory that it did not
 * allocate itself: with more ranks than cores each try for a lock would wait until that one runs. So
 * the word lies in memory of the library there, and gets the value of ours.
 */
int lower_win_lock_words(long *own, handle_t comm, long **word, handle_t *out)
{
#ifdef OPEN_MPI
    *word = own;
    return lower_win_create(own, LOCK_WORDS * sizeof *own, sizeof *own, comm, out);
#else
    MPI_Win w = MPI_WIN_NULL;
    int rc = MPI_Win_allocate(LOCK_WORDS * sizeof *own, sizeof *own, MPI_INFO_NULL, COMM(comm),
                              word, &w);
    if (!rc) {
        memcpy(*word, own, LOCK_WORDS * sizeof *own);
        rc = MPI_Barrier(COMM(comm)); /* nobody tries before all words are there */
    }
    online.windows_open++;
    return win_ready(rc, w, out);
#endif
}
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
