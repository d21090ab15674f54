/* arrived.c - the messages that a checkpoint has brought up, until the program receives them.
 *
 * A receive names a source and a tag, or leaves one or both open. So each message stands in four queues ("lines"), oldest
 * first: one for each of the four ways to match it. A receive looks only at the head of one line, however many messages there
 * are. A hash table finds the lines; an empty line is removed.
 */
#include "messages/messages.h"

#include <string.h>

enum { WAYS = 4, FIRST_BUCKETS = 64 };
struct line {
    struct line *next; /* in its bucket */
    const object *comm;
    int source, tag;
    struct message *first, *last;
};
struct place { /* position of a message in one of its lines */
    struct line *line;
    struct message *before, *behind;
};
struct message {
    object *comm;
    struct status status;
    struct place at[WAYS]; /* way & 1: names the source; way & 2: names the tag */
    char data[];
};
static struct {
    struct line **bucket;
    size_t buckets, lines;
} hall;

static size_t bucket_of(const object *c, int source, int tag)
{
    uint64_t h = (uint64_t)(uintptr_t)c;
    h = (h ^ (unsigned)source) * 0x9e3779b97f4a7c15u;
    h = (h ^ (unsigned)tag) * 0x9e3779b97f4a7c15u;
    return (h >> 32) & (hall.buckets - 1);
}

static struct line *find_line(const object *c, int source, int tag)
{
    struct line *l = hall.bucket ? hall.bucket[bucket_of(c, source, tag)] : NULL;
    while (l && (l->comm != c || l->source != source || l->tag != tag))
        l = l->next;
    return l;
}

static void put_into_bucket(struct line *l)
{
    struct line **b = &hall.bucket[bucket_of(l->comm, l->source, l->tag)];
    l->next = *b;
    *b = l;
}

static void more_buckets(void)
{
    struct line **old = hall.bucket;
    size_t n = old ? hall.buckets : 0;
    hall.buckets = old ? 4 * n : FIRST_BUCKETS;
    hall.bucket = keep_alloc(hall.buckets * sizeof *hall.bucket);
    memset(hall.bucket, 0, hall.buckets * sizeof *hall.bucket);
    for (size_t i = 0; i < n; i++)
        for (struct line *l = old[i], *next; l; l = next) {
            next = l->next;
            put_into_bucket(l);
        }
    if (old)
        keep_free(old);
}

static struct line *line_for(const object *c, int source, int tag)
{
    struct line *l = find_line(c, source, tag);
    if (l)
        return l;
    if (hall.lines >= hall.buckets)
        more_buckets();
    l = keep_alloc(sizeof *l);
    *l = (struct line){.comm = c, .source = source, .tag = tag};
    put_into_bucket(l);
    hall.lines++;
    return l;
}

static void close_line(struct line *l)
{
    struct line **p = &hall.bucket[bucket_of(l->comm, l->source, l->tag)];
    while (*p != l)
        p = &(*p)->next;
    *p = l->next;
    keep_free(l);
    if (--hall.lines)
        return;
    keep_free(hall.bucket);
    hall.bucket = NULL;
    hall.buckets = 0;
}

static void leave_lines(struct message *m)
{
    for (int way = 0; way < WAYS; way++) {
        struct place *p = &m->at[way];
        *(p->before ? &p->before->at[way].behind : &p->line->first) = p->behind;
        *(p->behind ? &p->behind->at[way].before : &p->line->last) = p->before;
        if (!p->line->first)
            close_line(p->line);
    }
    books.drained--;
    books_changed();
}

/* The oldest drained message that (source, tag, comm) matches. `take` removes it from all lines. */
struct message *find_drained(int source, int tag, const object *c, int take)
{
    struct line *l = find_line(c, source, tag);
    struct message *m = l ? l->first : NULL;
    if (m && take)
        leave_lines(m);
    return m;
}

struct message *new_message(size_t bytes)
{
    struct message *m = keep_alloc(sizeof *m + bytes);
    m->comm = NULL;
    return m;
}

void message_free(struct message *m)
{
    keep_free(m);
}

/* `m` is complete and goes to the end of its lines. */
void keep_drained(struct message *m, object *c)
{
    m->comm = c;
    c->refs++;
    for (int way = 0; way < WAYS; way++) {
        struct line *l = line_for(c, way & 1 ? m->status.source : NEUTRAL_ANY_SOURCE,
                                  way & 2 ? m->status.tag : NEUTRAL_ANY_TAG);
        m->at[way] = (struct place){l, l->last, NULL};
        *(l->last ? &l->last->at[way].behind : &l->first) = m;
        l->last = m;
    }
    books.drained++;
    books_changed();
}

void *message_data(struct message *m)
{
    return m->data;
}

struct status *message_status(struct message *m)
{
    return &m->status;
}

const struct status *drained_status(const struct message *m)
{
    return &m->status;
}

int deliver_drained(struct message *m, void *buf, int n, object *t, struct status *s)
{
    tell_status(s, &m->status);
    int rc = LOWER(self_copy, m->data, m->status.bytes, buf, n, t->real);
    if (m->comm)
        unref_comm(m->comm);
    keep_free(m);
    return rc;
}
