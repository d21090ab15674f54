/* messages/messages.h - requests, messages, and draining. */
#ifndef CAPSULE_MESSAGES_H
#define CAPSULE_MESSAGES_H
#include "core/core.h"
#pragma GCC visibility push(hidden)

/* --- request.c, arrived.c, drain.c --- */
extern const struct status empty_status;
/* Of nothing. Open MPI leaves the field of the error as it is. */
static inline void tell_empty(struct status *st)
{
    tell_status(st, &empty_status);
#ifdef MPICH_ABI
    if (st)
        st->error = 0;
#endif
}
extern struct books { /* what the busiest functions need, side by side */
    object *spare;    /* requests for reuse */
    /* All sends that were complete before their call returned share this one request: they leave
     * nothing to remember, and it is never retired.
     */
    object *sent;
    uint64_t made;      /* requests so far */
    int careful;        /* one of the next two is not 0, or upper.several is set */
    int orphans;        /* requests that the program freed before they were complete */
    int duplicates;     /* the program has called MPI_Comm_idup */
    long drained;       /* messages brought up and not received yet: arrived.c */
    struct slab *slabs; /* all requests, see below */
} books;
static inline void books_changed(void)
{
    books.careful = books.orphans || books.drained || upper.several;
}
/* Requests lie in slabs, not in a list. Slabs are never freed: they hold as many requests as were ever live at once. */
enum { SLAB = 64, CACHE_LINE = 64 };
struct slab {
    union {
        object object;
        char lines[(sizeof(object) + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE];
    } at[SLAB];
    struct slab *next;
};
#define EACH_REQUEST(r)                                    \
    for (struct slab *s_ = books.slabs; s_; s_ = s_->next) \
        for (int i_ = 0; i_ < SLAB; i_++)                  \
            for (object *r = &s_->at[i_].object; r && r->req.live; r = NULL)
void slab_new(void);
object *spare_request(void); /* the first of books.spare, after some housekeeping */
/* Take `r`, the first of books.spare. */
static inline object *take_request(object *r, int is_recv, void *buf, int n, object *type, int peer,
                                   int tag, object *comm)
{
    books.spare = r->next;
    r->req.buf = buf;
    r->req.type = type;
    r->req.comm = comm;
    r->req.order = books.made++;
    r->req.n = n;
    r->req.peer = peer;
    r->req.tag = tag;
    r->req.is_recv = is_recv != 0;
    r->req.done = 0;
    r->req.live = 1;
    r->req.holds = 0;
    if (__builtin_expect(!(type->predefined & comm->predefined), 0)) {
        type->refs++; /* predefined objects ignore their count */
        comm->refs++;
        r->req.holds = 1;
    }
    return r;
}
/* Mark requests that are no messages: of an MPI_Comm_idup, of a collective operation on a file. */
enum { TAG_MAKES_COMM = -2, TAG_OF_FILE = -3 };
static inline object *new_request(int is_recv, void *buf, int n, object *type, int peer, int tag,
                                  object *comm)
{
    object *r = books.spare;
    if (__builtin_expect(r == NULL || books.orphans, 0))
        r = spare_request();
    return take_request(r, is_recv, buf, n, type, peer, tag, comm);
}
object *sent_request(handle_t real, const void *buf, int n, object *type, int dest, int tag,
                     object *comm); /* for a send that the lower half has begun */
void requests_init(void);
/* The rest of a blocking receive for which recv_or_stop did not return RECV_DONE (p2p.c). */
int recv_otherwise(int got, void *b, int n, object *t, int source, int tag, object *c,
                   const struct wait_item *item, struct status *st);
int request_poll(object *request); /* is it complete? Never retires it. */
void rebind_requests(void);
void unbind_requests(void);
void each_request(void (*visit)(handle_t real, int is_receive));
static inline void count_send(const object *c, int dest)
{
    if (dest >= 0)
        upper.sent_to[c->comm.peers[dest]]++;
}
static inline void count_failed_send(const object *c, int dest) /* undoes count_send */
{
    if (dest >= 0)
        upper.sent_to[c->comm.peers[dest]]--;
}
static inline void count_recv_from(const object *c, int source)
{
    if (source >= 0)
        upper.received_from[c->comm.peers[source]]++;
}
static inline void count_recv(const object *c, const struct status *s)
{
    count_recv_from(c, s->source);
}
struct message; /* received while draining; the program has not received it yet */
struct message *find_drained(int source, int tag, const object *comm, int take);
const struct status *drained_status(const struct message *m);
int deliver_drained(struct message *m, void *buf, int n, object *type, struct status *s);
int drain_step(void); /* 1: none of our sends and collectives is incomplete any more */

/* --- requests that do not stand for exactly one request of the lower half --- */
enum special {
    SPECIAL_NO,
    SPECIAL_PERSISTENT,
    SPECIAL_GENERALIZED,
    SPECIAL_COMPOSITE,
    SPECIAL_PARTITIONED,
    SPECIAL_FLUSH
};
struct special_request {
    enum special what;
    int (*start)(object *request); /* persistent: begins the operation, fills inner[0] */
    int n;                         /* requests inside; persistent, partitioned: 0 when inactive */
    object **inner;
    int status_of;        /* composite: index of the inner request with the status; -1: none */
    void *keep;           /* freed with the request */
    object *held[4];      /* types, communicator, operation that must live as long */
    object *channel;      /* persistent collective: its communicator (comm/channels.c) */
    int n_held, n_arrays; /* inner[1…]: arrays of types, which end with NULL */
    struct partitioned *parts;
    /* generalized */
    int complete;
    void *query, *free_fn, *cancel;
    enum language language;
    void *extra;
};
object *new_special(enum special what);
int special_inactive(const object *r);
int special_poll(object *r, int *error);
int special_finish(object **h, struct status *st); /* complete: status, retire or make inactive */
int special_free(object **h);
int special_cancel(object *r);
int special_waits(object *r);    /* incomplete, and no request below stands for it */
void special_release(object *r); /* it was freed while active, and is complete now */
int core_Grequest_start(void *query, void *free_fn, void *cancel, enum language language,
                        void *extra, object **out);
object *composite(int n, object **inner, int status_of, void *keep);

/* --- for request.c and drain.c --- */
int request_poll(object *r);       /* is it complete? Never retires it. */
int request_idle(const object *r); /* null, or persistent and inactive */
void retire_request(object **h);
int message_error(int n, const object *type, int peer, int tag, const object *comm); /* or 0 */
void withdraw(object **receive); /* the operation that it belongs to has failed */
struct message *new_message(size_t bytes);
void message_free(struct message *m); /* one that was not kept */
void keep_drained(struct message *m,
                  object *comm); /* append it; it stays until a receive matches it */
void *message_data(struct message *m);
struct status *message_status(struct message *m);
int drain_matched(void);

/* --- messages/pieces.c --- */
int pieces_all_sent(void); /* waits */

/* --- messages/buffers.c, library_buffer.c; comm NULL: the buffer of the process --- */
#define BUFFER_AUTOMATIC ((void *)-2)
struct flush;
int core_buffer_attach(object *comm, void *at, long size);
int core_buffer_detach(object *comm, void **at, long *size);
int core_buffer_flush(object *comm);
int core_buffer_iflush(object *comm, object **request);
void buffers_flush_all(void);
void rebind_buffer(void);
int flush_done(struct flush *f);
void flush_forget(struct flush *f);

#pragma GCC visibility pop
#endif
