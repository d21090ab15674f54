/* online/agree.c - the agreements of a meeting: who is left, and did it go well? Open MPI's may hang forever on a heavily
 * overloaded machine, on some processes or on all. So
 *   1. The first meeting opens a hall (ulfm/hall.c). All processes meet there before they agree, and all leave an
 *      agreement that does not end within process.agreement_timeout.
 *      All living processes know the same deaths before they agree: each tells the others which deaths it has seen. The
 *      library's notice of a death may be late on a busy machine, and a notice inside an agreement crashes the library.
 *      The first meeting has no hall: there a process that learns of a failure by a revoke waits for the notice itself,
 *      at most for online.patience.
 *   2. Then the meeting begins again, on communicators that nobody has used.
 *   3. A process that has left the last agreement of a meeting does not know whether others received its result. If the
 *      result is that the job ends, every process has computed it from the same cards, and it holds. Otherwise the
 *      process revokes everything that was made. Others that have adopted the result wait in the barrier that follows
 *      each repair, because this process does not come there; the revoke sends them to the next meeting. The images are
 *      the same, so nothing is lost.
 *   4. After two hung agreements the hall has no fresh communicators left. Then each process that hangs ends itself after
 *      online.patience. If all do, `mend run` relaunches the job from its newest version.
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

/* If processes die during an agreement, Open MPI may not deliver the result to one process (seen once in some 160 kills).
 * That process would wait forever, and all others would wait for it in the next shrink. So it ends itself: to the others,
 * this is one more failure. */
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
    mend_hall_gather(hall.now, base); /* waits for processes that compute */
    int last =
        hall.now && !mend_hall_is_bounded(hall.now); /* all have come, and nobody can leave */
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
        if (!hall.now) /* otherwise the assembly spreads the news */
            mend_ulfm_await_failure(base, mend_setting_seconds(MEND_KEY_ONLINE_PATIENCE));
    }
    MEND_FAULT_POINT(recover_agree);
    mend_hall_assemble(hall.now); /* others may still be moving and loading images */
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
