/* online/agree.c - the agreement that ends a meeting, and what Open MPI's needs to be relied on. */
#include "online/plan.h"
#include "online/online.h"

#ifdef OPEN_MPI
#include <base/config.h>
#include <base/fault.h>
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
    static const char text[] = "mend: an agreement did not end; this process gives up\n";
    (void)!write(2, text, sizeof text - 1);
    _exit(114);
}

static void patience(int seconds)
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

int agree(MPI_Comm base, int ok)
{
    int flag = ok;
    if (!ok || mend_ulfm_is_revoked(base)) {
        mend_ulfm_revoke(base);
        mend_ulfm_await_failure(base, 0.5);
    }
    MEND_FAULT_POINT(recover_agree);
    patience((int)ceil(mend_setting_seconds(MEND_KEY_ONLINE_PATIENCE)));
    int rc = mend_ulfm_agree(base, &flag);
    patience(0);
    phase("agree");
    return rc == MPI_SUCCESS && flag;
}
#endif
