/* windows/stopped.c - windows in a checkpoint, and after a restart. */
#include "windows/windows.h"
#include <stdlib.h>
#include <string.h>

void windows_flush(void)
{
    EACH_LIVE (o, KIND_WIN)
        LOWER(win_flush_all, o->real);
    for (struct common *k = next_common(NULL); k; k = next_common(k))
        LOWER(win_flush_all, k->real);
}
void windows_before_image(void)
{
    EACH_LIVE (o, KIND_WIN)
        if (o->win.w
                ->segment) /* threads of other ranks may write into our part: all are parked from here on */
            LOWER(Barrier, o->win.w->comm->real);
    for (struct common *k = next_common(NULL); k; k = next_common(k)) {
        LOWER(win_flush_all, k->real);
        LOWER(win_sync, k->real);
        if (k->live != k->words)
            memcpy(k->words, k->live, PLACES * LOCK_WORDS * sizeof *k->words);
    }
    EACH_LIVE (o, KIND_WIN) {
        LOWER(win_flush_all, o->real);
        LOWER(win_sync, o->real);
        segment_save(o->win.w);
        LOWER_VOID(win_part, &o->win.w->twin);
    }
}
/* The job ends here, and all ranks have the same windows. Without this, Open MPI's MPI_Finalize would free the
 * remaining ones when it can no longer communicate, and wait forever. */
void windows_leave(void)
{
    EACH_LIVE (o, KIND_WIN)
        LOWER(win_free, o->real);
    for (struct common *k = next_common(NULL); k; k = next_common(k))
        LOWER(win_free, k->real);
}
static void cannot_be_made_again(int rc)
{
    if (rc == NEUTRAL_MPI_ERR_RMA_SHARED)
        file_say(
            "its ranks cannot share memory again: they must be on one node, with room in /dev/shm",
            "MPI_Win_allocate_shared");
    else
        file_say("a window cannot be made again", "MPI");
    abort();
}
void windows_go_on(void)
{
    EACH_LIVE (o, KIND_WIN) {
        int rc = segment_restore(o->win.w, 0);
        if (rc)
            cannot_be_made_again(rc);
        LOWER_VOID(win_join, &o->win.w->twin);
    }
}
void rebind_windows(void)
{
    int made = commons_below_again();
    if (made)
        cannot_be_made_again(made);
    EACH_LIVE (o, KIND_WIN) {
        struct window *w = o->win.w;
        int rc = segment_restore(w, 1);
        if (!rc)
            rc = window_below(w, 1, &o->real);
        if (rc)
            cannot_be_made_again(rc);
        for (struct attached *a = w->attached; a && !rc; a = a->next)
            rc = LOWER(win_attach, o->real, a->base, a->size);
        if (rc)
            cannot_be_made_again(rc);
    }
}
