/* Meeting before an agreement, and leaving one that does not end. One attempt:
 *
 *  1. Every process tells every other on the channel that it has come, which deaths it knows of, and which attempt it
 *     adopted last. No process continues before it has heard from all living ones. So a time limit on what follows
 *     does not hit those that are still computing.
 *  2. Every process waits until its own MPI library knows of all deaths that any process has named. Open MPI goes
 *     wrong when an agreement learns of a death while it runs.
 *  3. Shrink the base. If that fails, or exceeds the limit, revoke the channel and leave the call.
 *  4. The layer above does its work on the shrunk communicator, runs 1 and 2 again, and agrees, also with a limit.
 *  5. A process that finds the channel revoked leaves the attempt. It revokes what it waits on, if a revoke ends that
 *     call, and abandons a shrink or an agreement. The next attempt uses the next channel, and as its base a
 *     communicator on which there was no agreement.
 *
 * A process leaves an agreement from Open MPI's progress loop, between two of its turns, when nothing is half done,
 * and abandons the call's stack (apart.c). If any process has several threads in MPI, nobody leaves, because there
 * the library depends on the waiting thread. Our own other threads wait at the gate meanwhile (gate.c).
 *
 * A hall has places (a channel and a base) for a few attempts. After one was used, the next repair makes more, the
 * same number in the same order everywhere, and appends them when it is adopted. A process that does not know whether
 * it was adopted keeps them until the next gathering, which takes place on a place that all already have.
 *
 * Deaths. Before or in 1: the receive from the dead process ends with an error. In 2: as in 1 of the next attempt. In
 * 3 and 4: Open MPI's agreement leaves the dead process out, or hangs and is abandoned. If a process dies that has
 * just revoked the channel, the revoke reaches all or none; if none, the others have their own limits.
 *
 * A process that has abandoned a shrink has not voted, so nobody can have agreed. A process that has abandoned the
 * agreement may have voted yes, and others may have received the result and adopted it: it is unsure. The others come
 * to the next gathering, because the unsure process has revoked everything it has, and step 1 resolves the doubt. If
 * no living process has adopted, none ever will, because all living processes are in the gathering. */
#include <ulfm/hall.h>

#include <base/event.h>
#include <base/fault.h>
#include <base/log.h>
#include <ulfm/apart.h>
#include <ulfm/arrive.h>
#include <ulfm/gate.h>
#include <ulfm/progress.h>
#include <ulfm/ulfm.h>

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

enum {
    PLACES = 3, /* one for this attempt, two more if it is abandoned */
    TURNS = 64  /* turns of the library between two looks at the clock */
};

struct place {
    MPI_Comm channel, base; /* the first has no base: it uses the caller's */
    int size, rank;
};

struct mend_hall {
    struct place *places;
    int n_places, at; /* the place in use; n_places: none is left */
    double seconds;
    int32_t round;           /* attempts begun */
    int32_t adopted, unsure; /* the last one adopted; the one abandoned; -1: none */
    bool was_adopted;
    bool threads; /* some process has several threads in MPI: close the gate */
    bool bounded; /* all processes can leave a call */

    pthread_t owner;
    bool inside; /* in a call that it may leave */
    double begin, limit;

    bool ready;     /* calls that a revoke ends may be in progress on alive */
    MPI_Comm alive; /* the result of this attempt's shrink */
    bool ended;     /* we revoked alive because others have left */
};

/* The hall of the current attempt: the library's progress callback takes no argument. */
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

/* If others have left the attempt, end our calls that a revoke ends. */
static void end_if_left(struct mend_hall *h)
{
    if (!h->ready || h->ended || !usable(h) || !others_left(h))
        return;
    h->ended = true;
    mend_ulfm_revoke(h->alive);
}

/* Runs at the end of a turn of the library. */
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

static bool is_hooked(void)
{
    static int hooked = -1;
    if (hooked < 0)
        hooked = mend_progress_hook(at_turn);
    return hooked;
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
                  !several && is_hooked()};
    int all[3] = {0, 0, 0}; /* can meet; one thread each; can leave a call */
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

/* The first place has no base, so we do not take it over. */
void mend_hall_add(struct mend_hall *h, struct mend_hall *more)
{
    size_t n = (size_t)(h->n_places + more->n_places - 1);
    struct place *places = realloc(h->places, n * sizeof *places);
    if (!places) { /* the others rely on it: to them this is one more failure */
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
    /* earlier places may have abandoned agreements on them */
    for (int i = h->at; together && i < h->n_places; i++) {
        PMPI_Comm_free(&h->places[i].channel);
        if (i > h->at && h->places[i].base != MPI_COMM_NULL)
            PMPI_Comm_free(&h->places[i].base);
    }
    forget(h);
}

/* ---- steps 1, 2 and 5 ------------------------------------------------------------------------- */

/* Move to the next place if the attempt was abandoned. */
static void next_place(struct mend_hall *h, MPI_Comm *base)
{
    while (usable(h) && others_left(h)) {
        mend_event("ulfm.fresh", ev_int("channel", h->at), ev_int("attempt", h->round));
        if (is_last(h)) {
            h->at = h->n_places; /* plain calls, until there are more places */
            return;
        }
        h->at++;
        *base = here(h)->base;
    }
}

/* Steps 1 and 2. False: the attempt was abandoned. */
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
    if (arrived == ARRIVED_NO_MEMORY) /* the others must not wait for us */
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

/* On the last place a call has no limit: there is no further place to meet on. */
static void enter(struct mend_hall *h, double seconds)
{
    if (is_last(h))
        seconds = 0;
    h->begin = mend_now();
    h->limit = seconds > 0 ? h->begin + seconds : 0;
    if (h->threads)
        mend_gate_close();
    mend_progress_read_news(true);
    h->inside = h->bounded;
}

static void leave(struct mend_hall *h)
{
    h->inside = false;
    mend_progress_read_news(false);
    if (h->threads)
        mend_gate_open();
}

/* Carry out the order. False: it was abandoned. */
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
    /* The others may still be building something. */
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
