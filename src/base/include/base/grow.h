/* Public structures that may grow: the caller passes the length that its header gives them. */
#ifndef BASE_GROW_H
#define BASE_GROW_H

#include <stddef.h>

/* Copy the caller's options of `size` bytes into ours of `own_size`, which we zero first; NULL: none. A caller built
 * with a newer header may have more bytes than we know; they must be zero. Errors: MEND_ERR_ARGUMENT (no size),
 * MEND_ERR_UNSUPPORTED (a field that we do not know is set). */
int mend_options_take(void *own, size_t own_size, const void *given, size_t size, const char *name);

/* Give the caller as much of ours as its structure of `size` bytes holds, and zero the rest of it. */
void mend_result_give(void *given, size_t size, const void *own, size_t own_size);

/* For structures that the program and the library must lay out alike. Errors: MEND_ERR_UNSUPPORTED (another size). */
int mend_size_same(const char *name, size_t size, size_t own_size);

#endif
