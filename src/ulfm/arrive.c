/* Steps 1 and 2 of hall.c: all living processes tell each other that they have come, and learn of the same deaths. */
#include <ulfm/arrive.h>

#include <base/event.h>
#include <ulfm/ulfm.h>

#include <sched.h>
#include <stdlib.h>

enum { TAG = 31800 };

struct word {
    int32_t round, adopted;
    uint64_t dead[MEMBERS_MAX / 64];
};

struct arrival { /* not freed when the channel is revoked: the library may still use it */
    struct word mine;
    struct word *words;            /* [size] */
    MPI_Request *receives, *sends; /* [size] */
    bool dead[MEMBERS_MAX];
    int n;
};

static void mark(struct word *word, int rank)
{
    word->dead[rank / 64] |= (uint64_t)1 << (rank % 64);
}

static bool marked(const struct word *word, int rank)
{
    return word->dead[rank / 64] >> (rank % 64) & 1;
}

static struct arrival *prepare(const struct mend_arrival *h)
{
    size_t n = (size_t)h->size;
    struct arrival *a = calloc(1, sizeof *a + n * (sizeof *a->words + 2 * sizeof *a->receives));
    if (!a)
        return NULL;
    a->n = h->size;
    a->words = (struct word *)(a + 1);
    a->receives = (MPI_Request *)(a->words + n);
    a->sends = a->receives + n;
    a->mine = (struct word){.round = h->round, .adopted = h->adopted};
    mend_ulfm_failed(h->channel, a->dead);
    for (int i = 0; i < h->size; i++) {
        a->receives[i] = a->sends[i] = MPI_REQUEST_NULL;
        if (a->dead[i])
            mark(&a->mine, i);
    }
    return a;
}

/* Test one request. True: nothing is left to wait for. Sets `gone` if the peer is dead. */
static bool done(MPI_Request *request, bool *gone)
{
    int flag = 1;
    if (*request == MPI_REQUEST_NULL)
        return true;
    if (PMPI_Test(request, &flag, MPI_STATUS_IGNORE) != MPI_SUCCESS) {
        *request = MPI_REQUEST_NULL;
        *gone = true;
        return true;
    }
    return flag;
}

/* Step 1. False: the channel was revoked. */
static bool exchange(const struct mend_arrival *h, struct arrival *a)
{
    MPI_Comm channel = h->channel;
    for (int i = 0; i < h->size; i++) {
        if (i == h->rank || a->dead[i])
            continue;
        if (PMPI_Irecv(&a->words[i], sizeof a->words[i], MPI_BYTE, i, TAG, channel,
                       &a->receives[i]) != MPI_SUCCESS)
            a->receives[i] = MPI_REQUEST_NULL, a->dead[i] = true;
        else if (PMPI_Isend(&a->mine, sizeof a->mine, MPI_BYTE, i, TAG, channel, &a->sends[i]) !=
                 MPI_SUCCESS)
            a->sends[i] = MPI_REQUEST_NULL;
    }
    for (unsigned turn = 0;; turn++) {
        int open = 0;
        for (int i = 0; i < h->size; i++) {
            bool send_failed = false;
            open += !done(&a->receives[i], &a->dead[i]);
            open += !done(&a->sends[i], &send_failed);
        }
        if (mend_ulfm_is_revoked(h->channel))
            return false;
        if (!open)
            return true;
        if (turn % 16 == 15)
            sched_yield();
    }
}

/* Step 2. */
static void learn(const struct mend_arrival *h, struct arrival *a)
{
    double limit = mend_now() + h->seconds;
    int missing;
    for (int i = 0; i < h->size; i++)
        for (int k = 0; k < h->size && i != h->rank; k++)
            a->dead[i] |= !a->dead[k] && marked(&a->words[k], i);
    do {
        bool known[MEMBERS_MAX] = {false};
        mend_ulfm_failed(h->channel, known);
        missing = 0;
        for (int i = 0; i < h->size; i++)
            missing += a->dead[i] && !known[i];
        if (missing)
            mend_ulfm_progress(MPI_COMM_SELF);
    } while (missing && mend_now() < limit);
    if (missing)
        mend_event("ulfm.unheard", ev_int("deaths", missing), ev_real("seconds", h->seconds));
}

enum mend_arrived mend_arrive(const struct mend_arrival *h, bool *was_adopted)
{
    struct arrival *a = prepare(h);
    if (!a)
        return ARRIVED_NO_MEMORY;
    if (!exchange(h, a))
        return ARRIVED_REVOKED; /* do not free the arrival: see above */
    learn(h, a);
    *was_adopted = false;
    for (int i = 0; i < h->size; i++)
        *was_adopted |=
            !a->dead[i] && i != h->rank && h->asked >= 0 && a->words[i].adopted == h->asked;
    free(a);
    return ARRIVED_ALL;
}
