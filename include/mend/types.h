/* mend/types.h: types that several headers share. */
#ifndef MEND_TYPES_H
#define MEND_TYPES_H

#include <stdint.h>

/* The number of a version (of a checkpoint). Numbers grow from one version to the next and need not
 * be consecutive. -1 means none, where a function says so. */
typedef int64_t mend_version_t;

#endif
