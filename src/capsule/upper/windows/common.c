/* windows/common.c - what the windows of one communicator share: our own duplicate of it, for messages and barriers, and the
 * lower half's window over the lock words of all ranks. To make these costs more than the window that the program asks
 * for, and every library has few communicators to give. So the first window of a communicator makes them, and each
 * window has a place of its own there: two words per rank, two tags.
 *
 * All members make and free the windows of a communicator in the same order, because both wait for all members. So
 * they find the same free place, without a word about it. Where several threads may be inside MPI, two threads may free two
 * windows in any order, and meet at barriers of both: each window has all of this for itself.
 *
 * It ends with the communicator or with the last window, whichever is later; in a job that repairs itself in place with
 * the last window, because no rank can be replaced while there is a window below (online/hear.c).
 */
#include "comm/comm.h"
#include "windows/windows.h"
#include <stdlib.h>

static struct common *commons; /* in order of creation, the same on all members */

struct common *next_common(struct common *k)
{
    k = k ? k->next : commons;
    while (k && !k->made)
        k = k->next;
    return k;
}

static struct common *find(const object *parent)
{
    struct common *k = commons;
    while (k && (k->parent != parent || k->windows == PLACES))
        k = k->next;
    return upper.several ? NULL : k;
}

int common_take(object *parent, struct window *w)
{
    struct common *k = find(parent);
    if (!k) {
        k = need(calloc(1, sizeof *k));
        int rc = core_Comm_split(parent, 0, parent->comm.rank, &k->comm);
        if (rc) {
            free(k);
            return rc;
        }
        k->parent = parent;
        k->words = need(calloc(PLACES * LOCK_WORDS, sizeof *k->words));
    }
    while (k->taken[w->place])
        w->place++;
    k->taken[w->place] = 1;
    k->windows++;
    w->common = k;
    w->comm = k->comm;
    return 0;
}

static int make_below(struct common *k)
{
    int rc =
        LOWER(win_lock_words, k->words, PLACES * LOCK_WORDS, k->comm->real, &k->live, &k->real);
    k->made = !rc;
    return rc;
}
/* Only here do all members come one after the other, also with several threads: the list has the same order on all. */
int common_ready(struct common *k)
{
    struct common **p = &commons;
    if (k->made)
        return 0;
    while (*p && *p != k)
        p = &(*p)->next;
    *p = k;
    return make_below(k);
}

/* Not those that have no windows: the next window makes them. */
int commons_below_again(void)
{
    int rc = 0;
    for (struct common *k = commons; k && !rc; k = k->next) {
        k->made = 0;
        if (k->windows)
            rc = make_below(k);
    }
    return rc;
}

static void end_below(struct common *k)
{
    if (k->made)
        LOWER(win_free, k->real);
    k->made = 0;
}
static void end_above(struct common *k)
{
    for (struct common **p = &commons; *p; p = &(*p)->next)
        if (*p == k) {
            *p = k->next;
            break;
        }
    core_Comm_free(&k->comm);
    free(k->words);
    free(k);
}

void common_give(struct window *w)
{
    struct common *k = w->common;
    k->taken[w->place] = 0;
    k->windows--;
    if (!k->made)
        return;
    /* All ranks have come to MPI_Win_free. Whoever frees a window that it has locked leaves nothing to the next one. */
    for (int i = 0; i < LOCK_WORDS; i++)
        if (k->live[window_word(w, i)])
            k->live[window_word(w, i)] = 0;
    int in_place = k->live == k->words; /* the job repairs itself */
    if (!k->windows && (!k->parent || in_place || upper.several))
        end_below(k);
}
void common_gone(struct common *k)
{
    if (!k->windows && !k->made)
        end_above(k);
}

static void end(struct common *k)
{
    struct gate g;
    exclusive_enter(k->comm, &g);
    end_below(k);
    exclusive_leave(&g);
    end_above(k);
}
void windows_of_comm_end(object *parent) /* before it is gone */
{
    for (struct common *k = commons, *next; k; k = next) {
        next = k->next;
        if (k->parent != parent)
            continue;
        k->parent = NULL;
        if (!k->windows)
            end(k);
    }
}
void commons_end(void)
{
    for (struct common *k = commons, *next; k; k = next) {
        next = k->next;
        if (!k->windows)
            end(k);
    }
}
