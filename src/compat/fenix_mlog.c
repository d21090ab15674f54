/* Fenix' message logs are not supported: Mend rolls all ranks back to one version instead. */
#include <compat/fenix.h>

#include <base/fail.h>
#include <base/log.h>

#define API __attribute__((visibility("default")))

static int missing(const char *call)
{
    mend_fail(MEND_ERR_UNSUPPORTED, "%s: message logs are not supported", call);
    mend_log(MEND_LOG_ERROR, "%s: message logs are not supported", call);
    return FENIX_ERROR_INTERN;
}

/* clang-format off */
#define MISSING(name, ...) API int name(__VA_ARGS__) { return missing(#name); }
#pragma GCC diagnostic ignored "-Wunused-parameter"
MISSING(Fenix_Mlog_create, int id, MPI_Comm *comm, int depth)
MISSING(Fenix_Mlog_activate, int id)
MISSING(Fenix_Mlog_begin_region, int id, int region)
MISSING(Fenix_Mlog_sync, int id, int region)
MISSING(Fenix_Mlog_stage, int id, int group, int member)
MISSING(Fenix_Mlog_lrestore, int id, int group, int member, int time_stamp)
MISSING(Fenix_Mlog_delete, int id)
