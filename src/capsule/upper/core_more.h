/* core_more.h - inside the upper half: what objects carry besides their handle, error handlers,
 * special requests, windows, files, matched messages. Continues core.h.
 */
#ifndef CAPSULE_CORE_MORE_H
#define CAPSULE_CORE_MORE_H
#pragma GCC visibility push(hidden)

/* --- extra.c: attributes, names, hints --- */
enum language { LANGUAGE_C, LANGUAGE_FORTRAN, LANGUAGE_FORTRAN_OLD };
struct keyval {
    int used, freed, refs, kind; /* kind: of the objects it may be attached to */
    void *copy, *delete;         /* the program's functions; NULL: none */
    int dup;                     /* copy is MPI_*_DUP_FN */
    enum language language;
    void *extra;                     /* the program's extra state; by value for Fortran */
    void *copy_proxy, *delete_proxy; /* MPICH's Fortran library calls the functions through these */
};
struct attribute {
    struct attribute *next;
    int keyval;
    enum language set_in; /* an integer of Fortran is seen by C as an address of it */
    long value;
};
struct extra {
    struct attribute *attributes; /* newest first */
    char *name;
    object *info; /* hints, as the program gave them */
    struct topology *topology;
    void *kept; /* freed with the object */
    void (*free_kept)(void *);
};
struct extra *extra_of(object *o);
void extra_free(object *o); /* attributes must be deleted before */
#define KEYVAL_BASE 0x1000  /* keyvals of the program count from here */
int keyval_new(int kind, void *copy, void *delete, int dup, enum language language, void *extra,
               int *keyval);
struct keyval *keyval_at(int keyval);
int keyval_free(int *keyval);
int attribute_set(object *o, int keyval, long value, enum language language);
/* *place: where the value is kept, for what MPI calls an address of an integer */
int attribute_get(object *o, int keyval, long *value, long **place, enum language *set_in,
                  int *flag);
int attribute_delete(object *o, int keyval);
int attributes_copy(object *from, object *to);
int attributes_delete_all(object *o);
/* in the faces: call the program's function */
int face_call_copy(struct keyval *k, object *o, int keyval, long value, enum language set_in,
                   long *out, int *flag);
int face_call_delete(struct keyval *k, object *o, int keyval, long value, enum language set_in);

enum { OP_LARGE = 2 }; /* op.fortran: the function counts in MPI_Count */

/* --- predefined attributes, the same numbers for all faces --- */
enum {
    ATTR_UNIVERSE_SIZE = 4,
    ATTR_APPNUM,
    ATTR_LASTUSEDCODE,
    ATTR_WIN_BASE,
    ATTR_WIN_SIZE,
    ATTR_WIN_DISP_UNIT,
    ATTR_WIN_FLAVOR,
    ATTR_WIN_MODEL
};
int predefined_attribute(object *o, int which, void **value, int *flag);

/* --- error.c --- */
enum {
#define ERROR_CLASS(name, value, text) NEUTRAL_##name = value,
#include "../errors.def"
#undef ERROR_CLASS
};
#define FIRST_USER_ERROR 0x4000
extern object *error_holder; /* set by a request that failed: its communicator */
/* What MPI does when a function fails: the handler of `holder` (NULL: of MPI_COMM_WORLD) runs. code
 * is neutral; returns the code as the ABI of the face spells it. */
int raise_error(int code, object *holder, const char *function);
int face_error_out(int code);
void face_window_constants(int flavor, int *flavor_out, int *model);
void face_call_errhandler(object *errh, object *holder, int code);
object *errhandler_of(object *holder);
void errhandler_attach(object *holder, object *errh);
object *new_errhandler(int kind, void *fn, enum language language);
int last_user_error(void);
int refuse(const char *function, const char *why); /* says it once, returns the error */

/* --- requests that are not one request of the lower half --- */
enum special { SPECIAL_NO, SPECIAL_PERSISTENT, SPECIAL_GENERALIZED, SPECIAL_COMPOSITE };
struct special_request {
    enum special what;
    int (*start)(object *request); /* persistent: begins the operation, fills inner[0] */
    int n;                         /* requests inside; persistent: 0 when not active */
    object **inner;
    int status_of;        /* composite: whose status is the status */
    void *keep;           /* freed with it */
    object *held[4];      /* types, communicator, operation that must live as long */
    int n_held, n_arrays; /* inner[1…]: arrays of the arguments, freed with it */
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
int face_call_query(struct special_request *s, struct status *st);
int face_call_free(struct special_request *s);
int face_call_cancel(struct special_request *s, int complete);
int core_Grequest_start(void *query, void *free_fn, void *cancel, enum language language,
                        void *extra, object **out);
object *composite(int n, object **inner, int status_of, void *keep);

/* --- for request.c and drain.c --- */
int request_poll(object *r);       /* is it complete? Never retires it. */
int request_idle(const object *r); /* null, or persistent and not active */
void retire_request(object **h);
struct message *new_message(size_t bytes);
void *message_data(struct message *m);
struct status *message_status(struct message *m);
int drain_matched(void);
/* One turn of a loop that waits for a message from `source`: a checkpoint may happen in it. */
void wait_turn(const object *comm, int source);

/* --- p2p_more.c --- */
int core_Buffer_attach(void *buf, int size);
int core_Buffer_detach(void **buf, int *size);
void rebind_buffer(void);

/* --- topologies --- */
enum { TOPOLOGY_CART = 1, TOPOLOGY_GRAPH, TOPOLOGY_DIST_GRAPH };
struct topology {
    int kind, nnodes, nedges, *index, *edges;                        /* graph */
    int n_in, n_out, *in, *out, *in_weights, *out_weights, weighted; /* dist graph */
    object *shadow; /* for the messages of neighbourhood collectives */
};
void topology_copy(object *from, object *to);
void topology_free(struct topology *t);
int indegree_of(object *comm);
int outdegree_of(object *comm);
int neighbour_in(object *comm, int k, int *tag);
int neighbour_out(object *comm, int k, int *tag);
int neighbour_comm(object *comm, object **shadow);

/* --- tool.c --- */
extern int tool_started, tool_generation;
void rebind_tool(void);

/* --- comm.c --- */
static inline int others_in(const object *c) /* whom a collective exchanges data with */
{
    return c->comm.remote_size ? c->comm.remote_size : c->comm.size;
}
object *new_comm_like(const object *parent);
int new_intercomm(handle_t h, uint64_t parent, int salt, object **out);
int new_merged(handle_t h, const object *inter, object **out);

/* --- groups --- */
int group_members(const object *g, const int **ranks);

/* --- datatypes --- */
int core_Type_get_contents(object *t, int max_i, int max_a, int max_t, int *i, long *a,
                           object **types, int *how, int *n_dims);
int count_elements(const struct status *s, object *t, long *count);

int core_Info_get_string(object *i, const char *key, int *buflen, char *value, int *flag);
int core_Info_create_env(object **out);
int word_set(object *info, const char *key, const char *value);
const char *word_get(const object *info, const char *key);
void info_take(object *holder, object *info);

/* --- window.c, shared.c --- */
enum { FLAVOR_CREATE = 1, FLAVOR_ALLOCATE, FLAVOR_DYNAMIC, FLAVOR_SHARED };
enum { LOCK_EXCLUSIVE = 1, LOCK_SHARED };
enum { EPOCH_NONE, EPOCH_LOCK_ALL = 4 }; /* per target: 0, LOCK_EXCLUSIVE or LOCK_SHARED */
struct attached {
    struct attached *next;
    void *base;
    long size;
};
struct window {
    object *comm; /* a duplicate of our own: synchronisation speaks over it */
    int flavor, unit;
    int flavor_out, model; /* as the ABI spells them */
    void *base;
    long size;
    void *owned; /* memory to be freed with the window */
    struct attached *attached;
    /* shared memory: one segment for all, mapped at the same place in no two processes */
    struct segment *segment;
    /* locks */
    handle_t locks_real; /* a window below over the words of all ranks */
    long *lock_word;     /* ours: 0 free, -1 exclusive, n > 0: n shared; good in an image */
    long *lock_live;     /* where the lower half has it, at other times */
    unsigned char *held; /* per target: what we hold */
    int lock_all;
    /* general active target */
    int n_access, *access, n_exposed, *exposed, n_arrived;
    object **arrivals;
};
int window_access(object *win, int target);
void rebind_windows(void);
void windows_before_image(
    void); /* everything that was begun is done; shared memory comes into the image */
void windows_flush(void); /* what this rank has begun on windows of others is done */
void windows_leave(void);
void windows_go_on(void);
int segment_create(object *comm, long size, int unit, struct window *w);
int segment_query(struct window *w, int rank, long *size, int *unit, void **base);
void segment_free(struct window *w);
void segment_save(struct window *w);
int segment_restore(struct window *w, int resumed);

/* --- file.c --- */
struct open_file {
    object *comm;
    char *name;
    int amode, atomic;
    long disp;
    object *etype, *filetype;
    char *datarep;
    int split; /* a split collective is open: its status */
    struct status split_status;
    long position, shared_position, size; /* filled at a checkpoint */
};
void files_before_image(void);
void rebind_files(void);

#pragma GCC visibility pop
#endif
