/* PMI-1: serves the requests of MPICH's ranks, each on a socket of its own (PMI_FD). pmi.c has the protocol. */
#ifndef MEND_LAUNCHER_PMI_H
#define MEND_LAUNCHER_PMI_H

#include "job.h"

struct node;

void pmi_open(struct node *n); /* call it when the ranks are known but not started */
/* Make a rank's socket and return its end, for PMI_FD; -1: see errno. */
int pmi_socket(struct node *n, uint32_t local);
int pmi_source(const struct node *n, uint32_t local); /* to read from; -1: closed */
void pmi_hear(struct node *n, uint32_t local);
void pmi_answer(struct node *n, uint32_t kind, struct wire_reader *fields); /* FENCED, GOT */
void pmi_ended(struct node *n, uint32_t local); /* the others may be waiting for it */
bool pmi_said_goodbye(const struct node *n, uint32_t local);
#endif
