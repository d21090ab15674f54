/* online/join.c - new processes replace those that died, so that the job survives the tenth failure like the first.
 *
 * Mend's launcher starts a new process when one has died and there is room (launcher/head/fill.c). The new process has an
 * MPI_COMM_WORLD of its own. A meeting (meeting.c) adds it, between its steps 1 and 2:
 *   1. The new process opens a port, publishes it, and waits for a connection.
 *   2. At the end of a checkpoint, rank 0 asks the launcher whether a new process waits. If so, and if all ranks can, they
 *      leave for a meeting. It goes back to the version that has just been completed, so no work is repeated. A meeting
 *      after a death adds a new process, too.
 *   3. In the meeting, after the shrink, process 0 asks the launcher for a port and sends it to the others. All wait until
 *      all have it. If fewer processes are left than ranks, process 0 waits for one that is on its way.
 *   4. All connect to the port and merge with the new process, which gets the highest number. Process 0 sends it the
 *      number of ranks. All open a new hall together.
 *   5. The old processes agree whether this went well. If so, process 0 tells the new one, and they begin the meeting
 *      again on the merged communicator. If not, they begin it again on the old one, and never use the merged one.
 *   6. The new process waits for that word, tells the launcher that it has joined, and comes to the meeting. It has no
 *      image. If it is to play a rank, it gets that rank's image and the partner's, as a spare does.
 * All images stay where they were until the meeting ends. So however often it begins again, it goes back to the newest
 * version of which all images are left.
 *
 * Deaths between any two steps. Of the new process: the launcher ends all waiting for its port. Process 0 asks the
 * launcher about the new process throughout 4, and leaves; the answer in 5 is no. Of an old process: 3 or 4 fails for
 * some, who revoke the old communicator. The others notice that, or the death, wherever they are in 4 (connect.c,
 * creation.c). The answer in 5 is no, and the launcher ends the new process when it is next asked for a port, or after a
 * while. Of process 0 in 5: the new process notices and ends. The others begin again without process 0, on the merged
 * communicator, where it is one more dead process. A process that still hangs ends itself after JOIN_LIMIT.
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
    CONNECT_LIMIT = 30, /* the launcher's: then it ends the new one */
    JOIN_LIMIT = 120    /* a process that has neither finished nor left by then has hung */
};
static struct {
    int joined; /* processes that came later: two worlds cannot be finalized */
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

/* Step 3. An empty port: none. */
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

/* Step 4. The handle of a failed call may be garbage. */
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

/* Returns 0 as soon as this process knows of a death or of another failed process. */
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

/* Step 5, if it went well. */
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

/* ---- the new process ------------------------------------------------------------------------- */

static void tell(const char *what, const char *number, const char *value)
{
    char name[64];
    snprintf(name, sizeof name, "mend.%s.%s", what, number);
    if (MPI_Publish_name(name, MPI_INFO_NULL, value))
        die("the launcher does not accept %s", name);
}

/* Returns when the others have added this process. If they do not, they continue without it, and the launcher starts
 * another. */
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

/* MPI_Finalize would wait for both worlds. No process leaves while another may still wait for a message from it. */
void join_part(MPI_Comm base)
{
    if (!join.joined)
        return;
    online.creations_failed++;
    if (!TRY(MPI_Barrier(base)))
        mend_ulfm_revoke(base);
}
#endif
