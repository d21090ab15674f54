/* What server.c and server_job.c share. */
#ifndef MEND_LAUNCHER_SERVER_INSIDE_H
#define MEND_LAUNCHER_SERVER_INSIDE_H

#include "server.h"

#include <pmix.h>
#include <pmix_server.h>
#include <pthread.h>

enum { PROCESS_NONE = UINT32_MAX - 1, PROCESS_ALL = UINT32_MAX };

struct said;
struct waiting;

extern struct server_state {
    pthread_mutex_t lock;
    const struct job *job;
    uint32_t node, next_id;
    int wake;
    bool *goodbye; /* [goodbyes] */
    uint32_t goodbyes;
    struct said *first, **last;
    struct waiting *waiting;
} server;
extern pmix_server_module_t server_module;

/* Ranks are in the job's namespace; the k-th process that came later is rank 0 of "NAMESPACE.k". */
void server_name(uint32_t process, pmix_proc_t *p);
uint32_t server_process(const pmix_proc_t *p); /* PROCESS_ALL: all ranks; PROCESS_NONE: not ours */
#endif
