/* Whatever authenticated nodes say to the head, in any order, while it starts new processes and gives nodes up. What
 * comes of it must be consistent, whoever lies. */
#include <poll.h>
#include <unistd.h>

#define find find_fence
#include "head/gather.c"
#undef find
#define find find_fill
#include "head/fill.c"
#undef find
#define find find_absent
#include "head/later.c"
#undef find
#define NO_NODE NOBODY
#define write(fd, bytes, size) \
    ((void)(fd), (void)(bytes), (ssize_t)((size) / 2 + 1)) /* readers are slow */
#define poll(fds, count, wait) ((void)(fds), 1)
#include "head/streams.c"
#undef NO_NODE
#undef write
#undef poll
#include "head/head.c"
#include "head/hear.c"
#include "head/silence.c"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

/* ---- nobody is started ----------------------------------------------------------------------- */

bool start_all(struct head *h)
{
    return h != NULL;
}
bool start_later(struct head *h, uint32_t node)
{
    return h->hosts.slots[node] % 2;
}
void start_accept(struct head *h)
{
    (void)h;
}
void start_hear(struct head *h, struct newcomer *c)
{
    (void)h;
    (void)c;
}
void start_hear_scout(struct head *h)
{
    (void)h;
}
void start_tick(struct head *h, double now)
{
    (void)h;
    (void)now;
}
void folders_sweep(void)
{
}

/* ---- a head ---------------------------------------------------------------------------------- */

static unsigned char take(const unsigned char **data, size_t *size)
{
    if (*size == 0)
        return 0;
    --*size;
    return *(*data)++;
}

static void begin_head(struct head *h, const unsigned char **data, size_t *size)
{
    enum { NO_FD = 100000 }; /* what is sent stays in the links */
    static char *nothing[] = {NULL};
    unsigned char first = take(data, size), second = take(data, size);
    uint32_t nodes = 1 + first % 4;
    *h = (struct head){.report = 3, .listener = -1, .scout.answer = -1, .retry = first / 64};
    for (uint32_t i = 0; i < nodes; i++)
        hosts_append(&h->hosts, (const char *[]){"a", "b", "c", "d"}[i], 1 + second % 8);
    h->tell = first & 16;
    h->keep = first & 32 ? second % 16 : 0;
    h->job.name = launcher_text("job");
    h->job.folder = launcher_text("/");
    h->job.ranks = h->job.processes = h->left = 1 + second / 16;
    h->job.nodes = nodes;
    h->job.node_names = h->hosts.name;
    h->job.timeout_ms = 5000;
    h->job.node_of = hosts_place(&h->hosts, h->job.ranks);
    h->job.program = h->job.environment = nothing;
    h->ranks = calloc(h->job.ranks, sizeof *h->ranks);
    h->nodes = calloc(nodes, sizeof *h->nodes);
    if (!h->ranks || !h->nodes)
        abort();
    for (uint32_t i = 0; i < nodes; i++) {
        h->nodes[i].here = i % 2 == 0;
        h->nodes[i].state = NODE_UP;
        link_open(&h->nodes[i].link, NO_FD, LINK_LIMIT);
    }
}

static void end_head(struct head *h)
{
    h->ending = true;
    h->job.processes = h->job.ranks; /* nobody is to be told */
    for (uint32_t i = 0; i < h->hosts.count; i++)
        link_close(&h->nodes[i].link);
    for (struct fence *f = h->fences; f; f = f->next)
        f->missing = 0;
    for (uint32_t i = 0; i < h->hosts.count; i++)
        h->nodes[i].state = NODE_BYE;
    sweep(h);
    for (struct asked *a; (a = h->asked); free(a))
        h->asked = a->next;
    for (struct wanted *w; (w = h->wanted); free(w)) {
        h->wanted = w->next;
        free(w->key);
    }
    while (h->names)
        forget_name(&h->names);
    for (struct absent *a; (a = h->absent); free(a)) {
        h->absent = a->next;
        free(a->name);
    }
}

static void free_head(struct head *h, uint32_t processes)
{
    end_head(h);
    for (uint32_t k = 0; k < processes - h->job.ranks; k++) {
        free(h->fills[k].added);
        free(h->fills[k].port);
    }
    free(h->fills);
    for (int i = 0; i < 2; i++) {
        wire_free(&h->out[i].bytes);
        free(h->out[i].owner);
        free(h->out[i].size);
    }
    wire_free(&h->reports);
    free(h->nodes);
    free(h->ranks);
    free(h->job.node_of);
    free(h->job.name);
    free(h->job.folder);
    hosts_free(&h->hosts);
}

/* ---- what must be true ----------------------------------------------------------------------- */

static void check(const struct head *h)
{
    uint32_t left = 0;
    for (uint32_t r = 0; r < h->job.processes; r++) {
        left += h->ranks[r] < RANK_DONE && fill_is_member(h, r);
        if (h->ranks[r] < RANK_DONE && h->nodes[h->job.node_of[r]].state == NODE_LOST)
            abort(); /* alive on a lost node */
    }
    if (left != h->left)
        abort();
    for (const struct fence *f = h->fences; f; f = f->next) {
        uint32_t missing = 0;
        for (uint32_t n = 0; n < f->nodes; n++)
            missing += f->brought[n].awaited && !f->brought[n].come;
        if (f->nodes != h->hosts.count || f->missing == 0 || f->missing > missing)
            abort(); /* it waits for nobody */
    }
    for (const struct asked *a = h->asked; a; a = a->next)
        if (h->nodes[a->owner].state == NODE_LOST)
            abort(); /* waits for a lost node */
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    enum { TICK = 64, LOSE, COME };
    struct head h;
    double now = launcher_clock();
    begin_head(&h, &data, &size);
    while (size > 0 && h.job.processes < 200 && h.hosts.count < 20) {
        unsigned char what = take(&data, &size), who = take(&data, &size);
        uint32_t node = who % h.hosts.count;
        if (what % 80 == TICK)
            fill_tick(&h, now += who);
        else if (what % 80 == LOSE)
            head_lose(&h, node, "silence");
        else if (what % 80 == COME && !h.ending) {
            later_tick(&h, now += who);
            for (uint32_t i = 0; i < h.hosts.count; i++)
                if (h.nodes[i].state == NODE_STARTING && who % 2)
                    send_job(&h, i);
        } else if (h.nodes[node].state == NODE_UP) {
            size_t length = take(&data, &size);
            length = length < size ? length : size;
            struct wire_reader r = {data, length, false};
            hear(&h, node, what % 40, &r);
            data += length;
            size -= length;
        }
        check(&h);
    }
    free_head(&h, h.job.processes);
    return 0;
}
