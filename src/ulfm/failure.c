/* Did a death cause this error? One rule:
 *   1. A code of ULFM says so: yes.
 *   2. This process already knows of a death or a revoke: yes, whatever the code. The call that failed runs again
 *      after the repair, and if the program caused the error itself, it occurs again.
 *   3. Open MPI detects this error from the arguments alone (own_errors.def), or the program has defined it: no.
 *   4. All other errors are suspect. Windows, files and half-made communicators report a death as errors of their
 *      own, and the call may fail before the notice of the death arrives. So wait for the notice. The wait ends when
 *      `look` finds that all are alive, or else after `patience`, which is long because a busy machine reports late
 *      (0.5 s was too short at load 25). The launcher, which reports the death, waits for a core as this process does.
 *      So the wait continues until this thread has had a core for a while, but not beyond `most_patience`. */
#include <ulfm/ulfm.h>

#include <base/event.h>

#include <time.h>

static const double patience = 5, own_core = 1, most_patience = 60; /* seconds */

static double core_time(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool is_own(int class)
{
    if (class > MPI_ERR_LASTCODE)
        return true;
    static const int list[] = {
#define OWN_ERROR(name) MPI_ERR_##name,
#include <ulfm/own_errors.def>
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (class == list[i])
            return true;
    return false;
}

bool mend_ulfm_caused_by_death(int mpi_code, enum mend_news (*look)(void *arg), void *arg)
{
    int class = MPI_SUCCESS;
    if (mpi_code == MPI_SUCCESS)
        return false;
    if (mend_ulfm_is_failure(mpi_code) || look(arg) == NEWS_DEATH)
        return true;
    PMPI_Error_class(mpi_code, &class);
    if (is_own(class))
        return false;
    enum mend_news news = NEWS_UNKNOWN;
    double began = mend_now(), core = core_time() + own_core, waited = 0;
    while (news == NEWS_UNKNOWN && waited < most_patience &&
           (waited < patience || core_time() < core)) {
        news = look(arg);
        waited = mend_now() - began;
    }
    return news == NEWS_DEATH;
}
