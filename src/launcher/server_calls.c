/* The calls that the PMIx library makes, in a thread of its own. Each becomes a message for the head, or has its answer
 * here. */
#include "server_inside.h"

#include "protocol.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    server_say(SAY_ABORT, w);
    return PMIX_OPERATION_SUCCEEDED;
}

static int by_rank(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Write the members, in the same order on all nodes, and the name of the group (empty: a fence). */
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
    wire_put_u32(&all, server_wait_for(w));
    wire_put_bare(&all, fields.bytes, fields.size);
    wire_put_bytes(&all, bytes, size);
    wire_free(&fields);
    server_say(SAY_FENCE, all);
    return PMIX_SUCCESS;
}

static pmix_status_t on_fence(const pmix_proc_t procs[], size_t n, const pmix_info_t info[],
                              size_t ninfo, char *bytes, size_t size, pmix_modex_cbfunc_t done,
                              void *data)
{
    (void)info;
    (void)ninfo;
    /* Versions of the library differ on who frees the bytes, so we never do. */
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

/* Connect two worlds (MPI_Comm_connect and its relatives), or disconnect them. */
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
    wire_put_u32(&w, server_wait_for((struct waiting){.modex = done, .data = data}));
    wire_put_u32(&w, process);
    server_say(SAY_MODEX, w);
    return PMIX_SUCCESS;
}

/* The value of a name: for MPI_Publish_name and MPI_Lookup_name, and for two worlds that connect. One letter for the
 * type precedes it. */
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
    wire_put_u32(&w, server_wait_for((struct waiting){.op = done, .data = data}));
    wire_put_text(&w, item->key);
    put_value(&w, &item->value);
    wire_put_u32(&w, once);
    server_say(SAY_PUT, w);
    return PMIX_SUCCESS;
}

static void ask_for(char *key, struct waiting w, uint32_t how)
{
    struct wire fields = {0};
    w.key = launcher_text(key);
    wire_put_u32(&fields, server_wait_for(w));
    wire_put_text(&fields, key);
    wire_put_u32(&fields, how);
    server_say(SAY_GET, fields);
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
    return PMIX_OPERATION_SUCCEEDED; /* the launcher reports deaths itself */
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
        "mend-node: rank %u calls MPI_Comm_spawn for %s, which Mend's launcher does not support\n",
        server_process(p), napps && apps[0].cmd ? apps[0].cmd : "a program");
    return PMIX_ERR_NOT_SUPPORTED;
}

/* The library keeps the list of files to remove when a process ends (PMIX_REGISTER_CLEANUP: its shared memory), but
 * only for a host that has this function. It calls the function for nothing else. */
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
