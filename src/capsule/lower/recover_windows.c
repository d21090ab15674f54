/* recover_windows.c - one-sided communication and files while ranks die.
 *
 * Open MPI's windows know nothing of failures: a call on a window waits for ever for a dead process, or
 * for one that has left. Files speak over communicators of their own, which nobody can revoke. So
 *   1. whoever waits in a call on either looks now and then, from inside the library's own progress,
 *      whether a process has failed or somebody has revoked, and leaves the call for good.
 * Operations on windows that are under way cannot be ended: one that completes late would write into
 * memory that was rolled back. So a job with open windows is not repaired in place:
 *   2. in the meeting everybody shows how many windows it has open;
 *   3. if there are any, the version in memory is put on disk and the job is launched again from it,
 *      with fresh processes (give_up in recover.c).
 * A death between these steps is one more failure in the same meeting.
 */
#include "recover.h"

#ifdef OPEN_MPI
#include <base/event.h>

#include <dlfcn.h>
#include <mpi-ext.h>

int windows_open, deaf_calls;
static MPI_Comm watched = MPI_COMM_NULL;
static int looking;

/* Called by the library whenever it makes progress: between two of its steps nothing is half done. */
static int look(void)
{
    static unsigned calls;
    enum { SELDOM = 256 };
    int revoked = 0;
    if (!deaf_calls || leaving || ++calls % SELDOM)
        return 0;
    MPIX_Comm_is_revoked(watched, &revoked);
    int died = a_player_died();
    if (!revoked && !died)
        return 0;
    deaf_calls = 0;
    mend_event("recover.noticed", ev_str("how", died ? "failure" : "revoke"),
               ev_str("call", "window or file"));
    leave_now();
}

void windows_watch(MPI_Comm comm)
{
    static int registered;
    watched = comm;
    if (registered++)
        return;
    union {
        void *symbol;
        int (*call)(int (*callback)(void));
    } library = {dlsym(RTLD_DEFAULT, "opal_progress_register")};
    looking = library.symbol && library.call(look) == 0;
}

void windows_allowed(void)
{
    if (recovering && !looking)
        die("this Open MPI does not let us look at its progress: a job with windows would hang "
            "when a rank dies (mend run --no-online)");
}
#else
int windows_open, deaf_calls;
void windows_allowed(void)
{
}
#endif
