/* recover_agree.c - the agreement that ends a meeting, and what Open MPI's needs to be relied on. */
#include "recover_plan.h"

#ifdef OPEN_MPI
#include <base/fault.h>

#include <errno.h>
#include <mpi-ext.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Open MPI's agreement crashes now and then in a process that was told of a failure by a revoke
 * only: wait until the failure itself is known here, too. */
static void await_failure(MPI_Comm base)
{
    for (double limit = seconds_now() + 0.5; seconds_now() < limit;) {
        MPI_Group dead;
        int n = 0, flag;
        if (TRY(MPIX_Comm_get_failed(base, &dead))) {
            MPI_Group_size(dead, &n);
            MPI_Group_free(&dead);
        }
        if (n)
            return;
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
    }
}

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
    int revoked = 0, flag = ok;
    const char *text = getenv("MEND_ONLINE_PATIENCE");
    MPIX_Comm_is_revoked(base, &revoked);
    if (!ok || revoked) {
        MPIX_Comm_revoke(base);
        await_failure(base);
    }
    MEND_FAULT_POINT(recover_agree);
    patience(text ? atoi(text) : 60);
    int rc = MPIX_Comm_agree(base, &flag);
    patience(0);
    phase("agree");
    return rc == MPI_SUCCESS && flag;
}
#endif
