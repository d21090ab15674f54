/* core/inside.h - being inside MPI: how a thread of the upper half enters the library and the lower
 * half, how it is stopped there, and what must do without libc.
 */
#ifndef CAPSULE_CORE_INSIDE_H
#define CAPSULE_CORE_INSIDE_H
#include "border/border.h"
#include "core/baton.h"
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
        int shares_ = depth_ == 0 && upper.several;                                      \
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
 * at a time: all use the one lower-half thread pointer. Within INSIDE, which sees to it (baton.h).
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

/* --- stop.c --- */
void stop_now(void); /* within INSIDE, at a place where objects are whole; passes the baton, too */
void stop_from_signal(void);

double core_clock(void); /* seconds; goes on across a restart */

/* --- core/collectives.c: collectives are counted, see there --- */
void collective_door(struct comm_card *card);
static inline void card_enter(struct comm_card *card)
{
    __atomic_store_n(&card->begun, card->begun + 1, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST); /* the agent's membarrier() does the rest */
    if (__builtin_expect(upper.stop_phase, 0))
        collective_door(card);
}

/* Memory of the upper half that does not come from its malloc, which may have been interrupted. */
void *keep_alloc(size_t bytes);
void keep_free(void *p);
void file_say(const char *what, const char *path); /* on stderr, by a raw system call */

#pragma GCC visibility pop
#endif
