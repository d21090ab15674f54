/* generated/forward.c - core_Name() for all rows of table/functions.def except ABOVE, ANYTIME and BYHAND. */
#include "comm/comm.h"
#include "io/io.h"
#include "messages/messages.h"
#include "windows/windows.h"

#include "generated/kinds.h"

// clang-format off
#define OBJECT struct object *
#define CALL(Name, ...) \
    EACH(BEFORE, __VA_ARGS__) \
    int rc = LOWER(Name, LIST(ARG, __VA_ARGS__)); \
    EACH(AFTER, __VA_ARGS__) \
    return rc;
#define CORE_ABOVE(...)
#define CORE_ANYTIME(...)
#define CORE_BYHAND(...)
#define CORE_FORWARD(Name, name, ...) int core_##Name(LIST(PARAM, __VA_ARGS__)) { CALL(Name, __VA_ARGS__) }
/* With several threads nobody waits below (baton.h): start the non-blocking form, then wait for it. */
#define CORE_COLLECTIVE(Name, name, ...) int core_##Name(LIST(PARAM, __VA_ARGS__)) \
    { \
        if (__builtin_expect(upper.several, 0)) { \
            object *begun_; \
            duplicates_finish(comm); \
            int error_ = core_I##name(LIST(ITSELF, __VA_ARGS__), &begun_); \
            return error_ ? error_ : core_Wait(&begun_, NULL); \
        } \
        collective_enter(comm); \
        CALL(Name, __VA_ARGS__) \
    }
#define CORE_NONBLOCKING(Name, name, ...) int core_##Name(LIST(PARAM, __VA_ARGS__)) \
    { collective_enter(comm); CALL(Name, __VA_ARGS__) }
#define CORE_CREATING(Name, name, ...) int core_##Name(LIST(PARAM, __VA_ARGS__)) \
    { \
        struct gate gate_; \
        creation_begin(); \
        collective_enter(comm); \
        int rc = gate_enter(comm, &gate_); \
        EACH(BEFORE, __VA_ARGS__) \
        if (!rc) { rc = LOWER(Name, LIST(ARG, __VA_ARGS__)); } \
        EACH(AFTER, __VA_ARGS__) \
        gate_leave(&gate_); \
        creation_end(); \
        return rc; \
    }
#define CORE_ONESIDED(Name, name, ...) int core_##Name(LIST(PARAM, __VA_ARGS__)) \
    { \
        int denied_ = window_access(win, target); \
        if (denied_) { return denied_; } \
        __attribute__((unused)) object *comm = win->win.w->comm; \
        CALL(Name, __VA_ARGS__) \
    }
#define TYPE_OF_Accumulate tt
#define TYPE_OF_Get_accumulate tt
#define TYPE_OF_Raccumulate tt
#define TYPE_OF_Rget_accumulate tt
#define TYPE_OF_Fetch_and_op type
#define ITSELF(kind, ...) ITSELF_(__VA_ARGS__, )
#define ITSELF_(x, ...) x
#define CORE_ATOMIC(Name, name, ...) int core_##Name(LIST(PARAM, __VA_ARGS__)) \
    { \
        int denied_ = window_access(win, target); \
        if (denied_) { return denied_; } \
        if (__builtin_expect(pairs_are_ours(TYPE_OF_##Name, win), 0)) { return pairs_##Name(LIST(ITSELF, __VA_ARGS__)); } \
        __attribute__((unused)) object *comm = win->win.w->comm; \
        CALL(Name, __VA_ARGS__) \
    }
#define CORE_FILE_FORWARD(Name, name, ...) int core_##Name(LIST(PARAM, __VA_ARGS__)) \
    { \
        if (!file->file.f) { return NEUTRAL_MPI_ERR_FILE; } \
        int refused_ = file_refuses(file, #Name); \
        if (refused_) { return refused_; } \
        __attribute__((unused)) object *comm = file->file.f->comm; \
        CALL(Name, __VA_ARGS__) \
    }
#define CORE_FILE_NONBLOCKING(Name, name, ...) int core_##Name(LIST(PARAM, __VA_ARGS__)) \
    { \
        if (!file->file.f) { return NEUTRAL_MPI_ERR_FILE; } \
        int refused_ = file_refuses(file, #Name); \
        if (refused_) { return refused_; } \
        object *comm = file->file.f->comm; \
        collective_enter(comm); \
        EACH(BEFORE, __VA_ARGS__) \
        request_->req.tag = TAG_OF_FILE; \
        int rc = LOWER(Name, LIST(ARG, __VA_ARGS__)); \
        EACH(AFTER, __VA_ARGS__) \
        return rc; \
    }
#define CORE_FILE_COLLECTIVE(Name, name, ...) int core_##Name(LIST(PARAM, __VA_ARGS__)) \
    { \
        if (!file->file.f) { return NEUTRAL_MPI_ERR_FILE; } \
        int refused_ = file_refuses(file, #Name); \
        if (refused_) { return refused_; } \
        object *comm = file->file.f->comm; \
        struct gate gate_; \
        int rc = exclusive_enter(comm, &gate_); \
        if (!rc) { \
            EACH(BEFORE, __VA_ARGS__) \
            rc = LOWER(Name, LIST(ARG, __VA_ARGS__)); \
            EACH(AFTER, __VA_ARGS__) \
        } \
        exclusive_leave(&gate_); \
        return rc; \
    }
#define FUNCTION(class, ...) CORE_##class(__VA_ARGS__)
#include "table/functions.def"
// clang-format on
