/* core/inside.h - being inside MPI: how a thread of the upper half enters the library and the lower
 * half, how a checkpoint stops it there, and helpers that avoid libc.
 */
#ifndef CAPSULE_CORE_INSIDE_H
#define CAPSULE_CORE_INSIDE_H
#include "border/border.h"
#include "core/baton.h"
#pragma GCC visibility push(hidden)

extern struct upper upper;
/* > 0: this thread is inside MPI (or inside the lower half's clock), or about to enter. No signal parks
 * or stops it, because it may hold addresses of the lower half or half-made objects.
 */
extern __thread volatile int in_library;

/* The busiest functions (faces/fast.h) skip that. They lie in a section of their own: the interrupted
 * instruction tells a signal handler that a thread is inside them. Without setting in_library first,
 * they call nothing but the lower half, which has another thread pointer.
 */
#define FAST_CODE __attribute__((section("mend_fast")))
extern const char __start_mend_fast[], __stop_mend_fast[];
static inline int in_fast_code(uintptr_t at)
{
    uintptr_t first = (uintptr_t)__start_mend_fast, end = (uintptr_t)__stop_mend_fast;
    return at >= first && at < end;
}

/* The faces wrap every call of the core: INSIDE(core_Name(...)). Whatever interrupts the thread in
 * between leaves in_library unchanged, so the end does not read it again. The fence keeps the compiler
 * from loading addresses of the lower half earlier: an image taken in between would keep them, and a
 * process resumed from it would call into nowhere.
 */
#define FENCE_INSIDE() __atomic_signal_fence(__ATOMIC_SEQ_CST)
#define INSIDE(call)                                                                     \
    ({                                                                                   \
        int depth_ = in_library;                                                         \
        in_library = depth_ + 1;                                                         \
        int shares_ = depth_ == 0 && upper.several;                                      \
        if (__builtin_expect(upper.later != NULL, 0))                                    \
            begin_later();                                                               \
        if (__builtin_expect(shares_, 0))                                                \
            baton_take();                                                                \
        if (__builtin_expect(upper.stop_phase == STOP_HERE, 0) && depth_ == 0)           \
            stop_now(); /* not inside a callback: the lower half waits for its return */ \
        FENCE_INSIDE();                                                                  \
        __typeof__(call) result_inside_ = call;                                          \
        if (__builtin_expect(shares_, 0))                                                \
            baton_give();                                                                \
        in_library = depth_;                                                             \
        result_inside_;                                                                  \
    })

/* Begins the receives that wait for the next call across the border (faces/fast.h); within INSIDE. */
void begin_later(void);

/* Read a value of the lower half from outside INSIDE. */
#define OF_LOWER(member)                                              \
    ({                                                                \
        in_library++;                                                 \
        FENCE_INSIDE();                                               \
        __typeof__(upper.lower->member) value_ = upper.lower->member; \
        FENCE_INSIDE();                                               \
        in_library--;                                                 \
        value_;                                                       \
    })

/* Call a function of the lower half with that half's thread-local storage in force. Only one thread at
 * a time may do so, because all share the one lower-half thread pointer; call it within INSIDE, which
 * ensures that (baton.h). This does not use __builtin_thread_pointer(): a compiler takes that for a
 * constant and may read it again after the call, when it belongs to the other half. For the same
 * reason no argument may be a function call. tests/capsule/thread_pointer.py checks the machine code.
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

/* --- stop.c --- */
void stop_now(void); /* within INSIDE, where objects are consistent; also passes the baton */
void stop_from_signal(void);

double core_clock(void); /* seconds; continues across a restart */

/* --- core/collectives.c counts collectives --- */
void collective_door(struct comm_card *card);
static inline void card_enter(struct comm_card *card)
{
    __atomic_store_n(&card->begun, card->begun + 1, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST); /* the agent's membarrier() does the rest */
    if (__builtin_expect(upper.stop_phase, 0))
        collective_door(card);
}

/* Memory of the upper half that does not come from malloc, which a checkpoint may have interrupted. */
void *keep_alloc(size_t bytes);
void keep_free(void *p);
void file_say(const char *what, const char *path); /* to stderr, by a raw system call */

#pragma GCC visibility pop
#endif
