/* What server.c, server_calls.c and server_job.c share. */
#ifndef MEND_LAUNCHER_SERVER_INSIDE_H
#define MEND_LAUNCHER_SERVER_INSIDE_H

#include "server.h"

#include <pmix.h>
#include <pmix_server.h>
#include <pthread.h>

enum { PROCESS_NONE = UINT32_MAX - 1, PROCESS_ALL = UINT32_MAX };

struct said;
struct waiting { /* a call that waits for the head's answer */
    struct waiting *next;
    uint32_t id;
    pmix_modex_cbfunc_t modex;
    pmix_info_cbfunc_t group;
    pmix_op_cbfunc_t op;
    pmix_lookup_cbfunc_t lookup;
    char *key;
    void *data;
};

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

bool server_watch(void); /* from now on, in a thread; see server_watch.c */
void server_say(uint32_t kind, struct wire fields); /* to the head; takes the fields over */
uint32_t server_wait_for(struct waiting w);         /* returns the number for the answer */

/* Ranks are in the job's namespace. The k-th process added later is rank 0 of "NAMESPACE.k". */
void server_name(uint32_t process, pmix_proc_t *p);
uint32_t server_process(const pmix_proc_t *p); /* PROCESS_ALL: all ranks; PROCESS_NONE: unknown */
#endif
