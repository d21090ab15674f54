/* online/hear.c - notices deaths while the library waits: in one-sided communication, in files, and elsewhere.
 *
 * Open MPI's windows ignore failures: a call on a window waits forever for a process that has died or left. Files use
 * communicators of their own, which nobody can revoke. When one of those reports a failure, the code for files continues
 * with data that it did not get, and crashes. So
 *   1. A process that waits in a call on a window or a file checks, in the library's progress loop, whether a process has
 *      failed or a communicator was revoked. If so, it leaves the call for good, before the call itself notices. It also
 *      checks before it begins a call on a file.
 * Operations on windows cannot be ended while they are in progress: one that completes late would write into memory that
 * was rolled back. So a job with open windows is not repaired in place:
 *   2. In the meeting each process shows how many windows it has open.
 *   3. If any are open, the version in memory goes to disk, and the job is relaunched from it with fresh processes
 *      (job_give_up in online/steps.c).
 * A death between these steps is one more failure in the same meeting.
 *
 * All other calls notice the death of a rank that they wait for. But they may wait for a rank that has left for the
 * repair without revoking their communicator, because it was still making it when it noticed the death. So
 *   4. A process that knows of a death revokes all its communicators, whatever it waits for.
 *
 * A process that waits for a checkpoint at the start of a collective is in no call at all. If the coordinator's node has
 * lost its power, no connection closes, and nobody ends the round. So
 *   5. The process drives the library, and checks, while it waits.
 */
#include "online/online.h"

#ifdef OPEN_MPI
#include <base/event.h>
#include <ulfm/progress.h>
#include <ulfm/ulfm.h>

#include <errno.h>
#include <semaphore.h>
#include <time.h>

enum { HEAR_EVERY = 1024 }; /* in calls that notice failures themselves */

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

void recover_look(void)
{
    if (!ground.recovering || online.leaving || hearing.watched == MPI_COMM_NULL)
        return;
    mend_ulfm_progress(MPI_COMM_SELF);
    int died = a_player_died();
    if (!died && !mend_ulfm_is_revoked(online.world))
        return;
    mend_event("recover.noticed", ev_str("how", died ? "failure" : "revoke"),
               ev_str("call", "door"));
    leave_now();
}

void file_call(void)
{
    online.deaf_calls++;
    online.hear_every = 1; /* we must notice before the call does */
    if (ground.recovering && !online.leaving && hearing.watched != MPI_COMM_NULL)
        hear();
}

/* The library calls this at the end of each turn of its progress loop: nothing is half done there, and a waiting call has
 * not yet looked at the results of the turn. (Interposing opal_progress() instead would cost every message 1 or 2 %, even
 * without `mend run`.) */
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

/* A semaphore guards the shared file pointer of one node: a process that was killed while holding it never
 * releases it. */
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
            hearing.library_progress(); /* may not return */
    }
}

void windows_watch(MPI_Comm comm)
{
    static int registered;
    hearing.watched = comm;
    hearing.revoked_all = 0;
    if (registered++)
        return;
    hearing.looking = mend_progress_hook(look);
    hearing.library_progress = mend_progress_turn();
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
