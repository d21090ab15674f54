/* How ranks ended, from the table in DIR/ends: by exit, by MPI_Abort, by a crash. */
#include "follow.h"
#include "tool.h"

#include <base/ends.h>
#include <base/event.h>

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

const char *crash_name(int signal)
{
    static char other[32];
    static const struct {
        int signal;
        const char *name;
    } known[] = {{SIGSEGV, "SIGSEGV (segmentation fault)"},
                 {SIGBUS, "SIGBUS (bus error)"},
                 {SIGFPE, "SIGFPE (arithmetic error)"},
                 {SIGILL, "SIGILL (illegal instruction)"},
                 {SIGABRT, "SIGABRT (abort)"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].signal == signal)
            return known[i].name;
    snprintf(other, sizeof other, "signal %d", signal);
    return other;
}

/* A rollback survives accidents. A crash that recurs at the same place would recur forever: we end the job at
 * the second time if no version was saved in between, and at the third time in any case, because short intervals save
 * versions on the way to the crash. Each process that becomes the rank reports it once. */
static void note_crash(struct run_follower *f, int rank, const mend_ends_entry *p)
{
    struct run_crash *c = &f->crash;
    struct run_crash now = {.rank = rank,
                            .signal = p->code,
                            .at = p->at,
                            .process = p->lost,
                            .version = f->now.version,
                            .survived = f->now.recoveries};
    if (c->again || (c->signal && c->process == now.process))
        return;
    follow_wipe_line(f);
    if (!f->job->quiet)
        fprintf(stderr, "mend: rank %d crashed by %s at %#llx\n", rank, crash_name(now.signal),
                now.at);
    mend_event("run.crash", ev_int("of", rank), ev_int("signal", now.signal),
               ev_int("at", (long long)now.at));
    bool same = c->signal == now.signal && c->rank == rank && c->at == now.at;
    now.times = same ? c->times + 1 : 1;
    bool again = same && (c->version == now.version || now.times > 2);
    if (again)
        now.survived = c->survived; /* that was not survival, nor is what follows */
    *c = now;
    c->again = again;
}

/* The same from the table, which has the facts even if no event could be written. */
static void note_entry(struct run_follower *f, int rank, const mend_ends_entry *p)
{
    struct run_progress *now = &f->now;
    if (p->how == MEND_ENDS_CRASHED) {
        note_crash(f, rank, p);
        return;
    }
    now->events_lost += (long)p->lost;
    if (f->said[rank])
        return;
    switch (p->how) {
    case MEND_ENDS_EXITED: now->exited++; break;
    case MEND_ENDS_LEFT: now->left++; break;
    case MEND_ENDS_OUTPUT_LOST:
        now->output_lost_rank = rank;
        now->output_lost_why = p->code;
        break;
    case MEND_ENDS_ENDED:
    case MEND_ENDS_ABORTED:
        if (!now->ended_by_program) {
            now->program_code = p->code;
            now->ended_rank = rank;
            snprintf(now->ended_how, sizeof now->ended_how, "%s",
                     p->how == MEND_ENDS_ENDED ? "exit" : "MPI_Abort");
        }
        now->ended_by_program = true;
        break;
    default: return;
    }
    f->said[rank] = true;
}

void follow_ends(struct run_follower *f)
{
    int entries, started = 0;
    uint64_t launch = strtoull(f->job->meeting, NULL, 10);
    errno = 0;
    mend_ends_entry *table = mend_ends_read(f->job->dir, &entries);
    if (!table && errno == ENOMEM)
        tool_need(NULL);
    f->now.events_lost = 0;
    for (int i = 0; i < entries; i++) {
        started += table[i].started == launch;
        if (i < f->job->ranks && table[i].launch == launch)
            note_entry(f, i, &table[i]);
    }
    free(table);
    if (started > f->now.started)
        f->now.started = started;
}
