/* comm.c - communicators: the lower half creates them; here they are lists of world ranks.
 *
 * Each has a card (border/border.h) with an id on which its members agree without communication: a hash
 * of the parent's id, the salt, the members in order, and how many communicators with all these equal
 * existed before. All members create them in the same order per parent, so they count alike.
 */
#include "comm/comm.h"

#include <stdlib.h>
#include <string.h>

static uint64_t mix(uint64_t h, uint64_t word)
{
    h ^= word + 0x9e3779b97f4a7c15ull + (h << 6) + (h >> 2);
    h ^= h >> 33;
    h *= 0xff51afd7ed558ccdull;
    h ^= h >> 33;
    h *= 0xc4ceb9fe1a85ec53ull;
    return h ^ (h >> 33);
}

static uint64_t mix_ranks(uint64_t h, int n, const int *ranks)
{
    h = mix(h, (uint64_t)n);
    for (int i = 0; i < n; i++)
        h = mix(h, (uint64_t)(unsigned)ranks[i]);
    return h;
}

static struct {
    struct seen {
        uint64_t key, times;
    } *table; /* for times_seen */
    size_t room, used;
    unsigned cards; /* made so far */
} made;

/* How often `key` was seen before. The open-addressing table doubles when half full. */
static uint64_t times_seen(uint64_t key)
{
    key |= 1; /* 0 marks a free slot */
    if (2 * made.used >= made.room) {
        size_t old_room = made.room;
        struct seen *old = made.table;
        made.room = made.room ? 2 * made.room : 64;
        made.table = calloc(made.room, sizeof *made.table);
        if (!made.table)
            abort();
        for (size_t i = 0; i < old_room; i++) {
            if (!old[i].key)
                continue;
            size_t at = old[i].key & (made.room - 1);
            while (made.table[at].key)
                at = (at + 1) & (made.room - 1);
            made.table[at] = old[i];
        }
        free(old);
    }
    size_t at = key & (made.room - 1);
    while (made.table[at].key && made.table[at].key != key)
        at = (at + 1) & (made.room - 1);
    made.used += !made.table[at].key;
    made.table[at].key = key;
    return made.table[at].times++;
}

void forget_freed_comms(void)
{
    for (struct comm_card *c = LOWER(agent_take_freed_cards, &upper), *next; c; c = next) {
        next = c->next;
        keep_free(c);
    }
}

/* From now on the agent reports the card. */
static void show_card(struct comm_card *card)
{
    card->next = upper.cards;
    __atomic_store_n(&upper.cards, card, __ATOMIC_RELEASE);
}

static struct comm_card *new_card(object *c, uint64_t id)
{
    if (++made.cards % 65536 ==
        0) /* no rank is that far behind: nobody needs the freed ones any more */
        forget_freed_comms();
    struct comm_card *card = keep_alloc(sizeof *card);
    *card = (struct comm_card){.id = id,
                               .size = c->comm.size,
                               .rank = c->comm.rank,
                               .ranks = c->comm.ranks,
                               .remote_size = c->comm.remote_size,
                               .remote_ranks = c->comm.remote_ranks,
                               .real = &c->real};
    return card;
}

/* Ask the lower half for size, rank and members. The caller has set an inter-communicator's remote
 * members. */
void know_comm(object *c, uint64_t id)
{
    LOWER(Comm_size, c->real, &c->comm.size);
    LOWER(Comm_rank, c->real, &c->comm.rank);
    c->comm.ranks = need(malloc(c->comm.size * sizeof(int)));
    LOWER(comm_world_ranks, c->real, c->comm.ranks);
    c->comm.peers = c->comm.remote_size ? c->comm.remote_ranks : c->comm.ranks;
    c->comm.n_peers = c->comm.remote_size ? c->comm.remote_size : c->comm.size;
    c->comm.card = new_card(c, id);
    if (id) /* also that of a single rank: the agent must see who stands at its door */
        show_card(c->comm.card);
}

int new_comm(handle_t h, const object *parent, int salt, object **out)
{
    if (h == upper.lower->predef[PRE_MPI_COMM_NULL]) {
        *out = predef[PRE_MPI_COMM_NULL];
        return 0;
    }
    if (parent->comm.remote_size) { /* an inter-communicator makes another one */
        int rc = new_intercomm(h, parent->comm.card->id, salt, out);
        errhandler_attach(*out, parent->comm.errh);
        return rc;
    }
    object *c = object_new(KIND_COMM);
    c->real = h;
    know_comm(c, 0);
    uint64_t key = mix(mix(2, parent->comm.card->id), (uint64_t)(unsigned)salt);
    key = mix_ranks(key, c->comm.size, c->comm.ranks);
    c->comm.card->id = mix(key, times_seen(key)) | 2; /* neither 0 nor WORLD_CARD_ID */
    /* A restart also rebuilds communicators of one rank, so their cards are in the list. */
    show_card(c->comm.card);
    errhandler_attach(c, parent->comm.errh);
    *out = c;
    return 0;
}

/* A communicator that the lower half is still creating (MPI_Comm_idup): it has its parent's members. */
object *new_comm_like(const object *parent)
{
    object *c = object_new(KIND_COMM);
    c->comm.size = parent->comm.size;
    c->comm.rank = parent->comm.rank;
    c->comm.ranks = need(malloc((size_t)c->comm.size * sizeof(int)));
    memcpy(c->comm.ranks, parent->comm.ranks, (size_t)c->comm.size * sizeof(int));
    if (parent->comm.remote_size) {
        c->comm.remote_size = parent->comm.remote_size;
        c->comm.remote_ranks = need(malloc((size_t)c->comm.remote_size * sizeof(int)));
        memcpy(c->comm.remote_ranks, parent->comm.remote_ranks,
               (size_t)c->comm.remote_size * sizeof(int));
    }
    c->comm.peers = c->comm.remote_size ? c->comm.remote_ranks : c->comm.ranks;
    c->comm.n_peers = c->comm.remote_size ? c->comm.remote_size : c->comm.size;
    uint64_t key = mix(mix(5, parent->comm.card->id), 0);
    c->comm.card = new_card(c, mix(key, times_seen(key)) | 2);
    show_card(c->comm.card);
    errhandler_attach(c, parent->comm.errh);
    return c;
}

/* An inter-communicator. Both sides compute the same id: the side whose first rank is lower comes first. */
int new_intercomm(handle_t h, uint64_t parent, int salt, object **out)
{
    object *c = object_new(KIND_COMM);
    c->real = h;
    LOWER(comm_remote_size, h, &c->comm.remote_size);
    c->comm.remote_ranks = need(malloc((size_t)c->comm.remote_size * sizeof(int)));
    LOWER(comm_remote_ranks, h, c->comm.remote_ranks);
    know_comm(c, 0);
    int first = c->comm.ranks[0] < c->comm.remote_ranks[0];
    uint64_t key = mix(mix(3, parent), (uint64_t)(unsigned)salt);
    for (int side = 0; side < 2; side++)
        key = (side == 0) == first ? mix_ranks(key, c->comm.size, c->comm.ranks)
                                   : mix_ranks(key, c->comm.remote_size, c->comm.remote_ranks);
    c->comm.card->id = mix(key, times_seen(key)) | 2;
    show_card(c->comm.card);
    *out = c;
    return 0;
}

/* The intra-communicator of both sides of `inter`. */
int new_merged(handle_t h, const object *inter, object **out)
{
    object *c = object_new(KIND_COMM);
    c->real = h;
    know_comm(c, 0);
    uint64_t key = mix_ranks(mix(4, inter->comm.card->id), c->comm.size, c->comm.ranks);
    c->comm.card->id = mix(key, times_seen(key)) | 2;
    show_card(c->comm.card);
    errhandler_attach(c, inter->comm.errh);
    *out = c;
    return 0;
}

/* The card stays: members that are behind must still reach the end of this communicator.
 *
 * After MPI_Comm_free the library below keeps its communicator until the last request has ended, and only then is it freed
 * there. Open MPI cannot be trusted with more: if the number of a communicator is below its parent's, ompi_comm_free()
 * calls itself until nothing holds the communicator, requests included, and they write into what was freed.
 */
int unref_comm(object *c)
{
    if (c->predefined || --c->refs)
        return 0;
    int rc = c->comm.released ? LOWER(Comm_free, c->real) : 0;
    c->comm.card->real = NULL;
    c->comm.card->ranks = c->comm.card->remote_ranks = NULL;
    __atomic_store_n(&c->comm.card->freed, 1, __ATOMIC_RELEASE);
    free(c->comm.ranks);
    free(c->comm.remote_ranks);
    free(c->comm.dims);
    object_delete(c);
    return rc;
}

int core_Comm_rank(object *c, int *r)
{
    *r = c->comm.rank;
    return 0;
}
int core_Comm_size(object *c, int *n)
{
    *n = c->comm.size;
    return 0;
}
int core_Comm_test_inter(object *c, int *flag)
{
    *flag = c->comm.remote_size > 0;
    return 0;
}
int core_Comm_compare(object *a, object *b, int *r)
{
    if (!b || !b->comm.card)
        return NEUTRAL_MPI_ERR_COMM;
    *r = compare_members(a->comm.size, a->comm.ranks, b->comm.size, b->comm.ranks);
    int remote = compare_members(a->comm.remote_size, a->comm.remote_ranks, b->comm.remote_size,
                                 b->comm.remote_ranks);
    if (remote > *r)
        *r = remote;
    if (*r == NEUTRAL_IDENT && a != b)
        *r = NEUTRAL_CONGRUENT;
    return 0;
}
int core_Comm_dup(object *c, object **out)
{
    handle_t n;
    struct gate g;
    creation_begin();
    collective_enter(c);
    int rc = gate_enter(c, &g);
    if (!rc)
        rc = LOWER(Comm_dup, c->real, &n);
    if (!rc)
        new_comm(n, c, 0, out);
    gate_leave(&g);
    creation_end();
    if (rc)
        return rc;
    if (c->comm.has_topology)
        copy_topology(*out, c->comm.ndims, c->comm.dims, c->comm.dims + c->comm.ndims);
    topology_copy(c, *out);
    if (c->comm.has_topology || (c->extra && c->extra->topology))
        rc = neighbour_comm(*out, &(object *){NULL});
    if (!rc)
        rc = attributes_copy(c, *out);
    if (rc) /* perhaps one of the program's copy functions refused */
        core_Comm_free(out);
    return rc;
}
int core_Comm_create(object *c, object *g, object **out)
{
    handle_t n;
    struct gate gate;
    creation_begin();
    collective_enter(c);
    int rc = gate_enter(c, &gate);
    if (!rc)
        rc = LOWER(comm_create, c->real, g->group.size, g->group.ranks, &n);
    if (!rc)
        rc = new_comm(n, c, 0, out);
    gate_leave(&gate);
    creation_end();
    return rc;
}
/* MPI_Comm_create_group is a collective of ranks that share no communicator of their own yet, so it has its
 * own card for the duration of the call.
 *
 * 1. Each member shows the card, with nothing begun on it.
 * 2. The members meet by messages. An early member waits here, where a checkpoint may stop it, and not
 *    inside the call. After this step all members have shown their cards.
 * 3. Each member counts the call on the card. During a checkpoint that is a door, which a member passes only
 *    if another is already inside. (Without the door, one member could go inside while the checkpoint stops
 *    another in step 2: one member may leave step 2 while others are still in it.)
 * 4. With several threads, the members take all their gates and meet again (comm/gate.c).
 * 5. The members make the call and free the card.
 */
static int meets_others(const object *g)
{
    return g->group.size > 1 && index_of(g->group.size, g->group.ranks, upper.rank) >= 0;
}
static struct comm_card *show_meeting_card(const object *c, const object *g, int tag)
{
    uint64_t key = mix(mix(6, c->comm.card->id), (uint64_t)(unsigned)tag);
    key = mix_ranks(key, g->group.size, g->group.ranks);
    struct comm_card *card = keep_alloc(sizeof *card);
    *card = (struct comm_card){.id = mix(key, times_seen(key)) | 2};
    show_card(card);
    return card;
}
static int members_meet(const object *c, const object *g, int tag)
{
    int n = g->group.size, me = index_of(n, g->group.ranks, upper.rank), rc = 0;
    tag = (int)(mix(c->comm.card->id, (uint64_t)(unsigned)tag) & 0x7fff);
    for (int step = 1; step < n && !rc; step *= 2)
        rc = core_Sendrecv(NULL, 0, TYPE_BYTE, g->group.ranks[(me + step) % n], tag, NULL, 0,
                           TYPE_BYTE, g->group.ranks[(me + n - step) % n], tag, core.own_channel,
                           NULL);
    return rc;
}
static int members_take_gates(const object *c, const object *g, int tag, struct gate *gate,
                              uint64_t id)
{
    int rc = members_meet(c, g, tag);
    int *members = need(malloc((size_t)g->group.size * sizeof *members));
    memcpy(members, g->group.ranks, (size_t)g->group.size * sizeof *members);
    if (!rc)
        rc = gates_take(g->group.size, members, id, gate);
    free(members);
    return rc ? rc : members_meet(c, g, tag);
}
int core_Comm_create_group(object *c, object *g, int tag, object **out)
{
    handle_t n;
    struct comm_card *card = meets_others(g) ? show_meeting_card(c, g, tag) : NULL;
    int rc = card ? members_meet(c, g, tag) : 0;
    if (!rc) {
        struct gate gate = {.used = 0};
        creation_begin();
        if (card)
            card_enter(card);
        if (card && upper.several)
            rc = members_take_gates(c, g, tag, &gate, card->id);
        if (!rc)
            rc = LOWER(comm_from_ranks, core.creation_channel->real, g->group.size, g->group.ranks,
                       tag, &n);
        if (!rc)
            rc = new_comm(n, c, tag, out);
        gate_leave(&gate);
        creation_end();
    }
    if (card)
        __atomic_store_n(&card->freed, 1, __ATOMIC_RELEASE);
    return rc;
}
/* Communicators of all ranks for messages that the application's receives never see. A drain must not take
 * the MPI library's internal messages under the application's tags either: a rank stopped just before the
 * call would take away what another, already inside, has sent to it.
 *
 * Open MPI agrees on the number of a new communicator for one parent after the other, the lowest first. While an
 * MPI_Comm_idup of a lower parent is pending, which may take long, MPI_Comm_create_group on our channel would wait
 * for it, maybe forever. So our channel is created first, here and after a restart (which rebuilds the smallest id
 * first). MPI_COMM_WORLD is lower still, so another channel stands in for it in MPI_Comm_idup.
 */
enum { FIRST_CARD_ID = 2 };
int open_channels(void)
{
    int rc = core_Comm_split(COMM_WORLD, 0, upper.rank, &core.creation_channel);
    if (!rc) {
        core.creation_channel->comm.card->id = FIRST_CARD_ID;
        rc = core_Comm_split(COMM_WORLD, 0, upper.rank, &core.own_channel);
    }
    return rc ? rc : core_Comm_split(COMM_WORLD, 0, upper.rank, &core.duplication_channel);
}
int core_Comm_free(object **c)
{
    if ((*c)->predefined)
        return NEUTRAL_MPI_ERR_COMM;
    int rc = attributes_delete_all(*c);
    if (rc) {
        error_holder = *c;
        return rc;
    }
    errhandler_attach(*c, NULL);
    buffer_of_comm_ends(*c);
    windows_of_comm_end(*c);
    collective_enter(*c);
    (*c)->comm.released = (*c)->comm.card->released = 1;
    rc = unref_comm(*c); /* pending requests may still hold references */
    *c = predef[PRE_MPI_COMM_NULL];
    return rc;
}
