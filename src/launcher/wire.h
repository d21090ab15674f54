/* The messages of the control connections: writing them, and reading them without trusting the sender. Nothing here
 * depends on PMIx.
 *
 * A message is a frame: 4 bytes for the length of what follows the header, 4 bytes for the kind, then the fields.
 * Numbers are little endian. A 4-byte length precedes a text or a byte string, and a 0 ends a text.
 */
#ifndef MEND_LAUNCHER_WIRE_H
#define MEND_LAUNCHER_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wire { /* a message under construction */
    unsigned char *bytes;
    size_t size, room;
};
void wire_put_bare(struct wire *w, const void *bytes, size_t size);
void wire_put_u32(struct wire *w, uint32_t value);
void wire_put_u64(struct wire *w, uint64_t value);
void wire_put_bytes(struct wire *w, const void *bytes, size_t size);
void wire_put_text(struct wire *w, const char *text);
void wire_put_list(struct wire *w, char *const *list); /* texts; NULL ends the list */
void wire_free(struct wire *w);
/* Drop the first *at bytes, which are done with, once they are most of the buffer; *at becomes 0 then. */
void wire_drop(struct wire *w, size_t *at);

struct wire_reader { /* received: after the first missing field, all reads give 0 or empty */
    const unsigned char *at;
    size_t left;
    bool bad;
};
uint32_t wire_get_u32(struct wire_reader *r);
uint64_t wire_get_u64(struct wire_reader *r);
const void *wire_get_bytes(struct wire_reader *r, size_t *size); /* points into the message */
const char *wire_get_text(struct wire_reader *r);                /* never NULL */
char **wire_get_list(struct wire_reader *r);                     /* the caller's; NULL if bad */
bool wire_ended(const struct wire_reader *r);                    /* nothing missing, nothing left */
void wire_free_list(char **list);

/* A connection. No function here blocks. */
struct link {
    int fd; /* -1: none */
    struct wire in, out;
    size_t in_at, out_at; /* bytes consumed; bytes sent */
    size_t limit;         /* the longest frame that we accept */
    uint64_t sent, received;
    bool deaf; /* the other end takes no more: what is sent goes nowhere */
};
enum { LINK_BEFORE_HELLO = 4096, LINK_LIMIT = 1 << 28 };

void link_open(struct link *l, int fd, size_t limit);
void link_close(struct link *l);
void link_send(struct link *l, uint32_t kind, const struct wire *fields); /* fields may be NULL */
/* False: it is gone. There may still be something to receive. */
bool link_flush(struct link *l);
bool link_pending(const struct link *l);
bool link_receive(struct link *l); /* false: closed, or broken */
/* Get the next complete message; it stays valid until the next link_receive. 0: there is none yet. -1: the frame is
 * too long. */
int link_next(struct link *l, uint32_t *kind, struct wire_reader *fields);

double launcher_clock(void); /* seconds; keeps counting while the machine is suspended */
void *launcher_memory(void *old, size_t size);
char *launcher_text(const char *text); /* a copy */
#endif
