/* core/object.h - what the handles of the application stand for. */
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

/* What a handle of the application stands for. It lies in upper-half memory and survives a restart
 * unchanged; only `real` is replaced.
 */
struct object {
    handle_t real; /* handle of the lower half; first field */
    object *next;  /* list of the live ones of its kind; with prev */
    union {
        struct {
            int size, rank, *ranks;         /* members as world ranks */
            int remote_size, *remote_ranks; /* inter-communicators; else 0 */
            const int *peers;               /* whom ranks of messages mean: one of the two */
            int n_peers;
            struct comm_card *card;
            int released; /* MPI_Comm_free was called: requests may hold it, nobody may probe it */
            unsigned unmade; /* the step of a drain that found its MPI_Comm_idup incomplete */
            int has_topology, ndims, *dims; /* dims[ndims], periods[ndims] */
            object *errh;
            object *of; /* a channel for a persistent collective on that one (comm/channels.c) */
        } comm;
        struct {
            int size, *ranks;
        } group;
        struct {
            long bytes; /* MPI_Type_size, -1: not yet */
            struct recipe *recipe;
            int committed;
        } type;
        struct {
            void *fn;
            int commute, fortran, slot;
        } op;
        struct {
            /* one cache line, up to here: all that most requests ever need. In the order in which a
             * new one is filled. */
            void *buf;
            object *type, *comm;
            uint64_t order; /* of creation */
            int n, peer, tag;
            unsigned char is_recv, done, live;
            unsigned char holds; /* references to type and comm, or something in extra */
            /* all 0 in spare ones: */
            int error;
            unsigned char orphan, freed;
            struct special_request
                *special; /* not one request of the lower half: messages/special_requests.c */
            struct status status;
        } req;
        struct {
            int n;
            char **words; /* key, value, key, value ... */
        } info;
        struct {
            void *fn;
            int kind, language; /* kind: of the objects it may be attached to */
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
            struct message *drained; /* brought up by a checkpoint; else still below */
            object *comm;
            struct status status;
        } msg;
    };
    object *prev;
    int kind, index, predefined; /* index: place in the table of its kind (integer handles) */
    int refs;
    struct extra *extra; /* attributes, name, hints: core/core.h */
};

/* --- objects.c --- */
#define FIRST_DYNAMIC 128            /* indices below: predefined */
extern object *predef[N_PREDEFINED]; /* filled by face_init() */
extern struct core {
    object live[N_KINDS]; /* list heads, in order of creation */
    /* Freed objects, to be used again: they keep their index, and their place in the table. */
    object *spare[N_KINDS];
    struct {
        object **at;
        int n, cap;
    } table[N_KINDS];
    /* Channels of all ranks: the MPI library speaks on the first while it makes communicators; the second
     * stands for MPI_COMM_WORLD when that is duplicated; messages on the third are ours. */
    object *creation_channel, *duplication_channel, *own_channel;
    int speaking; /* a thread speaks for a checkpoint, or rebinds objects after a restart */
    volatile double wtime_shift; /* keeps MPI_Wtime going on across a restart */
    int tool_started, tool_generation;
    int creations;   /* threads inside a call that makes a communicator (collectives.c) */
    int gate_closed; /* this process's gate (comm/gate.c) */
    object *user_op[MAX_USER_OPS]; /* by slot (types/op.c) */
} core;
#define COMM_WORLD predef[PRE_MPI_COMM_WORLD]
#define COMM_SELF  predef[PRE_MPI_COMM_SELF]
#define TYPE_BYTE  predef[PRE_MPI_BYTE]
#define EACH_LIVE(o, kind) \
    for (object *o = core.live[kind].next; o != &core.live[kind]; o = o->next)
object *object_new(int kind);
static inline void object_live(object *o) /* at the end of the list of its kind */
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
void object_adopt(object *o, int kind); /* memory of its own room becomes one */
void object_delete(object *o);
object *object_at(int kind, int index);          /* integer handle -> object; NULL: no such */
void object_fix(object *o, int kind, int index); /* a predefined object at a given place */
static inline handle_t real(const object *o)     /* an argument that is not significant */
{                                                /* may be null */
    return o ? o->real : 0;
}
void objects_init(void);
void bind_predefined(void); /* to the lower half that is there now */

/* The status of one completion. Its error is what the call returns: the field is left as the program has it. */
static inline void tell_status(struct status *st, const struct status *s)
{
    if (!st)
        return;
    st->source = s->source;
    st->tag = s->tag;
    st->cancelled = s->cancelled;
    st->bytes = s->bytes;
}

/* --- what every room needs of communicators and types --- */
void unref_comm(object *c);
void unref_type(object *t);
static inline int others_in(const object *c) /* whom a collective exchanges data with */
{
    return !c ? 0 : c->comm.remote_size ? c->comm.remote_size : c->comm.size;
}
static inline void collective_enter(const object *comm)
{
    card_enter(comm->comm.card);
}

/* Around a call that makes a communicator, from before it is counted until the new one has its card. Others
 * may have used and freed it by then: who is inside does not know yet how far it is behind them, and the
 * agent says so (see report_clocks). */
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

/* One turn of a loop that waits for a message from `source`: a checkpoint may happen in it. */
void wait_turn(const object *comm, int source);

#pragma GCC visibility pop
#endif
