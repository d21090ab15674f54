/* messages/library_buffer.c - buffered sends of Open MPI's ABI: those of the library, which sends a short message at once,
 * whatever the buffer. The other ABIs: buffers.c.
 *
 * MPI_Buffer_detach of the library waits until all messages have left. With several threads nobody may wait below
 * (core/baton.h), because a message may leave only after another thread has called MPI. So then each message is a copy of our
 * own, sent by MPI_Isend, and nothing is attached below. A long message takes from the size of the buffer what it takes in the
 * library (Open MPI 5.0), until it has left. One that every network of the library sends at once takes nothing.
 */
#include "messages/messages.h"
#include <limits.h>

#include <stdlib.h>

#ifndef MPICH_ABI
static struct {
    void *at; /* NULL: none */
    long size, used;
    struct copy { /* of a message that has not left */
        struct copy *next;
        object *request;
        long takes;
        char data[];
    } *copies;
} buffer;

/* Returns 1 if all have left. */
static int copies_left(void)
{
    for (struct copy **p = &buffer.copies; *p;) {
        struct copy *m = *p;
        if (!request_poll(m->request)) {
            p = &m->next;
            continue;
        }
        *p = m->next;
        buffer.used -= m->takes;
        retire_request(&m->request);
        free(m);
    }
    return !buffer.copies;
}
static void wait_for_copies(void)
{
    while (!copies_left())
        wait_turn(COMM_SELF, NEUTRAL_ANY_SOURCE);
}
enum {
    AT_ONCE = 65536,
    WORD = sizeof(void *)
}; /* the library aligns the buffer, and each message behind its length */
static long taken_by(long bytes)
{
    return bytes > AT_ONCE ? (bytes + WORD) / WORD * WORD + WORD : 0;
}
static int has_room(long takes)
{
    long room = buffer.at ? buffer.size - (WORD - (long)((uintptr_t)buffer.at % WORD)) : 0;
    return buffer.used + takes <= room;
}
static int send_copy(const void *b, int n, object *t, int dst, int tag, object *c)
{
    int size, position = 0, rc = message_error(n, t, dst, tag, c);
    if (rc || dst == NEUTRAL_PROC_NULL)
        return rc;
    rc = core_Pack_size(n, t, c, &size);
    if (rc)
        return rc;
    long takes = taken_by(size);
    copies_left();
    if (takes && !has_room(takes))
        return NEUTRAL_MPI_ERR_BUFFER;
    struct copy *m = need(malloc(sizeof *m + (size_t)size));
    rc = core_Pack(b, n, t, m->data, size, &position, c);
    if (!rc)
        rc = core_Isend(m->data, position, predef[PRE_MPI_PACKED], dst, tag, c, &m->request);
    if (rc) {
        free(m);
        return rc;
    }
    m->next = buffer.copies;
    buffer.copies = m;
    m->takes = takes;
    buffer.used += takes;
    copies_left();
    return 0;
}

int core_Bsend(const void *b, int n, object *t, int dst, int tag, object *c)
{
    if (upper.several)
        return send_copy(b, n, t, dst, tag, c);
    int rc = LOWER(Bsend, b, n, t->real, dst, tag, c->real);
    if (!rc)
        count_send(c, dst);
    return rc;
}
int core_Ibsend(const void *b, int n, object *t, int dst, int tag, object *c, object **out)
{
    handle_t real;
    if (upper.several) {
        *out = books.sent;
        return send_copy(b, n, t, dst, tag, c);
    }
    int rc = LOWER(Ibsend, b, n, t->real, dst, tag, c->real, &real);
    if (rc)
        return rc;
    count_send(c, dst);
    *out = sent_request(real, b, n, t, dst, tag, c);
    return 0;
}

/* The buffer for buffered sends belongs to the program; a restart attaches it to the new lower half. At
 * a checkpoint it holds no messages in flight: their receivers have drained them all. */
static int attach_below(void *b, long size) /* the library uses as much as an int can name */
{
    int used = size > INT_MAX ? INT_MAX : (int)size;
    return LOWER(Buffer_attach, b, used);
}
int core_buffer_attach(object *comm, void *b, long size)
{
    (void)comm;
    if (buffer.at)
        return NEUTRAL_MPI_ERR_BUFFER;
    int rc = attach_below(b, size);
    if (!rc && upper.several) /* it has only said what it thinks of it */
        rc = LOWER(Buffer_detach);
    if (!rc) {
        buffer.at = b;
        buffer.size = size;
    }
    return rc;
}
int core_buffer_detach(object *comm, void **b, long *size)
{
    (void)comm;
    wait_for_copies();
    int rc = buffer.at && !upper.several ? LOWER(Buffer_detach) : 0;
    if (rc)
        return rc;
    *b = buffer.at;
    *size = buffer.size;
    buffer.at = NULL;
    buffer.size = 0;
    return 0;
}
void rebind_buffer(void)
{
    if (buffer.at && !upper.several)
        attach_below(buffer.at, buffer.size);
}

/* no buffer but that one, no flushes */
void buffer_of_comm_ends(object *comm)
{
    (void)comm;
}
void buffers_flush_all(void)
{
    wait_for_copies();
}
int flush_done(struct flush *f)
{
    (void)f;
    return 1;
}
void flush_forget(struct flush *f)
{
    (void)f;
}
#endif
