/* A node's PMIx server: it turns requests from the ranks' MPI library into messages for the head, and returns the
 * answers. */
#ifndef MEND_LAUNCHER_SERVER_H
#define MEND_LAUNCHER_SERVER_H

#include "job.h"

/* False: `why` says why, in a sentence. The server keeps its files in `folder`. */
bool server_open(const struct job *job, uint32_t node, const char *folder, char *why, size_t size);
void server_close(void);
/* Register a process that joins later; job->node_of already has it. */
bool server_add(uint32_t process, const char *folder);
int server_wake(void); /* readable when there is something to take */
/* Get the next message for the head; the caller frees its fields. */
bool server_take(uint32_t *kind, struct wire *fields);
void server_answer(uint32_t kind,
                   struct wire_reader *fields); /* FENCED, MODEX_ASK, MODEX_DONE, GOT */
void server_tell_dead(const uint32_t *ranks, uint32_t count);   /* one event for all of them */
char **server_environment(uint32_t process, char *const *base); /* the caller frees it */
bool server_said_goodbye(uint32_t process);
#endif
