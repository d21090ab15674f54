/* PMI-1: what MPICH's ranks ask, each on a socket of its own (PMI_FD). See pmi.c for what is said. */
#ifndef MEND_LAUNCHER_PMI_H
#define MEND_LAUNCHER_PMI_H

#include "job.h"

struct node;

void pmi_open(struct node *n); /* its ranks are known, and not started */
/* A rank's end of its socket, for PMI_FD; -1: errno. */
int pmi_socket(struct node *n, uint32_t local);
char **pmi_environment(const struct node *n, uint32_t local, int fd); /* the caller's */
int pmi_source(const struct node *n, uint32_t local); /* to read; -1: nothing comes any more */
void pmi_hear(struct node *n, uint32_t local);
void pmi_answer(struct node *n, uint32_t kind, struct wire_reader *fields); /* FENCED, GOT */
void pmi_ended(struct node *n, uint32_t local); /* the others may have waited for it */
bool pmi_said_goodbye(const struct node *n, uint32_t local);
#endif
