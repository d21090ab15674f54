/* Meeting before an agreement, and leaving one that does not end. One attempt:
 *
 *  1. Everybody tells everybody on the channel that it has come, which deaths it knows, and which attempt it
 *     has acted upon last. Nobody goes on before it has the word of all who live: so a limit for what
 *     follows does not hit those who compute.
 *  2. Everybody waits until its own MPI library knows all deaths that somebody has named. An agreement
 *     that hears of a death while it runs is where Open MPI goes wrong.
 *  3. Shrink the base. If that fails, or takes longer than the limit: revoke the channel, leave the call.
 *  4. The layer above does its work on what is alive, does 1 and 2 once more, and agrees, with a limit, too.
 *  5. Whoever finds the channel revoked leaves the attempt: calls that a revoke ends are ended by one, the
 *     shrink and the agreement are left. The next attempt uses the next channel, and for base a
 *     communicator that no agreement has been on.
 *
 * An agreement is left from Open MPI's progress loop, between two of its turns, where nothing is half done, with
 * the stack that it is on (apart.c). Where somebody has several threads in MPI nobody leaves: there the library
 * counts on the thread that waits. Our own other threads stand before the gate meanwhile (gate.c).
 *
 * There are places (a channel, a base) for a few attempts. When one was used, the next repair makes more, all of the
 * same in the same order, and adds them behind the others when it is adopted. Who is unsure whether it was keeps them
 * until the next gathering tells; that is on a place that all have had before.
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
#include <base/log.h>
#include <ulfm/apart.h>
#include <ulfm/arrive.h>
#include <ulfm/gate.h>
#include <ulfm/ulfm.h>

#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

enum {
    PLACES = 3, /* for the attempt at hand, and for two more if it is left */
    TURNS = 64  /* of the library between two looks at the clock */
};

struct place {
    MPI_Comm channel, base; /* the first has no base: the caller's is used */
    int size, rank;
};

struct mend_hall {
    struct place *places;
    int n_places, at; /* the place in use; n_places: all are used up */
    double seconds;
    int32_t round;           /* attempts begun */
    int32_t adopted, unsure; /* the last acted upon; the one that was left; -1: none */
    bool was_adopted;
    bool threads; /* somewhere several threads call MPI: close the gate */
    bool bounded; /* all can leave a call */

    pthread_t owner;
    bool inside; /* a call that may be left is under way */
    double begin, limit;

    bool ready;     /* calls that a revoke ends may be under way on alive */
    MPI_Comm alive; /* of this attempt */
    bool ended;     /* alive was revoked because others have left */
};

/* The hall whose attempt is under way: the library's progress has no argument for us. */
static struct mend_hall *current;

static bool usable(const struct mend_hall *h)
{
    return h && h->at < h->n_places;
}

static const struct place *here(const struct mend_hall *h)
{
    return &h->places[h->at];
}

static bool is_last(const struct mend_hall *h)
{
    return h->at + 1 >= h->n_places;
}

static bool others_left(const struct mend_hall *h)
{
    return mend_ulfm_is_revoked(here(h)->channel);
}

static bool is_over(const struct mend_hall *h)
{
    return (h->limit > 0 && mend_now() > h->limit) || others_left(h);
}

/* Others have left the attempt: so do we, in calls that a revoke ends. */
static void end_if_left(struct mend_hall *h)
{
    if (!h->ready || h->ended || !usable(h) || !others_left(h))
        return;
    h->ended = true;
    mend_ulfm_revoke(h->alive);
}

/* At the end of a turn of the library. */
static int at_turn(void)
{
    static unsigned turns;
    struct mend_hall *h = current;
    if (!h || !(h->inside || h->ready) || ++turns % TURNS ||
        !pthread_equal(pthread_self(), h->owner))
        return 0;
    if (h->inside && is_over(h)) {
        h->inside = false;
        mend_apart_leave();
    }
    if (!h->inside)
        end_if_left(h);
    return 0;
}

static void set_ready(struct mend_hall *h, MPI_Comm alive)
{
    h->ready = h->bounded && alive != MPI_COMM_NULL;
    h->ended = false;
    h->alive = alive;
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

static int make_places(MPI_Comm comm, struct mend_hall *h)
{
    int size, rank, rc = MPI_SUCCESS;
    PMPI_Comm_size(comm, &size);
    PMPI_Comm_rank(comm, &rank);
    for (int i = 0; i < PLACES && rc == MPI_SUCCESS; i++) {
        struct place *place = &h->places[i];
        *place = (struct place){MPI_COMM_NULL, MPI_COMM_NULL, size, rank};
        rc = PMPI_Comm_dup(comm, &place->channel);
        if (rc == MPI_SUCCESS && i > 0)
            rc = PMPI_Comm_dup(comm, &place->base);
        if (rc == MPI_SUCCESS)
            PMPI_Comm_set_errhandler(place->channel, MPI_ERRORS_RETURN);
        if (rc == MPI_SUCCESS && i > 0)
            PMPI_Comm_set_errhandler(place->base, MPI_ERRORS_RETURN);
    }
    h->n_places = PLACES;
    return rc;
}

static void forget(struct mend_hall *h)
{
    if (h)
        free(h->places);
    free(h);
}

int mend_hall_open(MPI_Comm comm, double seconds, struct mend_hall **out)
{
    int level = MPI_THREAD_MULTIPLE, size = 0;
    *out = NULL;
    PMPI_Query_thread(&level);
    PMPI_Comm_size(comm, &size);
    struct mend_hall *h = calloc(1, sizeof *h);
    struct place *places = calloc(PLACES, sizeof *places);
    bool several = level == MPI_THREAD_MULTIPLE;
    int can[3] = {h && places && seconds > 0 && size <= MEMBERS_MAX, !several,
                  !several && look_at_progress()};
    int all[3] = {0, 0, 0}; /* meet there; one thread each; leave a call */
    int rc = PMPI_Allreduce(can, all, 3, MPI_INT, MPI_MIN, comm);
    if (rc != MPI_SUCCESS || !all[0] || !h || !places) {
        free(places);
        free(h);
        return rc;
    }
    *h = (struct mend_hall){.places = places,
                            .seconds = seconds,
                            .threads = !all[1],
                            .bounded = all[2],
                            .adopted = -1,
                            .unsure = -1,
                            .alive = MPI_COMM_NULL,
                            .owner = pthread_self()};
    rc = make_places(comm, h);
    if (rc == MPI_SUCCESS)
        *out = h;
    else
        forget(h);
    return rc;
}

enum mend_hall_state mend_hall_state(const struct mend_hall *h)
{
    return !h ? HALL_NONE : is_last(h) || h->at > h->n_places - PLACES ? HALL_USED : HALL_FRESH;
}

/* The first place has no base, so it is not taken over. */
void mend_hall_add(struct mend_hall *h, struct mend_hall *more)
{
    size_t n = (size_t)(h->n_places + more->n_places - 1);
    struct place *places = realloc(h->places, n * sizeof *places);
    if (!places) { /* the others count on it: to them one more failure, which they can repair */
        mend_log(MEND_LOG_ERROR, "ulfm: no memory for places to meet");
        abort();
    }
    for (int i = 1; i < more->n_places; i++)
        places[h->n_places++] = more->places[i];
    h->places = places;
    forget(more);
}

void mend_hall_close(struct mend_hall *h, bool together)
{
    if (!h)
        return;
    if (current == h)
        current = NULL;
    /* those behind us may have agreements on them that were left */
    for (int i = h->at; together && i < h->n_places; i++) {
        PMPI_Comm_free(&h->places[i].channel);
        if (i > h->at && h->places[i].base != MPI_COMM_NULL)
            PMPI_Comm_free(&h->places[i].base);
    }
    forget(h);
}

/* ---- steps 1, 2 and 5 ------------------------------------------------------------------------- */

/* The next one, if the attempt was left. */
static void next_place(struct mend_hall *h, MPI_Comm *base)
{
    while (usable(h) && others_left(h)) {
        mend_event("ulfm.fresh", ev_int("channel", h->at), ev_int("attempt", h->round));
        if (is_last(h)) {
            h->at = h->n_places; /* the plain way, until there are more */
            return;
        }
        h->at++;
        *base = here(h)->base;
    }
}

/* Steps 1 and 2. False: the attempt was left. */
static bool arrive(struct mend_hall *h)
{
    bool adopted = false;
    struct mend_arrival arrival = {.channel = here(h)->channel,
                                   .size = here(h)->size,
                                   .rank = here(h)->rank,
                                   .round = h->round,
                                   .adopted = h->adopted,
                                   .asked = h->unsure,
                                   .seconds = h->seconds};
    enum mend_arrived arrived = mend_arrive(&arrival, &adopted);
    if (arrived == ARRIVED_NO_MEMORY) /* the others must not wait for our word */
        mend_ulfm_revoke(here(h)->channel);
    h->was_adopted |= adopted;
    return arrived == ARRIVED_ALL;
}

void mend_hall_gather(struct mend_hall *h, MPI_Comm *base)
{
    if (!usable(h))
        return;
    current = h;
    set_ready(h, MPI_COMM_NULL);
    h->inside = h->was_adopted = false;
    h->round++;
    do
        next_place(h, base);
    while (usable(h) && !arrive(h));
}

bool mend_hall_assemble(struct mend_hall *h)
{
    return !usable(h) || (!others_left(h) && arrive(h));
}

bool mend_hall_is_bounded(const struct mend_hall *h)
{
    return h && h->bounded && !is_last(h);
}

/* ---- calls that may be left ------------------------------------------------------------------ */

static int left(struct mend_hall *h, const char *what)
{
    bool own = !others_left(h);
    mend_event("ulfm.left", ev_str("what", what), ev_str("who", own ? "self" : "others"),
               ev_real("seconds", mend_now() - h->begin), ev_int("attempt", h->round));
    mend_ulfm_revoke(here(h)->channel);
    set_ready(h, MPI_COMM_NULL);
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

/* The last place is for ever: behind it there is no other one to meet on. */
static void enter(struct mend_hall *h, double seconds)
{
    if (is_last(h))
        seconds = 0;
    h->begin = mend_now();
    h->limit = seconds > 0 ? h->begin + seconds : 0;
    if (h->threads)
        mend_gate_close();
    read_news_at_once(true);
    h->inside = h->bounded;
}

static void leave(struct mend_hall *h)
{
    h->inside = false;
    read_news_at_once(false);
    if (h->threads)
        mend_gate_open();
}

/* Carry the order out. False: it was left. */
static bool carry_out(struct mend_hall *h, struct mend_apart_order *order, double seconds)
{
    bool done = true;
    enter(h, seconds);
    if (h->bounded)
        done = mend_apart(order);
    else
        mend_apart_here(order);
    leave(h);
    return done;
}

int mend_hall_shrink(struct mend_hall *h, MPI_Comm base, MPI_Comm *alive)
{
    if (!usable(h))
        return mend_ulfm_shrink(base, alive);
    struct mend_apart_order order = {.comm = base, .alive = MPI_COMM_NULL};
    MEND_FAULT_POINT(ulfm_shrink);
    *alive = MPI_COMM_NULL;
    if (!carry_out(h, &order, h->seconds) || order.mpi_code != MPI_SUCCESS)
        return left(h, "shrink");
    *alive = order.alive;
    set_ready(h, order.alive);
    return MPI_SUCCESS;
}

int mend_hall_agree(struct mend_hall *h, MPI_Comm alive, int *flags, bool patient)
{
    if (!usable(h))
        return mend_ulfm_agree(alive, flags);
    h->unsure = -1;
    set_ready(h, MPI_COMM_NULL);
    h->begin = mend_now();
    if (others_left(h)) /* some will not come, so nobody can agree */
        return left(h, "vote");
    h->unsure = h->round;
    struct mend_apart_order order = {.comm = alive, .agree = true, .flags = *flags};
    /* the others may still build something */
    if (!carry_out(h, &order, patient ? 0 : 3 * h->seconds))
        return left(h, "agree");
    h->unsure = -1;
    *flags = order.flags;
    return order.mpi_code;
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
