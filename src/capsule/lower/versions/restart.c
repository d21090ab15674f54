/* restart.c - resumes the upper half from an image, in a new process.
 *
 *   1. Every rank lists the versions it has files of, in the node-local folder and in the job's. The ranks
 *      try the newest version that all of them have (candidates.c).
 *   2. Each rank opens its file, those it is based on, and the files that its other pages come from, and
 *      reads every page to its place; it verifies every byte that it reads (images/fill.c). If one rank
 *      cannot, all unmap what they have and try the next older version that all have.
 *   3. All agree that all could. Only then are threads brought back and registers loaded.
 *      The upper half then rebuilds its MPI objects (upper/life/stop.c).
 */
#include "versions/versions.h"
#include "ground/settings.h"
#include "images/load.h"

#include <base/config.h>
#include <base/event.h>
#include <base/fail.h>
#include <stdio.h>
#include <stdlib.h>

static int agree(int code)
{
    int worst = code;
    handle_t world = lower.predef[PRE_MPI_COMM_WORLD];
    lower.Allreduce(&code, &worst, 1, lower.predef[PRE_MPI_INT], lower.predef[PRE_MPI_MIN], world);
    return worst;
}

static void must(int code)
{
    if (code)
        fprintf(stderr, "mend: %s\n", mend_error_text());
    if (agree(code)) {
        lower.Finalize();
        /* no _exit(): MPICH says goodbye to its launcher in an exit handler; without that the code is lost */
        exit(1);
    }
}

static void tell_restart(int rank, mend_version_t version, int ranks, double start, double load)
{
    if (rank == 0)
        mend_event("restart", ev_int("version", version), ev_int("ranks", ranks),
                   ev_str("mpi", lower.name), ev_real("start", start), ev_real("load", load));
}

/* `mend run` must not launch the job again: nothing would change. */
static void refuse(int rank, const char *dir)
{
    if (rank == 0) {
        mend_event("recover.refused", ev_str("file", dir));
        retention_refuse(dir);
    }
}

void restart(const char *dir, mend_version_t version, int argc, char **argv)
{
    char folder[4200];
    struct candidates c = {0};
    struct loaded l = {0};
    struct damaged damaged = {0};
    int provided, rank, size, rc, at = 0;
    double start = seconds_now();

    lower.Init_thread(2, &provided);
    lower.Comm_rank(lower.predef[PRE_MPI_COMM_WORLD], &rank);
    lower.Comm_size(lower.predef[PRE_MPI_COMM_WORLD], &size);
    snprintf(folder, sizeof folder, "%s/versions", dir);
    rc = candidates_find(&c, folder, version, rank, size);
    int afresh = argc && version < 0 && mend_setting_boolean(MEND_KEY_RUN_FROM_START);
    int none = afresh || (rc == MEND_ERR_NO_VERSION && !candidates_listed(folder, size));
    if (argc && version < 0 && !agree(none ? 0 : -1)) {
        damaged.all = afresh;
        relaunch_go_back(0, 0, &damaged);
        tell_restart(rank, 0, size, 0, 0);
        relaunch_begin();
        load_and_enter(argc, argv);
    }
    if (rc && argc && version < 0)
        refuse(rank, dir);
    must(rc);
    double ready = seconds_now();
    for (;;) { /* step 2 */
        rc = candidates_open(&c, at, rank, &l.image);
        if (rc == 0)
            rc = loaded_tables(&l, dir);
        if (rc == 0)
            rc = files_open(&l, 0);
        int filling = rc == 0;
        if (filling)
            rc = loaded_fill(&l);
        if (rc)
            fprintf(stderr, "mend: rank %d: version %lld: %s\n", rank,
                    (long long)c.list[at].version, mend_error_text());
        if (!agree(rc))
            break;
        if (filling)
            loaded_unmap(&l);
        loaded_free(&l);
        damaged_add(&damaged, c.list[at].version);
        if (++at == c.count && argc && version < 0)
            refuse(rank, dir);
        if (at == c.count)
            must(rank == 0 ? mend_fail(MEND_ERR_NO_VERSION,
                                       "%s holds no complete version that is undamaged", dir)
                           : 0);
    }
    settings_adopt(&mend_image_info(l.image)->job);
    double filled = seconds_now();
    version = c.list[at].version;
    free(c.list);
    struct upper *u = loaded_become(&l);
    relaunch_go_back(version, u->capture, &damaged);
    tell_restart(rank, version, size, ready - start, filled - ready);
    u->doubtful = 0;
    image_resume();
}
