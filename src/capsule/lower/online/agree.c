/* online/agree.c - the agreements of a meeting: who is left, and that it went well. Open MPI's may hang for ever
 * on a machine that is far overloaded, on some processes or on all. So
 *   1. the first meeting opens a hall (ulfm/hall.c), in which all meet before an agreement, and which all leave
 *      together when one does not end within process.agreement_timeout;
 *      All who live know the same deaths before they agree: whoever has seen one tells the others, for the news of
 *      the library may reach them late on a busy machine, and inside an agreement it kills. The first meeting has
 *      no hall: there a process that was called by a revoke waits for the news itself, online.patience at most;
 *   2. then the meeting is begun again, on communicators that nobody has used;
 *   3. who has left the agreement at the end of a meeting does not know whether others got its result. If it is
 *      an end, everybody has computed it from the same cards, and it holds. Otherwise it revokes
 *      all that was made: others who act upon it stand in the barrier that follows each repair, for this
 *      process has not come there, and come to the next meeting. It has the same images, so nothing is lost;
 *   4. when the hall has no fresh communicators left (after two hung agreements), the process ends itself after
 *      online.patience, as all do where it hangs for all: the job is launched again from its newest version.
 */
#include "online/plan.h"
#include "online/online.h"

#ifdef OPEN_MPI
#include <base/config.h>
#include <base/fault.h>
#include <ulfm/hall.h>
#include <ulfm/ulfm.h>

#include <math.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* If processes die during an agreement, Open MPI may forget to tell one process the result (seen
 * once in some 160 kills): it would wait for ever, and all others for it in the next shrink. Such
 * a process ends itself: to the others one more failure. */
static void on_patience(int signal)
{
    (void)signal;
    static const char text[] = "mend: an agreement did not end in time; this process exits\n";
    (void)!write(2, text, sizeof text - 1);
    _exit(114);
}

void patience_for(int seconds)
{
    static timer_t timer;
    static int made;
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGNAL_PATIENCE};
    struct itimerspec in = {.it_value.tv_sec = seconds};
    if (!made++) {
        struct sigaction action = {.sa_handler = on_patience};
        sigaction(SIGNAL_PATIENCE, &action, NULL);
        if (timer_create(CLOCK_MONOTONIC, &event, &timer))
            die("cannot make a timer: %s", strerror(errno));
    }
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGNAL_PATIENCE);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    timer_settime(timer, 0, &in, NULL);
}

/* The way out of an agreement that does not end; NULL until the first meeting has ended. */
static struct {
    struct mend_hall *now, *next;
} hall;

static int seconds_of_patience(void)
{
    return (int)ceil(mend_setting_seconds(MEND_KEY_ONLINE_PATIENCE));
}

int gather_and_shrink(MPI_Comm *base)
{
    MPI_Comm alive;
    mend_ulfm_revoke(*base);
    mend_hall_gather(hall.now, base); /* this waits for those who compute */
    int last =
        hall.now && !mend_hall_is_bounded(hall.now); /* all are there; nothing to leave it for */
    if (last)
        patience_for(seconds_of_patience());
    int rc = mend_hall_shrink(hall.now, *base, &alive);
    if (last)
        patience_for(0);
    if (rc != MPI_SUCCESS)
        return 0;
    MPI_Comm_set_errhandler(alive, MPI_ERRORS_RETURN);
    *base = alive;
    return 1;
}

int agree_open_next(MPI_Comm comm)
{
    return TRY(
        mend_hall_open(comm, mend_setting_seconds(MEND_KEY_PROCESS_AGREEMENT_TIMEOUT), &hall.next));
}

int agree_prepare(MPI_Comm base)
{
    if (hall.now)
        return 1;
    return agree_open_next(base);
}

void agree_adopt_next(void)
{
    hall.now = hall.next;
    hall.next = NULL;
}

enum agreed agree(MPI_Comm base, int ok)
{
    int flag = ok;
    if (!ok || mend_ulfm_is_revoked(base)) {
        mend_ulfm_revoke(base);
        if (!hall.now) /* else the assembly tells the news to all */
            mend_ulfm_await_failure(base, mend_setting_seconds(MEND_KEY_ONLINE_PATIENCE));
    }
    MEND_FAULT_POINT(recover_agree);
    mend_hall_assemble(hall.now); /* others may still move and load images */
    int last = !mend_hall_is_bounded(hall.now);
    if (last)
        patience_for(seconds_of_patience());
    int rc = mend_hall_agree(hall.now, base, &flag, false);
    if (last)
        patience_for(0);
    phase("agree");
    int yes = rc == MPI_SUCCESS && flag;
    if (yes)
        mend_hall_adopted(hall.now);
    if (yes && hall.next)
        hall.now = hall.next;
    else
        mend_hall_close(hall.next, false);
    hall.next = NULL;
    return yes ? AGREED_YES : ok && mend_hall_unsure(hall.now) ? AGREED_UNSURE : AGREED_NO;
}

void agree_to_end(MPI_Comm base, int *flag)
{
    patience_for(seconds_of_patience());
    mend_ulfm_agree(base, flag);
    patience_for(0);
}
#endif
