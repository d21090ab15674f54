/* Copying much memory. */
#ifndef BASE_COPY_H
#define BASE_COPY_H

#include <stddef.h>

/* As memcpy, for a copy that nobody reads at once: a checkpoint of the application's data, or a
 * part of one. From about a megabyte it goes past the caches where the machine can do that, whether
 * the whole is copied in one call or in pieces. */
void mend_copy(void *to, const void *from, size_t bytes);

#endif
