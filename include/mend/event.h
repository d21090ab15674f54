/* mend/event.h: events of Mend's layers, for programs that use one of them.
 *
 * Every layer reports its actions as events: "store.commit", "process.repair", ... A program can
 * write the events to a file, receive them in a function, and add its own events. Without a file
 * and a function an event costs one load.
 *
 * A line of the file is one JSON object:
 *
 *     {"mend":1,"t":1700000000.123456,"rank":3,"event":"store.commit","version":7,"level":"local"}
 *
 * t is CLOCK_REALTIME in seconds. Each line is one write() with O_APPEND: several processes may
 * share a file. All functions are thread-safe. None is collective, and the death of a peer has no
 * effect on them.
 */
#ifndef MEND_EVENT_H
#define MEND_EVENT_H

#include <mend/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Append events to the file `path`; create it with mode 0600 if it does not exist. Closes the file
 * that was open before. NULL: only close. Not collective.
 * Errors: MEND_ERR_IO, MEND_ERR_NOT_FOUND, MEND_ERR_PERMISSION (a symbolic link). */
MEND_API int mend_event_open(const char *path);

/* Call `callback` with every line, without its newline; NULL: no more calls. The callback runs on
 * the thread that reports the event, under a lock: it must be brief and must not report events. Not
 * collective. No errors. */
typedef void mend_event_callback(const char *json_line, void *user);
MEND_API void mend_event_set_callback(mend_event_callback *callback, void *user);

/* The number of events that could not be written since the process started. Not collective. No
 * errors. */
MEND_API long mend_event_lost(void);

/* These fields never change, because events are arrays of them. A later version may add kinds; a
 * library that does not know a kind writes null. */
typedef struct mend_event_field {
    const char *key;
    enum { MEND_FIELD_INT, MEND_FIELD_REAL, MEND_FIELD_STRING } kind;
    long long integer;
    double real;
    const char *string;
} mend_event_field;

/* Report an event `name` with `count` fields. A line holds at most 4,096 bytes; a longer event is
 * not written. Not collective. No errors: mend_event_lost() counts events that were not written. */
MEND_API void mend_event_emit(const char *name, const mend_event_field *fields, int count);

#ifdef __cplusplus
}
#endif
#endif
