/* online/spare.c - a spare waits, at little cost to the ranks that work next to it.
 *
 * Looking for news takes a turn of the MPI library and a look at its failures: a spare that did so every
 * millisecond would take 1.5 % of a core from somebody. So it sleeps on what the kernel reports without being
 * asked, the deaths of the ranks on its own node, and looks from time to time for everything else: a revoke
 * (mostly the end of the job), a death on another node, a message.
 */
#include "online/plan.h"
#include "online/online.h"
#include "start/start.h"

#ifdef OPEN_MPI
#include <base/event.h>
#include <ulfm/ulfm.h>

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    TAG_ROOM = 2,
    WATCHED = 256,    /* watch the deaths of at most this many */
    ALL_SEEN = 20,    /* ms between two looks if these are all */
    SOME_SEEN = 5,    /* ... if there are others */
    DEATH_KNOWN = 1,  /* ... until the MPI library knows of one, too */
    PATIENCE = 10000, /* looks of the last kind; a process that mpirun manages may just be slow */
};

/* Spares make room for two images and for the content of one before they are needed: touching that much
 * memory for the first time would take longer than everything else in a recovery. */
void spares_tell(const struct plan *plan, MPI_Comm base, size_t size)
{
    static size_t told;
    static uint64_t when;
    unsigned long room = size + size / 8;
    if (join_is_wanted() && when != plan->id) /* there may be new ones */
        told = 0;
    when = plan->id;
    if (plan->rank != 0 || size <= told)
        return;
    told = room;
    for (int p = 0; p < plan->processes; p++) {
        int plays = 0;
        for (int r = 0; r < plan->ranks; r++)
            plays |= plan->player[r] == p;
        if (!plays) /* a spare that has died does not matter now */
            MPI_Send(&room, 1, MPI_UNSIGNED_LONG, p, TAG_ROOM, base);
    }
}

static int watch(const struct plan *plan, struct pollfd *list)
{
    int n = 0;
    for (int r = 0; r < plan->ranks && n < WATCHED; r++) {
        const struct meeting_card *card = &plan->card[plan->player[r]];
        int fd = card->host == plan->card[plan->me].host
                     ? (int)syscall(SYS_pidfd_open, card->pid, 0)
                     : -1;
        if (fd >= 0)
            list[n++] = (struct pollfd){.fd = fd, .events = POLLIN};
    }
    return n;
}

static void hear_of_room(MPI_Comm base)
{
    unsigned long room;
    int flag;
    MPI_Status status;
    if (TRY(MPI_Iprobe(MPI_ANY_SOURCE, TAG_ROOM, base, &flag, &status)) && flag &&
        TRY(MPI_Recv(&room, 1, MPI_UNSIGNED_LONG, status.MPI_SOURCE, TAG_ROOM, base,
                     MPI_STATUS_IGNORE))) {
        held_reserve(room);
        ahead_reserve(room);
    }
}

/* Returns when the base communicator was revoked, or the MPI library knows that a rank's player is dead (all
 * ranks may be waiting for one that is stopped). MPI_Iprobe does not report that, it only drives progress. */
void spare_wait(const struct plan *plan, MPI_Comm base)
{
    struct pollfd list[WATCHED];
    int count = watch(plan, list), died = 0;
    int pause = count == plan->ranks ? ALL_SEEN : SOME_SEEN, quick = 0;
    for (int revoked = 0; !revoked && !died;) {
        int more = !quick && (held_reserve_more() || ahead_more());
        if (poll(list, (nfds_t)count, more ? 0 : quick ? DEATH_KNOWN : pause) > 0) {
            for (int i = 0; i < count; i++)
                if (list[i].revents) {
                    close(list[i].fd);
                    list[i--] = list[--count];
                }
            quick = PATIENCE;
        }
        quick -= quick > 0;
        hear_of_room(base);
        revoked = mend_ulfm_is_revoked(base);
        died = a_player_died();
    }
    if (died)
        mend_event("recover.noticed", ev_str("how", "spare"));
    while (count)
        close(list[--count].fd);
}
#endif
