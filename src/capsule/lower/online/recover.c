/* recover.c - the job repairs itself when ranks die, without leaving mpirun.
 *
 *   mpirun --with-ft ulfm -n 5 capsule.openmpi --online SPARES DIR PROGRAM ARGS...
 *
 * Ranks 0..n-1 of the application are played by n of the processes; the others are spares, which
 * have a lower half only. Every version is kept in memory twice, by its rank and by another one
 * (on another node, if there are several); online/levels.c keeps some of them elsewhere. When
 * an MPI call fails, all processes meet; starting and finishing are meetings, too.
 *
 * One meeting (attempt), repeated until it works out:
 *   1. revoke the base communicator, gather all who live, and shrink it to them (online/agree.c);
 *      a process that has come later may join now (online/join.c), and then all begin again;
 *   2. everybody shows a card: rank played, images held;
 *   3. from the same cards everybody computes the same plan (online/plan.c): who plays which rank,
 *      and the newest version of which every rank's image is in memory;
 *   4. the upper half is ended (online/leave.c);
 *   5. a byte from everybody to everybody, so that no message of old is under way to anybody;
 *   6. the new world is split off, in rank order; images go to those who lack them, or come from the
 *      other levels if memory has not all of them (if those have not either: from the beginning);
 *   7. files are put back (undo/apply.c), and the image is loaded in place of the upper half. No MPI call
 *      while its memory is not there;
 *   8. all agree that it went well (online/agree.c, also for an agreement that does not end).
 * A death between any two steps: whoever sees it revokes, and comes to step 8 with a no. Nobody
 * skips step 8, so all begin again at 1. Nothing of the old version has been given up by then: the
 * images are still where they were.
 *
 * The process layer (mend/process.h) is not used here although its repair is the same idea: its
 * agreement would come before the images are moved and loaded, and a death in between would need
 * a second protocol around it. Here one agreement covers both, and start and finish as well.
 */
#include "start/start.h"
#include "images/load.h"
#include "output/output.h"
#include "undo/undo.h"
#include "versions/versions.h"
#include "online/online.h"
#include "round/agent.h"

#ifdef OPEN_MPI
#include "online/levels.h"
#include "online/plan.h"
#include "images/snapshot.h"

#include <base/ends.h>
#include <base/config.h>
#include <base/event.h>
#include <base/fault.h>
#include <mend/error.h>
#include <ulfm/ulfm.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int world_size;                   /* of the application */
static int rank = -1;                    /* played by this process; -1: spare */
static mend_version_t version;           /* newest checkpoint; 0: the beginning */
static mend_version_t copied_version;    /* the newest that partners have, too */
static int finished;                     /* the application has called MPI_Finalize */
static int began_mpi;                    /* it has called MPI_Init */
static MPI_Comm base = MPI_COMM_NULL;    /* all processes alive, with the spares */
static MPI_Comm control = MPI_COMM_NULL; /* the processes of app_world, for our own messages */
static int app_argc;
static char **app_argv;

static struct plan plan;
static int took_in; /* this meeting has a new process */

/* ---- noticing a failure ---------------------------------------------------------------------- */

static void repair(void) __attribute__((noreturn));
static void meet(void);

static void repair(void) /* on our own stack, in the main thread */
{
    phases_noticed();
    online.deaf_calls = 0;
    leave_upper(control);
    control = MPI_COMM_NULL;
    meet();
    die("a meeting ended without a decision");
}

int a_player_died(void)
{
    static bool *dead;
    static int room;
    int yes = 0, size = 0;
    if (mend_ulfm_failed(base, NULL) == 0)
        return 0;
    MPI_Comm_size(base, &size);
    if (room < size) {
        room = size;
        dead = realloc(dead, (size_t)room * sizeof *dead);
        if (!dead)
            die("no memory for %d flags", room);
    }
    mend_ulfm_failed(base, dead);
    for (int r = 0; r < plan.ranks; r++) /* none before the first plan */
        yes |= plan.player[r] < size && dead[plan.player[r]];
    return yes;
}

/* What is known of the players: from the MPI library, and of those on this machine from the kernel. */
static enum mend_news news_of_players(void *arg)
{
    (void)arg;
    if (a_player_died() || mend_ulfm_is_revoked(online.world))
        return NEWS_DEATH;
    mend_ulfm_progress(MPI_COMM_SELF);
    return plan_look_at_players(&plan);
}

/* Every MPI call of the application that fails comes here (GUARD), and the room ulfm has the rule. */
void recover_error(int rc, const char *function)
{
    if (mend_ulfm_caused_by_death(rc, news_of_players, NULL)) {
        mend_event("recover.noticed",
                   ev_str("how", mend_ulfm_is_revocation(rc) ? "revoke" : "failure"),
                   ev_str("call", function));
        leave_now();
    }
    /* any other error is the program's: its own handler runs above */
}

/* ---- the meeting ----------------------------------------------------------------------------- */

static mend_version_t floor_of(int mine)
{
    mend_version_t now = undo_floor(mine), soon = global_floor();
    return soon > now ? soon : now;
}

static int show_cards(void)
{
    struct meeting_card mine = {.rank = rank,
                                .finished = finished,
                                .windows = online.windows_open,
                                .unclean = online.creations_failed,
                                .floor = rank >= 0 ? floor_of(rank) : 0,
                                .host = host_number(),
                                .machine = machine_number(),
                                .pid = getpid(),
                                .id = (uint64_t)(1e6 * wall())};
    for (int i = 0; i < IMAGES_HELD; i++) {
        mine.image[i].rank = online.held[i].rank;
        mine.image[i].version = online.held[i].version;
    }
    MPI_Comm_size(base, &plan.processes);
    MPI_Comm_rank(base, &plan.me);
    plan.card = realloc(plan.card, (size_t)plan.processes * sizeof *plan.card);
    if (!plan.card)
        die("no memory for %d cards", plan.processes);
    return TRY(MPI_Allgather(&mine, sizeof mine, MPI_BYTE, plan.card, sizeof mine, MPI_BYTE, base));
}

static void revoke_made(void)
{
    mend_ulfm_revoke(base);
    if (plan.rank < 0)
        return;
    mend_ulfm_revoke(control);
    mend_ulfm_revoke(online.world);
}

static void load(void)
{
    finished = 0;
    output_play(plan.rank);
    if (plan.version) {
        held_load(held_find(plan.rank, plan.version));
    } else {
        upper_wipe();
        output_start();
    }
}

/* One meeting; see the list at the top. */
static int attempt(void)
{
    levels_unbind();
    if (!gather_and_shrink(&base)) {
        mend_event("recover.retry", ev_str("what", "shrink"));
        return 0;
    }
    windows_watch(base);
    phase("shrink");
    MEND_FAULT_POINT(recover_shrink);
    char port[MPI_MAX_PORT_NAME];
    int ok = join_ask(base, world_size, finished, port);
    if (ok && port[0]) {
        took_in |= join_take_in(&base, port, world_size);
        return 0;
    }
    ok = ok && show_cards();
    if (ok)
        plan_make(&plan, world_size);
    phase("plan");
    MEND_FAULT_POINT(recover_plan);
    if (ok && !plan.finished && !plan.hopeless) {
        leave_upper(control); /* a rank that had finished comes here without */
        ok = flush_messages(&plan, base);
        phase("flush");
        ok = ok && prepare_agreements(base) && build_world(&plan, base, &control);
        phase("world");
        MEND_FAULT_POINT(recover_world);
        ok = ok && spread_images(&plan, base, control);
        phase("images");
        MEND_FAULT_POINT(recover_images);
        if (ok && plan.rank >= 0)
            ok = files_can_go_back(plan.rank, plan.version, control);
        if (ok && plan.rank >= 0)
            levels_remove_later(plan.rank, plan.version); /* for them there will be no logs */
        ok = ok && (plan.rank < 0 || put_files_back(plan.rank, plan.version, control));
        phase("files");
        if (ok && plan.rank >= 0)
            load();
        phase("load");
        MEND_FAULT_POINT(recover_load);
    }
    if (!ok && control != MPI_COMM_NULL)
        mend_ulfm_revoke(control); /* who waits for us in it does not hear of the base */
    enum agreed agreed = agree(base, ok);
    if (agreed == AGREED_YES || (agreed == AGREED_UNSURE && (plan.finished || plan.hopeless)))
        return 1;
    if (agreed == AGREED_UNSURE) /* see agree.c */
        revoke_made();
    online.world = control = online.self = MPI_COMM_NULL; /* nobody uses them */
    mend_event("recover.retry", ev_str("what", agreed == AGREED_UNSURE ? "unsure"
                                               : ok                    ? "others"
                                                                       : "here"));
    phases_begin();
    return 0;
}

/* Meet until it works out. Returns only if the application has finished. */
static void meet(void)
{
    for (;;) {
        while (!attempt())
            ;
        if (plan.finished) {
            online.creations_failed |= plan.unclean;
            return;
        }
        if (plan.hopeless)
            job_give_up(&plan, base);
        rank = plan.rank;
        version = plan.version;
        mend_event_set_rank(rank);
        copied_version = version;
        held_keep(version, version, rank, rank < 0 ? -1 : plan_partner_of(&plan, rank));
        if (rank < 0) {
            levels_begun();
            phases_tell("waiting", version);
            took_in = 0;
            spare_wait(&plan, base);
            phases_noticed();
            continue;
        }
        fill_predefined();
        levels_begin(rank, world_size, version, plan.id);
        undo_remove(rank, version);
        undo_outside_forget(version > 0);
        undo_meeting(plan.id);
        undo_begin(rank, version);
        online.leaving = 0;
        mend_event("recover.playing", ev_int("version", version), ev_int("pid", getpid()),
                   ev_int("spares", plan.processes - world_size));
        if (version)
            image_resume();
        if (phases_repairs())
            GUARD("restart", MPI_Barrier(control)); /* see recover_resumed */
        phases_tell("restarted", version);
        discard_free();
        input_take(rank);
        sigset_t none;
        sigemptyset(&none);
        signals_default(0);
        sigprocmask(SIG_SETMASK, &none, NULL);
        load_and_enter(app_argc, app_argv);
    }
}

/* ---- called by mpi.c ------------------------------------------------------------------------- */

/* If one rank cannot be saved, none is: 1, and told once. */
static int refused(struct upper *upper, struct snapshot_result *result)
{
    static int told;
    int mine = snapshot_refused() != 0, any = 0;
    GUARD("checkpoint", MPI_Allreduce(&mine, &any, 1, MPI_INT, MPI_MAX, control));
    if (mine && !told)
        fprintf(stderr, "mend: rank %d: no checkpoint: %s\n", upper->rank, mend_error_text());
    told |= mine;
    result->code = any ? MEND_ERR_UNSUPPORTED : 0;
    result->version = version;
    return any;
}

/* One version. All messages are drained, the other threads stand still.
 *   1. The own image is written: pages that changed into slots of their own, all others shared with the last version.
 *   2. What changed goes to the partner, whose copy shares the rest with the copy that it has.
 *   3. A barrier: all images of this version are complete, twice. It is committed.
 *   4. The older version goes, and with it the pages that only it had.
 * A slot that an image has is never written to, so until 4 the last version is whole at its rank and at its partner,
 * whatever has become of the new one. A death
 *   before 3: some rank has no whole image of the new version, or only one; the next meeting finds the newest version that
 *      is whole for every rank, the last one, or the new one if nothing of it is missing;
 *   in 3, with only some who learn of it: all have entered the barrier, so all have the new one, twice. Those who have left it
 *      may have given up the last one, and nobody needs that: the meeting finds the new one;
 *   after 3: the same. A rank in 4 makes no MPI call, so it comes to its end there or dies.
 */
void recover_checkpoint(struct upper *upper, const struct control_save *order,
                        struct snapshot_result *result)
{
    if (refused(upper, result))
        return;
    int previous = plan_partner_of(&plan, rank), partner = plan_partner(&plan, rank);
    int copied = world_size > 1 && levels_partner_due(version + 1);
    size_t sent = 0, changed = 0;
    double t0 = seconds_now();
    held_keep(version, copied_version, rank, previous);
    struct held_image *own = held_new();
    held_write(own, upper, held_find(rank, version));
    own->rank = rank;
    own->version = version + 1;
    MEND_FAULT_POINT(recover_save_write);
    double t1 = seconds_now();
    if (copied) {
        struct held_image *copy = held_new();
        if (!held_copy(own, held_find(rank, copied_version), partner, copy,
                       held_find(previous, copied_version), previous, control, &sent, &changed))
            recover_error(mend_ulfm_revoked_code(), "checkpoint");
        copy->rank = previous;
        copy->version = version + 1;
    }
    MEND_FAULT_POINT(recover_save_copy);
    double t2 = seconds_now();
    GUARD("checkpoint", MPI_Barrier(control));
    version++;
    if (copied)
        copied_version = version;
    MEND_FAULT_POINT(recover_save_agreed);
    held_keep(version, copied_version, rank, previous); /* all have all of it: the old one can go */
    MEND_FAULT_POINT(recover_save_commit);
    output_commit();
    undo_begin(rank, version);
    spares_tell(&plan, base, own->size);
    if (!order->asked)
        global_offer(own, order->levels);
    mend_event("checkpoint.commit", ev_int("version", version), ev_str("level", "memory"),
               ev_int("bytes", (long long)own->size), ev_real("seconds", seconds_now() - t0),
               ev_real("image", t1 - t0), ev_real("copy", t2 - t1));
    if (copied) /* the partner's copy is part of the same commit */
        mend_event("checkpoint.commit", ev_int("version", version), ev_str("level", "partner"),
                   ev_int("bytes", (long long)own->size), ev_int("sent", (long long)sent),
                   ev_int("changed", (long long)changed), ev_real("seconds", t2 - t1));
    if (!levels_save(own, order->levels, control, world_size))
        recover_error(mend_ulfm_revoked_code(), "checkpoint");
    result->version = version;
    if (order->asked && !global_save_now(own)) /* it stays where it is already */
        result->code = MEND_ERR_IO;
    if (!order->asked)
        join_refill(base, control, &plan, version);
}

/* The upper half runs again and its objects are bound. */
void recover_resumed(void)
{
    phase("rebind");
    GUARD("resume",
          MPI_Barrier(control)); /* nobody writes to a file that another still has to cut */
    phase("barrier");
    undo_outside_resumed();
    discard_free();
    output_commit(); /* up to this version nothing can be rolled back */
    phases_tell(took_in && !plan.replaced ? "refilled" : "resumed", version);
    took_in = 0;
}

/* A rank may finish only when all have, because a failure elsewhere would roll it back, too. The
 * meeting may do just that, so it needs our own stack. */
static struct context back;
static void finish(void)
{
    meet();
    context_resume(&back, lower.thread_pointer);
}

void recover_finalize(void)
{
    GUARD("Finalize", MPI_Barrier(control));
    phases_begin();
    finished = 1;
    global_flush();
    if (!context_save(&back))
        on_own_stack(finish);
    join_part(base);
    output_direct();
    levels_done();
    mend_event("recover.finished", ev_int("version", version));
}

/* Without MPI_Finalize, or with a code, this is the program's own decision: a repair would only repeat
 * it. A program that knows nothing of MPI ends here, too: with all ranks, as if it had called
 * MPI_Finalize. */
void recover_ended(int code)
{
    if (!finished && !code && !began_mpi && !version)
        lower.Finalize();
    if (finished && !code)
        ended_well();
    else
        ended_by_exit(code);
}

void recover_begun(void)
{
    began_mpi = 1;
}

/* A process in place of one that died: it comes into the middle of a meeting. */
static void join_later(const char *number)
{
    join_them(number, &base, &world_size);
    took_in = 1;
    phases_noticed();
    phases_tell("joined", 0); /* not the start: the others say all that a repair says */
    meet();
    join_part(base);
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
    app_argc = argc - 2;
    app_argv = argv + 2;
    recovering = 1;
    lower.rolls_back = 2;
    signals_ignore_broken_pipes();
    ended_watch();
    main_tid = (int)syscall(SYS_gettid);
    load_remember_environment();
    snprintf(path, sizeof path, "%s/events.jsonl", argv[1]);
    mend_event_open(path);
    if (!mend_setting_boolean(MEND_KEY_ONLINE_RAW))
        output_open(argv[1]);
    undo_open(argv[1]);
    levels_open(argv[1]);
    /* MPI_Init waits for ever if a process dies inside it: who watches us must know whom to look for */
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
    world_size = size - spares;
    if (MPI_Comm_dup(MPI_COMM_WORLD, &base))
        die("the job lost a process before it started");
    MPI_Comm_set_errhandler(base, MPI_ERRORS_RETURN);
    int process;
    MPI_Comm_rank(MPI_COMM_WORLD, &process);
    mend_ends_started(process);
    mend_event("recover.started", ev_int("pid", getpid()), ev_int("ranks", world_size),
               ev_int("spares", spares));
    meet();
    join_part(base);
    if (!online.creations_failed)
        MPI_Finalize(); /* a spare that was never needed */
    exit(0);
}
#endif
