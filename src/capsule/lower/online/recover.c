/* recover.c - the job repairs itself when ranks die, without leaving mpirun.
 *
 *   mpirun --with-ft ulfm -n 5 capsule.openmpi --online SPARES DIR PROGRAM ARGS...
 *
 * Some of the processes play ranks 0..n-1 of the application; the others are spares, which have a lower half
 * only. Two processes keep every version in memory: its rank and another one (on another node, if there are
 * several; online/checkpoint.c); online/levels.c keeps some versions elsewhere. When an MPI call fails, all
 * processes meet (online/meeting.c); starting and finishing are meetings, too.
 *
 * The process layer (mend/process.h) is not used here although its repair is the same idea: its agreement
 * would come before the images are moved and loaded, and a death in between would need a second protocol
 * around it. Here one agreement covers both, and start and finish as well.
 */
#include "online/meeting.h"
#include "images/load.h"
#include "output/output.h"
#include "start/start.h"
#include "undo/undo.h"
#include "versions/versions.h"

#ifdef OPEN_MPI
#include "online/levels.h"

#include <base/config.h>
#include <base/ends.h>
#include <base/event.h>
#include <ulfm/ulfm.h>

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- noticing a failure ---------------------------------------------------------------------- */

static void repair(void) __attribute__((noreturn));
static void repair(void) /* on our own stack, in the main thread */
{
    phases_noticed();
    online.deaf_calls = 0;
    leave_upper(job.control);
    job.control = MPI_COMM_NULL;
    meet();
    die("a meeting ended without a decision");
}

int a_player_died(void)
{
    static bool *dead;
    static int room;
    int yes = 0, size = 0;
    if (mend_ulfm_failed(job.base, NULL) == 0)
        return 0;
    MPI_Comm_size(job.base, &size);
    if (!dead || room < size) {
        room = size;
        dead = realloc(dead, (size_t)room * sizeof *dead);
        if (!dead)
            die("no memory for %d flags", room);
    }
    mend_ulfm_failed(job.base, dead);
    for (int r = 0; r < job.plan.ranks; r++) /* none before the first plan */
        yes |= job.plan.player[r] < size && dead[job.plan.player[r]];
    return yes;
}

/* What is known about the players: from the MPI library and, for those on this machine, from the kernel. */
static enum mend_news news_of_players(void *arg)
{
    (void)arg;
    if (a_player_died() || mend_ulfm_is_revoked(online.world))
        return NEWS_DEATH;
    mend_ulfm_progress(MPI_COMM_SELF);
    return plan_look_at_players(&job.plan);
}

/* Every failed MPI call of the application comes here (GUARD). ulfm/failure.c has the rule. */
void recover_error(int rc, const char *function)
{
    if (mend_ulfm_caused_by_death(rc, news_of_players, NULL)) {
        mend_event("recover.noticed",
                   ev_str("how", mend_ulfm_is_revocation(rc) ? "revoke" : "failure"),
                   ev_str("call", function));
        leave_now();
    }
    /* any other error belongs to the program: its own handler runs above */
}

/* ---- called from mpi/ ------------------------------------------------------------------------- */

/* The upper half runs again and its objects are bound. */
void recover_resumed(void)
{
    phase("rebind");
    GUARD("resume",
          MPI_Barrier(job.control)); /* nobody writes to a file that another still has to cut */
    phase("barrier");
    undo_outside_resumed();
    lend_begin();
    discard_free();
    output_commit();       /* nothing up to this version can be rolled back */
    if (!phases_repairs()) /* a new launch: nothing was repaired */
        mend_event("recover.loaded", ev_int("version", job.version));
    phases_tell(job.took_in && !job.plan.replaced ? "refilled" : "resumed", job.version);
    job.took_in = 0;
}

/* A rank may finish only when all have, because a failure elsewhere would roll it back, too. The meeting may
 * do just that, so it needs our own stack. */
static void finish(void)
{
    meet();
    context_resume(&job.back, lower.thread_pointer);
}

void recover_finalize(void)
{
    GUARD("Finalize", MPI_Barrier(job.control));
    phases_begin();
    job.finished = 1;
    global_flush();
    if (!context_save(&job.back))
        on_own_stack(finish);
    join_part(job.base);
    output_direct();
    levels_done();
    mend_event("recover.finished", ev_int("version", job.version));
}

/* An end without MPI_Finalize, or with a code, is the program's own decision: a repair would only repeat it.
 * A program that does not use MPI ends here, too: together with all ranks, as if it had called MPI_Finalize.
 */
void recover_ended(int code)
{
    if (!job.finished && !code && !job.began_mpi && !job.version)
        lower.Finalize();
    if (job.finished && !code)
        ended_well();
    else
        ended_by_exit(code);
}

void recover_begun(void)
{
    job.began_mpi = 1;
}

/* A process that replaces a dead one: it joins in the middle of a meeting. */
static void join_later(const char *number)
{
    join_them(number, &job.base, &job.world_size);
    job.took_in = 1;
    phases_noticed();
    phases_tell("joined", 0); /* not the start: the others report everything about the repair */
    meet();
    join_part(job.base);
    exit(0);
}

/* ---- start ----------------------------------------------------------------------------------- */

void recover_main(int argc, char **argv)
{
    int provided, size;
    char path[PATH_MAX];
    if (argc < 3)
        die("usage: --online SPARES DIR PROGRAM ARGS...");
    int spares = atoi(argv[0]);
    job.argc = argc - 2;
    job.argv = argv + 2;
    ground.recovering = 1;
    lower.rolls_back = 2;
    signals_ignore_broken_pipes();
    ended_watch();
    ground.main_tid = (int)syscall(SYS_gettid);
    load_remember_environment();
    snprintf(path, sizeof path, "%s/events.jsonl", argv[1]);
    mend_event_open(path);
    if (!mend_setting_boolean(MEND_KEY_ONLINE_RAW))
        output_open(argv[1]);
    undo_open(argv[1]);
    levels_open(argv[1]);
    /* MPI_Init waits forever if a process dies inside it: `mend run` must know which processes to watch */
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    mend_event("recover.born", ev_int("pid", getpid()), ev_str("host", host));
    MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided);
    ended_lend_pointer();
    ended_watch_crashes(); /* after the handlers of the MPI library */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    anchor_cast();
    online.world = online.self = MPI_COMM_NULL;
    leave_prepare(repair);
    const char *later = mend_setting_string(MEND_KEY_ONLINE_JOIN);
    if (later[0])
        join_later(later);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (spares < 0 || size <= spares)
        die("%d processes cannot have %d spares", size, spares);
    job.world_size = size - spares;
    if (MPI_Comm_dup(MPI_COMM_WORLD, &job.base))
        die("the job lost a process before it started");
    MPI_Comm_set_errhandler(job.base, MPI_ERRORS_RETURN);
    agree_begin();
    int process;
    MPI_Comm_rank(MPI_COMM_WORLD, &process);
    mend_ends_started(process);
    mend_event("recover.started", ev_int("pid", getpid()), ev_int("ranks", job.world_size),
               ev_int("spares", spares));
    meet();
    join_part(job.base);
    if (!online.creations_failed)
        MPI_Finalize(); /* a spare that was never needed */
    exit(0);
}
#endif
