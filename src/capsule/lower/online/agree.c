/* online/agree.c - the agreements of a meeting: who is left, and did it go well? All processes meet in a hall (ulfm/hall.c),
 * whose waits end when somebody dies. Its channel is the world of the MPI library, on which nothing else travels. A process
 * that was started later has a world of its own: with it, all take another hall (online/join.c).
 *
 * A process that a death has kept from the result of the vote does not know whether others have it. If the result is that
 * the job has finished, it meets again and learns there whether others have left. Otherwise the process revokes everything
 * that was made. Others that have adopted the result wait in the barrier that follows each repair, because this process does
 * not come there; the revoke sends them to the next meeting. The images are the same, so nothing is lost.
 *
 * With a library that hides how it makes communicators (ulfm/making.c) there is no hall, but the library's own agreement, which
 * may hang on an overloaded machine. Then each process that hangs ends itself after online.patience, and if all do, `mend run`
 * relaunches the job from its newest version.
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

/* A process that waits forever ends itself: to the others, this is one more failure. */
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

static struct {
    struct mend_hall *now, *next;
} hall;

static int seconds_of_patience(void)
{
    return (int)ceil(mend_setting_seconds(MEND_KEY_ONLINE_PATIENCE));
}

static void patience_without_hall(bool on)
{
    if (!hall.now)
        patience_for(on ? seconds_of_patience() : 0);
}

void agree_begin(void)
{
    hall.now = mend_hall_borrow(MPI_COMM_WORLD, true);
}

int gather_and_shrink(MPI_Comm *base)
{
    MPI_Comm alive;
    mend_ulfm_revoke(*base);
    mend_hall_gather(&hall.now); /* waits for processes that compute */
    int rc = mend_hall_shrink(hall.now, *base, &alive);
    if (rc != MPI_SUCCESS)
        return 0;
    MPI_Comm_set_errhandler(alive, MPI_ERRORS_RETURN);
    *base = alive;
    return 1;
}

int agree_open_next(MPI_Comm comm)
{
    return TRY(mend_hall_open(comm, &hall.next));
}

void agree_adopt_next(void)
{
    mend_hall_take(&hall.now, hall.next);
    hall.next = NULL;
}

enum agreed agree(MPI_Comm base, int ok)
{
    int flag = ok;
    if (!ok || mend_ulfm_is_revoked(base)) {
        mend_ulfm_revoke(base);
        if (!hall.now)
            mend_ulfm_await_failure(base, mend_setting_seconds(MEND_KEY_ONLINE_PATIENCE));
    }
    MEND_FAULT_POINT(recover_agree);
    patience_without_hall(true);
    int rc =
        mend_hall_agree(hall.now, base, &flag); /* others may still be moving and loading images */
    patience_without_hall(false);
    phase("agree");
    int yes = rc == MPI_SUCCESS && flag;
    if (yes) {
        mend_hall_adopted(hall.now);
        agree_adopt_next();
    } else {
        mend_hall_refuse(hall.next);
        hall.next = NULL;
    }
    return yes ? AGREED_YES : ok && mend_hall_unsure(hall.now) ? AGREED_UNSURE : AGREED_NO;
}

int agree_was_yes(void)
{
    return mend_hall_was_adopted(hall.now);
}

void agree_farewell(void)
{
    mend_hall_farewell(hall.now);
}

void agree_to_end(MPI_Comm base, int *flag)
{
    patience_without_hall(true);
    mend_hall_agree_to_end(hall.now, base, flag);
    patience_without_hall(false);
}
#endif
