/* online/hear.c - hearing of deaths while the library waits: one-sided communication, files, all else.
 *
 * Open MPI's windows know nothing of failures: a call on a window waits for ever for a dead process, or
 * for one that has left. Files speak over communicators of their own, which nobody can revoke, and when
 * one of those reports a failure, the code for files goes on with what it did not get, and crashes. So
 *   1. whoever waits in a call on either looks, whenever the library has made progress, whether a
 *      process has failed or somebody has revoked, and leaves the call for good: before the call itself
 *      gets to know of it. Before a call on a file is begun, it looks, too.
 * Operations on windows that are under way cannot be ended: one that completes late would write into
 * memory that was rolled back. So a job with open windows is not repaired in place:
 *   2. in the meeting everybody shows how many windows it has open;
 *   3. if there are any, the version in memory is put on disk and the job is launched again from it,
 *      with fresh processes (job_give_up in online/steps.c).
 * A death between these steps is one more failure in the same meeting.
 *
 * All other calls hear of the death of a rank they wait for. But they may wait for one that has left for the
 * repair without having revoked their communicator: it was about to make it when it heard of the death. So
 *   4. whoever knows of a death revokes all that it has, whatever it waits for.
 */
#include "online/online.h"

#ifdef OPEN_MPI
#include <base/event.h>
#include <ulfm/ulfm.h>

#include <dlfcn.h>
#include <errno.h>
#include <semaphore.h>
#include <time.h>

enum { HEAR_EVERY = 1024 }; /* in calls that hear of failures themselves */

static struct {
    MPI_Comm watched; /* a failure in it ends calls on windows and files */
    int revoked_all;
    int looking; /* at every turn of the library */
    void (*library_progress)(void);
} hearing = {.watched = MPI_COMM_NULL};

static void hear(void)
{
    int revoked = 0;
    revoked = mend_ulfm_is_revoked(hearing.watched);
    int died = a_player_died();
    if (!revoked && !died)
        return;
    online.deaf_calls = 0;
    mend_event("recover.noticed", ev_str("how", died ? "failure" : "revoke"),
               ev_str("call", "window or file"));
    leave_now();
}

void file_call(void)
{
    online.deaf_calls++;
    online.hear_every = 1; /* the call itself must not be the first to hear of it */
    if (ground.recovering && !online.leaving && hearing.watched != MPI_COMM_NULL)
        hear();
}

/* Called by the library at the end of each of its turns: nothing is half done there, and whoever waits has
 * not looked at what the turn has brought. (To stand in for its opal_progress() instead would cost
 * every message 1 or 2 %, also without `mend run`.) */
static int look(void)
{
    static int turns;
    if (online.creating && hearing.watched != MPI_COMM_NULL)
        creation_hear(hearing.watched);
    if (online.leaving || ++turns < (online.deaf_calls ? online.hear_every : HEAR_EVERY))
        return 0;
    turns = 0;
    if (online.deaf_calls)
        hear();
    else if (!hearing.revoked_all && a_player_died())
        revoke_application(), hearing.revoked_all = 1;
    return 0;
}

/* A shared file pointer of one node is guarded by one: a process that was killed there never gives it
 * back. */
__attribute__((visibility("default"))) int sem_wait(sem_t *semaphore)
{
    for (struct timespec until;;) {
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 20000000;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        if (!sem_timedwait(semaphore, &until))
            return 0;
        if (errno != ETIMEDOUT)
            return -1;
        if (online.deaf_calls > 0 && ground.recovering && hearing.library_progress)
            hearing.library_progress(); /* may not come back */
    }
}

void windows_watch(MPI_Comm comm)
{
    static int registered;
    hearing.watched = comm;
    hearing.revoked_all = 0;
    if (registered++)
        return;
    union {
        void *symbol;
        int (*add)(int (*callback)(void));
        void (*turn)(void);
    } library = {dlsym(RTLD_DEFAULT, "opal_progress_register")};
    hearing.looking = library.symbol && library.add(look) == 0;
    library.symbol = dlsym(RTLD_DEFAULT, "opal_progress");
    hearing.library_progress = library.turn;
}

void windows_allowed(void)
{
    if (ground.recovering && !hearing.looking)
        die("this Open MPI has no progress hook, so a job with windows would hang when a rank "
            "dies: use mend run --no-online");
}
#else
void file_call(void)
{
    online.deaf_calls++;
}
void windows_allowed(void)
{
}
#endif
