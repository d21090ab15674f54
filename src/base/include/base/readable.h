#ifndef MEND_BASE_READABLE_H
#define MEND_BASE_READABLE_H
#include <stdbool.h>

/* Can this process read the byte at this address? A load would end it where it cannot: a page that is not mapped or is
 * protected, or one behind the end of a mapped file. The address is a multiple of 8. */
bool mend_readable(const void *at);

#endif
