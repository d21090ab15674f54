/* Copies of large memory areas. */
#ifndef BASE_COPY_H
#define BASE_COPY_H

#include <stddef.h>

/* Like memcpy, for a copy that nobody reads soon: a checkpoint of the application's data, or a part of one. From
 * about a megabyte it bypasses the caches where the machine can, whether the whole comes in one call or in pieces. */
void mend_copy(void *to, const void *from, size_t bytes);

#endif
