/* Messages for the head in a list that the node's loop sends, and the head's answers, which a number leads back to the
 * call that waits for them. server_calls.c has the calls. */
#include "server_inside.h"

#include "protocol.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct said {
    struct said *next;
    uint32_t kind;
    struct wire fields;
};

struct server_state server = {.lock = PTHREAD_MUTEX_INITIALIZER, .wake = -1};

/* ---- messages -------------------------------------------------------------------------------- */

void server_say(uint32_t kind, struct wire fields)
{
    struct said *s = launcher_memory(NULL, sizeof *s);
    *s = (struct said){NULL, kind, fields};
    pthread_mutex_lock(&server.lock);
    *server.last = s;
    server.last = &s->next;
    pthread_mutex_unlock(&server.lock);
    uint64_t one = 1;
    ssize_t n = write(server.wake, &one, sizeof one);
    (void)n; /* full: then it is readable anyway */
}

bool server_take(uint32_t *kind, struct wire *fields)
{
    pthread_mutex_lock(&server.lock);
    struct said *s = server.first;
    uint64_t count;
    if (s && !(server.first = s->next))
        server.last = &server.first;
    /* Under the lock: outside, this could clear the wake-up of a message that arrives meanwhile. */
    ssize_t n = s ? 0 : read(server.wake, &count, sizeof count);
    (void)n; /* nothing to clear */
    pthread_mutex_unlock(&server.lock);
    if (!s)
        return false;
    *kind = s->kind;
    *fields = s->fields;
    free(s);
    return true;
}

int server_wake(void)
{
    return server.wake;
}

uint32_t server_wait_for(struct waiting w)
{
    struct waiting *copy = launcher_memory(NULL, sizeof *copy);
    *copy = w;
    pthread_mutex_lock(&server.lock);
    copy->id = ++server.next_id;
    copy->next = server.waiting;
    server.waiting = copy;
    pthread_mutex_unlock(&server.lock);
    return copy->id;
}

static bool take_waiting(uint32_t id, struct waiting *w)
{
    pthread_mutex_lock(&server.lock);
    struct waiting **p = &server.waiting, *found;
    while (*p && (*p)->id != id)
        p = &(*p)->next;
    if ((found = *p))
        *p = found->next;
    pthread_mutex_unlock(&server.lock);
    if (found)
        *w = *found;
    free(found);
    return found != NULL;
}

void server_name(uint32_t process, pmix_proc_t *p)
{
    char name[PMIX_MAX_NSLEN];
    uint32_t ranks = server.job->ranks;
    snprintf(name, sizeof name, "%s.%u", server.job->name, process - ranks + 1);
    PMIx_Load_procid(p, process < ranks ? server.job->name : name, process < ranks ? process : 0);
}

uint32_t server_process(const pmix_proc_t *p)
{
    size_t length = strlen(server.job->name);
    char *end;
    if (strcmp(p->nspace, server.job->name) == 0)
        return p->rank == PMIX_RANK_WILDCARD ? PROCESS_ALL
               : p->rank < server.job->ranks ? p->rank
                                             : PROCESS_NONE;
    if (strncmp(p->nspace, server.job->name, length) != 0 || p->nspace[length] != '.')
        return PROCESS_NONE;
    unsigned long k = strtoul(p->nspace + length + 1, &end, 10);
    return *end || k < 1 || k > JOB_RANKS_MAX ? PROCESS_NONE : server.job->ranks + (uint32_t)k - 1;
}

/* ---- answers --------------------------------------------------------------------------------- */

static void *copy_of(const void *bytes, size_t size)
{
    return size ? memcpy(launcher_memory(NULL, size), bytes, size) : NULL;
}

static void free_info(void *info)
{
    PMIx_Info_free(info, 1);
}

static void answer_group(const struct waiting *w, pmix_status_t status, uint64_t number)
{
    size_t id = (size_t)number;
    pmix_info_t *info = PMIx_Info_create(1);
    PMIx_Info_load(info, PMIX_GROUP_CONTEXT_ID, &id, PMIX_SIZE);
    w->group(status, info, 1, w->data, free_info, info);
}

static void answer_lookup(const struct waiting *w, pmix_status_t status, const char *bytes,
                          size_t size)
{
    pmix_pdata_t found;
    memset(&found, 0, sizeof found);
    PMIx_Load_procid(&found.proc, server.job->name, 0);
    PMIx_Load_key(found.key, w->key);
    if (size && bytes[0] == 'b') {
        found.value.type = PMIX_BYTE_OBJECT;
        found.value.data.bo.bytes = (char *)bytes + 1;
        found.value.data.bo.size = size - 1;
    } else if (size > 1 && bytes[size - 1] == 0) {
        found.value.type = PMIX_STRING;
        found.value.data.string = (char *)bytes + 1;
    } else
        status = status == PMIX_SUCCESS ? PMIX_ERR_NOT_FOUND : status;
    w->lookup(status, status == PMIX_SUCCESS ? &found : NULL, status == PMIX_SUCCESS, w->data);
}

static void on_data(pmix_status_t status, char *bytes, size_t size, void *data)
{
    struct wire w = {0};
    wire_put_u32(&w, (uint32_t)(uintptr_t)data);
    wire_put_u32(&w, (uint32_t)-status);
    wire_put_bytes(&w, bytes, status == PMIX_SUCCESS ? size : 0);
    server_say(SAY_MODEX_GIVE, w);
}

static void give_data(uint32_t id, uint32_t process)
{
    pmix_proc_t p;
    server_name(process, &p);
    pmix_status_t rc = PMIx_server_dmodex_request(&p, on_data, (void *)(uintptr_t)id);
    if (rc != PMIX_SUCCESS)
        on_data(rc, NULL, 0, (void *)(uintptr_t)id);
}

void server_answer(uint32_t kind, struct wire_reader *r)
{
    uint32_t id = wire_get_u32(r), second = wire_get_u32(r);
    struct waiting w;
    size_t size;
    if (kind == SAY_MODEX_ASK) {
        give_data(id, second);
        return;
    }
    const void *bytes = wire_get_bytes(r, &size);
    uint64_t number = kind == SAY_FENCED ? wire_get_u64(r) : 0;
    pmix_status_t status = -(pmix_status_t)second;
    if (!take_waiting(id, &w))
        return;
    void *copy = w.modex ? copy_of(bytes, size) : NULL;
    if (w.modex)
        w.modex(status, copy, size, w.data, free, copy);
    else if (w.group)
        answer_group(&w, status, number);
    else if (w.lookup)
        answer_lookup(&w, status, bytes, size);
    else if (w.op)
        w.op(status, w.data);
    free(w.key);
}

void server_tell_dead(const uint32_t *ranks, uint32_t count)
{
    pmix_info_t *info = PMIx_Info_create(count);
    pmix_proc_t p, source;
    server_name(ranks[0], &source);
    for (uint32_t i = 0; i < count; i++) {
        server_name(ranks[i], &p);
        PMIx_Info_load(&info[i], PMIX_EVENT_AFFECTED_PROC, &p, PMIX_PROC);
    }
    pmix_status_t rc = PMIx_Notify_event(PMIX_ERR_PROC_ABORTED, &source, PMIX_RANGE_LOCAL, info,
                                         count, NULL, NULL);
    if (rc != PMIX_SUCCESS && rc != PMIX_OPERATION_SUCCEEDED)
        fprintf(stderr, "mend-node: could not report a death to the ranks: %s\n",
                PMIx_Error_string(rc));
    PMIx_Info_free(info, count);
}

bool server_said_goodbye(uint32_t process)
{
    pthread_mutex_lock(&server.lock);
    bool said = process < server.goodbyes && server.goodbye[process];
    pthread_mutex_unlock(&server.lock);
    return said;
}
