/* Fences, which give what each node contributes to all; data of one rank for another's node; published names. */
#include "head/head.h"

#include <stdlib.h>
#include <string.h>

enum { ERROR_LOST = 61, ERROR_NOT_FOUND = 46 }; /* PMIx error codes without their sign */

struct brought {
    bool come, awaited;
    uint32_t id;
    void *bytes;
    size_t size;
};
struct fence {
    struct fence *next;
    unsigned char *who;
    size_t who_size;
    struct brought *brought; /* [nodes] */
    uint32_t nodes;
    uint32_t missing; /* nodes still to come */
    bool lost, connects;
};

static void *copy_of(const void *bytes, size_t size)
{
    return memcpy(launcher_memory(NULL, size), bytes, size);
}

/* ---- fences ---------------------------------------------------------------------------------- */

/* Count the nodes that have a living rank in the fence and have not come. Set `lost` if a member is dead. This is one
 * pass over the members, at the start of the fence and after each death. */
static void count_missing(const struct head *h, struct fence *f)
{
    struct wire_reader r = {f->who, f->who_size, false};
    uint32_t count = wire_get_u32(&r);
    f->missing = 0;
    for (uint32_t n = 0; n < h->hosts.count; n++)
        f->brought[n].awaited = false;
    for (uint32_t i = 0; i < count && !r.bad; i++) {
        uint32_t rank = wire_get_u32(&r);
        uint32_t from = rank == UINT32_MAX ? 0 : rank,
                 to = rank == UINT32_MAX ? h->job.ranks : rank + 1;
        for (uint32_t k = from; k < to && k < h->job.processes; k++) {
            struct brought *b = &f->brought[h->job.node_of[k]];
            f->lost |= h->ranks[k] == RANK_DEAD;
            if (h->ranks[k] >= RANK_DONE || h->nodes[h->job.node_of[k]].state > NODE_UP ||
                b->come || b->awaited)
                continue;
            b->awaited = true;
            f->missing++;
        }
    }
    f->connects = strcmp(wire_get_text(&r), GATHER_CONNECT) == 0;
    if (f->connects && f->lost) /* whoever has heard of the death will not come */
        f->missing = 0;
}

static void complete(struct head *h, struct fence *f)
{
    struct wire all = {0};
    uint64_t number = ++h->next_number;
    h->fence_count++;
    for (uint32_t n = 0; n < h->hosts.count; n++)
        if (f->brought[n].come) {
            wire_put_bare(&all, f->brought[n].bytes, f->brought[n].size);
            h->fence_messages += 2; /* one that came in, one that answers it */
        }
    for (uint32_t n = 0; n < h->hosts.count; n++) {
        struct wire w = {0};
        if (!f->brought[n].come || h->nodes[n].state != NODE_UP)
            continue;
        wire_put_u32(&w, f->brought[n].id);
        wire_put_u32(&w, f->lost ? ERROR_LOST : 0);
        wire_put_bytes(&w, all.bytes, all.size);
        wire_put_u64(&w, number);
        link_send(&h->nodes[n].link, SAY_FENCED, &w);
        wire_free(&w);
    }
    wire_free(&all);
}

/* Complete the fences for which all nodes have come. */
static void sweep(struct head *h)
{
    for (struct fence **p = &h->fences, *f; (f = *p);) {
        if (f->missing) {
            p = &f->next;
            continue;
        }
        *p = f->next;
        complete(h, f);
        for (uint32_t n = 0; n < h->hosts.count; n++)
            free(f->brought[n].bytes);
        free(f->brought);
        free(f->who);
        free(f);
    }
}

void gather_check(struct head *h)
{
    for (struct fence *f = h->fences; f; f = f->next)
        count_missing(h, f);
    sweep(h);
}

void gather_grow(struct head *h)
{
    for (struct fence *f = h->fences; f; f = f->next) {
        f->brought = launcher_memory(f->brought, h->hosts.count * sizeof *f->brought);
        for (; f->nodes < h->hosts.count; f->nodes++)
            f->brought[f->nodes] = (struct brought){0};
    }
}

/* Find the first fence of these members to which this node has not come, or make one. */
static struct fence *find(struct head *h, uint32_t node, const void *who, size_t size)
{
    struct fence **p = &h->fences;
    for (; *p; p = &(*p)->next)
        if ((*p)->who_size == size && memcmp((*p)->who, who, size) == 0 &&
            !(*p)->brought[node].come)
            return *p;
    struct fence *f = launcher_memory(NULL, sizeof *f);
    *f = (struct fence){.who = copy_of(who, size), .who_size = size, .nodes = h->hosts.count};
    f->brought = launcher_memory(NULL, h->hosts.count * sizeof *f->brought);
    memset(f->brought, 0, h->hosts.count * sizeof *f->brought);
    count_missing(h, f);
    return *p = f;
}

void gather_fence(struct head *h, uint32_t node, struct wire_reader *r)
{
    size_t who_size, size;
    uint32_t id = wire_get_u32(r);
    const void *who = wire_get_bytes(r, &who_size), *bytes = wire_get_bytes(r, &size);
    if (r->bad)
        return;
    struct fence *f = find(h, node, who, who_size);
    f->missing -= f->missing && f->brought[node].awaited;
    f->brought[node] = (struct brought){true, false, id, copy_of(bytes, size), size};
    sweep(h);
}

/* ---- data of one rank ------------------------------------------------------------------------ */

struct asked {
    struct asked *next;
    uint32_t id, theirs, asker, owner;
};
struct wanted { /* a lookup that waits until the name is published */
    struct wanted *next;
    uint32_t node, id;
    char *key;
};

static void answer(struct head *h, uint32_t node, uint32_t kind, uint32_t id, uint32_t error,
                   const void *bytes, size_t size)
{
    struct wire w = {0};
    wire_put_u32(&w, id);
    wire_put_u32(&w, error);
    wire_put_bytes(&w, bytes, size);
    if (h->nodes[node].state == NODE_UP)
        link_send(&h->nodes[node].link, kind, &w);
    wire_free(&w);
}

void gather_modex(struct head *h, uint32_t node, struct wire_reader *r)
{
    uint32_t id = wire_get_u32(r), rank = wire_get_u32(r);
    if (r->bad || rank >= h->job.processes || h->nodes[h->job.node_of[rank]].state != NODE_UP ||
        h->ranks[rank] == RANK_DEAD) {
        answer(h, node, SAY_MODEX_DONE, id, ERROR_NOT_FOUND, "", 0);
        return;
    }
    struct asked *a = launcher_memory(NULL, sizeof *a);
    *a = (struct asked){h->asked, ++h->next_asked, id, node, h->job.node_of[rank]};
    h->asked = a;
    struct wire w = {0};
    wire_put_u32(&w, a->id);
    wire_put_u32(&w, rank);
    link_send(&h->nodes[a->owner].link, SAY_MODEX_ASK, &w);
    wire_free(&w);
}

void gather_give(struct head *h, uint32_t node, struct wire_reader *r)
{
    size_t size;
    uint32_t id = wire_get_u32(r), error = wire_get_u32(r);
    const void *bytes = wire_get_bytes(r, &size);
    for (struct asked **p = &h->asked, *a; (a = *p); p = &a->next)
        if (a->id == id && a->owner == node) {
            answer(h, a->asker, SAY_MODEX_DONE, a->theirs, error, bytes, size);
            *p = a->next;
            free(a);
            return;
        }
}

/* A node is lost: whoever waits for it gets an error, and nothing waits for its lookups. */
void gather_lost(struct head *h, uint32_t node)
{
    for (struct asked **p = &h->asked, *a; (a = *p);) {
        if (a->owner != node && a->asker != node) {
            p = &a->next;
            continue;
        }
        if (a->owner == node)
            answer(h, a->asker, SAY_MODEX_DONE, a->theirs, ERROR_NOT_FOUND, "", 0);
        *p = a->next;
        free(a);
    }
    for (struct wanted **p = &h->wanted, *w; (w = *p);) {
        if (w->node != node) {
            p = &w->next;
            continue;
        }
        *p = w->next;
        free(w->key);
        free(w);
    }
    gather_check(h);
}

/* ---- names ----------------------------------------------------------------------------------- */

struct name {
    struct name *next;
    char *key;
    void *value;
    size_t size;
    bool once; /* one reader takes it */
};

static struct name **find_name(struct head *h, const char *key, size_t *before)
{
    struct name **p = &h->names;
    for (*before = 0; *p && strcmp((*p)->key, key) != 0; p = &(*p)->next)
        ++*before;
    return p;
}

static void forget_name(struct name **p)
{
    struct name *gone = *p;
    *p = gone->next;
    free(gone->key);
    free(gone->value);
    free(gone);
}

/* Answer the lookups that wait for this name; without a name, tell those that begin with `prefix` that it will never
 * come. True: the only reader has the name. */
static bool serve_wanted(struct head *h, const char *prefix, const struct name *name)
{
    for (struct wanted **p = &h->wanted, *w; (w = *p);) {
        if (name ? strcmp(w->key, name->key) != 0 : strncmp(w->key, prefix, strlen(prefix)) != 0) {
            p = &w->next;
            continue;
        }
        answer(h, w->node, SAY_GOT, w->id, name ? 0 : ERROR_NOT_FOUND, name ? name->value : "",
               name ? name->size : 0);
        *p = w->next;
        free(w->key);
        free(w);
        if (name && name->once)
            return true;
    }
    return false;
}

void gather_dropped(struct head *h, const char *port)
{
    serve_wanted(h, port, NULL);
}

static void put_name(struct head *h, uint32_t node, uint32_t id, const char *key,
                     struct wire_reader *r)
{
    enum { NAMES_MAX = 65536 };
    size_t size, count;
    const char *ours;
    const char *value = wire_get_bytes(r, &size);
    bool once = wire_get_u32(r);
    if (r->bad || size == 0)
        return;
    bool text = value[0] == 't' && value[size - 1] == 0;
    if (fill_name(h, SAY_PUT, key, text ? value + 1 : "", &ours)) {
        answer(h, node, SAY_GOT, id, 0, "", 0);
        return;
    }
    struct name **p = find_name(h, key, &count);
    if (!*p && count < NAMES_MAX) {
        *p = launcher_memory(NULL, sizeof **p);
        **p = (struct name){.key = copy_of(key, strlen(key) + 1)};
    }
    answer(h, node, SAY_GOT, id, *p ? 0 : ERROR_NOT_FOUND, "", 0);
    if (!*p)
        return;
    free((*p)->value);
    (*p)->value = copy_of(value, size);
    (*p)->size = size;
    (*p)->once = once;
    if (serve_wanted(h, "", *p))
        forget_name(p);
}

static void get_name(struct head *h, uint32_t node, uint32_t id, const char *key, uint32_t how)
{
    size_t count;
    const char *text;
    if (fill_name(h, SAY_GET, key, NULL, &text)) {
        struct wire w = {0};
        wire_put_bare(&w, "t", 1);
        wire_put_bare(&w, text, text ? strlen(text) + 1 : 0);
        answer(h, node, SAY_GOT, id, text ? 0 : ERROR_NOT_FOUND, w.bytes, text ? w.size : 0);
        wire_free(&w);
        return;
    }
    struct name **p = find_name(h, key, &count);
    if (!*p && how == NAME_WAIT) {
        struct wanted *w = launcher_memory(NULL, sizeof *w);
        *w = (struct wanted){h->wanted, node, id, copy_of(key, strlen(key) + 1)};
        h->wanted = w;
        return;
    }
    answer(h, node, SAY_GOT, id, *p ? 0 : ERROR_NOT_FOUND, *p ? (*p)->value : "",
           *p ? (*p)->size : 0);
    if (*p && (how == NAME_TAKE || (*p)->once))
        forget_name(p);
}

void gather_name(struct head *h, uint32_t node, uint32_t kind, struct wire_reader *r)
{
    uint32_t id = wire_get_u32(r);
    const char *key = wire_get_text(r);
    if (r->bad)
        return;
    if (kind == SAY_PUT)
        put_name(h, node, id, key, r);
    else
        get_name(h, node, id, key, wire_get_u32(r));
}
