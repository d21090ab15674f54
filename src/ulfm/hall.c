/* How the living processes agree, without an agreement of Open MPI. Its own hangs now and then, and cannot be left. Here,
 * every wait is a poll of messages on the hall's channel, and ends when somebody dies or leaves. One attempt:
 *
 *  1. Gathering (cards.c). Every process sends every other a card: deaths it knows of, and which attempt it adopted
 *     last. No process continues before it has a card from all that live; they may be computing. Who is named dead on
 *     any card counts as dead. The others are the members of the attempt.
 *  2. The members make a communicator of their own (build.c).
 *  3. They vote on it (star.c): the first member collects the words of all, and tells all. A word holds a number that
 *     stands for the members. So nobody uses the communicator unless all hold it, and all have the same members.
 *  4. The layer above does its work on that communicator, and the members vote again, the same way.
 *  5. A process leaves the attempt if a member has died, or if it gets a card for the next gathering: that comes from a
 *     process that has left. It revokes the communicator, if it holds one, so that nobody waits there, and goes to 1.
 *
 * The channel is never revoked, and its messages carry the number of the attempt. So there may be any number of attempts.
 *
 * Deaths. In 1: the receive from the dead process ends with an error. If its card has reached some processes only, they
 * count it as a member and the others do not: then 2 or 3 cannot succeed, and the first to learn of the death leaves. In
 * 2 and 3: all leave. In 4: the layer above fails, and all vote no; or all leave. After the vote, a death shows in the
 * next call of the layer above. A process that dies while it leaves: the others learn of a death.
 *
 * Doubt. A process that leaves the last vote after it has sent its yes does not know whether others have the result: it is
 * unsure. It revokes all that was made, so that those who have adopted it come to the next gathering. The cards tell which
 * attempt was adopted last, and the first vote (3) makes the newest of these known to all. If no living process has
 * adopted, none ever will, because all are in the gathering. If that attempt fails, too, the doubt stays until one
 * succeeds.
 *
 * The end. A process that leaves for good, because the vote has said so, sends a last card to all (farewell). To those who
 * are unsure of that vote it says that it was adopted, and that they need not wait for the sender, whose end is no death to
 * Open MPI.
 *
 * The first hall. At the start there is no channel of our own: the first attempts use the caller's communicator. They
 * make another hall of their own (mend_hall_open), and take it when the vote says yes. Who is unsure takes it, too: it
 * has voted yes, so all have voted on a hall that all hold. Who knows that the vote did not say yes stays in the old
 * hall, and revokes the new one's channel, which sends all back. */
#include "inside.h"

#include <base/event.h>
#include <base/fault.h>
#include <ulfm/making.h>
#include <ulfm/ulfm.h>

#include <stdint.h>
#include <stdlib.h>

/* ---- a hall ---------------------------------------------------------------------------------- */

static void forget(struct mend_hall *h)
{
    if (!h)
        return;
    free(h->dead);
    free(h->come);
    free(h->cards);
    free(h->next);
    free(h->member);
    free(h);
}

static struct mend_hall *make(MPI_Comm comm)
{
    struct mend_hall *h = mend_hall_memory(1, sizeof *h);
    *h = (struct mend_hall){.channel = comm,
                            .adopted = -1,
                            .unsure = -1,
                            .newest = -1,
                            .alive = MPI_COMM_NULL,
                            .tag = TAG_CARD};
    PMPI_Comm_size(comm, &h->size);
    PMPI_Comm_rank(comm, &h->rank);
    mend_ulfm_allow_connections(h->size);
    mend_cards_prepare(h);
    return h;
}

/* All processes of a communicator borrow it together. */
static int times_borrowed(MPI_Comm comm)
{
    static int key = MPI_KEYVAL_INVALID;
    void *times = NULL;
    int found = 0;
    if (key == MPI_KEYVAL_INVALID)
        PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    PMPI_Comm_get_attr(comm, key, &times, &found);
    intptr_t before = found ? (intptr_t)times : 0;
    PMPI_Comm_set_attr(comm, key, (void *)(before + 1));
    return (int)(before % BORROWINGS);
}

/* The first to leave one hall may borrow the same communicator again, while others still wait for a result in the first
 * hall: so the messages of each have tags of their own. */
struct mend_hall *mend_hall_borrow(MPI_Comm comm, bool for_good)
{
    enum { ATTEMPTS = 1024 }; /* of one hall, before its tags are those of the next */
    if (!mend_making_known())
        return NULL;
    struct mend_hall *h = make(comm);
    int times = times_borrowed(comm);
    h->own = for_good;
    h->tag = TAG_CARD + times;
    h->round = times * ATTEMPTS;
    PMPI_Comm_get_errhandler(comm, &h->before);
    PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    return h;
}

int mend_hall_open(MPI_Comm comm, struct mend_hall **out)
{
    MPI_Comm channel = MPI_COMM_NULL;
    *out = NULL;
    if (!mend_making_known())
        return MPI_SUCCESS;
    int rc = PMPI_Comm_dup(comm, &channel);
    if (rc != MPI_SUCCESS)
        return rc;
    PMPI_Comm_set_errhandler(channel, MPI_ERRORS_RETURN);
    *out = make(channel);
    (*out)->own = true;
    return MPI_SUCCESS;
}

MPI_Comm mend_hall_channel(const struct mend_hall *h)
{
    return h ? h->channel : MPI_COMM_NULL;
}

bool mend_hall_is_own(const struct mend_hall *h)
{
    return h && h->own;
}

/* The caller gets its communicator back as it was. */
static void give_back(struct mend_hall *h)
{
    if (h->own || h->before == MPI_ERRHANDLER_NULL)
        return;
    PMPI_Comm_set_errhandler(h->channel, h->before);
    PMPI_Errhandler_free(&h->before);
    h->before = MPI_ERRHANDLER_NULL;
}

void mend_hall_take(struct mend_hall **hall, struct mend_hall *next)
{
    struct mend_hall *old = *hall;
    if (!next)
        return;
    if (old) {
        mend_cards_rest(old);
        give_back(old);
        next->round = old->round;
        next->adopted = old->adopted;
        next->unsure = old->unsure;
        next->newest = old->newest;
        next->last = old;
    }
    *hall = next;
}

void mend_hall_refuse(struct mend_hall *next)
{
    if (!next)
        return;
    mend_ulfm_revoke(next->channel);
    forget(next);
}

/* The channels stay: a farewell may still arrive there. */
void mend_hall_close(struct mend_hall *h)
{
    while (h) {
        struct mend_hall *last = h->last;
        give_back(h);
        if (mend_cards_rest(h)) /* else a card may still be written there */
            forget(h);
        h = last;
    }
}

/* ---- an attempt ------------------------------------------------------------------------------ */

static uint64_t number_of(const struct mend_hall *h)
{
    uint64_t number = 14695981039346656037u;
    number = (number ^ (uint64_t)h->round) * 1099511628211u;
    for (int i = 0; i < h->members; i++)
        number = (number ^ (uint64_t)h->member[i]) * 1099511628211u;
    return number ^ number >> 32;
}

/* The channel was revoked: nobody uses this hall. What is pending there stays. */
static struct mend_hall *go_back(struct mend_hall *h)
{
    struct mend_hall *last = h->last;
    mend_event("ulfm.back", ev_int("attempt", h->round));
    if (!last)
        return NULL;
    if (last->round < h->round)
        last->round = h->round;
    last->adopted = h->adopted;
    last->unsure = h->unsure;
    last->newest = h->newest;
    if (!last->own) {
        PMPI_Comm_get_errhandler(last->channel, &last->before);
        PMPI_Comm_set_errhandler(last->channel, MPI_ERRORS_RETURN);
    }
    return last;
}

void mend_hall_gather(struct mend_hall **hall)
{
    MEND_FAULT_POINT(ulfm_gather);
    while (*hall && !mend_cards_gather(*hall))
        *hall = go_back(*hall);
    if (!*hall)
        return;
    (*hall)->alive = MPI_COMM_NULL;
    (*hall)->was_adopted = false;
    (*hall)->hash = number_of(*hall);
}

static int left(struct mend_hall *h, const char *what)
{
    mend_event("ulfm.left", ev_str("what", what), ev_int("attempt", h->round),
               ev_int("members", h->members));
    h->over = true;
    if (h->alive != MPI_COMM_NULL)
        mend_ulfm_revoke(h->alive);
    return mend_ulfm_revoked_code();
}

int mend_hall_shrink(struct mend_hall *h, MPI_Comm base, MPI_Comm *alive)
{
    int flags = 1;
    *alive = MPI_COMM_NULL;
    if (!h)
        return mend_ulfm_shrink(base, alive);
    MEND_FAULT_POINT(ulfm_shrink);
    if (mend_build(h, &h->alive) != MPI_SUCCESS)
        return left(h, "build");
    MEND_FAULT_POINT(ulfm_made);
    if (!mend_star(h, STAR_MADE, &flags))
        return left(h, "made");
    MEND_FAULT_POINT(ulfm_confirmed);
    if (h->unsure >= 0) {
        h->was_adopted = h->newest >= h->unsure;
        if (!h->was_adopted)
            h->unsure = -1;
    }
    *alive = h->alive;
    return MPI_SUCCESS;
}

int mend_hall_agree(struct mend_hall *h, MPI_Comm alive, int *flags)
{
    if (!h)
        return mend_ulfm_agree(alive, flags);
    h->unsure = -1;
    MEND_FAULT_POINT(ulfm_vote);
    mend_cards_listen(h);
    if (mend_cards_over(h)) /* some will not come, so nobody gets a result */
        return left(h, "vote");
    /* the first member knows that nobody has a result before it has one itself */
    h->unsure = h->member[0] == h->rank ? -1 : h->round;
    if (!mend_star(h, STAR_VOTE, flags))
        return left(h, "vote");
    h->unsure = -1;
    mend_cards_rest(h);
    return MPI_SUCCESS;
}

bool mend_hall_unsure(const struct mend_hall *h)
{
    return h && h->unsure >= 0;
}

void mend_hall_adopted(struct mend_hall *h)
{
    if (!h)
        return;
    h->adopted = h->unsure >= 0 ? h->unsure : h->round;
    h->newest = h->adopted;
    h->unsure = -1;
}

bool mend_hall_was_adopted(const struct mend_hall *h)
{
    return h && h->was_adopted;
}

void mend_hall_agree_to_end(struct mend_hall *h, MPI_Comm alive, int *flags)
{
    if (!h) {
        mend_ulfm_agree(alive, flags);
        return;
    }
    mend_cards_listen(h);
    if (!mend_star(h, STAR_END, flags))
        *flags = 0;
}

void mend_hall_farewell(struct mend_hall *h)
{
    if (h && h->own)
        mend_cards_farewell(h);
}
