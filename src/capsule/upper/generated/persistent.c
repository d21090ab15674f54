/* persistent.c - persistent requests, made from table/persistent.def. A request keeps its arguments.
 * MPI_Start begins the non-blocking operation, an ordinary request, so draining and restart know
 * nothing of persistence. A collective has its own communicator for that (comm/channels.c).
 */
#include "comm/comm.h"
#include "messages/messages.h"
#include "generated/significant.h"
#include <stdlib.h>

// clang-format off
#define OBJECT struct object *
#define comm_size(c) ((c)->comm.remote_size ? (c)->comm.remote_size : (c)->comm.size)
#define indegree indegree_of
#define outdegree outdegree_of
#define NONE(...)
#define FIELD(kind, ...) PARAM(kind, __VA_ARGS__);
#define SAVED(kind, ...) SAVED_(__VA_ARGS__, )
#define SAVED_(x, ...) a_->x
#define SAVE(kind, ...) SAVE_##kind(__VA_ARGS__)
#define KEEP(x) a_->x = x;
#define HOLD_IF(x, condition) a_->x = NULL; if (condition) { HOLD(x) }
#define HOLD(x) a_->x = x; if (x) { x->refs++; s_->held[s_->n_held++] = x; }
/* The face's array ends with its call; this copy, with NULL at its end, lives as long as the request and holds the types. */
#define ARRAY(x, n) { OBJECT *copy_ = need(calloc((size_t)(n) + 1, sizeof(OBJECT))); \
    for (int i_ = 0; i_ < (n) && x[i_]; i_++) { copy_[i_] = x[i_]; x[i_]->refs++; } \
    a_->x = copy_; s_->inner[1 + s_->n_arrays++] = (OBJECT)(void *)copy_; }
#define SAVE_INT KEEP
#define SAVE_RANK KEEP
#define SAVE_TAG KEEP
#define SAVE_CBUF KEEP
#define SAVE_BUF KEEP
#define SAVE_INTS KEEP
#define SAVE_AINTS KEEP
#define SAVE_TYPE HOLD
#define SAVE_TYPEIF HOLD_IF
#define SAVE_COMM HOLD
#define SAVE_OP HOLD
#define SAVE_TYPES ARRAY

/* Errors that MPI_*_init reports, before anything is recorded; the others come from MPI_Start. */
static int message_init_error(int n, const object *type, int peer, int tag, const object *comm)
{
    int from_any = peer == NEUTRAL_ANY_SOURCE, any_tag = tag == NEUTRAL_ANY_TAG;
    return message_error(n, type, from_any ? NEUTRAL_PROC_NULL : peer, any_tag ? 0 : tag, comm);
}
#define PEER_Send_init dest
#define PEER_Bsend_init dest
#define PEER_Ssend_init dest
#define PEER_Rsend_init dest
#define PEER_Recv_init source
#define WRONG(kind, ...) WRONG_##kind(__VA_ARGS__)
#define WRONG_INT(x) if (#x[0] == 'n' && x < 0) { return NEUTRAL_MPI_ERR_COUNT; } /* others may be ignored */
#define WRONG_TYPE(x) if (!x || x == predef[PRE_MPI_DATATYPE_NULL]) { return NEUTRAL_MPI_ERR_TYPE; }
#define WRONG_OP(x) if (!x || x == predef[PRE_MPI_OP_NULL]) { return NEUTRAL_MPI_ERR_OP; }
#define WRONG_CBUF NONE
#define WRONG_BUF NONE
#define WRONG_RANK NONE
#define WRONG_COMM NONE
#define WRONG_INTS NONE
#define WRONG_AINTS NONE
#define WRONG_TYPEIF NONE
#define WRONG_TYPES NONE

#define RECORDER(Name, Operation, WRONGLY, PARAMETERS, CHANNEL, ...) \
    struct args_##Name { EACH(FIELD, __VA_ARGS__) }; \
    static int start_##Name(object *r_) \
    { \
        struct args_##Name *a_ = r_->req.special->keep; \
        int rc = core_##Operation(LIST(SAVED, __VA_ARGS__), &r_->req.special->inner[0]); \
        r_->req.special->n = !rc; \
        return rc; \
    } \
    int core_##Name PARAMETERS \
    { \
        WRONGLY \
        object *r_ = new_special(SPECIAL_PERSISTENT); \
        struct special_request *s_ = r_->req.special; \
        struct args_##Name *a_ = need(malloc(sizeof *a_)); \
        s_->keep = a_; \
        s_->start = start_##Name; \
        s_->inner = need(calloc(3, sizeof *s_->inner)); \
        EACH(SAVE, __VA_ARGS__) \
        int rc = CHANNEL; \
        if (rc) \
            special_free(&r_); \
        else \
            *request = r_; \
        return rc; \
    }
#define PERSISTENT(Name, name, Operation, ...) \
    RECORDER(Name, Operation, int wrong_ = message_init_error(n, type, PEER_##Name, tag, comm); if (wrong_) { return wrong_; }, \
        (LIST(PARAM, __VA_ARGS__), object **request), 0, __VA_ARGS__)
#define PERSISTENT_COLL(Name, name, Operation, ...) \
    RECORDER(Name, Operation, EACH(WRONG, __VA_ARGS__), (LIST(PARAM, __VA_ARGS__), __attribute__((unused)) object *info, object **request), \
        (channel_take(comm, &a_->comm) ?: (s_->channel = a_->comm, 0)), __VA_ARGS__)
#include "table/persistent.def"
// clang-format on
