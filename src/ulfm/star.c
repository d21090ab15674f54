/* Votes of the members of an attempt, steps 3 and 4 of hall.c.
 *
 *  1. Each member sends its word to the first member: its flags, and a number that stands for the members as it knows
 *     them.
 *  2. When the first member has the words of all, it knows the result: the bitwise AND of the flags. If two members know
 *     different members, there is no result.
 *  3. It sends the result to all.
 * No wait is inside a call of the library. Each ends with the result, or when the attempt is over: a member has died, or
 * has come to the next gathering.
 *
 * Deaths. Of a member before 1: the first member leaves, and the others follow it. After 1: it does not matter; the death
 * shows in what follows. Of the first member before 2: no process has a result. In 3: some have it. The others cannot
 * know, and hall.c settles their doubt. */
#include "inside.h"

#include <base/fault.h>
#include <ulfm/ulfm.h>

#include <sched.h>
#include <stdlib.h>

enum { LOOK = 4 }; /* turns between two looks at a member */

struct word {
    int32_t flags, newest;
    uint64_t hash;
};

struct star {
    struct mend_hall *hall;
    int tag, n;
    int received, sent; /* requests up to these are complete */
    bool failed;
    struct word mine, *words;      /* [n] of the members */
    MPI_Request *receives, *sends; /* [n] */
};

static struct star *open_star(struct mend_hall *h, enum mend_ballot kind, int flags)
{
    size_t n = (size_t)h->members;
    struct star *s =
        mend_hall_memory(1, sizeof *s + n * (sizeof *s->words + 2 * sizeof(MPI_Request)));
    s->hall = h;
    s->n = h->members;
    s->tag = TAG_STAR | (h->round & 0xffff) << 3 | (int)kind << 1;
    s->mine = (struct word){.flags = flags, .newest = h->newest, .hash = h->hash};
    s->words = (struct word *)(s + 1);
    s->receives = (MPI_Request *)(s->words + n);
    s->sends = s->receives + n;
    for (int i = 0; i < s->n; i++)
        s->receives[i] = s->sends[i] = MPI_REQUEST_NULL;
    return s;
}

static void receive(struct star *s, int member, int tag)
{
    if (PMPI_Irecv(&s->words[member], sizeof s->words[member], MPI_BYTE, s->hall->member[member],
                   tag, s->hall->channel, &s->receives[member]) != MPI_SUCCESS) {
        s->receives[member] = MPI_REQUEST_NULL;
        s->failed = s->hall->over = true;
    }
}

static void send(struct star *s, int member, int tag)
{
    if (PMPI_Isend(&s->mine, sizeof s->mine, MPI_BYTE, s->hall->member[member], tag,
                   s->hall->channel, &s->sends[member]) != MPI_SUCCESS)
        s->sends[member] = MPI_REQUEST_NULL;
}

/* False: it is pending, or has failed. */
static bool has_come(struct star *s, int member)
{
    int flag = 1;
    if (s->receives[member] == MPI_REQUEST_NULL)
        return true;
    int rc = PMPI_Test(&s->receives[member], &flag, MPI_STATUS_IGNORE);
    if (rc == MPI_SUCCESS)
        return flag;
    s->receives[member] = MPI_REQUEST_NULL;
    s->failed = s->hall->over = true;
    return false;
}

/* Wait for all receives. False: the attempt is over. What has come counts even then. */
static bool await(struct star *s)
{
    for (unsigned turn = 1;; turn++) {
        bool open = false, over = turn % LOOK == 0 && mend_cards_over(s->hall);
        while (s->received < s->n && !open) { /* a test yields the core: one a turn */
            open = !has_come(s, s->received);
            s->received += !open;
        }
        if (!open && !s->failed)
            return true;
        if (over || s->failed)
            return false;
        if (turn % 16 == 15)
            sched_yield();
    }
}

/* See cards.c. */
static bool is_sent(struct star *s, int member)
{
    int flag = 1;
    if (s->sends[member] == MPI_REQUEST_NULL)
        return true;
    PMPI_Request_get_status(s->sends[member], &flag, MPI_STATUS_IGNORE);
    if (flag)
        PMPI_Test(&s->sends[member], &flag, MPI_STATUS_IGNORE);
    return flag;
}

/* Is a send to a living process pending? */
static bool pending(struct star *s)
{
    for (; s->sent < s->n; s->sent++)
        if (!s->hall->dead[s->hall->member[s->sent]] && !is_sent(s, s->sent))
            return true;
    return false;
}

/* What we have said must leave this process, which may end soon. */
static void await_sends(struct star *s)
{
    for (unsigned turn = 1; pending(s); turn++) {
        if (turn % LOOK == 0)
            mend_cards_news(
                s->hall); /* who has told us to leave, and then died, shows in nothing else */
        if (turn % 16 == 15)
            sched_yield();
    }
}

/* What the library may still use stays. */
static void close_star(struct star *s)
{
    bool left = false;
    for (int i = 0; i < s->n; i++) {
        int flag = 0;
        if (s->receives[i] != MPI_REQUEST_NULL) {
            PMPI_Cancel(&s->receives[i]);
            if (PMPI_Test(&s->receives[i], &flag, MPI_STATUS_IGNORE) != MPI_SUCCESS || flag)
                s->receives[i] = MPI_REQUEST_NULL;
        }
        left |= s->receives[i] != MPI_REQUEST_NULL || !is_sent(s, i);
    }
    if (!left)
        free(s);
}

static bool lead(struct star *s, enum mend_ballot kind)
{
    for (int i = 1; i < s->n; i++)
        receive(s, i, s->tag);
    if (!await(s))
        return false;
    for (int i = 1; i < s->n; i++) {
        if (s->words[i].hash != s->mine.hash) {
            s->hall->over = true;
            return false;
        }
        s->mine.flags &= s->words[i].flags;
        if (s->words[i].newest > s->mine.newest)
            s->mine.newest = s->words[i].newest;
    }
    if (kind == STAR_VOTE)
        MEND_FAULT_POINT(ulfm_decided);
    for (int i = 1; i < s->n; i++) {
        send(s, i, s->tag | 1);
        if (i == s->n / 2 && kind == STAR_VOTE)
            MEND_FAULT_POINT(ulfm_half_told);
    }
    await_sends(s);
    return true;
}

static bool follow(struct star *s, enum mend_ballot kind)
{
    receive(s, 0, s->tag | 1);
    send(s, 0, s->tag);
    if (kind == STAR_VOTE)
        MEND_FAULT_POINT(ulfm_voted);
    bool ok = await(s);
    if (ok)
        s->mine = s->words[0];
    return ok;
}

bool mend_star(struct mend_hall *h, enum mend_ballot kind, int *flags)
{
    struct star *s = open_star(h, kind, *flags);
    bool ok = h->member[0] == h->rank ? lead(s, kind) : follow(s, kind);
    if (ok) {
        *flags = s->mine.flags;
        h->newest = s->mine.newest;
    }
    close_star(s);
    return ok;
}
