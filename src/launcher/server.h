/* A node's PMIx server: what the MPI library of its ranks asks, as messages for the head, and back. */
#ifndef MEND_LAUNCHER_SERVER_H
#define MEND_LAUNCHER_SERVER_H

#include "job.h"

/* False: a sentence in `why`. `folder`: the server's own, for its files. */
bool server_open(const struct job *job, uint32_t node, const char *folder, char *why, size_t size);
void server_close(void);
/* A process that came later: it is in job->node_of. */
bool server_add(uint32_t process, const char *folder);
int server_wake(void); /* readable when there is something to take */
/* The next message for the head; its fields are the caller's. */
bool server_take(uint32_t *kind, struct wire *fields);
void server_answer(uint32_t kind,
                   struct wire_reader *fields); /* FENCED, MODEX_ASK, MODEX_DONE, GOT */
void server_tell_dead(const uint32_t *ranks, uint32_t count);   /* one event for all of them */
char **server_environment(uint32_t process, char *const *base); /* the caller's */
bool server_said_goodbye(uint32_t process);
#endif
