/* The gathering, step 1 of hall.c: each process sends every other a card, and waits for the cards of all that live.
 *
 * A receive for the next card of each process is pending during an attempt. So a card that arrives early says that its
 * sender has left the attempt. Between the attempts nothing is pending.
 *
 * We look at a send with MPI_Request_get_status, which never gives up a request: if a process dies before a connection
 * to it is established, Open MPI must not find the request of a message to it freed (connect.c). But nor does it show
 * the receiver's death, and a send may be pending until the receiver has read it. A process whose card has come may die
 * before that, and no receive from it is left that would end with an error. So who waits for sends asks for deaths. */
#include "inside.h"

#include <base/event.h>
#include <base/fault.h>
#include <base/log.h>
#include <ulfm/ulfm.h>

#include <sched.h>
#include <stdlib.h>

enum { ASK = 64 }; /* turns of a wait between two questions for deaths */

struct outbox {
    struct card card;
    int looked; /* at the sends up to this one, which are complete */
    MPI_Request send[];
};

void *mend_hall_memory(size_t n, size_t size)
{
    void *memory = calloc(n, size);
    if (!memory) {
        mend_log(MEND_LOG_ERROR, "ulfm: no memory to meet the other processes");
        abort();
    }
    return memory;
}

void mend_cards_prepare(struct mend_hall *h)
{
    size_t n = (size_t)h->size;
    h->dead = mend_hall_memory(n, sizeof *h->dead);
    h->come = mend_hall_memory(n, sizeof *h->come);
    h->cards = mend_hall_memory(n, sizeof *h->cards);
    h->next = mend_hall_memory(n, sizeof(MPI_Request));
    h->member = mend_hall_memory(n, sizeof *h->member);
    for (int i = 0; i < h->size; i++)
        h->next[i] = MPI_REQUEST_NULL;
}

/* ---- receiving ------------------------------------------------------------------------------- */

void mend_cards_listen(struct mend_hall *h)
{
    for (int i = 0; i < h->size; i++) {
        if (i == h->rank || h->dead[i] || h->come[i] || h->next[i] != MPI_REQUEST_NULL)
            continue;
        int rc = PMPI_Irecv(&h->cards[i], sizeof h->cards[i], MPI_BYTE, i, h->tag, h->channel,
                            &h->next[i]);
        if (rc == MPI_SUCCESS)
            continue;
        h->next[i] = MPI_REQUEST_NULL;
        if (!mend_ulfm_is_revocation(rc))
            h->dead[i] = true;
    }
}

static void take(struct mend_hall *h, int from)
{
    const struct card *card = &h->cards[from];
    if (card->gone)
        h->dead[from] = true; /* to us it is the same */
    else
        h->come[from] = true;
    if (card->adopted > h->newest)
        h->newest = card->adopted;
    for (int k = 0; k < card->named && k < NAMED_MAX; k++)
        if (card->dead[k] >= 0 && card->dead[k] < h->size && card->dead[k] != h->rank)
            h->dead[card->dead[k]] = true;
}

static void look(struct mend_hall *h, int from)
{
    int flag = 0;
    if (from == h->rank || h->next[from] == MPI_REQUEST_NULL)
        return;
    int rc = PMPI_Test(&h->next[from], &flag, MPI_STATUS_IGNORE);
    if (rc == MPI_SUCCESS && !flag)
        return;
    h->next[from] = MPI_REQUEST_NULL;
    if (rc == MPI_SUCCESS)
        take(h, from);
    else if (!mend_ulfm_is_revocation(rc))
        h->dead[from] = true;
}

bool mend_cards_rest(struct mend_hall *h)
{
    bool rests = true;
    for (int i = 0; i < h->size; i++) {
        MPI_Status status;
        int flag = 0, cancelled = 0;
        if (h->next[i] == MPI_REQUEST_NULL)
            continue;
        PMPI_Cancel(&h->next[i]);
        int rc = PMPI_Test(&h->next[i], &flag, &status);
        if (rc == MPI_SUCCESS && !flag) { /* it is arriving: the next gathering takes it */
            rests = false;
            continue;
        }
        h->next[i] = MPI_REQUEST_NULL;
        if (rc == MPI_SUCCESS)
            PMPI_Test_cancelled(&status, &cancelled);
        if (rc == MPI_SUCCESS && !cancelled)
            take(h, i);
    }
    return rests;
}

bool mend_cards_over(struct mend_hall *h)
{
    int i = h->member[h->looked++ % (unsigned)h->members];
    look(h, i);
    h->over |= h->dead[i] || h->come[i] || mend_ulfm_is_revoked(h->channel);
    return h->over;
}

/* ---- sending --------------------------------------------------------------------------------- */

static bool is_sent(struct outbox *box, int to)
{
    int flag = 1;
    if (box->send[to] == MPI_REQUEST_NULL)
        return true;
    PMPI_Request_get_status(box->send[to], &flag, MPI_STATUS_IGNORE);
    if (flag)
        PMPI_Test(&box->send[to], &flag, MPI_STATUS_IGNORE);
    return flag;
}

/* Is a send to a living process pending? Looks at them in turn, up to the first that is: a look yields the core. */
static bool pending(struct mend_hall *h)
{
    for (int *i = &h->outbox->looked; *i < h->size; ++*i)
        if (!h->dead[*i] && !is_sent(h->outbox, *i))
            return true;
    return false;
}

/* Different processes name different deaths, so the cards of all name many, and of the others the library tells. */
static void name_deaths(const struct mend_hall *h, struct card *card)
{
    for (int k = 1; k < h->size && card->named < NAMED_MAX; k++) {
        int i = (h->rank + k) % h->size;
        if (h->dead[i])
            card->dead[card->named++] = i;
    }
}

static void send_all(struct mend_hall *h, bool gone)
{
    h->outbox = mend_hall_memory(1, sizeof *h->outbox + (size_t)h->size * sizeof(MPI_Request));
    h->outbox->card = (struct card){.round = h->round + 1, .adopted = h->adopted, .gone = gone};
    name_deaths(h, &h->outbox->card);
    for (int i = 0; i < h->size; i++)
        h->outbox->send[i] = MPI_REQUEST_NULL;
    for (int i = 0; i < h->size; i++) {
        if (i == h->size / 2 && !gone)
            MEND_FAULT_POINT(ulfm_half_gathered);
        if (i == h->rank || h->dead[i])
            continue;
        if (PMPI_Isend(&h->outbox->card, sizeof h->outbox->card, MPI_BYTE, i, h->tag, h->channel,
                       &h->outbox->send[i]) != MPI_SUCCESS)
            h->outbox->send[i] = MPI_REQUEST_NULL;
    }
}

/* A message to a process that has died may stay in the transport, with its memory. */
static void drop_outbox(struct mend_hall *h)
{
    bool left = false;
    for (int i = 0; i < h->size; i++)
        left |= !is_sent(h->outbox, i);
    if (!left)
        free(h->outbox);
    h->outbox = NULL;
}

/* ---- the gathering --------------------------------------------------------------------------- */

void mend_cards_news(struct mend_hall *h)
{
    bool *known = mend_hall_memory((size_t)h->size, sizeof *known);
    mend_ulfm_failed(h->channel, known);
    for (int i = 0; i < h->size; i++)
        h->dead[i] |= known[i];
    free(known);
}

/* Is a living process not here yet? Looks at them in turn, up to the first that is not: a test yields the core. */
static bool awaits(struct mend_hall *h, unsigned turn)
{
    for (int k = 0; k < h->size; k++) {
        int i = (int)((turn + (unsigned)k) % (unsigned)h->size);
        if (i == h->rank || h->dead[i] || h->come[i])
            continue;
        look(h, i);
        if (!h->dead[i] && !h->come[i])
            return true;
    }
    return false;
}

/* False: the channel was revoked. */
static bool exchange(struct mend_hall *h)
{
    mend_cards_listen(h);
    send_all(h, false);
    for (unsigned turn = 0;; turn++) {
        bool sends = pending(h), open = awaits(h, turn) || sends; /* each turn looks at both */
        if (mend_ulfm_is_revoked(h->channel))
            return false;
        if (!open)
            return true;
        if (turn % ASK == ASK - 1)
            mend_cards_news(h);
        if (turn % 16 == 15)
            sched_yield();
    }
}

void mend_cards_farewell(struct mend_hall *h)
{
    mend_cards_news(h);
    send_all(h, true);
    for (unsigned turn = 1; pending(h); turn++)
        if (turn % 16 == 0) {
            mend_cards_news(h);
            sched_yield();
        }
    drop_outbox(h);
}

bool mend_cards_gather(struct mend_hall *h)
{
    mend_cards_news(h);
    bool all = exchange(h);
    drop_outbox(h);
    if (!all)
        return false;
    int32_t round = h->round + 1; /* who has come back from another hall may be ahead */
    h->members = 0;
    for (int i = 0; i < h->size; i++) {
        if (h->come[i] && h->cards[i].round > round)
            round = h->cards[i].round;
        h->come[i] = false;
        if (!h->dead[i])
            h->member[h->members++] = i;
    }
    h->round = round;
    h->over = false;
    mend_cards_listen(h);
    return true;
}
