/* online/meeting.c - all living processes decide which process plays which rank, from which version, and carry it out.
 *
 * One meeting (attempt), repeated until it succeeds:
 *   1. Revoke the base communicator, gather all living processes, and shrink it to them (online/agree.c). A process that
 *      was started later may join now (online/join.c); then all begin again.
 *   2. Each process sends all others a card: the rank it plays, the images it holds.
 *   3. From the same cards all compute the same plan (online/plan.c): which process plays which rank, and the newest
 *      version of which every rank's image is in memory.
 *   4. End the upper half (online/leave.c).
 *   5. Send a byte between every two processes, so that no old message is in flight.
 *   6. Split off the new world, in rank order. Send images to the processes that lack them, or fetch them from the other
 *      levels if memory does not have all. (If those do not either, start from the beginning.)
 *   7. Restore files (undo/apply.c), and load the image in place of the upper half. Make no MPI call while the upper
 *      half's memory is not there.
 *   8. All agree that it went well (online/agree.c).
 * After a death between any two steps, a process that notices it revokes, and votes no in step 8. No process skips
 * step 8, so all begin again at 1. All images of the old version are still where they were.
 */
#include "online/meeting.h"
#include "output/output.h"
#include "start/start.h"
#include "images/load.h"
#include "undo/undo.h"
#include "versions/versions.h"

#ifdef OPEN_MPI
#include "online/levels.h"

#include <base/event.h>
#include <base/fault.h>
#include <ulfm/ulfm.h>

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

struct job job = {.rank = -1, .base = MPI_COMM_NULL, .control = MPI_COMM_NULL};

static mend_version_t floor_of(int mine)
{
    mend_version_t now = undo_floor(mine), soon = global_floor();
    return soon > now ? soon : now;
}

static int show_cards(void)
{
    struct meeting_card mine = {.rank = job.rank,
                                .finished = job.finished,
                                .windows = online.windows_open,
                                .unclean = online.creations_failed,
                                .floor = job.rank >= 0 ? floor_of(job.rank) : 0,
                                .host = host_number(),
                                .machine = machine_number(),
                                .pid = getpid(),
                                .id = (uint64_t)(1e6 * wall())};
    for (int i = 0; i < IMAGES_HELD; i++) {
        mine.image[i].rank = online.held[i].rank;
        mine.image[i].version = online.held[i].version;
    }
    MPI_Comm_size(job.base, &job.plan.processes);
    MPI_Comm_rank(job.base, &job.plan.me);
    job.plan.card = realloc(job.plan.card, (size_t)job.plan.processes * sizeof *job.plan.card);
    if (!job.plan.card)
        die("no memory for %d cards", job.plan.processes);
    return TRY(MPI_Allgather(&mine, sizeof mine, MPI_BYTE, job.plan.card, sizeof mine, MPI_BYTE,
                             job.base));
}

static void revoke_made(void)
{
    mend_ulfm_revoke(job.base);
    if (job.plan.rank < 0)
        return;
    mend_ulfm_revoke(job.control);
    mend_ulfm_revoke(online.world);
}

static void load(void)
{
    job.finished = 0;
    output_play(job.plan.rank);
    if (job.plan.version) {
        held_load(held_find(job.plan.rank, job.plan.version));
    } else {
        upper_wipe();
        output_start();
    }
}

/* See the list at the top. */
static int attempt(void)
{
    levels_unbind();
    lend_end();
    if (!gather_and_shrink(&job.base)) {
        mend_event("recover.retry", ev_str("what", "shrink"));
        return 0;
    }
    int finished = job.unsure && agree_was_yes();
    job.unsure = 0;
    job.plan.finished = finished;
    if (finished)
        return 1;
    windows_watch(job.base);
    phase("shrink");
    MEND_FAULT_POINT(recover_shrink);
    char port[MPI_MAX_PORT_NAME];
    int ok = join_ask(job.base, job.world_size, job.finished, port);
    if (ok && port[0]) {
        job.took_in |= join_take_in(&job.base, port, job.world_size);
        return 0;
    }
    ok = ok && show_cards();
    if (ok)
        lend_all_back();
    if (ok)
        plan_make(&job.plan, job.world_size);
    phase("plan");
    MEND_FAULT_POINT(recover_plan);
    if (ok && !job.plan.finished && !job.plan.hopeless) {
        leave_upper(job.control); /* a rank that had finished comes here with its upper half */
        ok = flush_messages(&job.plan, job.base);
        phase("flush");
        ok = ok && build_world(&job.plan, job.base, &job.control);
        phase("world");
        MEND_FAULT_POINT(recover_world);
        ok = ok && spread_images(&job.plan, job.base, job.control);
        phase("images");
        MEND_FAULT_POINT(recover_images);
        if (ok && job.plan.rank >= 0)
            ok = files_can_go_back(job.plan.rank, job.plan.version, job.control);
        if (ok && job.plan.rank >= 0)
            levels_remove_later(job.plan.rank, job.plan.version); /* they will have no logs */
        ok = ok &&
             (job.plan.rank < 0 || put_files_back(job.plan.rank, job.plan.version, job.control));
        phase("files");
        if (ok && job.plan.rank >= 0)
            load();
        phase("load");
        MEND_FAULT_POINT(recover_load);
    }
    if (!ok && job.control != MPI_COMM_NULL)
        mend_ulfm_revoke(job.control); /* a process that waits there does not notice the base */
    enum agreed agreed = agree(job.base, ok);
    if (agreed == AGREED_YES ||
        (agreed == AGREED_UNSURE && job.plan.hopeless)) /* it ends whatever the others know */
        return 1;
    job.unsure = agreed == AGREED_UNSURE && job.plan.finished;
    if (job.unsure) /* the upper half waits with what it has */
        mend_ulfm_revoke(job.base);
    else if (agreed == AGREED_UNSURE) /* see agree.c */
        revoke_made();
    if (!job.unsure)
        online.world = job.control = online.self = MPI_COMM_NULL; /* nobody uses them */
    mend_event("recover.retry", ev_str("what", agreed == AGREED_UNSURE ? "unsure"
                                               : ok                    ? "others"
                                                                       : "here"));
    phases_begin();
    return 0;
}

static void tell_playing(void)
{
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    mend_event("recover.playing", ev_int("version", job.version), ev_int("pid", getpid()),
               ev_str("host", host), ev_int("spares", job.plan.processes - job.world_size));
}

void meet(void)
{
    for (;;) {
        while (!attempt())
            ;
        if (job.plan.finished) {
            agree_farewell();
            online.creations_failed |= job.plan.unclean;
            return;
        }
        if (job.plan.hopeless)
            job_give_up(&job.plan, job.base);
        job.rank = job.plan.rank;
        job.version = job.plan.version;
        mend_event_set_rank(job.rank);
        job.copied_version = job.version;
        held_keep(job.version, job.version, job.rank,
                  job.rank < 0 ? -1 : plan_partner_of(&job.plan, job.rank));
        if (job.rank < 0) {
            levels_begun();
            phases_tell("waiting", job.version);
            job.took_in = 0;
            spare_wait(&job.plan, job.base);
            phases_noticed();
            continue;
        }
        fill_predefined();
        levels_begin(job.rank, job.world_size, job.version, job.plan.id);
        undo_remove(job.rank, job.version);
        undo_outside_forget(job.version > 0);
        undo_meeting(job.plan.id);
        undo_begin(job.rank, job.version);
        online.leaving = 0;
        tell_playing();
        if (job.version)
            image_resume();
        if (phases_repairs())
            GUARD("restart", MPI_Barrier(job.control)); /* see recover_resumed */
        phases_tell("restarted", job.version);
        discard_free();
        input_take(job.rank);
        sigset_t none;
        sigemptyset(&none);
        signals_default(0);
        sigprocmask(SIG_SETMASK, &none, NULL);
        load_and_enter(job.argc, job.argv);
    }
}
#endif
