/* What server.c and server_job.c share. */
#ifndef MEND_LAUNCHER_SERVER_INSIDE_H
#define MEND_LAUNCHER_SERVER_INSIDE_H

#include "server.h"

#include <pmix.h>
#include <pmix_server.h>
#include <pthread.h>

struct said;
struct waiting;

extern struct server_state {
    pthread_mutex_t lock;
    const struct job *job;
    uint32_t node, next_id;
    int wake;
    bool *goodbye; /* [ranks] */
    struct said *first, **last;
    struct waiting *waiting;
} server;
extern pmix_server_module_t server_module;
#endif
