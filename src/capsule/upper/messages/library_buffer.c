/* messages/library_buffer.c - buffered sends of Open MPI's ABI: those of the library, which sends a short message at once,
 * whatever the buffer. The other ABIs: buffers.c.
 */
#include "messages/messages.h"
#include <limits.h>

#ifndef MPICH_ABI
int core_Bsend(const void *b, int n, object *t, int dst, int tag, object *c)
{
    int rc = LOWER(Bsend, b, n, t->real, dst, tag, c->real);
    if (!rc)
        count_send(c, dst);
    return rc;
}
int core_Ibsend(const void *b, int n, object *t, int dst, int tag, object *c, object **out)
{
    handle_t real;
    int rc = LOWER(Ibsend, b, n, t->real, dst, tag, c->real, &real);
    if (rc)
        return rc;
    count_send(c, dst);
    *out = sent_request(real, b, n, t, dst, tag, c);
    return 0;
}

/* The buffer for buffered sends belongs to the program; a restart attaches it to the new lower half. At
 * a checkpoint it holds no messages in flight: their receivers have drained them all. */
static struct {
    void *at; /* NULL: none */
    long size;
} buffer;
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
    if (!rc) {
        buffer.at = b;
        buffer.size = size;
    }
    return rc;
}
int core_buffer_detach(object *comm, void **b, long *size)
{
    (void)comm;
    int rc = buffer.at ? LOWER(Buffer_detach) : 0;
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
    if (buffer.at)
        attach_below(buffer.at, buffer.size);
}

/* no buffer but that one, no flushes */
void buffer_of_comm_ends(object *comm)
{
    (void)comm;
}
void buffers_flush_all(void)
{
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
