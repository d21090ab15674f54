/* messages/partitioned.c - partitioned communication: MPI_Psend_init, MPI_Precv_init, MPI_Pready, MPI_Parrived.
 *
 * All of it happens above the border: a message that a library below has half sent can be neither drained nor resumed, and
 * Open MPI and MPICH work differently.
 *
 *   1. MPI_Psend_init and MPI_Precv_init count the calls with the same communicator, peer and tag. The n-th of one side and
 *      the n-th of the other form a pair; both sides know it without a message.
 *   2. MPI_Start begins a round. MPI_Pready packs a partition and sends it in pieces, which carry their byte offset in the
 *      round (pieces.c). So the program may reuse its buffer as soon as all partitions are ready.
 *   3. Waiting for a partitioned request, or testing one, takes in the pieces that have arrived. A piece of a round that has
 *      begun here goes to its place; any other waits until its round begins.
 *   4. A partition has arrived when all its bytes have. So the two sides may use different numbers of partitions.
 *   5. A send is complete when all partitions are ready and no piece of the previous round is still being sent: a sender
 *      is never two rounds ahead. (It waits no longer than MPI allows: the receiver begins this round only after it has
 *      received all of the previous one.)
 *
 * Requests, counts and early pieces are memory of the upper half, which rolls back with the program.
 */
#include "messages/partitioned.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE_BYTES = 1 << 18 };

/* --- numbering the calls: 1 --- */
struct calls {
    struct calls *next;
    uint64_t comm;
    int peer, tag, is_recv;
    unsigned n;
};
static unsigned count_call(const struct partitioned *p)
{
    enum { CHAINS = 256 };
    static struct calls *chains[CHAINS];
    uint64_t hash = p->comm ^ (unsigned)p->tag * 31u ^ (unsigned)p->world_rank * 1021u;
    struct calls **chain = &chains[hash % CHAINS], *c = *chain;
    while (c && (c->comm != p->comm || c->peer != p->world_rank || c->tag != p->tag ||
                 c->is_recv != p->is_recv))
        c = c->next;
    if (!c) {
        c = need(malloc(sizeof *c));
        *c = (struct calls){*chain, p->comm, p->world_rank, p->tag, p->is_recv, 0};
        *chain = c;
    }
    return c->n++;
}

/* Do its bytes lie in memory without gaps, in order? */
static int is_dense(const object *t, long size, long extent)
{
    if (size != extent)
        return 0;
    if (t->predefined)
        return 1;
    const struct recipe *r = t->type.recipe;
    return r && (r->how == RECIPE_CONTIGUOUS || r->how == RECIPE_DUP) && r->types[0]->predefined;
}
static char *element(const struct partitioned *p, long k)
{
    return (char *)((uintptr_t)p->buf + (uintptr_t)(k * p->extent));
}
/* The number of elements for one call, or one piece. */
static long run_length(const struct partitioned *p, long left)
{
    long most = p->size && p->size < PIECE_BYTES ? PIECE_BYTES / p->size : p->size ? 1 : INT_MAX;
    return left < most ? left : most;
}

/* --- sending: 2 --- */
static int send_run(struct partitioned *p, long first, long n)
{
    size_t bytes = (size_t)(n * p->size);
    struct parcel *one = parcel_new(bytes);
    int position = 0, rc = 0;
    one->piece.offset = (size_t)(first * p->size);
    if (p->dense)
        memcpy(one->data, element(p, first), bytes);
    else
        rc = core_Pack(element(p, first), (int)n, p->type, one->data, (int)bytes, &position,
                       COMM_SELF);
    if (rc) {
        free(one);
        return rc;
    }
    return parcel_send(one, p);
}
static int make_ready(struct partitioned *p, int partition)
{
    int rc = 0;
    long at = partition * p->count, end = at + p->count;
    p->arrived[partition] = 1;
    p->left--;
    if (p->world_rank == NEUTRAL_PROC_NULL)
        return 0;
    for (long n; p->bytes && at < end && !rc; at += n) {
        n = run_length(p, end - at);
        rc = send_run(p, at, n);
    }
    if (!p->bytes && !p->left) /* an empty piece, which says that the round is complete */
        rc = send_run(p, 0, 0);
    return rc;
}

/* --- receiving: 3, 4 --- */
static int unpack_partition(const struct partitioned *p, int partition)
{
    int rc = 0;
    long at = partition * p->count, end = at + p->count;
    for (long n; at < end && !rc; at += n) {
        int position = 0;
        n = run_length(p, end - at);
        rc = core_Unpack(p->packed + at * p->size, (int)(n * p->size), &position, element(p, at),
                         (int)n, p->type, COMM_SELF);
    }
    return rc;
}
static void partition_arrived(struct partitioned *p, int partition)
{
    int rc = p->packed ? unpack_partition(p, partition) : 0;
    if (rc)
        p->error = rc;
    p->left--;
}
static void count_bytes(struct partitioned *p, size_t at, size_t end)
{
    while (at < end) {
        size_t partition = at / p->bytes, next = (partition + 1) * p->bytes;
        size_t here = (end < next ? end : next) - at;
        p->arrived[partition] += here;
        at += here;
        if (p->arrived[partition] == p->bytes)
            partition_arrived(p, (int)partition);
    }
}
void partitioned_place(struct partitioned *p, const struct parcel *parcel)
{
    size_t at = parcel->piece.offset, end = at + parcel->piece.bytes;
    if (end > (size_t)p->n * p->bytes) {
        p->error = NEUTRAL_MPI_ERR_TRUNCATE;
    } else if (!p->bytes) {
        p->left = 0;
    } else {
        memcpy(p->packed ? p->packed + at : (char *)p->buf + at, parcel->data, end - at);
        count_bytes(p, at, end);
    }
    if (p->freed && !p->left)
        special_release(p->request);
}

/* --- requests --- */
static int start(object *r)
{
    struct partitioned *p = r->req.special->parts;
    r->req.special->n = 1;
    p->round++;
    p->error = 0;
    p->left = p->is_recv && p->world_rank == NEUTRAL_PROC_NULL ? 0 : p->n;
    memset(p->arrived, 0, (size_t)p->n * sizeof *p->arrived);
    if (p->is_recv)
        pieces_begin(p);
    return 0;
}
static int make(int is_recv, void *buf, int partitions, long count, object *type, int peer, int tag,
                object *comm, object **request)
{
    long size, lb, extent;
    if (peer >= comm->comm.n_peers || (peer < 0 && peer != NEUTRAL_PROC_NULL))
        return NEUTRAL_MPI_ERR_RANK;
    if (tag < 0)
        return NEUTRAL_MPI_ERR_TAG;
    if (partitions < 1 || count < 0)
        return partitions < 1 ? NEUTRAL_MPI_ERR_ARG : NEUTRAL_MPI_ERR_COUNT;
    int rc = core_Type_size_x(type, &size);
    if (!rc)
        rc = core_Type_get_extent(type, &lb, &extent);
    if (!rc && size > INT_MAX / 2) /* a piece holds at least one element and is one message */
        rc = NEUTRAL_MPI_ERR_TYPE;
    if (rc)
        return rc;
    object *r = new_special(SPECIAL_PARTITIONED);
    struct special_request *s = r->req.special;
    struct partitioned *p = s->parts = need(calloc(1, sizeof *p));
    *p = (struct partitioned){.request = r, .is_recv = is_recv, .peer = peer, .tag = tag};
    p->world_rank = peer < 0 ? NEUTRAL_PROC_NULL : comm->comm.peers[peer];
    p->comm = comm->comm.card->id;
    p->nth = count_call(p);
    p->buf = buf;
    p->type = s->held[s->n_held++] = type;
    p->n = partitions;
    p->count = count;
    p->size = size;
    p->extent = extent;
    p->bytes = (size_t)(count * size);
    p->arrived = need(calloc((size_t)partitions, sizeof *p->arrived));
    p->dense = is_dense(type, size, extent);
    if (is_recv && !p->dense)
        p->packed = need(malloc((size_t)partitions * p->bytes + 1));
    type->refs++;
    comm->refs++;
    s->held[s->n_held++] = comm;
    s->start = start;
    if (is_recv)
        pieces_expect(p);
    *request = r;
    return 0;
}
int core_Psend_init(const void *buf, int partitions, long count, object *type, int dest, int tag,
                    object *comm, object *info, object **request)
{
    (void)info;
    return make(0, (void *)buf, partitions, count, type, dest, tag, comm, request);
}
int core_Precv_init(void *buf, int partitions, long count, object *type, int source, int tag,
                    object *comm, object *info, object **request)
{
    (void)info;
    return make(1, buf, partitions, count, type, source, tag, comm, request);
}

int partitioned_poll(struct partitioned *p)
{
    int rc = pieces_move();
    if (rc)
        p->error = rc;
    return p->error || (!p->left && (p->is_recv || !p->on_way[~p->round & 1]));
}
int partitioned_status(const struct partitioned *p, struct status *st)
{
    *st = empty_status;
    if (p->is_recv && p->world_rank == NEUTRAL_PROC_NULL)
        st->source = NEUTRAL_PROC_NULL;
    else if (p->is_recv)
        *st = (struct status){p->peer, p->tag, 0, 0, (size_t)p->n * p->bytes};
    return p->error;
}
void partitioned_free(struct partitioned *p)
{
    if (!p)
        return;
    pieces_forget(p);
    free(p->arrived);
    free(p->packed);
    free(p);
}

static struct partitioned *parts_of(object *r, int is_recv)
{
    struct special_request *s = r && r->kind == KIND_REQ ? r->req.special : NULL;
    return s && s->what == SPECIAL_PARTITIONED && s->parts->is_recv == is_recv ? s->parts : NULL;
}
int core_Pready(int partition, object *r)
{
    return core_Pready_range(partition, partition, r);
}
static int may_be_ready(const struct partitioned *p, const object *r, int partition)
{
    if (!p || !r->req.special->n)
        return NEUTRAL_MPI_ERR_REQUEST;
    return partition < 0 || partition >= p->n || p->arrived[partition] ? NEUTRAL_MPI_ERR_ARG : 0;
}
int core_Pready_range(int low, int high, object *r)
{
    struct partitioned *p = parts_of(r, 0);
    int rc = high < low ? NEUTRAL_MPI_ERR_ARG : 0;
    for (int k = low; k <= high && !rc; k++) {
        rc = may_be_ready(p, r, k);
        if (!rc)
            rc = make_ready(p, k);
    }
    return rc;
}
int core_Pready_list(int n, const int *partitions, object *r)
{
    if (!parts_of(r, 0))
        return NEUTRAL_MPI_ERR_REQUEST;
    NEEDS_ARRAY(partitions, n);
    int rc = 0;
    for (int k = 0; k < n && !rc; k++)
        rc = core_Pready(partitions[k], r);
    return rc;
}
int core_Parrived(object *r, int partition, int *flag)
{
    struct partitioned *p = parts_of(r, 1);
    if (!p)
        return NEUTRAL_MPI_ERR_REQUEST;
    if (partition < 0 || partition >= p->n)
        return NEUTRAL_MPI_ERR_ARG;
    int all = !r->req.special->n || partitioned_poll(p);
    *flag = all || (p->bytes && p->arrived[partition] == p->bytes);
    return 0;
}
