/* Was an error caused by a death? One rule:
 *   1. The codes of ULFM say so: yes.
 *   2. A death, or a revoke, is known already: yes, whatever the code. What failed is done again after
 *      the repair, and an error of the program's own comes again with it.
 *   3. Open MPI finds this error by looking at the arguments alone (own_errors.def): no.
 *   4. All else is suspect. Windows, files and half-made communicators turn a death into errors of
 *      their own, and the call may have failed before the news of the death is here. So wait for the
 *      news. Whoever can tell that all are alive ends the wait; otherwise it ends with patience, which
 *      is long because a busy machine is slow to tell (0.5 s was too short at load 25). */
#include <ulfm/ulfm.h>

#include <base/event.h>

static const double patience = 5; /* seconds */

static bool is_own(int class)
{
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
    for (double limit = mend_now() + patience; news == NEWS_UNKNOWN && mend_now() < limit;)
        news = look(arg);
    return news == NEWS_DEATH;
}
