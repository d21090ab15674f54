/* Prints the ranks' output, whole pieces in the order of arrival, and the head's own reports, and sends input to rank 0.
 * A slow reader stops the ranks that print, and nothing else. */
#include "head/head.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NO_NODE = UINT32_MAX };

static void append(struct stream *s, uint32_t node, const void *bytes, size_t size)
{
    if (s->pieces == s->room) {
        s->room = 2 * s->room + 16;
        s->owner = launcher_memory(s->owner, s->room * sizeof *s->owner);
        s->size = launcher_memory(s->size, s->room * sizeof *s->size);
    }
    s->owner[s->pieces] = node;
    s->size[s->pieces++] = size;
    wire_put_bare(&s->bytes, bytes, size);
}

void streams_output(struct head *h, uint32_t node, struct wire_reader *r)
{
    size_t size;
    uint32_t rank = wire_get_u32(r), stream = wire_get_u32(r) - 1;
    const void *bytes = wire_get_bytes(r, &size);
    if (r->bad || rank >= h->job.processes || stream > 1 || size == 0)
        return;
    append(&h->out[stream], node, bytes, size);
    streams_write(h, (int)stream);
}

void head_say(struct head *h, const char *format, ...)
{
    char text[8192] = "mend-node: ";
    size_t used = strlen(text);
    va_list list;
    va_start(list, format);
    vsnprintf(text + used, sizeof text - used - 1, format, list);
    va_end(list);
    strcat(text, "\n");
    append(&h->out[1], NO_NODE, text, strlen(text));
    streams_write(h, 1);
}

static void say_taken(struct head *h, uint32_t node, size_t size)
{
    struct wire w = {0};
    wire_put_u32(&w, (uint32_t)size);
    if (node != NO_NODE && h->nodes[node].state == NODE_UP)
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
    wire_drop(&s->bytes, &s->at);
}

/* A reader that has gone wants no more; everything else is news. */
static void note_failure(struct head *h, int stream)
{
    bool told = h->out[stream].failed;
    h->out[stream].failed = true;
    if (errno != EPIPE && !told && stream == 0) /* of standard error we cannot tell anybody */
        head_say(h, "cannot write the ranks' standard output, some of it is lost: %s",
                 strerror(errno));
}

void streams_write(struct head *h, int stream)
{
    struct stream *s = &h->out[stream];
    struct pollfd p = {stream + 1, POLLOUT, 0};
    /* A writable pipe takes PIPE_BUF bytes without blocking. */
    while (s->at < s->bytes.size && poll(&p, 1, 0) > 0) {
        size_t size = s->bytes.size - s->at;
        ssize_t n = write(stream + 1, s->bytes.bytes + s->at, size < PIPE_BUF ? size : PIPE_BUF);
        if (n < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (n < 0)
            note_failure(h, stream);
        account(h, s, n < 0 ? size : (size_t)n); /* the output is lost, the job goes on */
    }
}

bool streams_reports(const struct head *h)
{
    return h->report >= 0 && h->reports_at < h->reports.size;
}

void streams_report(struct head *h)
{
    struct pollfd p = {h->report, POLLOUT, 0};
    while (streams_reports(h) && poll(&p, 1, 0) > 0) {
        size_t size = h->reports.size - h->reports_at;
        ssize_t n =
            write(h->report, h->reports.bytes + h->reports_at, size < PIPE_BUF ? size : PIPE_BUF);
        if (n < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (n < 0 && errno == EPIPE)
            head_orphan(h);
        h->reports_at += n < 0 ? size : (size_t)n;
        wire_drop(&h->reports, &h->reports_at);
    }
}

void head_report(struct head *h, const char *format, ...)
{
    char line[1024];
    va_list list;
    va_start(list, format);
    int n = vsnprintf(line, sizeof line - 1, format, list);
    va_end(list);
    n = n < (int)sizeof line - 1 ? n : (int)sizeof line - 2;
    line[n++] = '\n';
    if (h->report >= 0)
        wire_put_bare(&h->reports, line, (size_t)n);
    streams_report(h);
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
