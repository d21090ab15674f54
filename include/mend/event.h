/* mend/event.h: what Mend's layers did and when, for programs that use one of them.
 *
 * Every layer reports what it does as an event: "store.commit", "process.repair", ... A program can
 * have the events written to a file, can receive them in a function, and can add events of its own.
 * With neither a file nor a function an event costs one load.
 *
 * A line of the file is one JSON object:
 *
 *     {"mend":1,"t":1700000000.123456,"rank":3,"event":"store.commit","version":7,"level":"local"}
 *
 * t is CLOCK_REALTIME in seconds. Each line is one write() with O_APPEND: several processes may
 * share a file. All functions are thread-safe and not collective.
 */
#ifndef MEND_EVENT_H
#define MEND_EVENT_H

#include <mend/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Append events to the file `path`, which is created with mode 0600 if it does not exist. The file
 * that was open before is closed. NULL: only close.
 * Errors: MEND_ERR_IO, MEND_ERR_NOT_FOUND, MEND_ERR_PERMISSION (a symbolic link). */
MEND_API int mend_event_open(const char *path);

/* Call `callback` with every line, without its newline; NULL: no more calls. The callback runs on
 * the thread that reports the event, under a lock: it must be brief and must not report events. */
typedef void mend_event_callback(const char *json_line, void *user);
MEND_API void mend_event_set_callback(mend_event_callback *callback, void *user);

/* The number of events that could not be written since the process started. */
MEND_API long mend_event_lost(void);

typedef struct mend_event_field {
    const char *key;
    enum { MEND_FIELD_INT, MEND_FIELD_REAL, MEND_FIELD_STRING } kind;
    long long integer;
    double real;
    const char *string;
} mend_event_field;

/* Report an event `name` with `count` fields. Never fails: an event that cannot be written is
 * counted. A line holds at most 4,096 bytes; a longer event counts as not written. */
MEND_API void mend_event_emit(const char *name, const mend_event_field *fields, int count);

#ifdef __cplusplus
}
#endif
#endif
