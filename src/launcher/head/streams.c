/* Output of the ranks comes out here, whole pieces in the order in which they came; input goes to rank 0. A reader that
 * is slow stops the ranks that print, and nothing else. */
#include "head/head.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void streams_output(struct head *h, uint32_t node, struct wire_reader *r)
{
    size_t size;
    uint32_t rank = wire_get_u32(r), stream = wire_get_u32(r) - 1;
    const void *bytes = wire_get_bytes(r, &size);
    if (r->bad || rank >= h->job.processes || stream > 1 || size == 0)
        return;
    struct stream *s = &h->out[stream];
    if (s->pieces == s->room) {
        s->room = 2 * s->room + 16;
        s->owner = launcher_memory(s->owner, s->room * sizeof *s->owner);
        s->size = launcher_memory(s->size, s->room * sizeof *s->size);
    }
    s->owner[s->pieces] = node;
    s->size[s->pieces++] = size;
    wire_put_bare(&s->bytes, bytes, size);
    streams_write(h, (int)stream);
}

static void say_taken(struct head *h, uint32_t node, size_t size)
{
    struct wire w = {0};
    wire_put_u32(&w, (uint32_t)size);
    if (h->nodes[node].state == NODE_UP)
        link_send(&h->nodes[node].link, SAY_TAKEN, &w);
    wire_free(&w);
}

static void account(struct head *h, struct stream *s, size_t written)
{
    size_t i = 0;
    s->at += written;
    while (i < s->pieces && written >= s->size[i]) {
        written -= s->size[i];
        say_taken(h, s->owner[i], s->size[i]);
        i++;
    }
    if (written) {
        s->size[i] -= written;
        say_taken(h, s->owner[i], written);
    }
    s->pieces -= i;
    memmove(s->owner, s->owner + i, s->pieces * sizeof *s->owner);
    memmove(s->size, s->size + i, s->pieces * sizeof *s->size);
    if (s->pieces == 0)
        s->bytes.size = s->at = 0;
}

void streams_write(struct head *h, int stream)
{
    struct stream *s = &h->out[stream];
    struct pollfd p = {stream + 1, POLLOUT, 0};
    /* a pipe that is writable takes that many without waiting */
    while (s->at < s->bytes.size && poll(&p, 1, 0) > 0) {
        size_t size = s->bytes.size - s->at;
        ssize_t n = write(stream + 1, s->bytes.bytes + s->at, size < PIPE_BUF ? size : PIPE_BUF);
        if (n < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        account(h, s, n < 0 ? size : (size_t)n); /* nobody reads it: it is gone, the job goes on */
    }
}

bool streams_wanted(const struct head *h)
{
    const struct head_node *n = &h->nodes[h->job.node_of[0]];
    return h->input_open && h->input_ahead < STREAM_WINDOW && n->state == NODE_UP;
}

void streams_input(struct head *h)
{
    char bytes[STREAM_CHUNK];
    struct wire w = {0};
    ssize_t n = read(0, bytes, sizeof bytes);
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (n <= 0)
        h->input_open = false;
    wire_put_bytes(&w, bytes, n > 0 ? (size_t)n : 0);
    h->input_ahead += n > 0 ? (size_t)n : 0;
    link_send(&h->nodes[h->job.node_of[0]].link, SAY_INPUT, &w);
    wire_free(&w);
}
