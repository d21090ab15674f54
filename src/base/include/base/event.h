/* Events inside Mend (mend/event.h has what users see). Everything that a report or a benchmark shows comes from
 * here.
 *
 *     mend_event("store.commit", ev_int("version", v), ev_str("level", "local"));
 */
#ifndef BASE_EVENT_H
#define BASE_EVENT_H

#include <mend/event.h>
#include <stdbool.h>

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

extern bool mend_event_active;

/* The rank that every line names. */
void mend_event_set_rank(int rank);
int mend_event_rank(void);

/* Seconds of CLOCK_MONOTONIC, for durations in events. */
double mend_now(void);

#endif
