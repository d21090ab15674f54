/* border/array.h - arrays whose length the application chooses. Short ones lie on the stack, long ones on this half's
 * heap; both live until the end of the block. A count of half a million must not overrun a stack of 8 MB.
 */
#ifndef CAPSULE_BORDER_ARRAY_H
#define CAPSULE_BORDER_ARRAY_H
#include <stddef.h>
#include <stdlib.h>

/* Returns `memory`, the result of an allocation. If that is NULL, reports it and ends the program. Each half has its own. */
void *need(void *memory) __attribute__((visibility("hidden")));

enum { ARRAY_ON_STACK = 64 };
struct array_memory {
    void *memory;
};
static inline void array_end(struct array_memory *a)
{
    if (__builtin_expect(a->memory != NULL, 0))
        free(a->memory);
}
// clang-format off
#define ARRAY_OF(type, name, n) \
    type name##short_[ARRAY_ON_STACK]; \
    struct array_memory name##long_ __attribute__((cleanup(array_end))) = {NULL}; \
    type *name = (long)(n) <= ARRAY_ON_STACK \
        ? name##short_ \
        : (type *)(name##long_.memory = need(malloc((size_t)(n) * sizeof(type))))
// clang-format on
#endif
