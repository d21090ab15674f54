/* online/join.c - new processes in place of those that died, so that the tenth failure is survived like the first.
 *
 * Mend's launcher starts a new process when one has died and there is room (launcher/head/fill.c). It is a world of its
 * own. A meeting (meeting.c) takes it in, between its steps 1 and 2:
 *   1. The new process opens a port, publishes it, and waits for somebody to connect.
 *   2. At the end of a checkpoint rank 0 asks the launcher whether one waits; if so, and all can, all leave for
 *      a meeting, which goes back to the version that is complete since a moment ago: nothing is done twice. A
 *      meeting after a death takes one in as well.
 *   3. In the meeting, after the shrink, process 0 asks the launcher for a port, and tells the others; all wait until all
 *      have it. If fewer processes are left than ranks, it waits for one that is coming.
 *   4. All connect to the port and merge with the new one, which becomes the last; process 0 tells it how many ranks
 *      there are; and a new hall is opened for all of them.
 *   5. The old ones agree that this went well. Yes: process 0 says so to the new one, and they begin the meeting again,
 *      on the merged communicator. No: they begin it again on the old one, and nobody touches the merged one any more.
 *   6. The new one, which waits for that word, tells the launcher that it has joined, and comes to the meeting. It has no
 *      image: if it is to play a rank, it gets that one and the partner's like a spare.
 * Until the end of the meeting all images stay where they were: however often it is begun again, it goes back to
 * the newest version of which all are left.
 *
 * A death between any two steps. Of the new one: the launcher ends all waiting for its port; process 0, which asks
 * the launcher for it all through 4, leaves that; 5 is a no. Of an old
 * one: 3 or 4 fails for some, who revoke the old communicator; the others see that, or the death, wherever they
 * are in 4 (connect.c, creation.c); 5 is a no, and the launcher ends the new one when somebody asks for a port again, or
 * after a while. Of process 0 in 5: the new one sees it and ends; the others begin again without it, on the merged
 * communicator, where it is one more that is dead. A process that waits for ever all the same ends itself after JOIN_LIMIT.
 */
#include "online/plan.h"
#include "online/online.h"

#ifdef OPEN_MPI
#include <base/config.h>
#include <base/event.h>
#include <base/fault.h>
#include <ulfm/ulfm.h>

#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    TAG_WELCOME = 5,
    COMING_LIMIT = 60,  /* seconds: for a process that the launcher is starting */
    CONNECT_LIMIT = 30, /* the launcher's: it ends the new one then */
    JOIN_LIMIT = 120    /* who is not through then, and has not left, has hung */
};
static struct {
    int joined; /* processes that came later: two worlds cannot be finalized any more */
    sigjmp_buf way_out;
} join;

int join_is_wanted(void)
{
    return mend_setting_integer(MEND_KEY_ONLINE_REFILL) > 0;
}

static void nap(long milliseconds)
{
    nanosleep(&(struct timespec){0, milliseconds * 1000000}, NULL);
}

/* ---- old processes --------------------------------------------------------------------------- */

static int launcher_says(const char *name)
{
    char text[MPI_MAX_PORT_NAME] = "";
    return MPI_Lookup_name(name, MPI_INFO_NULL, text) == MPI_SUCCESS;
}

static int processes_wanted(int world_size)
{
    return world_size + (int)mend_setting_integer(MEND_KEY_ONLINE_REFILL);
}

/* Step 2. */
void join_refill(MPI_Comm base, MPI_Comm control, const struct plan *plan, mend_version_t version)
{
    int mine = !online.windows_open, due = 0; /* with open windows nobody can meet: see hear.c */
    if (!join_is_wanted())
        return;
    if (plan->rank == 0 && mine)
        mine = plan->processes - mend_ulfm_failed(base, NULL) < processes_wanted(plan->ranks) &&
               launcher_says("mend.join.peek");
    GUARD("checkpoint", MPI_Allreduce(&mine, &due, 1, MPI_INT, MPI_MIN, control));
    if (!due)
        return;
    mend_event("recover.refill", ev_int("version", version));
    leave_now();
}

/* Step 3. Empty: none. */
static void ask(char *port, int size, int world_size, int finished)
{
    double limit = seconds_now() + COMING_LIMIT;
    const char *name = size < world_size ? "mend.join.wait" : "mend.join";
    port[0] = 0;
    if (size >= processes_wanted(world_size) || (finished && size >= world_size))
        return;
    while (MPI_Lookup_name(name, MPI_INFO_NULL, port) == MPI_SUCCESS && strcmp(port, "wait") == 0 &&
           seconds_now() < limit) {
        port[0] = 0;
        nap(10);
    }
    if (strcmp(port, "wait") == 0)
        port[0] = 0;
}

int join_ask(MPI_Comm base, int world_size, int finished, char *port)
{
    int rank, size;
    port[0] = 0;
    if (!join_is_wanted())
        return 1;
    MPI_Comm_rank(base, &rank);
    MPI_Comm_size(base, &size);
    if (rank == 0)
        ask(port, size, world_size, finished);
    MEND_FAULT_POINT(recover_join_ask);
    return TRY(MPI_Bcast(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, base)) &&
           (!port[0] || TRY(MPI_Barrier(base)));
}

/* Step 4. A handle of a call that has failed may be garbage. */
static int merge(MPI_Comm inter, int high, int *world_size, MPI_Comm *merged)
{
    MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
    if (!TRY(MPI_Intercomm_merge(inter, high, merged)))
        return 0;
    MPI_Comm_set_errhandler(*merged, MPI_ERRORS_RETURN);
    return TRY(MPI_Bcast(world_size, 1, MPI_INT, 0, *merged)) && agree_open_next(*merged);
}

static int the_new_one_is_gone(void)
{
    return !launcher_says("mend.join.offered");
}

/* Returns 0 as soon as a death, or that another one has failed, is known. */
static int connect_and_merge(MPI_Comm base, const char *port, int world_size, MPI_Comm *inter,
                             MPI_Comm *merged)
{
    if (sigsetjmp(join.way_out, 0))
        return 0;
    creation_begin_in_join(&join.way_out);
    int ok = TRY(MPI_Comm_connect(port, MPI_INFO_NULL, 0, base, inter));
    MEND_FAULT_POINT(recover_join_merge);
    return ok && merge(*inter, 0, &world_size, merged);
}

static int meet_the_new_one(MPI_Comm base, const char *port, int world_size, MPI_Comm *inter,
                            MPI_Comm *merged)
{
    int rank;
    MPI_Comm_rank(base, &rank);
    MEND_FAULT_POINT(recover_join_connect);
    join.joined = 1;
    patience_for(JOIN_LIMIT);
    connect_begin(base, CONNECT_LIMIT, rank == 0 ? the_new_one_is_gone : NULL);
    int ok = connect_and_merge(base, port, world_size, inter, merged);
    connect_end();
    patience_for(0);
    if (ok)
        creation_end();
    else
        creation_settle();
    return ok;
}

/* Step 5, after a yes. */
static void welcome(MPI_Comm inter, MPI_Comm merged, int world_size)
{
    int rank, size, yes = 1;
    MPI_Comm_rank(merged, &rank);
    MPI_Comm_size(merged, &size);
    MEND_FAULT_POINT(recover_join_welcome);
    if (rank == 0)
        (void)TRY(MPI_Send(&yes, 1, MPI_INT, 0, TAG_WELCOME, inter));
    mend_event("recover.joined", ev_int("processes", size), ev_int("spares", size - world_size));
}

int join_take_in(MPI_Comm *base, const char *port, int world_size)
{
    MPI_Comm inter = MPI_COMM_NULL, merged = MPI_COMM_NULL;
    int ok = meet_the_new_one(*base, port, world_size, &inter, &merged);
    enum agreed agreed = agree(*base, ok);
    phase("join");
    if (agreed == AGREED_UNSURE)
        die("the others may have taken in a new process without this one");
    if (agreed == AGREED_NO) {
        mend_event("recover.retry", ev_str("what", "join"));
        return 0;
    }
    *base = merged;
    welcome(inter, merged, world_size);
    return 1;
}

/* ---- the new one ----------------------------------------------------------------------------- */

static void tell(const char *what, const char *number, const char *value)
{
    char name[64];
    snprintf(name, sizeof name, "mend.%s.%s", what, number);
    if (MPI_Publish_name(name, MPI_INFO_NULL, value))
        die("the launcher does not take %s", name);
}

/* It returns when the others have taken this process in; if they do not, they go on without it, and the launcher
 * starts another. */
void join_them(const char *number, MPI_Comm *base, int *world_size)
{
    char port[MPI_MAX_PORT_NAME];
    MPI_Comm inter;
    int yes;
    join.joined = 1;
    if (MPI_Open_port(MPI_INFO_NULL, port))
        die("cannot open a port");
    tell("port", number, port);
    MEND_FAULT_POINT(recover_join_wait);
    if (!TRY(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter)))
        _exit(115);
    MEND_FAULT_POINT(recover_join_accepted);
    if (!merge(inter, 1, world_size, base))
        _exit(115);
    MEND_FAULT_POINT(recover_join_merged);
    if (!TRY(MPI_Recv(&yes, 1, MPI_INT, 0, TAG_WELCOME, inter, MPI_STATUS_IGNORE)))
        _exit(115);
    agree_adopt_next();
    tell("joined", number, "yes");
    MEND_FAULT_POINT(recover_join_joined);
}

/* ---- the end --------------------------------------------------------------------------------- */

/* The library's own end would wait for both worlds. Nobody leaves while another one may still wait for its word. */
void join_part(MPI_Comm base)
{
    if (!join.joined)
        return;
    online.creations_failed++;
    if (!TRY(MPI_Barrier(base)))
        mend_ulfm_revoke(base);
}
#endif
