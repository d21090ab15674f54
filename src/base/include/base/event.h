/* Events: what happened and when. Everything that a report or a benchmark shows comes from here.
 *
 *     mend_event("store.commit", ev_int("version", v), ev_str("level", "local"), ev_real("seconds",
 * s));
 *
 * Sinks are a file of JSON lines and a user's callback; with neither, an event costs one load.
 * A line is {"mend":1,"t":<seconds since the epoch>,"rank":r,"event":"store.commit",...}; t is
 * taken from CLOCK_REALTIME at microseconds. One write() per line, O_APPEND: lines of several
 * processes in one file never mix. Thread-safe. Never fails the caller: what cannot be written is
 * counted.
 */
#ifndef BASE_EVENT_H
#define BASE_EVENT_H

#include <stdbool.h>

typedef struct mend_event_field {
    const char *key;
    enum { MEND_FIELD_INT, MEND_FIELD_REAL, MEND_FIELD_STRING } kind;
    long long integer;
    double real;
    const char *string;
} mend_event_field;

#define ev_int(k, v)  ((mend_event_field){.key = (k), .kind = MEND_FIELD_INT, .integer = (v)})
#define ev_real(k, v) ((mend_event_field){.key = (k), .kind = MEND_FIELD_REAL, .real = (v)})
#define ev_str(k, v)  ((mend_event_field){.key = (k), .kind = MEND_FIELD_STRING, .string = (v)})

#define mend_event(name, ...)                                                       \
    do {                                                                            \
        if (mend_event_active)                                                      \
            mend_event_emit(name, (const mend_event_field[]){__VA_ARGS__},          \
                            (int)(sizeof((const mend_event_field[]){__VA_ARGS__}) / \
                                  sizeof(mend_event_field)));                       \
    } while (0)

typedef void mend_event_callback(const char *json_line, void *user);

extern bool mend_event_active;

/* Write events to this file (opened for appending, created 0600); NULL closes it. */
int mend_event_open(const char *path);
/* Give every line to this function too; NULL removes it. Called under the event lock. */
void mend_event_set_callback(mend_event_callback *callback, void *user);
void mend_event_set_rank(int rank);
/* Lines lost because they could not be written. */
long mend_event_lost(void);

void mend_event_emit(const char *name, const mend_event_field *fields, int count);

/* Seconds of CLOCK_MONOTONIC, for durations in events. */
double mend_now(void);

#endif
