/* messages/pieces.c - the pieces in which partitioned messages travel: ordinary messages on our own channel, which a checkpoint
 * drains and a resume restores like any others. Only pieces_all_sent() waits.
 */
#include "messages/partitioned.h"
#include <stdlib.h>
#include <string.h>

enum { TAG_PIECE = 0x8000 }; /* the first tag that comm/ does not use on that channel */

struct queue {
    struct parcel *first, **end;
};
static struct {
    struct queue going, coming, early; /* early: its round or its request does not exist yet */
    struct partitioned *receives;
} pieces = {.going.end = &pieces.going.first,
            .coming.end = &pieces.coming.first,
            .early.end = &pieces.early.first};

static void append(struct queue *q, struct parcel *p)
{
    p->next = NULL;
    *q->end = p;
    q->end = &p->next;
}
static struct parcel *unlink_at(struct queue *q, struct parcel **at)
{
    struct parcel *p = *at;
    *at = p->next;
    if (!*at)
        q->end = at;
    return p;
}

struct parcel *parcel_new(size_t bytes)
{
    struct parcel *p = need(malloc(sizeof *p + bytes));
    memset(p, 0, sizeof *p);
    p->piece.bytes = bytes;
    return p;
}

int parcel_send(struct parcel *p, struct partitioned *from)
{
    p->piece.comm = from->comm;
    p->piece.tag = from->tag;
    p->piece.nth = from->nth;
    p->piece.round = from->round;
    int rc = core_Isend(&p->piece, (int)(sizeof p->piece + p->piece.bytes), TYPE_BYTE,
                        from->world_rank, TAG_PIECE, core.own_channel, &p->request);
    if (rc) {
        free(p);
        return rc;
    }
    p->from = from;
    from->on_way[from->round & 1]++;
    append(&pieces.going, p);
    return 0;
}

static int completed(struct parcel *p, int *rc)
{
    if (!request_poll(p->request))
        return 0;
    int error = core_Wait(&p->request, NULL);
    if (error)
        *rc = error;
    return 1;
}

static int notice_sent(void)
{
    int rc = 0;
    for (struct parcel **at = &pieces.going.first; *at;)
        if (completed(*at, &rc)) {
            struct parcel *p = unlink_at(&pieces.going, at);
            if (p->from)
                p->from->on_way[p->piece.round & 1]--;
            free(p);
        } else {
            at = &(*at)->next;
        }
    return rc;
}

static int is_for(const struct parcel *p, const struct partitioned *r)
{
    return r->world_rank == p->source && r->comm == p->piece.comm && r->tag == p->piece.tag &&
           r->nth == p->piece.nth && r->round == p->piece.round;
}
static void deliver(struct parcel *p)
{
    struct partitioned *r = pieces.receives;
    while (r && !is_for(p, r))
        r = r->next;
    if (!r) {
        append(&pieces.early, p);
        return;
    }
    partitioned_place(r, p); /* may free r */
    free(p);
}

/* Post receives for the pieces sent to us, whose sizes are known only now. */
static int receive_begin(void)
{
    struct status s;
    int flag, rc;
    while (!(rc = core_Iprobe(NEUTRAL_ANY_SOURCE, TAG_PIECE, core.own_channel, &flag, &s)) &&
           flag) {
        struct parcel *p = parcel_new(s.bytes - sizeof p->piece);
        p->source = s.source;
        rc = core_Irecv(&p->piece, (int)s.bytes, TYPE_BYTE, s.source, TAG_PIECE, core.own_channel,
                        &p->request);
        if (rc) {
            free(p);
            return rc;
        }
        append(&pieces.coming, p);
    }
    return rc;
}

int pieces_move(void)
{
    int rc = notice_sent();
    if (!rc)
        rc = receive_begin();
    for (struct parcel **at = &pieces.coming.first; *at;)
        if (completed(*at, &rc))
            deliver(unlink_at(&pieces.coming, at));
        else
            at = &(*at)->next;
    return rc;
}

void pieces_expect(struct partitioned *p)
{
    p->next = pieces.receives;
    pieces.receives = p;
}
void pieces_begin(struct partitioned *r)
{
    for (struct parcel **at = &pieces.early.first; *at;)
        if (is_for(*at, r)) {
            struct parcel *p = unlink_at(&pieces.early, at);
            partitioned_place(r, p);
            free(p);
        } else {
            at = &(*at)->next;
        }
}
void pieces_forget(struct partitioned *p)
{
    for (struct partitioned **at = &pieces.receives; *at; at = &(*at)->next)
        if (*at == p) {
            *at = p->next;
            break;
        }
    for (struct parcel *one = pieces.going.first; one; one = one->next)
        if (one->from == p)
            one->from = NULL;
}

int pieces_all_sent(void)
{
    int rc = 0;
    while (pieces.going.first && !rc) {
        rc = pieces_move();
        if (pieces.going.first)
            wait_turn(core.own_channel, NEUTRAL_ANY_SOURCE);
    }
    return rc;
}
