/* messages/buffers.c - buffered sends of the ABIs of MPICH and of the standard: a copy of the message, sent by MPI_Isend.
 * Buffers are those of the process, and of communicators (MPI-4.1). Of a buffer only its size is used: the copies lie in
 * memory of our own, and a message takes from the size what it takes in the library. A checkpoint drains the copies like any
 * other message. Open MPI's ABI: library_buffer.c.
 */
#include "messages/messages.h"
#include <stdlib.h>

#ifdef MPICH_ABI
enum { OVERHEAD = 96 }; /* of one message; no library's MPI_BSEND_OVERHEAD is less */
struct buffered {
    struct buffered *next;
    object *request; /* NULL: it has left */
    long bytes;      /* of its buffer */
    int refs;        /* its buffer, and flushes that wait for it */
    char data[];
};
struct send_buffer {
    struct send_buffer *next; /* of all that are attached */
    void *at;
    long size, used;
    struct buffered *first;
};
static struct {
    struct send_buffer *all, *of_process;
} buffers;

static struct send_buffer **place_of(object *comm)
{
    return comm ? &extra_of(comm)->buffer : &buffers.of_process;
}
static struct send_buffer *buffer_for(const object *comm)
{
    return comm->extra && comm->extra->buffer ? comm->extra->buffer : buffers.of_process;
}

static int has_left(struct buffered *m)
{
    if (m->request && request_poll(m->request)) {
        retire_request(&m->request);
        m->request = NULL;
    }
    return !m->request;
}
static void unref(struct buffered *m)
{
    if (!--m->refs)
        free(m);
}
/* Gives back what messages that have left took. Returns 1 if the buffer is empty. */
static int tidy(struct send_buffer *b)
{
    for (struct buffered **p = &b->first; *p;) {
        struct buffered *m = *p;
        if (!has_left(m)) {
            p = &m->next;
            continue;
        }
        *p = m->next;
        b->used -= m->bytes;
        unref(m);
    }
    return !b->first;
}
static int has_room(struct send_buffer *b, long bytes)
{
    int automatic = b->at == BUFFER_AUTOMATIC;
    if (!automatic && b->used + bytes <= b->size)
        return 1;
    tidy(b); /* also an automatic one: it must not keep everything that was ever sent */
    return automatic || b->used + bytes <= b->size;
}
static void flush(struct send_buffer *b)
{
    while (!tidy(b))
        wait_turn(COMM_SELF, NEUTRAL_ANY_SOURCE);
}

int core_Bsend(const void *buf, int n, object *t, int dest, int tag, object *c)
{
    int size, position = 0;
    if (dest == NEUTRAL_PROC_NULL)
        return core_Send(buf, n, t, dest, tag, c);
    if (dest < 0 || dest >= c->comm.n_peers)
        return NEUTRAL_MPI_ERR_RANK;
    int rc = core_Pack_size(n, t, c, &size);
    if (rc)
        return rc;
    struct send_buffer *b = buffer_for(c);
    if (!b || !has_room(b, (long)size + OVERHEAD))
        return NEUTRAL_MPI_ERR_BUFFER;
    struct buffered *m = need(malloc(sizeof *m + (size_t)size));
    rc = core_Pack(buf, n, t, m->data, size, &position, c);
    if (!rc)
        rc = core_Isend(m->data, position, predef[PRE_MPI_PACKED], dest, tag, c, &m->request);
    if (rc) {
        free(m);
        return rc;
    }
    m->bytes = (long)size + OVERHEAD;
    m->refs = 1;
    m->next = b->first;
    b->first = m;
    b->used += m->bytes;
    return 0;
}
int core_Ibsend(const void *buf, int n, object *t, int dest, int tag, object *c, object **out)
{
    int rc = core_Bsend(buf, n, t, dest, tag, c);
    if (!rc)
        *out = books.sent;
    return rc;
}

/* What is too small for a message of no bytes is none. */
static int is_no_buffer(const void *at, long size)
{
    if (at == BUFFER_AUTOMATIC)
        return 0;
    if (!at || size < 0)
        return NEUTRAL_MPI_ERR_ARG;
    return size >= OVERHEAD ? 0 : NEUTRAL_MPI_ERR_BUFFER;
}
int core_buffer_attach(object *comm, void *at, long size)
{
    struct send_buffer **place = place_of(comm);
    int rc = *place ? NEUTRAL_MPI_ERR_BUFFER : is_no_buffer(at, size);
    if (rc)
        return rc;
    struct send_buffer *b = *place = need(calloc(1, sizeof *b));
    b->at = at;
    b->size = at == BUFFER_AUTOMATIC ? 0 : size;
    b->next = buffers.all;
    buffers.all = b;
    return 0;
}
int core_buffer_detach(object *comm, void **at, long *size)
{
    struct send_buffer **place = place_of(comm), *b = *place;
    *at = b ? b->at : NULL;
    *size = b ? b->size : 0;
    if (!b)
        return 0;
    flush(b);
    struct send_buffer **p = &buffers.all;
    while (*p != b)
        p = &(*p)->next;
    *p = b->next;
    *place = NULL;
    free(b);
    return 0;
}
/* Before the communicator is gone. */
void buffer_of_comm_ends(object *comm)
{
    void *at;
    long size;
    if (comm->extra && comm->extra->buffer)
        core_buffer_detach(comm, &at, &size);
}
void buffers_flush_all(void)
{
    for (struct send_buffer *b = buffers.all; b; b = b->next)
        flush(b);
}
int core_buffer_flush(object *comm)
{
    struct send_buffer *b = *place_of(comm);
    if (b)
        flush(b);
    return 0;
}

void rebind_buffer(void) /* nothing of it is below */
{
}

/* --- a flush that is a request: of the messages that are in the buffer now --- */
struct flush {
    int n;
    struct buffered *of[];
};
int flush_done(struct flush *f)
{
    while (f->n && has_left(f->of[f->n - 1]))
        unref(f->of[--f->n]);
    return !f->n;
}
void flush_forget(struct flush *f)
{
    while (f->n)
        unref(f->of[--f->n]);
}
int core_buffer_iflush(object *comm, object **request)
{
    struct send_buffer *b = *place_of(comm);
    int n = 0;
    for (struct buffered *m = b ? b->first : NULL; m; m = m->next)
        n++;
    struct flush *f = need(malloc(sizeof *f + (size_t)n * sizeof f->of[0]));
    f->n = 0;
    for (struct buffered *m = b ? b->first : NULL; m; m = m->next) {
        m->refs++;
        f->of[f->n++] = m;
    }
    *request = new_special(SPECIAL_FLUSH);
    (*request)->req.special->keep = f;
    return 0;
}
#endif
