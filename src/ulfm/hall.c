/* Meeting before an agreement, and leaving one that does not end. One attempt:
 *
 *  1. Everybody tells everybody on the channel that it has come, which deaths it knows, and which attempt it
 *     has acted upon last. Nobody goes on before it has the word of all who live: so a limit for what
 *     follows does not hit those who compute.
 *  2. Everybody waits until its own MPI library knows all deaths that somebody has named. An agreement
 *     that hears of a death while it runs is where Open MPI goes wrong.
 *  3. Shrink the base. If that fails, or takes longer than the limit: revoke the channel, leave the call.
 *  4. The layer above does its work on what is alive, and agrees, with a limit, too.
 *  5. Whoever finds the channel revoked leaves the attempt: calls that a revoke ends are ended by one, the
 *     shrink and the agreement are left. The next attempt uses the next channel, and for base a
 *     communicator that no agreement has been on.
 *
 * An agreement is left from Open MPI's progress loop, between two of its turns, where nothing is half done.
 * With one thread in MPI nothing of the library points to the stack that is given up. With several, something
 * does: then 1 and 2 are all, before the agreement, too, and our other threads stand before the gate (gate.c).
 *
 * Deaths. Before or in 1: the receive from the dead ends with an error. In 2: as in 1 of the next attempt.
 * In 3 and 4: Open MPI's agreement leaves the dead out, or hangs and is left. Of one who has just revoked the
 * channel: the revoke reaches all or none; if none, the others have limits of their own.
 *
 * Who has left a shrink has not voted, so nobody can have agreed. Who has left the agreement may have voted
 * yes, and others may have got their result and acted upon it: it is unsure. They come to the next
 * gathering, for it has revoked all it has; step 1 tells it. If nobody who lives has acted upon the
 * agreement, nobody ever will: all who live are in the gathering. */
#include <ulfm/hall.h>

#include <base/event.h>
#include <base/fault.h>
#include <ulfm/gate.h>
#include <ulfm/ulfm.h>

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>

enum {
    MEMBERS_MAX = 512, /* everybody sends to everybody */
    CHANNELS = 5,      /* one, and two for each of two attempts that may be left */
    TAG = 31800,
    TURNS = 64 /* of the library between two looks at the clock */
};
static const double same_news = 5; /* seconds for step 2 */

struct word {
    int32_t round, adopted;
    uint64_t dead[MEMBERS_MAX / 64];
};

struct mend_hall {
    MPI_Comm channel[CHANNELS];
    int at; /* the channel in use; CHANNELS: all are used up */
    int size, rank;
    double seconds;
    int32_t round;           /* attempts begun */
    int32_t adopted, unsure; /* the last acted upon; the one that was left; -1: none */
    bool was_adopted;
    bool threads;   /* others may call MPI: no call can be left */
    MPI_Comm alive; /* of this attempt */
    bool ended;     /* alive was revoked because others have left */

    pthread_t owner;
    bool inside; /* a call that may be left is under way */
    bool ready;  /* calls that a revoke ends may be under way */
    double begin, limit;
    sigjmp_buf out;
};

/* The hall whose attempt is under way: the library's progress has no argument for us. */
static struct mend_hall *current;

static bool usable(const struct mend_hall *h)
{
    return h && h->at < CHANNELS;
}

static bool others_left(const struct mend_hall *h)
{
    return mend_ulfm_is_revoked(h->channel[h->at]);
}

/* At the end of a turn of the library. */
static int at_turn(void)
{
    static unsigned turns;
    struct mend_hall *h = current;
    if (!h || !(h->inside || h->ready) || ++turns % TURNS ||
        !pthread_equal(pthread_self(), h->owner))
        return 0;
    if (h->inside && ((h->limit > 0 && mend_now() > h->limit) || others_left(h))) {
        h->inside = false;
        siglongjmp(h->out, 1);
    }
    if (h->ready && !h->inside && !h->ended && others_left(h)) {
        h->ended = true;
        mend_ulfm_revoke(h->alive);
    }
    return 0;
}

static bool look_at_progress(void)
{
    static int looking = -1;
    union {
        void *symbol;
        int (*add)(int (*callback)(void));
    } library;
    if (looking < 0) {
        library.symbol = dlsym(RTLD_DEFAULT, "opal_progress_register");
        looking = library.symbol && library.add(at_turn) == 0;
    }
    return looking;
}

/* ---- a hall ---------------------------------------------------------------------------------- */

int mend_hall_open(MPI_Comm comm, double seconds, struct mend_hall **out)
{
    int level = MPI_THREAD_MULTIPLE, size = 0;
    *out = NULL;
    PMPI_Query_thread(&level);
    PMPI_Comm_size(comm, &size);
    struct mend_hall *h = calloc(1, sizeof *h);
    int can[2] = {h && seconds > 0 && size <= MEMBERS_MAX,
                  level != MPI_THREAD_MULTIPLE && look_at_progress()};
    int all[2] = {0, 0}; /* meet there; leave a call */
    int rc = PMPI_Allreduce(can, all, 2, MPI_INT, MPI_MIN, comm);
    if (rc != MPI_SUCCESS || !all[0]) {
        free(h);
        return rc;
    }
    *h = (struct mend_hall){.size = size,
                            .seconds = seconds,
                            .threads = !all[1],
                            .adopted = -1,
                            .unsure = -1,
                            .alive = MPI_COMM_NULL,
                            .owner = pthread_self()};
    PMPI_Comm_rank(comm, &h->rank);
    for (int i = 0; i < CHANNELS && rc == MPI_SUCCESS; i++) {
        rc = PMPI_Comm_dup(comm, &h->channel[i]);
        if (rc == MPI_SUCCESS)
            PMPI_Comm_set_errhandler(h->channel[i], MPI_ERRORS_RETURN);
    }
    if (rc == MPI_SUCCESS)
        *out = h;
    else
        free(h);
    return rc;
}

void mend_hall_close(struct mend_hall *h, bool together)
{
    if (!h)
        return;
    if (current == h)
        current = NULL;
    /* those behind us may have agreements on them that were left */
    for (int i = h->at; together && i < CHANNELS; i++)
        PMPI_Comm_free(&h->channel[i]);
    free(h);
}

/* ---- step 1 and 2 ---------------------------------------------------------------------------- */

struct arrival { /* left as it is when the channel is revoked: the library may still use it */
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

static struct arrival *prepare(struct mend_hall *h)
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
    mend_ulfm_failed(h->channel[h->at], a->dead);
    for (int i = 0; i < h->size; i++) {
        a->receives[i] = a->sends[i] = MPI_REQUEST_NULL;
        if (a->dead[i])
            mark(&a->mine, i);
    }
    return a;
}

/* One request: true when nothing is left to wait for. `gone` when the peer is dead. */
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
static bool exchange(struct mend_hall *h, struct arrival *a)
{
    MPI_Comm channel = h->channel[h->at];
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
        if (others_left(h))
            return false;
        if (!open)
            return true;
        if (turn % 16 == 15)
            sched_yield();
    }
}

/* Step 2. */
static void learn(struct mend_hall *h, struct arrival *a)
{
    double limit = mend_now() + same_news;
    int missing;
    for (int i = 0; i < h->size; i++)
        for (int k = 0; k < h->size && i != h->rank; k++)
            a->dead[i] |= !a->dead[k] && marked(&a->words[k], i);
    do {
        bool known[MEMBERS_MAX] = {false};
        mend_ulfm_failed(h->channel[h->at], known);
        missing = 0;
        for (int i = 0; i < h->size; i++)
            missing += a->dead[i] && !known[i];
        if (missing)
            mend_ulfm_progress(MPI_COMM_SELF);
    } while (missing && mend_now() < limit);
    if (missing)
        mend_event("ulfm.unheard", ev_int("deaths", missing), ev_real("seconds", same_news));
}

/* Step 5: the next one, if the attempt was left. */
static void next_channel(struct mend_hall *h, MPI_Comm *base)
{
    while (usable(h) && others_left(h)) {
        mend_event("ulfm.fresh", ev_int("channel", h->at), ev_int("attempt", h->round));
        if (h->at + 2 >= CHANNELS) {
            h->at = CHANNELS; /* the plain way from now on */
            *base = h->channel[CHANNELS - 1];
            return;
        }
        *base = h->channel[h->at + 1];
        h->at += 2;
    }
}

void mend_hall_gather(struct mend_hall *h, MPI_Comm *base)
{
    if (!usable(h))
        return;
    current = h;
    h->ready = h->inside = h->was_adopted = false;
    h->round++;
    for (;;) {
        next_channel(h, base);
        if (!usable(h))
            return;
        struct arrival *a = prepare(h);
        if (!a) { /* the others must not wait for our word */
            mend_ulfm_revoke(h->channel[h->at]);
            continue;
        }
        if (!exchange(h, a))
            continue; /* what is left of the arrival stays: see above */
        learn(h, a);
        for (int i = 0; i < h->size; i++)
            h->was_adopted |=
                !a->dead[i] && i != h->rank && h->unsure >= 0 && a->words[i].adopted == h->unsure;
        free(a);
        return;
    }
}

bool mend_hall_assemble(struct mend_hall *h)
{
    if (!usable(h))
        return true;
    struct arrival *a = others_left(h) ? NULL : prepare(h);
    if (!a) {
        mend_ulfm_revoke(h->channel[h->at]); /* the others must not wait for our word */
        return false;
    }
    if (!exchange(h, a))
        return false; /* what is left of the arrival stays: see above */
    learn(h, a);
    free(a);
    return true;
}

bool mend_hall_is_bounded(const struct mend_hall *h)
{
    return h && !h->threads && h->at + 2 < CHANNELS;
}

/* ---- calls that may be left ------------------------------------------------------------------ */

static int left(struct mend_hall *h, const char *what)
{
    bool own = !others_left(h);
    mend_event("ulfm.left", ev_str("what", what), ev_str("who", own ? "self" : "others"),
               ev_real("seconds", mend_now() - h->begin), ev_int("attempt", h->round));
    mend_ulfm_revoke(h->channel[h->at]);
    h->ready = false;
    return mend_ulfm_revoked_code();
}

/* News of deaths is read at every turn of the library, not every millisecond: news that an agreement brings is put
 * off by it, with a pointer to the next agreement, which must not have ended when the news is read. */
static void read_news_at_once(bool begin)
{
    static union {
        void *symbol;
        void (*call)(void);
    } more, less;
    if (!more.symbol) {
        more.symbol = dlsym(RTLD_DEFAULT, "opal_progress_event_users_increment");
        less.symbol = dlsym(RTLD_DEFAULT, "opal_progress_event_users_decrement");
    }
    if (more.symbol && less.symbol)
        (begin ? more : less).call();
}

/* The last channel is for ever: behind it there is no other one to meet on. */
static void enter(struct mend_hall *h, double seconds)
{
    if (h->at + 2 >= CHANNELS)
        seconds = 0;
    h->begin = mend_now();
    h->limit = seconds > 0 ? h->begin + seconds : 0;
    if (h->threads)
        mend_gate_close();
    read_news_at_once(true);
    h->inside = !h->threads;
}

static void leave(struct mend_hall *h)
{
    h->inside = false;
    read_news_at_once(false);
    if (h->threads)
        mend_gate_open();
}

int mend_hall_shrink(struct mend_hall *h, MPI_Comm base, MPI_Comm *alive)
{
    if (!usable(h))
        return mend_ulfm_shrink(base, alive);
    if (sigsetjmp(h->out, 0)) {
        leave(h);
        *alive = MPI_COMM_NULL;
        return left(h, "shrink");
    }
    MEND_FAULT_POINT(ulfm_shrink);
    enter(h, h->seconds);
    int rc = mend_ulfm_shrink(base, alive);
    leave(h);
    if (rc != MPI_SUCCESS)
        return left(h, "shrink");
    h->alive = *alive;
    h->ended = false;
    h->ready = !h->threads;
    return rc;
}

int mend_hall_agree(struct mend_hall *h, MPI_Comm alive, int *flags, bool patient)
{
    if (!usable(h))
        return mend_ulfm_agree(alive, flags);
    h->unsure = -1;
    h->ready = false;
    h->begin = mend_now();
    if (h->threads)
        mend_hall_assemble(h); /* before the gate is closed */
    if (others_left(h))        /* some will not come, so nobody can agree */
        return left(h, "vote");
    h->unsure = h->round;
    if (sigsetjmp(h->out, 0)) {
        leave(h);
        return left(h, "agree");
    }
    enter(h, patient ? 0 : 3 * h->seconds); /* the others may still build something */
    int rc = mend_ulfm_agree(alive, flags);
    leave(h);
    h->unsure = -1;
    return rc;
}

bool mend_hall_unsure(const struct mend_hall *h)
{
    return h && h->unsure >= 0;
}

void mend_hall_adopted(struct mend_hall *h)
{
    if (h)
        h->adopted = h->unsure >= 0 ? h->unsure : h->round;
}

bool mend_hall_was_adopted(const struct mend_hall *h)
{
    return h && h->was_adopted;
}
