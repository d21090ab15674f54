/* coordinator.c - decides when to make a checkpoint, and leads all ranks through it.
 *
 * A thread in the process of rank 0; the agents of all ranks (agent.c) are connected to it. One
 * round:
 *
 *   1. COLLECTING  Every agent reports how many collectives its rank has begun on each communicator.
 *                  The target of a communicator is the largest number reported. Ranks behind a
 *                  target run on and may pass through further collectives, which raises further
 *                  targets; ranks that are even wait at the door of their next collective. The
 *                  targets never run away: a rank begins a collective only if it is behind
 *                  somewhere, so only the causal past of collectives that had begun is completed.
 *                  A rank that is behind may wait for an even one (for a message that it would send
 *                  after its door): when nothing moves, such doors are opened by raising their
 *                  target (open_doors). A rank inside a blocking call of the library does not tell
 *                  for whom it waits: when nothing moves for longer, all doors open.
 *   2. STOPPING    All are even, nobody is inside a collective for long. Ranks stop at once; each
 *                  reports how many messages it has sent, and hears how many were sent to it (counts.c);
 *                  they drain until all these have arrived.
 *   3. SAVING      All drained: nothing of the application is in flight. Each rank writes one image,
 *                  under a save id of this round. In the background: all continue as soon as each has
 *                  its copy, and no new round begins before the files are there.
 *   4. COMMIT      The version counts as soon as the files of all ranks are there (image/folder.h):
 *                  the last rename commits it. All continue; older versions are removed. A rank that
 *                  must leave does so after that.
 *
 * If a rank cannot be stopped in time (it is inside a call that waits for ranks that have stopped), the
 * coordinator gives up the round: all continue, and a new round begins a little later. If any rank dies, at
 * any point, the files of this round stay incomplete and are never used.
 */
#include "round/coordinator.h"
#include "ground/settings.h"
#include "round/due.h"

#include <base/event.h>
#include <base/io.h>
#include <mend/error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

struct coordinator the = {.hanging_up = PTHREAD_MUTEX_INITIALIZER, .door.listener = -1};

void request_taken(char *path, size_t size)
{
    snprintf(path, size, "%s/request.taken", settings.dir);
}

void answer(const char *format, long long number)
{
    char path[4300], text[200];
    if (!the.token[0])
        return;
    snprintf(path, sizeof path, "%s/answer.%s", settings.dir, the.token);
    int n = snprintf(text, sizeof text, format, number);
    if (mend_io_replace_file(path, text, (size_t)n))
        fprintf(stderr, "mend: cannot answer `mend checkpoint`: %s\n", mend_error_text());
    request_taken(path, sizeof path);
    if (!the.leaves) /* a leaving rank may die: then the next coordinator stops the job */
        mend_io_remove(path);
    the.token[0] = 0;
}

int on_disk(void) /* else images are in memory (online/checkpoint.c) */
{
    return settings.dir[0] && !ground.recovering;
}

void begin_round(void)
{
    the.leave = the.wanted == ASKED_TO_STOP || settings.leave;
    the.asked = the.wanted >= ASKED || the.leave;
    the.wanted = NOT_WANTED;
    the.state = COLLECTING;
    the.round++;
    the.targets = 0;
    the.reports = the.behind = the.creating = the.judged = 0;
    if (the.target)
        memset(the.target, 0, the.target_room * sizeof *the.target);
    the.code = 0;
    the.bytes = the.slowest = 0;
    memset(&the.traffic, 0, sizeof the.traffic);
    the.round_began = the.last_change = the.moved_at = seconds_now();
    the.patience_at_doors = 0.5;
    the.went_on = 0; /* else a rank that ends during this round would seem to end after it */
    for (int i = 0; i < the.ranks; i++) {
        struct member *m = &the.member[i];
        m->reported = m->stopped = m->drained = m->captured = m->saved = 0;
        m->behind = m->creating = 0;
        m->targets_sum = 0;
    }
    mend_event("checkpoint.begin", ev_int("round", the.round));
    tell_all(CONTROL_COLLECT, NULL, 0);
}

/* The round is over. Ranks also learn which version is complete, and which ones are gone. */
static void tell_to_go_on(uint64_t leave)
{
    mend_version_t below = the.global_below;
    if (settings.local[0] && the.local_below < below)
        below = the.local_below;
    uint64_t words[3] = {leave, (uint64_t)the.complete.version, (uint64_t)below};
    tell_all(CONTROL_GO_ON, words, sizeof words);
}

void give_up(const char *why)
{
    mend_event("checkpoint.given_up", ev_int("round", the.round), ev_str("why", why));
    tell_to_go_on(0);
    the.state = IDLE;
    the.wanted = the.leave ? ASKED_TO_STOP : the.asked ? ASKED : BY_TIME;
    double pause = 0.05 * (double)(1 << (the.attempts < 7 ? the.attempts : 7));
    the.attempts++;
    the.not_before = seconds_now() + pause;
}

/* A chain of incremental images has a bounded length, and continues only from a complete version. */
static void choose_base(void)
{
    int delta = the.complete.version >= 0 && the.chain < settings.chain;
    the.save.base_version = delta ? the.complete.version : -1;
    the.save.base_id = delta ? the.complete.save_id : 0;
}

static void finish_round(void);

/* A number that no file has; -1: nobody knows which they have. */
static mend_version_t next_version(void)
{
    mend_version_t newest = the.complete.version > 0 ? the.complete.version : 0;
    if (!on_disk())
        return newest + 1;
    mend_version_t global = retention_newest(&the.global);
    mend_version_t local = settings.local[0] ? retention_newest(&the.local) : 0;
    if (global < 0 || local < 0)
        return -1;
    newest = global > newest ? global : newest;
    return (local > newest ? local : newest) + 1;
}

void begin_saving(void)
{
    the.state = SAVING;
    the.drained_at = seconds_now();
    the.save.version = next_version();
    if (the.save.version < 0) {
        fprintf(stderr, "mend: no checkpoint: %s\n", mend_error_text());
        the.code = MEND_ERR_IO;
        finish_round();
        return;
    }
    if (getrandom(&the.save.save_id, sizeof the.save.save_id, 0) != sizeof the.save.save_id)
        the.save.save_id = (uint64_t)(1e9 * seconds_now());
    the.save.save_id &= 0x7fffffffffffffffull;
    the.save.background = settings.background && !the.leave;
    the.save.asked = (uint64_t)the.asked;
    the.save.full = (uint64_t)(the.asked && the.full);
    the.save.levels = due_levels(the.drained_at);
    the.went_on = 0;
    choose_base();
    tell_all(CONTROL_SAVE, &the.save, sizeof the.save);
}

/* --- 3. and 4. saving, commit --- */
/* The version is complete. Removes what is not needed any more; with a local level it also sends the version
 * on to the job's folder. */
static void commit(void)
{
    if (!on_disk())
        return;
    struct retention *r = settings.local[0] ? &the.local : &the.global;
    the.root = retention_root(r, the.save.version, the.save.base_version);
    mend_version_t below = retention_add(r, the.save.version, the.save.save_id, the.root);
    if (settings.local[0]) {
        the.local_below = below;
        uint64_t version[3] = {(uint64_t)the.save.version, the.save.save_id, (uint64_t)the.root};
        uint64_t prune = (uint64_t)below;
        tell_all(CONTROL_FLUSH, version, sizeof version);
        tell_all(CONTROL_PRUNE, &prune, sizeof prune);
    } else {
        retention_remove_below(r, below);
        the.global_below = below;
    }
}

/* A rank has copied its file to the job's folder, or has failed to. */
void take_flushed(struct member *m, const int64_t *words, size_t bytes)
{
    if (bytes != 4 * sizeof *words)
        return;
    if (words[3]) {
        mend_event("checkpoint.failed", ev_int("version", words[0]), ev_str("level", "global"),
                   ev_str("error", mend_error_sentence((int)words[3])));
        return;
    }
    m->flushed = words[0];
    for (int k = 0; k < the.ranks; k++) {
        if (the.member[the.laggard].flushed != words[0])
            return;
        the.laggard = (the.laggard + 1) % the.ranks;
    }
    mend_version_t below = retention_add(&the.global, words[0], (uint64_t)words[1], words[2]);
    retention_remove_below(&the.global, below);
    the.global_below = below;
    the.flushed = words[0];
    mend_event("checkpoint.commit", ev_int("version", words[0]), ev_str("level", "global"),
               ev_int("ranks", the.ranks));
}

static void tell_traffic(void)
{
    mend_event("checkpoint.messages", ev_int("round", the.round), ev_int("ranks", the.ranks),
               ev_int("sent", (long long)the.traffic.sent),
               ev_int("received", (long long)the.traffic.received),
               ev_int("bytes", (long long)the.traffic.bytes));
}

static void finish_round(void)
{
    double now = seconds_now();
    int leave = the.leave && the.code == 0;
    the.complete = the.save;
    if (the.code)
        the.complete.version = -1;
    the.chain = the.code || the.save.base_version < 0 ? 0 : the.chain + 1;
    if (!leave && !(the.went_on > 0))
        tell_to_go_on(0);
    if (the.code == 0) {
        due_saved(the.save.levels, now);
        if (!ground.recovering) /* else the ranks report it themselves */
            mend_event("checkpoint.commit", ev_int("version", the.save.version),
                       ev_int("bytes", (long long)the.bytes), ev_int("ranks", the.ranks),
                       ev_real("collect", the.stop_began - the.round_began),
                       ev_real("stop", the.drained_at - the.stop_began),
                       ev_real("write", 1e-6 * (double)the.slowest),
                       ev_real("pause", (the.went_on > 0 ? the.went_on : now) - the.stop_began),
                       ev_int("base", the.save.base_version),
                       ev_real("seconds", now - the.round_began));
        commit();
        the.leaves = leave;
        answer("ok %lld\n", (long long)the.told_version);
    } else {
        mend_event("checkpoint.failed", ev_int("version", the.save.version),
                   ev_str("error", mend_error_sentence((int)the.code)));
        if (on_disk()) /* a rank's local file is removed with the next version's */
            retention_remove_one(&the.global, the.save.version, the.save.save_id);
        answer("failed %lld\n", (long long)the.code);
    }
    the.attempts = 0;
    the.last_done = seconds_now();
    the.state = IDLE;
    the.leaving |= leave; /* no other round: its end would call back those that leave */
    if (leave)
        tell_to_go_on(1);
    tell_traffic();
}

/* In the background: a rank has its copy or (if no child could be made) its file. */
void take_captured(struct member *m)
{
    m->captured = 1;
    if (!the.save.background || the.went_on > 0 || !ALL(captured))
        return;
    the.went_on = seconds_now();
    tell_to_go_on(0);
}

void take_saved(struct member *m, const int64_t *words, size_t bytes)
{
    if (bytes != 4 * sizeof *words || m->saved)
        return;
    m->saved = 1;
    if (words[0])
        the.code = words[0];
    the.bytes += (uint64_t)words[1];
    if ((uint64_t)words[2] > the.slowest)
        the.slowest = (uint64_t)words[2];
    the.told_version = words[3];
    take_captured(m);
    if (ALL(saved))
        finish_round();
}
