/* The calls of the PMIx library come on its own thread. Each becomes a message in a list that the node's loop sends;
 * the answer finds the caller again by a number. */
#include "server_inside.h"

#include "protocol.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct waiting { /* for an answer of the head */
    struct waiting *next;
    uint32_t id;
    pmix_modex_cbfunc_t modex;
    pmix_info_cbfunc_t group;
    pmix_op_cbfunc_t op;
    pmix_lookup_cbfunc_t lookup;
    char *key;
    void *data;
};
struct said {
    struct said *next;
    uint32_t kind;
    struct wire fields;
};

struct server_state server = {.lock = PTHREAD_MUTEX_INITIALIZER, .wake = -1};

/* ---- messages -------------------------------------------------------------------------------- */

static void say(uint32_t kind, struct wire fields)
{
    struct said *s = launcher_memory(NULL, sizeof *s);
    *s = (struct said){NULL, kind, fields};
    pthread_mutex_lock(&server.lock);
    *server.last = s;
    server.last = &s->next;
    pthread_mutex_unlock(&server.lock);
    uint64_t one = 1;
    ssize_t n = write(server.wake, &one, sizeof one);
    (void)n; /* it is full: then it is readable */
}

bool server_take(uint32_t *kind, struct wire *fields)
{
    pthread_mutex_lock(&server.lock);
    struct said *s = server.first;
    if (s && !(server.first = s->next))
        server.last = &server.first;
    pthread_mutex_unlock(&server.lock);
    if (!s) {
        uint64_t count;
        ssize_t n = read(server.wake, &count, sizeof count);
        (void)n;
        return false;
    }
    *kind = s->kind;
    *fields = s->fields;
    free(s);
    return true;
}

int server_wake(void)
{
    return server.wake;
}

static uint32_t wait_for(struct waiting w)
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

/* ---- what the library asks ------------------------------------------------------------------- */

static pmix_status_t on_connected(const pmix_proc_t *p, void *object, pmix_info_t *info, size_t n,
                                  pmix_op_cbfunc_t done, void *data)
{
    (void)p;
    (void)object;
    (void)info;
    (void)n;
    (void)done;
    (void)data;
    return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t on_finalized(const pmix_proc_t *p, void *object, pmix_op_cbfunc_t done,
                                  void *data)
{
    (void)object;
    (void)done;
    (void)data;
    uint32_t process = server_process(p);
    pthread_mutex_lock(&server.lock);
    if (process < server.goodbyes)
        server.goodbye[process] = true;
    pthread_mutex_unlock(&server.lock);
    return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t on_abort(const pmix_proc_t *p, void *object, int status, const char text[],
                              pmix_proc_t procs[], size_t n, pmix_op_cbfunc_t done, void *data)
{
    (void)object;
    (void)procs;
    (void)n;
    (void)done;
    (void)data;
    struct wire w = {0};
    wire_put_u32(&w, server_process(p));
    wire_put_u32(&w, (uint32_t)status);
    wire_put_text(&w, text ? text : "");
    say(SAY_ABORT, w);
    return PMIX_OPERATION_SUCCEEDED;
}

static int by_rank(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Who takes part, in one order on all nodes, and the name of the group (none: a fence). */
static bool put_who(struct wire *w, const pmix_proc_t procs[], size_t n, const char *group)
{
    struct wire who = {0};
    uint32_t *ranks = launcher_memory(NULL, (n + 1) * sizeof *ranks);
    bool ok = true;
    for (size_t i = 0; i < n; i++) {
        ranks[i] = server_process(&procs[i]);
        ok &= ranks[i] != PROCESS_NONE;
    }
    qsort(ranks, n, sizeof *ranks, by_rank);
    wire_put_u32(&who, (uint32_t)n);
    for (size_t i = 0; i < n; i++)
        wire_put_u32(&who, ranks[i]);
    wire_put_text(&who, group);
    wire_put_bytes(w, who.bytes, who.size);
    wire_free(&who);
    free(ranks);
    return ok;
}

static pmix_status_t gather(const pmix_proc_t procs[], size_t n, const char *group,
                            const char *bytes, size_t size, struct waiting w)
{
    struct wire fields = {0}, all = {0};
    if (!put_who(&fields, procs, n, group)) {
        wire_free(&fields);
        return PMIX_ERR_NOT_SUPPORTED;
    }
    wire_put_u32(&all, wait_for(w));
    wire_put_bare(&all, fields.bytes, fields.size);
    wire_put_bytes(&all, bytes, size);
    wire_free(&fields);
    say(SAY_FENCE, all);
    return PMIX_SUCCESS;
}

static pmix_status_t on_fence(const pmix_proc_t procs[], size_t n, const pmix_info_t info[],
                              size_t ninfo, char *bytes, size_t size, pmix_modex_cbfunc_t done,
                              void *data)
{
    (void)info;
    (void)ninfo;
    /* (releases of the library differ in who frees the bytes: they stay) */
    return gather(procs, n, "", bytes, size, (struct waiting){.modex = done, .data = data});
}

static pmix_status_t on_group(pmix_group_operation_t op, char group[], const pmix_proc_t procs[],
                              size_t n, const pmix_info_t info[], size_t ninfo,
                              pmix_info_cbfunc_t done, void *data)
{
    (void)op;
    (void)info;
    (void)ninfo;
    return gather(procs, n, group, "", 0, (struct waiting){.group = done, .data = data});
}

/* Two worlds become one (MPI_Comm_connect and its relatives), or part again. */
static pmix_status_t on_connect(const pmix_proc_t procs[], size_t n, const pmix_info_t info[],
                                size_t ninfo, pmix_op_cbfunc_t done, void *data)
{
    (void)info;
    (void)ninfo;
    return gather(procs, n, GATHER_CONNECT, "", 0, (struct waiting){.op = done, .data = data});
}

static pmix_status_t on_modex(const pmix_proc_t *p, const pmix_info_t info[], size_t ninfo,
                              pmix_modex_cbfunc_t done, void *data)
{
    (void)info;
    (void)ninfo;
    uint32_t process = server_process(p);
    if (process >= PROCESS_NONE)
        return PMIX_ERR_NOT_FOUND;
    struct wire w = {0};
    wire_put_u32(&w, wait_for((struct waiting){.modex = done, .data = data}));
    wire_put_u32(&w, process);
    say(SAY_MODEX, w);
    return PMIX_SUCCESS;
}

/* Names for MPI_Publish_name and MPI_Lookup_name, and what two worlds that connect say to each other.
 * A letter for the type, then the value. */
static void put_value(struct wire *w, const pmix_value_t *value)
{
    struct wire all = {0};
    bool text = value->type == PMIX_STRING;
    wire_put_bare(&all, text ? "t" : "b", 1);
    if (text)
        wire_put_bare(&all, value->data.string, strlen(value->data.string) + 1);
    else
        wire_put_bare(&all, value->data.bo.bytes, value->data.bo.size);
    wire_put_bytes(w, all.bytes, all.size);
    wire_free(&all);
}

static pmix_status_t on_publish(const pmix_proc_t *p, const pmix_info_t info[], size_t n,
                                pmix_op_cbfunc_t done, void *data)
{
    (void)p;
    const pmix_info_t *item = NULL;
    bool once = false;
    for (size_t i = 0; i < n; i++)
        if (PMIx_Check_key(info[i].key, PMIX_PERSISTENCE))
            once = info[i].value.data.persist == PMIX_PERSIST_FIRST_READ;
        else if ((info[i].value.type == PMIX_STRING || info[i].value.type == PMIX_BYTE_OBJECT) &&
                 strncmp(info[i].key, "pmix.", 5) != 0)
            item = &info[i];
    if (!item)
        return PMIX_ERR_NOT_SUPPORTED;
    struct wire w = {0};
    wire_put_u32(&w, wait_for((struct waiting){.op = done, .data = data}));
    wire_put_text(&w, item->key);
    put_value(&w, &item->value);
    wire_put_u32(&w, once);
    say(SAY_PUT, w);
    return PMIX_SUCCESS;
}

static void ask_for(char *key, struct waiting w, uint32_t how)
{
    struct wire fields = {0};
    w.key = launcher_text(key);
    wire_put_u32(&fields, wait_for(w));
    wire_put_text(&fields, key);
    wire_put_u32(&fields, how);
    say(SAY_GET, fields);
}

static pmix_status_t on_lookup(const pmix_proc_t *p, char **keys, const pmix_info_t info[],
                               size_t n, pmix_lookup_cbfunc_t done, void *data)
{
    (void)p;
    uint32_t how = 0;
    if (!keys || !keys[0])
        return PMIX_ERR_BAD_PARAM;
    for (size_t i = 0; i < n; i++)
        if (PMIx_Check_key(info[i].key, PMIX_WAIT))
            how = NAME_WAIT;
    ask_for(keys[0], (struct waiting){.lookup = done, .data = data}, how);
    return PMIX_SUCCESS;
}

static pmix_status_t on_unpublish(const pmix_proc_t *p, char **keys, const pmix_info_t info[],
                                  size_t n, pmix_op_cbfunc_t done, void *data)
{
    (void)p;
    (void)info;
    (void)n;
    if (!keys || !keys[0])
        return PMIX_OPERATION_SUCCEEDED;
    ask_for(keys[0], (struct waiting){.op = done, .data = data}, NAME_TAKE);
    return PMIX_SUCCESS;
}

static pmix_status_t on_register(pmix_status_t *codes, size_t n, const pmix_info_t info[],
                                 size_t ninfo, pmix_op_cbfunc_t done, void *data)
{
    (void)codes;
    (void)n;
    (void)info;
    (void)ninfo;
    (void)done;
    (void)data;
    return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t on_deregister(pmix_status_t *codes, size_t n, pmix_op_cbfunc_t done,
                                   void *data)
{
    (void)codes;
    (void)n;
    (void)done;
    (void)data;
    return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t on_notify(pmix_status_t code, const pmix_proc_t *source,
                               pmix_data_range_t range, pmix_info_t info[], size_t n,
                               pmix_op_cbfunc_t done, void *data)
{
    (void)code;
    (void)source;
    (void)range;
    (void)info;
    (void)n;
    (void)done;
    (void)data;
    return PMIX_OPERATION_SUCCEEDED; /* deaths are told by us */
}

static pmix_status_t on_query(pmix_proc_t *p, pmix_query_t *queries, size_t n,
                              pmix_info_cbfunc_t done, void *data)
{
    (void)p;
    (void)queries;
    (void)n;
    (void)done;
    (void)data;
    return PMIX_ERR_NOT_SUPPORTED;
}

static pmix_status_t on_spawn(const pmix_proc_t *p, const pmix_info_t info[], size_t n,
                              const pmix_app_t apps[], size_t napps, pmix_spawn_cbfunc_t done,
                              void *data)
{
    (void)info;
    (void)n;
    (void)done;
    (void)data;
    fprintf(
        stderr,
        "mend-node: rank %u calls MPI_Comm_spawn for %s, which Mend's launcher does not offer\n",
        server_process(p), napps && apps[0].cmd ? apps[0].cmd : "a program");
    return PMIX_ERR_NOT_SUPPORTED;
}

/* The library itself keeps the list of files that a process wants removed after its end (PMIX_REGISTER_CLEANUP: its shared
 * memory), but only for a host that has this function. Nothing else is asked of us. */
static pmix_status_t on_control(const pmix_proc_t *p, const pmix_proc_t targets[], size_t ntargets,
                                const pmix_info_t info[], size_t n, pmix_info_cbfunc_t done,
                                void *data)
{
    (void)p;
    (void)targets;
    (void)ntargets;
    (void)info;
    (void)n;
    (void)done;
    (void)data;
    return PMIX_ERR_NOT_SUPPORTED;
}

pmix_server_module_t server_module = {.client_connected2 = on_connected,
                                      .client_finalized = on_finalized,
                                      .abort = on_abort,
                                      .fence_nb = on_fence,
                                      .direct_modex = on_modex,
                                      .publish = on_publish,
                                      .lookup = on_lookup,
                                      .unpublish = on_unpublish,
                                      .register_events = on_register,
                                      .deregister_events = on_deregister,
                                      .notify_event = on_notify,
                                      .query = on_query,
                                      .spawn = on_spawn,
                                      .connect = on_connect,
                                      .disconnect = on_connect,
                                      .job_control = on_control,
                                      .group = on_group};

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
    say(SAY_MODEX_GIVE, w);
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
