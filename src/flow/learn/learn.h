/* Shared by the two files of learn mode; see learn.c. */
#ifndef FLOW_LEARN_H
#define FLOW_LEARN_H

#include "flow.h"

typedef enum stage { REST, REFERENCE, CONTROL, SINGLE, TOGETHER } stage;

struct shadow {
    view *of;
    size_t bytes, room;
    void *copy;
    uint64_t hash;
};

struct learner {
    stage stage;
    bool off, controlled;
    bool fresh_dead; /* a view alone was found dead in this experiment */
    const safe_point *at;
    long points;
    uint64_t generation;
    struct shadow *shadows;
    int count, room;
    int candidate; /* SINGLE: index of the shadow under trial */
    int muted;     /* the real stdout while it is silent; else -1 */
    int experiments;
};

/* shadow.c */
int shadow_take(mend_flow *f);       /* copies all views */
int shadow_put(mend_flow *f);        /* ... and puts them back */
void shadow_note(struct learner *l); /* the hashes that views should have after an iteration */
bool shadow_same(const struct learner *l); /* have they? */
void shadow_free(struct learner *l);

#endif
