/* What MPICH's ranks tell each other by PMI-1: pairs of texts. */
#ifndef MEND_LAUNCHER_PMI_SPACE_H
#define MEND_LAUNCHER_PMI_SPACE_H

#include "job.h"

struct pmi_space {
    void *pairs; /* a tree, see tsearch(3) */
};
void pmi_keep(struct pmi_space *s, const char *key, const char *value);
const char *pmi_find(const struct pmi_space *s, const char *key); /* NULL: it is not there */
void pmi_forget(struct pmi_space *s);                             /* all of them */
/* The value of a key in a line; `last`: it goes to the end of the line. False: there is none. */
bool pmi_field(const char *line, const char *key, bool last, char *value, size_t size);
/* "(vector,(0,4,2))": nodes 0 to 3 have two ranks each, one after the other. "": too long for `text`. */
void pmi_mapping(const struct job *job, char *text, size_t size);
#endif
