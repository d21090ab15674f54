/* The automatic tier's heap: all dynamic memory of the executable is in one range, at the same address in every
 * process, with its bookkeeping inside. So a copy of the range is a copy of the heap. */
#ifndef FLOW_ARENA_H
#define FLOW_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int arena_open(void); /* reserves the range; MEND_ERR_NO_MEMORY: it is taken */
bool arena_is_open(void);
char *arena_base(void);
size_t arena_bytes(void); /* how much to save, from arena_base() on */
/* Before a restore: give it the length of the saved one, with zeros beyond. */
int arena_set_bytes(size_t bytes);
bool arena_holds(const void *address);

/* Like malloc(3) and its relatives, but the memory is zeroed. */
void *arena_take(size_t bytes);
void *arena_take_aligned(size_t alignment, size_t bytes);
void *arena_resize(void *memory, size_t bytes);
void arena_give(void *memory);
size_t arena_room(const void *memory); /* usable bytes */

/* State of the C library's random numbers, which belongs to the program. */
struct arena_random {
    struct random_data random;
    char random_state[128];
    struct drand48_data drand48;
};
struct arena_random *arena_random(void);

#endif
