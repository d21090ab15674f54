/* Failing with facts: set the thread's message, return the code. */
#ifndef BASE_FAIL_H
#define BASE_FAIL_H

#include <mend/error.h>

/* return mend_fail(MEND_ERR_IO, "cannot open %s: %s", path, strerror(errno)); */
int mend_fail(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same for a failed system call: chooses MEND_ERR_FULL, _PERMISSION, _NOT_FOUND, _EXISTS,
 * _NO_MEMORY or _IO by errno and adds its text. */
int mend_fail_errno(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prepend context to the current message; returns code. */
int mend_fail_within(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));

#ifdef __clang_analyzer__
/* The analyser does not see the definitions: show it what they return. */
#define mend_fail(code, ...)        ((void)(mend_fail)(code, __VA_ARGS__), (code))
#define mend_fail_errno(...)        ((void)(mend_fail_errno)(__VA_ARGS__), MEND_ERR_IO)
#define mend_fail_within(code, ...) ((void)(mend_fail_within)(code, __VA_ARGS__), (code))
#endif

#endif
