/* Fences: what each node brings goes to all of them. Data of one rank for another's node. Published names. */
#include "head.h"

#include <stdlib.h>
#include <string.h>

enum { ERROR_LOST = 61, ERROR_NOT_FOUND = 46 }; /* PMIx's numbers without their sign */

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
    uint32_t missing;        /* nodes */
    bool lost;
};

static void *copy_of(const void *bytes, size_t size)
{
    return memcpy(launcher_memory(NULL, size), bytes, size);
}

/* ---- fences ---------------------------------------------------------------------------------- */

/* How many nodes have a living rank in it and have not come; `lost`: one in it is dead. One pass over its ranks, at
 * its beginning and after a death. */
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
        for (uint32_t k = from; k < to && k < h->job.ranks; k++) {
            struct brought *b = &f->brought[h->job.node_of[k]];
            f->lost |= h->ranks[k] == RANK_DEAD;
            if (h->ranks[k] >= RANK_DONE || h->nodes[h->job.node_of[k]].state > NODE_UP ||
                b->come || b->awaited)
                continue;
            b->awaited = true;
            f->missing++;
        }
    }
}

static void complete(struct head *h, struct fence *f)
{
    struct wire all = {0};
    uint64_t number = ++h->next_number;
    h->fence_count++;
    for (uint32_t n = 0; n < h->hosts.count; n++)
        if (f->brought[n].come) {
            wire_put_bare(&all, f->brought[n].bytes, f->brought[n].size);
            h->fence_messages += 2; /* it has come, and it is answered */
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

/* Those that are complete go. */
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

/* The first one of these members to which the node has not come. */
static struct fence *find(struct head *h, uint32_t node, const void *who, size_t size)
{
    struct fence **p = &h->fences;
    for (; *p; p = &(*p)->next)
        if ((*p)->who_size == size && memcmp((*p)->who, who, size) == 0 &&
            !(*p)->brought[node].come)
            return *p;
    struct fence *f = launcher_memory(NULL, sizeof *f);
    *f = (struct fence){.who = copy_of(who, size), .who_size = size};
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
    f->missing -= f->brought[node].awaited;
    f->brought[node] = (struct brought){true, false, id, copy_of(bytes, size), size};
    sweep(h);
}

/* ---- data of one rank ------------------------------------------------------------------------ */

struct asked {
    struct asked *next;
    uint32_t id, theirs, asker, owner;
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
    if (r->bad || rank >= h->job.ranks || h->nodes[h->job.node_of[rank]].state != NODE_UP ||
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

/* The node is lost: who waits for it gets an error. */
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
    gather_check(h);
}

/* ---- names ----------------------------------------------------------------------------------- */

struct name {
    struct name *next;
    char *key;
    void *value;
    size_t size;
};

void gather_name(struct head *h, uint32_t node, uint32_t kind, struct wire_reader *r)
{
    enum { NAMES_MAX = 65536 };
    size_t size = 0, count = 0;
    uint32_t id = wire_get_u32(r);
    const char *key = wire_get_text(r);
    const void *value = kind == SAY_PUT ? wire_get_bytes(r, &size) : NULL;
    uint32_t take = kind == SAY_GET ? wire_get_u32(r) : 0;
    struct name **p = &h->names, *found;
    if (r->bad)
        return;
    for (; *p && strcmp((*p)->key, key) != 0; p = &(*p)->next)
        count++;
    found = *p;
    if (kind == SAY_PUT && !found && count < NAMES_MAX) {
        *p = found = launcher_memory(NULL, sizeof *found);
        *found = (struct name){NULL, copy_of(key, strlen(key) + 1), NULL, 0};
    }
    if (kind == SAY_PUT && found) {
        free(found->value);
        found->value = copy_of(value, size);
        found->size = size;
    }
    answer(h, node, SAY_GOT, id, found ? 0 : ERROR_NOT_FOUND, found ? found->value : "",
           found && kind == SAY_GET ? found->size : 0);
    if (take && found) {
        *p = found->next;
        free(found->key);
        free(found->value);
        free(found);
    }
}
