/* request.c - requests: completion. */
#include "messages/messages.h"
#include <stdlib.h>
#include <string.h>

void slab_new(void)
{
    struct slab *s;
    if (posix_memalign((void **)&s, CACHE_LINE, sizeof *s)) {
        file_say("no memory for requests", "");
        abort();
    }
    memset(s, 0, sizeof *s);
    for (int i = 0; i < SLAB; i++)
        object_adopt(&s->at[i].object, KIND_REQ);
    for (int i = SLAB - 1; i >= 0; i--) {
        s->at[i].object.next = books.spare;
        books.spare = &s->at[i].object;
    }
    s->next = books.slabs;
    books.slabs = s;
}

const struct status empty_status = {NEUTRAL_ANY_SOURCE, NEUTRAL_ANY_TAG, 0, 0, 0};
/* The standard leaves the status of a send undefined; these are Open MPI's values. */
static const struct status sent_status = {NEUTRAL_PROC_NULL, NEUTRAL_ANY_TAG, 0, 0, 0};

struct books books;

/* Drop what a request holds before it is retired. */
static void let_go(object *r)
{
    if (!r->req.type->predefined)
        unref_type(r->req.type);
    if (!r->req.comm->predefined)
        unref_comm(r->req.comm);
    extra_free(r);
}

static void retire(object *r)
{
    if (r == books.sent)
        return;
    if (r->req.holds)
        let_go(r);
    r->req.error = 0;
    r->req.orphan = 0;
    r->req.live = 0;
    r->next = books.spare;
    books.spare = r;
}

void retire_request(object **h)
{
    retire(*h);
    *h = predef[PRE_MPI_REQUEST_NULL];
}

object *spare_request(void)
{
    if (books.orphans && books.made % 256 == 0)
        EACH_REQUEST (r)
            if (r->req.orphan && request_poll(r)) {
                books.orphans--;
                retire(r);
            }
    books_changed();
    if (!books.spare)
        slab_new();
    return books.spare;
}

object *sent_request(handle_t real, const void *b, int n, object *t, int dest, int tag, object *c)
{
    if (real == upper.lower->sent_at_once)
        return books.sent;
    object *r = new_request(0, (void *)b, n, t, dest, tag, c);
    r->real = real;
    return r;
}

void requests_init(void)
{
    slab_new();
    books.sent = books.spare;
    books.spare = books.sent->next;
    books.sent->req.live = books.sent->req.done = 1;
    books.sent->req.status = sent_status;
}

void begin_later(void)
{
    struct posting *first = upper.later;
    upper.later = NULL;
    upper.later_end = &upper.later;
    LOWER_VOID(begin_receives, first);
}

int request_idle(const object *r)
{
    return r == predef[PRE_MPI_REQUEST_NULL] || special_inactive(r);
}
static inline int is_null(const object *r)
{
    return r == predef[PRE_MPI_REQUEST_NULL] || (r->req.special && special_inactive(r));
}

static void completed(object *r)
{
    r->req.done = 1;
    if (r->req.is_recv)
        count_recv(r->req.comm, &r->req.status);
}

int request_poll(object *r)
{
    if (r->req.special)
        return special_poll(r, NULL);
    if (!r->req.done) {
        int flag, rc = LOWER(Test, &r->real, &flag, &r->req.status);
        if (flag || rc) {
            r->req.error = rc;
            completed(r);
        }
    }
    return r->req.done;
}

/* The world rank for which a request waits. */
static int awaited(const object *r)
{
    return r->req.is_recv && r->req.peer >= 0 ? r->req.comm->comm.peers[r->req.peer]
                                              : WAITING_FOR_ANY;
}

enum { BATCH = 128 }; /* requests per call of the lower half */

/* A run of messages received from the same rank. */
struct run { /* comm NULL: none */
    const object *comm;
    int source;
    long n;
};
static inline void run_end(const struct run *run)
{
    if (run->comm && run->source >= 0)
        upper.received_from[run->comm->comm.peers[run->source]] += run->n;
}
static inline void run_add(struct run *run, const object *comm, int source)
{
    if (__builtin_expect(comm != run->comm || source != run->source, 0)) {
        run_end(run);
        *run = (struct run){comm, source, 0};
    }
    run->n++;
}

/* Not all requests could be finished: keep the lower half's result for each, and mark the complete
 * ones. */
static void note_unfinished(int n, object **r, const handle_t *real, const struct status *status,
                            int failed)
{
    handle_t gone = predef[PRE_MPI_REQUEST_NULL]->real;
    for (int k = 0; k < n; k++) {
        r[k]->real = real[k];
        if (real[k] != gone)
            continue;
        r[k]->req.status = status ? status[k] : (struct status){.source = r[k]->req.peer};
        r[k]->req.error = status ? status[k].error : failed;
        completed(r[k]);
    }
}

static inline void retire_all(int n, object **open, const struct status *status)
{
    struct run run = {NULL, 0, 0};
    object *spare = books.spare;
    for (int k = 0; k < n; k++) {
        object *r = open[k];
        if (__builtin_expect(r->req.is_recv, 1))
            run_add(&run, r->req.comm, status ? status[k].source : r->req.peer);
        if (__builtin_expect(r->req.holds, 0)) {
            run_end(&run); /* let_go() may free the communicator */
            run = (struct run){NULL, 0, 0};
            let_go(r);
        }
        r->req.live = 0;
        r->next = spare;
        spare = r;
    }
    books.spare = spare;
    run_end(&run);
}

/* Try to finish several requests in one call of the lower half. Returns 1 if all are finished and null,
 * 0 if none is finished; the complete ones are marked then.
 *
 * Every instruction in here counts: it runs once per request.
 */
static inline __attribute__((always_inline)) int finish_quickly(int n, object **h,
                                                                struct status *st)
{
    object *null = predef[PRE_MPI_REQUEST_NULL], *sent = books.sent, *open[BATCH];
    handle_t real[BATCH];
    struct status status[BATCH];
    int count = 0, learn = st != NULL;
    for (int i = 0; i < n; i++) {
        object *r = h[i];
        if (r == sent)
            continue;
        if (__builtin_expect(r->req.done, 0)) { /* also set in null and special requests */
            if (r == null)
                continue;
            return 0;
        }
        learn |= r->req.peer == NEUTRAL_ANY_SOURCE;
        open[count] = r;
        real[count++] = r->real;
    }
    if (count) {
        int rc = LOWER(waitall_or_stop, count, real, status, learn);
        if (__builtin_expect(rc != WAITALL_DONE, 0)) {
            note_unfinished(count, open, real, learn ? status : NULL, rc);
            return 0;
        }
        retire_all(count, open, learn ? status : NULL);
    }
    for (int i = 0, k = 0; i < n; i++) {
        if (st)
            st[i] = h[i] == sent ? sent_status : h[i] == null ? empty_status : status[k++];
        h[i] = null;
    }
    return 1;
}

/* Wait for up to BATCH requests. A checkpoint may happen inside. */
static void wait_batch(int n, object **requests, int want_status)
{
    for (;;) {
        struct wait_item item[BATCH];
        object *open[BATCH];
        int count = 0;
        for (int i = 0; i < n; i++) {
            object *r = requests[i];
            if (is_null(r) || r->req.special || r->req.done)
                continue;
            int ignore = !want_status && !(r->req.is_recv && r->req.peer == NEUTRAL_ANY_SOURCE);
            r->req.status.source = r->req.peer;
            open[count] = r;
            item[count++] =
                (struct wait_item){&r->real, ignore ? NULL : &r->req.status, awaited(r), 0};
        }
        if (!count)
            return;
        int done = LOWER(wait_or_stop, count, item);
        for (int i = 0; i < done && i < count; i++) {
            open[i]->req.error = item[i].error;
            completed(open[i]);
        }
        if (done < count)
            stop_now();
    }
}

static inline int finish(object **h, struct status *st)
{
    object *r = *h;
    if (r->req.special)
        return special_finish(h, st);
    int rc = r->req.error;
    tell_status(st, &r->req.status);
    if (__builtin_expect(rc, 0))
        request_failed(rc, r->req.comm);
    retire(r);
    *h = predef[PRE_MPI_REQUEST_NULL];
    return rc;
}

static void wait_one(object *r, int want_status)
{
    while (!r->req.done && !r->req.special) {
        int learn = want_status || (r->req.is_recv && r->req.peer == NEUTRAL_ANY_SOURCE);
        struct wait_item item = {&r->real, learn ? &r->req.status : NULL, awaited(r), 0};
        r->req.status.source = r->req.peer;
        if (!LOWER(wait_or_stop, 1, &item)) {
            stop_now();
            continue;
        }
        r->req.error = item.error;
        completed(r);
    }
}

int core_Wait(object **h, struct status *st)
{
    if (is_null(*h)) {
        tell_empty(st);
        return 0;
    }
    while (special_waits(*h))
        wait_turn(COMM_SELF, NEUTRAL_ANY_SOURCE);
    wait_one(*h, st != NULL);
    return finish(h, st);
}

int core_Test(object **h, int *flag, struct status *st)
{
    *flag = 1;
    if (is_null(*h)) {
        tell_empty(st);
        return 0;
    }
    *flag = request_poll(*h);
    return *flag ? finish(h, st) : 0;
}

static int finish_slowly(int n, object **h, struct status *st)
{
    int rc = 0;
    wait_batch(n, h, st != NULL);
    for (int i = 0; i < n; i++) {
        struct status *one = st ? &st[i] : NULL;
        int error = h[i]->req.special || is_null(h[i]) ? core_Wait(&h[i], one) : finish(&h[i], one);
        if (one)
            one->error = error;
        if (error)
            rc = NEUTRAL_MPI_ERR_IN_STATUS;
    }
    return rc;
}

int core_Waitall(int n, object **h, struct status *st)
{
    int rc = 0;
    for (int at = 0; at < n; at += BATCH) {
        int part = n - at < BATCH ? n - at : BATCH;
        if (st ? finish_quickly(part, h + at, st + at) : finish_quickly(part, h + at, NULL))
            continue;
        int error = finish_slowly(part, h + at, st ? st + at : NULL);
        if (error)
            rc = error;
    }
    return rc;
}

int core_Testall(int n, object **h, int *flag, struct status *st)
{
    *flag = 1;
    for (int i = 0; i < n; i++)
        if (!is_null(h[i]) && !request_poll(h[i]))
            *flag = 0;
    return *flag ? core_Waitall(n, h, st) : 0;
}

int core_Testany(int n, object **h, int *index, int *flag, struct status *st)
{
    int any = 0;
    for (int i = 0; i < n; i++)
        if (!is_null(h[i])) {
            any = 1;
            if (request_poll(h[i])) {
                *index = i;
                *flag = 1;
                return finish(&h[i], st);
            }
        }
    *index = NEUTRAL_UNDEFINED;
    *flag = !any;
    if (!any)
        tell_empty(st);
    return 0;
}

int core_Waitany(int n, object **h, int *index, struct status *st)
{
    int flag, rc;
    for (;;) {
        rc = core_Testany(n, h, index, &flag, st);
        if (flag || rc)
            break;
        wait_turn(COMM_SELF, NEUTRAL_ANY_SOURCE);
    }
    return rc;
}

int core_Waitsome(int n, object **h, int *count, int *indices, struct status *st)
{
    int rc;
    for (;;) {
        rc = core_Testsome(n, h, count, indices, st);
        if (*count || rc)
            break;
        wait_turn(COMM_SELF, NEUTRAL_ANY_SOURCE);
    }
    return rc;
}

int core_Request_free(object **h)
{
    object *r = *h;
    if (r == predef[PRE_MPI_REQUEST_NULL])
        return NEUTRAL_MPI_ERR_REQUEST;
    if (r->req.special)
        return special_free(h);
    *h = predef[PRE_MPI_REQUEST_NULL];
    if (request_poll(r)) {
        retire(r);
    } else {
        r->req.orphan = 1;
        books.orphans++;
        books_changed();
    }
    return 0;
}
