/* Messages: all modes, types on both sides, wildcards, probes, persistent and cancelled requests. */
#include "anything.h"

/* what `count` elements of shape s are, as they come from rank `world`: as elements, or as plain ints */
static void expect(struct work *w, const struct shape *s, int count, int plain, int world)
{
    for (int e = 0, k = 0; e < count; e++)
        for (int j = 0; j < s->ints; j++, k++) {
            int at = e * s->extent + s->map[j];
            w->want[plain ? k : at] = value(world, step, at);
        }
}

static void send(int mode, const int *out, int count, MPI_Datatype type, int to, int tag,
                 MPI_Comm comm, MPI_Request *r)
{
    *r = MPI_REQUEST_NULL;
    switch (mode) {
    case 0: MPI_Isend(out, count, type, to, tag, comm, r); break;
    case 1: MPI_Issend(out, count, type, to, tag, comm, r); break;
    case 2: MPI_Ibsend(out, count, type, to, tag, comm, r); break;
    case 3: MPI_Bsend(out, count, type, to, tag, comm); break;
    default: /* the receive is there: a ready send may be used */
        MPI_Irsend(out, count, type, to, tag, comm, r);
    }
}

static void cancelled(struct place *p, int tag)
{
    int x, flag;
    MPI_Request r;
    MPI_Status status;
    MPI_Irecv(&x, 1, MPI_INT, 0, tag, p->comm, &r);
    MPI_Cancel(&r);
    MPI_Wait(&r, &status);
    MPI_Test_cancelled(&status, &flag);
    if (!flag)
        fail("cancelled", flag, 1);
}

static void probed(struct place *p, struct work *w, int from, int tag, int total, int matched)
{
    MPI_Status status;
    MPI_Message message;
    int n, flag = 0;
    if (matched) {
        if (total % 2)
            MPI_Mprobe(from, tag, p->comm, &message, &status);
        else
            while (!flag)
                MPI_Improbe(MPI_ANY_SOURCE, tag, p->comm, &flag, &message, &status);
    } else {
        while (!flag)
            MPI_Iprobe(from, MPI_ANY_TAG, p->comm, &flag, &status);
        if (status.MPI_TAG != tag) /* an older message of the same sender: wait for ours */
            MPI_Probe(from, tag, p->comm, &status);
    }
    MPI_Get_count(&status, MPI_INT, &n);
    if (n != total)
        fail("count of the probe", n, total);
    if (matched)
        MPI_Imrecv(w->in, n, MPI_INT, &message, &w->request[1]);
    else
        MPI_Irecv(w->in, n, MPI_INT, from, tag, p->comm, &w->request[1]);
}

static void persistent(struct place *p, int to, int from, int count, int tag)
{
    struct work *w = begin("persistent", count, count);
    MPI_Send_init(w->out, count, MPI_INT, to, tag, p->comm, &w->request[0]);
    MPI_Recv_init(w->in, count, MPI_INT, from, tag, p->comm, &w->request[1]);
    for (int again = 0; again < 3; again++) {
        for (int i = 0; i < count; i++) {
            w->out[i] = value(me, step, i) + again;
            w->want[i] = value(p->peers[from], step, i) + again;
        }
        MPI_Startall(2, w->request);
        MPI_Waitall(2, w->request, MPI_STATUSES_IGNORE);
    }
    MPI_Request_free(&w->request[0]);
    MPI_Request_free(&w->request[1]);
    end_now(w);
}

void message(struct place *p)
{
    unsigned kind = draw(10), mode = draw(5), shift = draw(7), big = draw(8), a_shape = draw(TYPES),
             plain = draw(2);
    int count = 1 + (int)draw(40), tag = 1000 + step % 30000;
    if (p->comm == MPI_COMM_NULL)
        return;
    int n = p->n < p->m ? p->n : p->m; /* of both groups of an inter-communicator, the pairs */
    if (p->rank >= n)
        return;
    const struct shape *s = &shape[a_shape];
    if (big == 0 && mode != 2 && mode != 3)
        count *= 500; /* too large to be sent before it is asked for */
    int to = (p->rank + (int)shift) % n, from = (p->rank + n - (int)shift % n) % n;
    if (kind == 0) {
        cancelled(p, tag);
        return;
    }
    if (kind == 1) {
        persistent(p, to, from, count, tag);
        return;
    }
    struct work *w = begin("message", count * s->extent, count * s->extent);
    for (int i = 0; i < count * s->extent; i++)
        w->out[i] = value(me, step, i);
    w->requests = 2;
    if (kind == 2 && !plain) {
        expect(w, s, count, 0, p->peers[from]);
        w->what = "sendrecv";
        MPI_Sendrecv(w->out, count, s->type, to, tag, w->in, count, s->type, from, tag, p->comm,
                     MPI_STATUS_IGNORE);
        end_now(w);
    } else if (kind == 2) {
        memcpy(w->in, w->out, (size_t)w->count * sizeof(int));
        memcpy(w->want, w->out, (size_t)w->count * sizeof(int));
        expect(w, s, count, 0, p->peers[from]);
        w->what = "sendrecv_replace";
        MPI_Sendrecv_replace(w->in, count, s->type, to, tag, from, tag, p->comm, MPI_STATUS_IGNORE);
        end_now(w);
    } else if (kind < 5) {
        expect(w, s, count, 1, p->peers[from]);
        w->what = "probed message";
        send(mode % 4, w->out, count, s->type, to, tag, p->comm, &w->request[0]);
        probed(p, w, from, tag, count * s->ints, kind == 3);
        end_sometime(w);
    } else {
        expect(w, s, count, (int)plain, p->peers[from]);
        int source = kind == 5 ? MPI_ANY_SOURCE : from;
        if (plain)
            MPI_Irecv(w->in, count * s->ints, MPI_INT, source, tag, p->comm, &w->request[1]);
        else
            MPI_Irecv(w->in, count, s->type, source, tag, p->comm, &w->request[1]);
        if (mode == 4 && (to != p->rank || p->inter))
            mode = 0; /* only our own receive is surely there */
        send((int)mode, w->out, count, s->type, to, tag, p->comm, &w->request[0]);
        end_sometime(w);
    }
}
