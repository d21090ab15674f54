/* The key-value space that MPICH's ranks share through PMI-1. */
#ifndef MEND_LAUNCHER_PMI_SPACE_H
#define MEND_LAUNCHER_PMI_SPACE_H

#include "job.h"

struct pmi_space {
    void *pairs; /* a tree, see tsearch(3) */
};
void pmi_keep(struct pmi_space *s, const char *key, const char *value);
const char *pmi_find(const struct pmi_space *s, const char *key); /* NULL: not found */
void pmi_forget(struct pmi_space *s);                             /* all pairs */
/* The value of a key in a line. `last`: the value extends to the end of the line. False: the line lacks the key, or
 * the value is too long. */
bool pmi_field(const char *line, const char *key, bool last, char *value, size_t size);
/* "(vector,(0,4,2))": nodes 0 to 3 have two consecutive ranks each. "": too long for `text`. */
void pmi_mapping(const struct job *job, char *text, size_t size);
#endif
