#include "wire.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

double launcher_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_BOOTTIME, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void *launcher_memory(void *old, size_t size)
{
    void *memory = realloc(old, size ? size : 1);
    if (!memory) {
        fputs("mend-node: out of memory\n", stderr);
        _exit(1);
    }
    return memory;
}

char *launcher_text(const char *text)
{
    size_t size = strlen(text) + 1;
    return memcpy(launcher_memory(NULL, size), text, size);
}

/* ---- writing --------------------------------------------------------------------------------- */

void wire_put_bare(struct wire *w, const void *bytes, size_t size)
{
    if (w->size + size > w->room) {
        w->room = 2 * (w->size + size) + 64;
        w->bytes = launcher_memory(w->bytes, w->room);
    }
    if (size)
        memcpy(w->bytes + w->size, bytes, size);
    w->size += size;
}

void wire_put_u32(struct wire *w, uint32_t value)
{
    unsigned char b[4];
    for (int i = 0; i < 4; i++)
        b[i] = (unsigned char)(value >> (8 * i));
    wire_put_bare(w, b, sizeof b);
}

void wire_put_u64(struct wire *w, uint64_t value)
{
    wire_put_u32(w, (uint32_t)value);
    wire_put_u32(w, (uint32_t)(value >> 32));
}

void wire_put_bytes(struct wire *w, const void *bytes, size_t size)
{
    wire_put_u32(w, (uint32_t)size);
    wire_put_bare(w, bytes, size);
}

void wire_put_text(struct wire *w, const char *text)
{
    wire_put_bytes(w, text, strlen(text) + 1);
}

void wire_put_list(struct wire *w, char *const *list)
{
    uint32_t count = 0;
    while (list[count])
        count++;
    wire_put_u32(w, count);
    for (uint32_t i = 0; i < count; i++)
        wire_put_text(w, list[i]);
}

void wire_free(struct wire *w)
{
    free(w->bytes);
    *w = (struct wire){0};
}

void wire_drop(struct wire *w, size_t *at)
{
    if (*at < w->size / 2 + 1)
        return;
    w->size -= *at;
    memmove(w->bytes, w->bytes + *at, w->size);
    *at = 0;
}

/* ---- reading --------------------------------------------------------------------------------- */

static const unsigned char *take(struct wire_reader *r, size_t size)
{
    if (r->bad || r->left < size) {
        r->bad = true;
        return NULL;
    }
    const unsigned char *at = r->at;
    r->at += size;
    r->left -= size;
    return at;
}

uint32_t wire_get_u32(struct wire_reader *r)
{
    const unsigned char *b = take(r, 4);
    return b ? (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24
             : 0;
}

uint64_t wire_get_u64(struct wire_reader *r)
{
    uint64_t low = wire_get_u32(r);
    return low | (uint64_t)wire_get_u32(r) << 32;
}

const void *wire_get_bytes(struct wire_reader *r, size_t *size)
{
    size_t n = wire_get_u32(r);
    const void *bytes = take(r, n);
    *size = bytes ? n : 0;
    return bytes ? bytes : "";
}

const char *wire_get_text(struct wire_reader *r)
{
    size_t size;
    const char *text = wire_get_bytes(r, &size);
    if (r->bad || size == 0 || memchr(text, 0, size) != text + size - 1) {
        r->bad = true;
        return "";
    }
    return text;
}

char **wire_get_list(struct wire_reader *r)
{
    uint32_t count = wire_get_u32(r);
    if (r->bad || count > r->left / 5) { /* each text takes at least a 4-byte length and a 0 */
        r->bad = true;
        return NULL;
    }
    char **list = launcher_memory(NULL, (count + 1) * sizeof *list);
    for (uint32_t i = 0; i < count; i++) {
        const char *text = wire_get_text(r);
        size_t size = strlen(text) + 1;
        list[i] = memcpy(launcher_memory(NULL, size), text, size);
    }
    list[count] = NULL;
    if (r->bad) {
        wire_free_list(list);
        return NULL;
    }
    return list;
}

void wire_free_list(char **list)
{
    for (char **t = list; t && *t; t++)
        free(*t);
    free(list);
}

bool wire_ended(const struct wire_reader *r)
{
    return !r->bad && r->left == 0;
}

/* ---- a connection ---------------------------------------------------------------------------- */

enum { HEADER = 8 };

void link_open(struct link *l, int fd, size_t limit)
{
    *l = (struct link){.fd = fd, .limit = limit};
}

void link_close(struct link *l)
{
    if (l->fd >= 0)
        close(l->fd);
    wire_free(&l->in);
    wire_free(&l->out);
    l->fd = -1;
    l->in_at = l->out_at = 0;
}

void link_send(struct link *l, uint32_t kind, const struct wire *fields)
{
    if (l->fd < 0 || l->deaf)
        return;
    wire_put_u32(&l->out, fields ? (uint32_t)fields->size : 0);
    wire_put_u32(&l->out, kind);
    if (fields)
        wire_put_bare(&l->out, fields->bytes, fields->size);
    l->sent++;
}

bool link_pending(const struct link *l)
{
    return l->fd >= 0 && l->out_at < l->out.size;
}

bool link_flush(struct link *l)
{
    while (link_pending(l)) {
        ssize_t n = send(l->fd, l->out.bytes + l->out_at, l->out.size - l->out_at,
                         MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return true;
        if (n < 0) {
            l->deaf = true;
            l->out.size = l->out_at = 0;
            return false;
        }
        l->out_at += (size_t)n;
        wire_drop(&l->out, &l->out_at);
    }
    return l->fd >= 0 && !l->deaf;
}

bool link_receive(struct link *l)
{
    if (l->in_at > 0) {
        l->in.size -= l->in_at;
        memmove(l->in.bytes, l->in.bytes + l->in_at, l->in.size);
        l->in_at = 0;
    }
    unsigned char chunk[1 << 16];
    for (int i = 0; i < 16; i++) { /* then it is another connection's turn */
        ssize_t n = recv(l->fd, chunk, sizeof chunk, MSG_DONTWAIT);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno == EAGAIN || errno == EWOULDBLOCK;
        if (n == 0)
            return false;
        wire_put_bare(&l->in, chunk, (size_t)n);
        if (n < (ssize_t)sizeof chunk)
            break;
    }
    return true;
}

int link_next(struct link *l, uint32_t *kind, struct wire_reader *fields)
{
    if (l->fd < 0 || l->in.size - l->in_at < HEADER)
        return 0; /* nothing has arrived yet; there may not even be a buffer */
    struct wire_reader r = {l->in.bytes + l->in_at, l->in.size - l->in_at, false};
    size_t size = wire_get_u32(&r);
    *kind = wire_get_u32(&r);
    if (size > l->limit)
        return -1;
    if (r.left < size)
        return 0;
    *fields = (struct wire_reader){r.at, size, false};
    l->in_at += HEADER + size;
    l->received++;
    return 1;
}
