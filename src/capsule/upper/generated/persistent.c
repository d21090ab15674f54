/* persistent.c - a persistent request keeps the arguments; starting it begins the non-blocking
 * operation, which is an ordinary request: draining and restart know nothing of persistence. A
 * collective has a communicator of its own for that (comm/channels.c). Made from
 * table/persistent.def.
 */
#include "comm/comm.h"
#include "messages/messages.h"
#include "generated/significant.h"
#include <stdlib.h>
#include <string.h>

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
/* the face's array ends with its call: this one lives with the request */
#define ARRAY(x, n) { OBJECT *copy_ = need(malloc((n + 1) * sizeof(OBJECT))); memcpy(copy_, x, n * sizeof(OBJECT)); \
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

#define RECORDER(Name, Operation, PARAMETERS, CHANNEL, ...) \
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
    RECORDER(Name, Operation, (LIST(PARAM, __VA_ARGS__), object **request), 0, __VA_ARGS__)
#define PERSISTENT_COLL(Name, name, Operation, ...) \
    RECORDER(Name, Operation, (LIST(PARAM, __VA_ARGS__), __attribute__((unused)) object *info, object **request), \
        (channel_take(comm, &a_->comm) ?: (s_->channel = a_->comm, 0)), __VA_ARGS__)
#include "table/persistent.def"
// clang-format on
