/* Messages of the control connections: how they are written, and read without trust. No PMIx here.
 *
 * A message is a frame: 4 bytes length of what follows the header, 4 bytes kind, then the fields. Numbers are little
 * endian; texts and bytes have their length before them, texts a 0 at their end.
 */
#ifndef MEND_LAUNCHER_WIRE_H
#define MEND_LAUNCHER_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wire { /* a message that is being written */
    unsigned char *bytes;
    size_t size, room;
};
void wire_put_bare(struct wire *w, const void *bytes, size_t size);
void wire_put_u32(struct wire *w, uint32_t value);
void wire_put_u64(struct wire *w, uint64_t value);
void wire_put_bytes(struct wire *w, const void *bytes, size_t size);
void wire_put_text(struct wire *w, const char *text);
void wire_put_list(struct wire *w, char *const *list); /* texts, NULL at the end */
void wire_free(struct wire *w);

struct
    wire_reader { /* one that came: after the first field that is not there, everything is 0 or empty */
    const unsigned char *at;
    size_t left;
    bool bad;
};
uint32_t wire_get_u32(struct wire_reader *r);
uint64_t wire_get_u64(struct wire_reader *r);
const void *wire_get_bytes(struct wire_reader *r, size_t *size); /* in the message itself */
const char *wire_get_text(struct wire_reader *r);                /* never NULL */
char **wire_get_list(struct wire_reader *r);                     /* the caller's; NULL if bad */
bool wire_ended(const struct wire_reader *r);                    /* all was there, and no more */
void wire_free_list(char **list);

/* A connection: nothing here waits. */
struct link {
    int fd; /* -1: none */
    struct wire in, out;
    size_t in_at, out_at; /* what was taken, what was sent */
    size_t limit;         /* the longest frame that is accepted */
    uint64_t sent, received;
};
enum { LINK_BEFORE_HELLO = 4096, LINK_LIMIT = 1 << 28 };

void link_open(struct link *l, int fd, size_t limit);
void link_close(struct link *l);
void link_send(struct link *l, uint32_t kind, const struct wire *fields); /* fields may be NULL */
bool link_flush(struct link *l);                                          /* false: it is gone */
bool link_pending(const struct link *l);
bool link_receive(struct link *l); /* false: closed, or broken */
/* The next whole message, valid until the next link_receive. -1: the frame is not acceptable. */
int link_next(struct link *l, uint32_t *kind, struct wire_reader *fields);

double launcher_clock(void); /* seconds; goes on while the machine sleeps */
void *launcher_memory(void *old, size_t size);
char *launcher_text(const char *text); /* a copy */
#endif
