/* core.h - inside the upper half: between the core (what MPI does), the faces (how the
 * application's ABI spells it) and os_*.c (libc, kernel). The core knows no mpi.h: objects are
 * struct object *, special values are the neutral ones of border.h.
 */
#ifndef CAPSULE_CORE_H
#define CAPSULE_CORE_H
#include "../border.h"

#include <signal.h>
#pragma GCC visibility push(hidden)

extern struct upper upper;
/* This thread is inside MPI (or inside the lower half's clock), or about to be: it is not parked
 * and not stopped by a signal, for it may hold addresses of the lower half or objects in the
 * making.
 */
extern __thread volatile int in_library;

/* The busiest functions (fast.h) do without that: they lie in a section of their own, and a thread
 * is known to be inside them by the instruction at which a signal finds it. They call nothing but
 * the lower half, where the thread pointer is another one, without setting in_library first.
 */
#define FAST_CODE __attribute__((section("mend_fast")))
extern const char __start_mend_fast[], __stop_mend_fast[];
static inline int in_fast_code(uintptr_t at)
{
    uintptr_t first = (uintptr_t)__start_mend_fast, end = (uintptr_t)__stop_mend_fast;
    return at >= first && at < end;
}

/* Every call of the core by a face is enclosed by this: INSIDE(core_Name(...)). Whatever interrupts
 * the thread in between leaves in_library as it was, so it is not read again at the end. The fence
 * keeps the compiler from looking up addresses of the lower half earlier: an image in between would
 * keep them, and a process that is resumed from it would call into nowhere.
 */
#define FENCE_INSIDE() __atomic_signal_fence(__ATOMIC_SEQ_CST)
#define INSIDE(call)                                                                     \
    ({                                                                                   \
        int depth_ = in_library;                                                         \
        in_library = depth_ + 1;                                                         \
        if (__builtin_expect(upper.stop_phase == STOP_HERE, 0) && depth_ == 0)           \
            stop_now(); /* not inside a callback: the lower half waits for its return */ \
        FENCE_INSIDE();                                                                  \
        __typeof__(call) result_inside_ = call;                                          \
        in_library = depth_;                                                             \
        result_inside_;                                                                  \
    })

/* A value that lies in the lower half, by whoever is not within INSIDE. */
#define OF_LOWER(member)                                              \
    ({                                                                \
        in_library++;                                                 \
        FENCE_INSIDE();                                               \
        __typeof__(upper.lower->member) value_ = upper.lower->member; \
        FENCE_INSIDE();                                               \
        in_library--;                                                 \
        value_;                                                       \
    })

/* Call a function of the lower half: its thread-local storage is in force while it runs. One thread
 * at a time (MPI_THREAD_SERIALIZED): all use the one lower-half thread pointer. Within INSIDE.
 * Not __builtin_thread_pointer(): to a compiler that is a constant, which it may as well read again
 * after the call, where it is the other half's. For the same reason no argument is a call of ours.
 * tests/capsule/thread_pointer.py looks at what became of it.
 */
#define LOWER(function, ...)                                                               \
    ({                                                                                     \
        void *pointer_above_ = thread_pointer_get();                                       \
        const struct lower *lower_ = upper.lower;                                          \
        upper.thread_pointer_inside = pointer_above_;                                      \
        thread_pointer_set(lower_->thread_pointer);                                        \
        __typeof__(lower_->function(__VA_ARGS__)) result_ = lower_->function(__VA_ARGS__); \
        thread_pointer_set(pointer_above_);                                                \
        result_;                                                                           \
    })
#define LOWER_VOID(function, ...)                     \
    do {                                              \
        void *pointer_above_ = thread_pointer_get();  \
        const struct lower *lower_ = upper.lower;     \
        upper.thread_pointer_inside = pointer_above_; \
        thread_pointer_set(lower_->thread_pointer);   \
        lower_->function(__VA_ARGS__);                \
        thread_pointer_set(pointer_above_);           \
    } while (0)

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
            struct special_request *special; /* not one request of the lower half: special.c */
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
            struct message *drained; /* brought up by a checkpoint; else still below */
            object *comm;
            struct status status;
        } msg;
    };
    object *prev;
    int kind, index, predefined; /* index: place in the table of its kind (integer handles) */
    int refs;
    struct extra *extra; /* attributes, name, hints: core_more.h */
};

/* --- objects.c --- */
#define FIRST_DYNAMIC 128            /* indices below: predefined */
extern object *predef[N_PREDEFINED]; /* filled by face_init() */
extern object live[N_KINDS];         /* list heads, in order of creation */
#define COMM_WORLD         predef[PRE_MPI_COMM_WORLD]
#define COMM_SELF          predef[PRE_MPI_COMM_SELF]
#define TYPE_BYTE          predef[PRE_MPI_BYTE]
#define EACH_LIVE(o, kind) for (object *o = live[kind].next; o != &live[kind]; o = o->next)
object *object_new(int kind);
extern object *spare[N_KINDS];            /* freed objects, to be used again */
static inline void object_live(object *o) /* at the end of the list of its kind */
{
    object *list = &live[o->kind];
    o->prev = list->prev;
    o->next = list;
    o->prev->next = o;
    list->prev = o;
}
static inline void object_spare(object *o)
{
    o->prev->next = o->next;
    o->next->prev = o->prev;
    o->next = spare[o->kind];
    spare[o->kind] = o;
}
void object_delete(object *o);
object *object_at(int kind, int index);          /* integer handle -> object; NULL: no such */
void object_fix(object *o, int kind, int index); /* a predefined object at a given place */
static inline handle_t real(const object *o)     /* an argument that is not significant */
{                                                /* may be null */
    return o ? o->real : 0;
}
void objects_init(void);
void bind_predefined(void); /* to the lower half that is there now */

/* --- comm.c, group.c, topology.c --- */
/* An object for a communicator that was just made below. It gets an id that all members compute
 * alike, without communication: from its parent's id, `salt` (a tag, where the call has one) and
 * the members.
 */
int new_comm(handle_t h, const object *parent, int salt, object **out);
void know_comm(object *c, uint64_t id);
int open_channels(void); /* collective */
extern object *creation_channel;
void unref_comm(object *c);
void forget_freed_comms(void); /* all ranks have freed them, too */
int compare_members(int na, const int *a, int nb, const int *b);
int index_of(int n, const int *ranks, int r);
object *new_group(int n, const int *world_ranks);
void copy_topology(object *to, int ndims, const int *dims, const int *periods);

/* --- type.c, op.c --- */
void unref_type(object *t);
void rebind_types(void);
void rebind_ops(void);
void run_user_op(int slot, void *in, void *inout, int *n, handle_t type);

/* --- collect.c: collectives are counted, see there --- */
void collective_door(struct comm_card *card);
static inline void card_enter(struct comm_card *card)
{
    __atomic_store_n(&card->begun, card->begun + 1, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST); /* the agent's membarrier() does the rest */
    if (__builtin_expect(upper.stop_phase, 0))
        collective_door(card);
}
static inline void collective_enter(const object *comm)
{
    card_enter(comm->comm.card);
}

/* Around a call that makes a communicator, from before it is counted until the new one has its card. Others
 * may have used and freed it by then: who is inside does not know yet how far it is behind them, and the
 * agent says so (see report_clocks). */
static inline void creation_begin(void)
{
    upper.creating++;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
static inline void creation_end(void)
{
    __atomic_store_n(&upper.creating, upper.creating + 1, __ATOMIC_RELEASE);
}

/* --- request.c, drain.c --- */
extern const struct status empty_status;
extern struct books { /* what the busiest functions need, side by side */
    object *spare;    /* requests to be used again */
    /* Every send that was complete before its call returned has this one request: nothing is to be
     * remembered of it, and it is never retired.
     */
    object *sent;
    uint64_t made;           /* requests so far */
    int careful;             /* one of the next two is not empty */
    int orphans;             /* requests that the program has freed while they were under way */
    struct message *drained; /* oldest first */
} books;
static inline void books_changed(void)
{
    books.careful = books.orphans || books.drained;
}
/* Requests are no list but slabs that are never given back: all that were ever live at once. */
enum { SLAB = 64, CACHE_LINE = 64 };
struct slab {
    union {
        object object;
        char lines[(sizeof(object) + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE];
    } at[SLAB];
    struct slab *next;
};
extern struct slab *slabs;
#define EACH_REQUEST(r)                              \
    for (struct slab *s_ = slabs; s_; s_ = s_->next) \
        for (int i_ = 0; i_ < SLAB; i_++)            \
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
        type->refs++; /* of predefined ones nobody cares for it */
        comm->refs++;
        r->req.holds = 1;
    }
    return r;
}
enum { TAG_MAKES_COMM = -2 }; /* of a request that is no message: MPI_Comm_idup */
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
/* What a blocking receive does that did not just receive (p2p.c). */
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
static inline void count_failed_send(const object *c, int dest) /* nothing was sent after all */
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
struct message; /* received while draining, not yet asked for */
struct message *find_drained(int source, int tag, const object *comm, int take);
const struct status *drained_status(const struct message *m);
int deliver_drained(struct message *m, void *buf, int n, object *type, struct status *s);
int drain_step(void); /* 1: no send and no collective of ours is under way any more */

/* Memory of the upper half that does not come from its malloc, which may have been interrupted. */
void *keep_alloc(size_t bytes);
void keep_free(void *p);

/* --- stop.c --- */
extern volatile double wtime_shift; /* keeps MPI_Wtime going on across a restart */
void stop_now(void);                /* within INSIDE, at a place where objects are whole */
void stop_from_signal(void);

/* --- os_*.c --- */
void os_init(void);
void os_before_image(void); /* park the other threads, note open files, signal mask */
void os_go_on(void);        /* after the image, in the old process */
void os_resumed(void);      /* after a restart, in the new process */
void block_signals(uint64_t *old);
void restore_signals(const uint64_t *old);
int signal_is_pending(int sig);                  /* blocked, and not yet taken */
extern __thread volatile unsigned interruptions; /* of this thread by our signal, see os_waits.c */
extern __thread volatile unsigned handled_signals; /* by handlers of the application */
double core_clock(void);                           /* seconds; goes on across a restart */
void park_threads(void);
void release_threads(void);
void install_park_handler(void);
void reinstall_signals(void);
void threads_init(void);
void signals_init(void);
void install_handler(int sig, void (*handler)(int, siginfo_t *, void *), int flags, uint64_t mask);
void files_init(void);
int file_numbers(void);              /* of the upper half's files: from here on */
int file_moved(int fd, int cloexec); /* fd at such a number */
int file_in_passing(void);           /* libc has one open that no image would know */
void files_of_lower_half(void);      /* whatever is open there stays so: MPI has begun */
int files_resumed(void);             /* how often this process has begun anew, from an image */
struct _IO_FILE;
void stream_moved(struct _IO_FILE *f);           /* likewise */
void file_link(int fd, char *link, size_t room); /* its name in /proc */
struct scratch *scratch_save(int fd, size_t bytes);
struct stat;
int pipe_note(int fd,
              const struct stat *st); /* at a checkpoint; 0: neither a pipe nor an event counter */
void pipes_noted(void);
void pipes_forget(void);
void pipes_again(void);
long scratch_again(const struct scratch *s, const char *path, int flags); /* a file, or -errno */
void files_forget(void);                                                  /* what was noted */
void file_say(const char *what, const char *path); /* on stderr, by a raw system call */
int child_is_awaited(void);                        /* one that has begun a moment ago */
void note_children(void);
void children_forget(void);
void note_maps(void); /* os_maps.c */
void map_files_again(void);
void note_timers(void); /* os_timers.c */
void timers_again(void);
void note_alternate_stack(void);
void note_files(void);
void reopen_files(void);
/* libc's function behind ours of the same name */
#define NEXT(function)                                                  \
    ({                                                                  \
        static __typeof__(&function) next_;                             \
        if (!next_)                                                     \
            next_ = (__typeof__(&function))dlsym(RTLD_NEXT, #function); \
        next_;                                                          \
    })

#include "core_more.h"

/* --- what a face provides --- */
void face_init(void); /* called once, before anything else */
void face_call_op(object *op, void *in, void *inout, int *n, object *type);

/* --- what the core provides: core_Name() for each row of the table, and these --- */
#define OBJECT                           struct object *
#define FUNCTION(class, Name, name, ...) int core_##Name(LIST(PARAM, __VA_ARGS__));
#include "../functions.def"
#undef FUNCTION
#undef OBJECT
int core_Init_thread(int required, int *provided);
int core_Finalize(void);
double core_Wtime(void);
int core_Op_create(void *fn, int commute, int fortran, object **op);
enum { ATTR_TAG_UB, ATTR_HOST, ATTR_IO, ATTR_WTIME_IS_GLOBAL };
#pragma GCC visibility pop
#endif
