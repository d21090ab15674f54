/* os/waits.h - to make a call again that only a signal of ours has ended; see os/waits.c. */
#ifndef CAPSULE_OS_WAITS_H
#define CAPSULE_OS_WAITS_H
#include "os/os.h"

#include <errno.h>

/* To find out whether only our own signal ended a call: the counts before it. */
struct before {
    unsigned ours, theirs;
};
static inline struct before look(void)
{
    return (struct before){interruptions, handled_signals};
}
static inline int only_ours(struct before b)
{
    return interruptions != b.ours && handled_signals == b.theirs;
}
#define AGAIN(call)                                                          \
    ({                                                                       \
        struct before before_;                                               \
        __typeof__(call) result_again_;                                      \
        do {                                                                 \
            before_ = look();                                                \
            result_again_ = call;                                            \
        } while (result_again_ < 0 && errno == EINTR && only_ours(before_)); \
        result_again_;                                                       \
    })
#endif
