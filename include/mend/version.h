/* mend/version.h: the version of these headers.
 *
 * Test it with MEND_VERSION, for example `#if MEND_VERSION >= MEND_VERSION_NUMBER(0, 2, 0)`.
 * mend_version_text() (mend/error.h) names the version of the library that the program runs with.
 */
#ifndef MEND_VERSION_H
#define MEND_VERSION_H

#define MEND_VERSION_MAJOR                       0
#define MEND_VERSION_MINOR                       1
#define MEND_VERSION_PATCH                       0

#define MEND_VERSION_NUMBER(major, minor, patch) ((major) * 1000000 + (minor) * 1000 + (patch))
#define MEND_VERSION                             MEND_VERSION_NUMBER(MEND_VERSION_MAJOR, MEND_VERSION_MINOR, MEND_VERSION_PATCH)

#endif
