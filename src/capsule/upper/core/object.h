/* core/object.h - the objects behind the application's handles. */
#ifndef CAPSULE_CORE_OBJECT_H
#define CAPSULE_CORE_OBJECT_H
#include "core/inside.h"
#pragma GCC visibility push(hidden)

typedef struct object object;

struct recipe {
    int how, n, n_ints, n_addresses, n_types;
    int *ints;
    long *addresses;
    object **types;
};

/* The object behind a handle of the application. It lies in upper-half memory and survives a restart
 * unchanged, except that the restart replaces `real`.
 */
struct object {
    handle_t real; /* handle of the lower half; first field */
    object *next;  /* with prev: list of the live objects of its kind */
    union {
        struct {
            int size, rank, *ranks;         /* members as world ranks */
            int remote_size, *remote_ranks; /* inter-communicators; else 0 */
            const int *peers;               /* meaning of ranks in messages: one of the two */
            int n_peers;
            struct comm_card *card;
            int released;    /* by MPI_Comm_free: requests may hold it, nobody may probe it */
            unsigned unmade; /* the drain step that found its MPI_Comm_idup incomplete */
            int has_topology, ndims, *dims; /* dims[ndims], periods[ndims] */
            object *errh;
            object *of; /* this is a channel for persistent collectives on `of` (comm/channels.c) */
        } comm;
        struct {
            int size, *ranks;
        } group;
        struct {
            long bytes; /* MPI_Type_size; -1: not known yet */
            struct recipe *recipe;
            int committed;
        } type;
        struct {
            void *fn;
            int commute, fortran, slot;
        } op;
        struct {
            /* The first cache line ends before `error`: most requests need nothing else. The fields
             * are in the order in which take_request() fills them. */
            void *buf;
            object *type, *comm;
            uint64_t order; /* of creation */
            int n, peer, tag;
            unsigned char is_recv, done, live;
            unsigned char holds; /* it has references to type and comm, or something in extra */
            /* all 0 in spare requests: */
            int error;
            unsigned char orphan, freed;
            struct special_request
                *special; /* more than one request below, or none: messages/special_requests.c */
            struct status status;
        } req;
        struct {
            int n;
            char **words; /* key, value, key, value ... */
        } info;
        struct {
            void *fn;
            int kind, language; /* kind: of the objects that may carry it */
        } errh;
        struct {
            object *errh;
            struct window *w;
        } win;
        struct {
            object *errh;
            struct open_file *f;
        } file;
        struct {
            object *errh;
            int open;
        } session;
        struct {
            struct message *drained; /* a checkpoint brought it up; NULL: it is still below */
            object *comm;
            struct status status;
        } msg;
    };
    object *prev;
    int kind, index, predefined; /* index: in the table of its kind (integer handles) */
    int refs;
    struct extra *extra; /* attributes, name, hints: core/core.h */
};

/* The lower half reads a request that waits for it as a struct posting. */
#define SAME_PLACE(field, of_posting)                                                      \
    _Static_assert(offsetof(struct object, field) == offsetof(struct posting, of_posting), \
                   "a request is no struct posting")
SAME_PLACE(real, real);
SAME_PLACE(next, next);
SAME_PLACE(req.buf, buf);
SAME_PLACE(req.type, type);
SAME_PLACE(req.comm, comm);
SAME_PLACE(req.order, order);
SAME_PLACE(req.n, n);
SAME_PLACE(req.peer, source);
SAME_PLACE(req.tag, tag);
SAME_PLACE(req.done, done);
SAME_PLACE(req.error, error);

/* --- objects.c --- */
#define FIRST_DYNAMIC 128            /* indices below: predefined */
extern object *predef[N_PREDEFINED]; /* filled by face_init() */
extern struct core {
    object live[N_KINDS]; /* list heads, in order of creation */
    /* Freed objects for reuse: they keep their index and their place in the table. */
    object *spare[N_KINDS];
    struct {
        object **at;
        int n, cap;
    } table[N_KINDS];
    /* Communicators of all ranks. The MPI library talks on the first while it creates communicators; the second
     * stands in for MPI_COMM_WORLD in MPI_Comm_idup; the third carries our own messages. */
    object *creation_channel, *duplication_channel, *own_channel;
    int speaking; /* a thread speaks for a checkpoint, or rebinds objects after a restart */
    volatile double wtime_shift; /* makes MPI_Wtime continue across a restart */
    int tool_started, tool_generation;
    int creations;   /* threads inside a call that creates a communicator (collectives.c) */
    int gate_closed; /* this process's gate (comm/gate.c) */
    object *user_op[MAX_USER_OPS]; /* by slot (types/op.c) */
    int argc;                      /* of the program */
    char **argv;
} core;
#define COMM_WORLD predef[PRE_MPI_COMM_WORLD]
#define COMM_SELF  predef[PRE_MPI_COMM_SELF]
#define TYPE_BYTE  predef[PRE_MPI_BYTE]
#define EACH_LIVE(o, kind) \
    for (object *o = core.live[kind].next; o != &core.live[kind]; o = o->next)
object *object_new(int kind);
static inline void object_live(object *o) /* append it to the list of its kind */
{
    object *list = &core.live[o->kind];
    o->prev = list->prev;
    o->next = list;
    o->prev->next = o;
    list->prev = o;
}
static inline void object_spare(object *o)
{
    o->prev->next = o->next;
    o->next->prev = o->prev;
    o->next = core.spare[o->kind];
    core.spare[o->kind] = o;
}
void object_adopt(object *o, int kind); /* turns memory that a room allocated into an object */
void object_delete(object *o);
object *object_at(int kind, int index);          /* integer handle -> object; NULL: none */
void object_fix(object *o, int kind, int index); /* a predefined object at a fixed index */
static inline handle_t real(const object *o)     /* an argument that is not significant */
{                                                /* may be null */
    return o ? o->real : 0;
}
void objects_init(void);
void bind_predefined(void);  /* to the current lower half */
void choose_short_way(void); /* which of the busiest calls may take it (faces/fast.h) */

/* Fill in the status of one completion. The call returns its error; the program's error field stays as it is. */
static inline void tell_status(struct status *st, const struct status *s)
{
    if (!st)
        return;
    st->source = s->source;
    st->tag = s->tag;
    st->cancelled = s->cancelled;
    st->bytes = s->bytes;
}

/* --- what every room needs from communicators and types --- */
static inline int is_comm(const object *c) /* neither the null handle nor freed */
{
    return c->comm.card && !c->comm.released;
}
int unref_comm(object *c); /* returns an error of the library below */
void unref_type(object *t);
void unref_op(object *o);
static inline int others_in(const object *c) /* ranks with which a collective exchanges data */
{
    return !c ? 0 : c->comm.remote_size ? c->comm.remote_size : c->comm.size;
}
static inline void collective_enter(const object *comm)
{
    card_enter(comm->comm.card);
}

/* These enclose a call that creates a communicator, from before it is counted until the new communicator has its
 * card. Other members may have used and freed it by then. A rank inside cannot know yet how far it is behind them,
 * so the agent reports that it is inside (see report_clocks). */
void creations_of_several(
    int begins); /* several threads may be inside such calls: core/collectives.c */
static inline void creation_begin(void)
{
    if (__builtin_expect(upper.several, 0)) {
        creations_of_several(1);
        return;
    }
    upper.creating++;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
static inline void creation_end(void)
{
    if (__builtin_expect(upper.several, 0)) {
        creations_of_several(0);
        return;
    }
    __atomic_store_n(&upper.creating, upper.creating + 1, __ATOMIC_RELEASE);
}

/* One turn of a loop that waits for a message from `source`. A checkpoint may happen inside. */
void wait_turn(const object *comm, int source);

#pragma GCC visibility pop
#endif
