/* Each request is a line "cmd=NAME KEY=VALUE …", and so is each answer.
 *
 *  1. init, get_maxes, get_my_kvsname, get_appnum, get_universe_size: answered here.
 *  2. put      Keeps a pair here, and for the other nodes until the next barrier.
 *  3. barrier  When all living ranks of the node have entered, their pairs go to the head as a fence. When all nodes
 *              have sent theirs, the head sends all pairs to all nodes, and the ranks continue. Two messages for each
 *              node.
 *  4. get      Answered here: every node has what was put before the last barrier.
 *  5. names    The head handles publish, lookup and unpublish, as it does for PMIx.
 *  6. spawn    Refused, with a message.
 *  7. finalize, abort. A closed socket means nothing.
 *
 * If a rank writes anything else, we close its socket, and its MPI library then ends it. A death before the barrier
 * is complete ends the job, and the barrier with it: Mend does not repair these ranks in place.
 */
#include "pmi/pmi.h"

#include "node.h"
#include "pmi/space.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { LINE_MAX_SIZE = 1 << 16, VALUE_MAX_SIZE = 1024 };

struct client {
    int fd;
    struct wire line; /* an incomplete line */
    bool in_barrier, said_goodbye, spawns;
};
struct question { /* to the head, about a name */
    struct question *next;
    uint32_t id, local;
    const char *answer;
};
struct pmi {
    struct client *clients; /* [n->count] */
    struct pmi_space space;
    struct wire fresh; /* pairs since the last barrier */
    uint32_t inside;   /* clients in the barrier, until we send it */
    uint32_t next_id;
    struct question *questions;
};

/* ---- lines ----------------------------------------------------------------------------------- */

static void hang_up(struct client *c)
{
    if (c->fd >= 0)
        close(c->fd);
    c->fd = -1;
    wire_free(&c->line);
}

/* A rank waits for one answer at a time, and its socket has room for one. */
static void reply(struct client *c, const char *text)
{
    char line[VALUE_MAX_SIZE + 256];
    int size = snprintf(line, sizeof line, "%s\n", text);
    if (c->fd >= 0 && (size >= (int)sizeof line ||
                       send(c->fd, line, (size_t)size, MSG_NOSIGNAL | MSG_DONTWAIT) != size))
        hang_up(c);
}

/* ---- barriers -------------------------------------------------------------------------------- */

static void send_barrier(struct node *n)
{
    struct pmi *p = n->pmi;
    uint32_t living = 0;
    struct wire who = {0}, fence = {0};
    for (uint32_t i = 0; i < n->count; i++)
        living += n->ranks[i].pid > 0 && !p->clients[i].said_goodbye;
    if (p->inside == 0 || p->inside < living)
        return;
    wire_put_u32(&who, 1);
    wire_put_u32(&who, UINT32_MAX); /* all ranks */
    wire_put_text(&who, "");
    wire_put_u32(&fence, ++p->next_id);
    wire_put_bytes(&fence, who.bytes, who.size);
    wire_put_bytes(&fence, p->fresh.bytes, p->fresh.size);
    link_send(&n->head, SAY_FENCE, &fence);
    wire_free(&who);
    wire_free(&fence);
    wire_free(&p->fresh);
    p->inside = 0;
}

static void enter_barrier(struct node *n, uint32_t local, const char *line)
{
    (void)line;
    struct client *c = &n->pmi->clients[local];
    n->pmi->inside += !c->in_barrier;
    c->in_barrier = true;
    send_barrier(n);
}

static void leave_barrier(struct node *n, struct wire_reader *r)
{
    size_t size;
    uint32_t error = wire_get_u32(r);
    const void *bytes = wire_get_bytes(r, &size);
    struct wire_reader pairs = {bytes, size, false};
    while (pairs.left > 0 && !pairs.bad) {
        const char *key = wire_get_text(&pairs), *value = wire_get_text(&pairs);
        if (!pairs.bad)
            pmi_keep(&n->pmi->space, key, value);
    }
    for (uint32_t i = 0; i < n->count; i++)
        if (n->pmi->clients[i].in_barrier) {
            n->pmi->clients[i].in_barrier = false;
            reply(&n->pmi->clients[i],
                  error ? "cmd=barrier_out rc=-1 msg=a_rank_is_dead" : "cmd=barrier_out rc=0");
        }
}

/* ---- names ----------------------------------------------------------------------------------- */

static void ask_head(struct node *n, uint32_t local, const char *line, uint32_t kind,
                     const char *answer, uint32_t take)
{
    char service[VALUE_MAX_SIZE], port[VALUE_MAX_SIZE] = "";
    struct wire w = {0};
    if (!pmi_field(line, "service", false, service, sizeof service) ||
        (kind == SAY_PUT && !pmi_field(line, "port", false, port, sizeof port))) {
        hang_up(&n->pmi->clients[local]);
        return;
    }
    struct question *q = launcher_memory(NULL, sizeof *q);
    *q = (struct question){n->pmi->questions, ++n->pmi->next_id, local, answer};
    n->pmi->questions = q;
    wire_put_u32(&w, q->id);
    wire_put_text(&w, service);
    if (kind == SAY_PUT) { /* one letter for the type, as in server_calls.c */
        struct wire value = {0};
        wire_put_bare(&value, "t", 1);
        wire_put_bare(&value, port, strlen(port) + 1);
        wire_put_bytes(&w, value.bytes, value.size);
        wire_free(&value);
        take = 0; /* for any number of readers */
    }
    wire_put_u32(&w, take);
    link_send(&n->head, kind, &w);
    wire_free(&w);
}

static void publish(struct node *n, uint32_t local, const char *line)
{
    ask_head(n, local, line, SAY_PUT, "publish_result", 0);
}

static void look_up(struct node *n, uint32_t local, const char *line)
{
    ask_head(n, local, line, SAY_GET, "lookup_result", 0);
}

static void unpublish(struct node *n, uint32_t local, const char *line)
{
    ask_head(n, local, line, SAY_GET, "unpublish_result", NAME_TAKE);
}

static void answer_question(struct node *n, uint32_t id, struct wire_reader *r)
{
    size_t size;
    char text[VALUE_MAX_SIZE + 128];
    uint32_t error = wire_get_u32(r);
    const char *bytes = wire_get_bytes(r, &size);
    for (struct question **p = &n->pmi->questions, *q; (q = *p); p = &q->next)
        if (q->id == id) {
            bool port = size > 1 && bytes[0] == 't' && bytes[size - 1] == 0;
            snprintf(text, sizeof text, "cmd=%s rc=%d %s%s%s", q->answer, error ? -1 : 0,
                     error ? "msg=no_such_name" : "msg=success", port ? " port=" : "",
                     port ? bytes + 1 : "");
            reply(&n->pmi->clients[q->local], text);
            *p = q->next;
            free(q);
            return;
        }
}

/* ---- questions that are answered here -------------------------------------------------------- */

static void greet(struct node *n, uint32_t local, const char *line)
{
    char version[16] = "";
    pmi_field(line, "pmi_version", false, version, sizeof version);
    reply(&n->pmi->clients[local],
          strcmp(version, "1") == 0 ? "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0"
                                    : "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=-1");
}

static void tell_limits(struct node *n, uint32_t local, const char *line)
{
    (void)line;
    reply(&n->pmi->clients[local], "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024 rc=0");
}

static void tell_appnum(struct node *n, uint32_t local, const char *line)
{
    (void)line;
    reply(&n->pmi->clients[local], "cmd=appnum appnum=0 rc=0");
}

static void tell_space(struct node *n, uint32_t local, const char *line)
{
    (void)line;
    char text[256];
    snprintf(text, sizeof text, "cmd=my_kvsname kvsname=%.100s rc=0", n->job.name);
    reply(&n->pmi->clients[local], text);
}

static void tell_size(struct node *n, uint32_t local, const char *line)
{
    (void)line;
    char text[64];
    snprintf(text, sizeof text, "cmd=universe_size size=%u rc=0", n->job.ranks);
    reply(&n->pmi->clients[local], text);
}

static void put(struct node *n, uint32_t local, const char *line)
{
    char key[256], value[VALUE_MAX_SIZE + 1];
    if (!pmi_field(line, "key", false, key, sizeof key) ||
        !pmi_field(line, "value", true, value, sizeof value)) {
        reply(&n->pmi->clients[local], "cmd=put_result rc=-1 msg=too_long");
        return;
    }
    pmi_keep(&n->pmi->space, key, value);
    wire_put_text(&n->pmi->fresh, key);
    wire_put_text(&n->pmi->fresh, value);
    reply(&n->pmi->clients[local], "cmd=put_result rc=0 msg=success");
}

static void get(struct node *n, uint32_t local, const char *line)
{
    char key[256], text[VALUE_MAX_SIZE + 128];
    const char *value =
        pmi_field(line, "key", false, key, sizeof key) ? pmi_find(&n->pmi->space, key) : NULL;
    if (value)
        snprintf(text, sizeof text, "cmd=get_result rc=0 msg=success value=%s", value);
    else
        snprintf(text, sizeof text, "cmd=get_result rc=-1 msg=not_found value=unknown");
    reply(&n->pmi->clients[local], text);
}

static void finalize(struct node *n, uint32_t local, const char *line)
{
    (void)line;
    n->pmi->clients[local].said_goodbye = true;
    reply(&n->pmi->clients[local], "cmd=finalize_ack rc=0");
    send_barrier(n);
}

static void abort_job(struct node *n, uint32_t local, const char *line)
{
    char code[32] = "1";
    struct wire w = {0};
    pmi_field(line, "exitcode", false, code, sizeof code);
    n->ranks[local].leaves = true;
    wire_put_u32(&w, n->ranks[local].rank);
    wire_put_u32(&w, (uint32_t)atol(code));
    wire_put_text(&w, "");
    link_send(&n->head, SAY_ABORT, &w);
    wire_free(&w);
}

static const struct {
    const char *name;
    void (*answer)(struct node *n, uint32_t local, const char *line);
} commands[] = {{"init", greet},
                {"get_maxes", tell_limits},
                {"get_appnum", tell_appnum},
                {"get_my_kvsname", tell_space},
                {"get_universe_size", tell_size},
                {"put", put},
                {"get", get},
                {"barrier_in", enter_barrier},
                {"publish_name", publish},
                {"lookup_name", look_up},
                {"unpublish_name", unpublish},
                {"finalize", finalize},
                {"abort", abort_job}};

/* 6. A spawn request has several lines; "endcmd" is the last. */
static void refuse_spawn(struct node *n, uint32_t local, const char *line)
{
    struct client *c = &n->pmi->clients[local];
    c->spawns = strcmp(line, "endcmd") != 0;
    if (c->spawns)
        return;
    fprintf(stderr,
            "mend-node: rank %u calls MPI_Comm_spawn, which Mend's launcher does not support for "
            "MPICH's ranks\n",
            n->ranks[local].rank);
    reply(c, "cmd=spawn_result rc=-1 msg=not_offered errcodes=-1");
}

static void hear_line(struct node *n, uint32_t local, const char *line)
{
    char name[32] = "";
    if (n->pmi->clients[local].spawns || strncmp(line, "mcmd=spawn", 10) == 0) {
        refuse_spawn(n, local, line);
        return;
    }
    pmi_field(line, "cmd", false, name, sizeof name);
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (strcmp(commands[i].name, name) == 0) {
            commands[i].answer(n, local, line);
            return;
        }
    fprintf(stderr, "mend-node: rank %u sent the unknown PMI command %.40s\n", n->ranks[local].rank,
            name[0] ? name : line);
    hang_up(&n->pmi->clients[local]);
}

/* ---- what node.c calls ----------------------------------------------------------------------- */

void pmi_open(struct node *n)
{
    char mapping[VALUE_MAX_SIZE];
    struct pmi *p = n->pmi = launcher_memory(NULL, sizeof *p);
    *p = (struct pmi){.clients = launcher_memory(NULL, n->count * sizeof *p->clients)};
    for (uint32_t i = 0; i < n->count; i++)
        p->clients[i] = (struct client){.fd = -1};
    pmi_mapping(&n->job, mapping, sizeof mapping);
    if (mapping[0]) /* else the ranks find out from the host names */
        pmi_keep(&p->space, "PMI_process_mapping", mapping);
}

int pmi_socket(struct node *n, uint32_t local)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
        return -1;
    n->pmi->clients[local].fd = ends[0];
    return ends[1];
}

int pmi_source(const struct node *n, uint32_t local)
{
    return n->pmi->clients[local].fd;
}

void pmi_hear(struct node *n, uint32_t local)
{
    struct client *c = &n->pmi->clients[local];
    char bytes[4096];
    ssize_t size = recv(c->fd, bytes, sizeof bytes, MSG_DONTWAIT);
    if (size < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (size <= 0 || c->line.size + (size_t)size > LINE_MAX_SIZE) {
        hang_up(c);
        return;
    }
    wire_put_bare(&c->line, bytes, (size_t)size);
    for (char *end;
         c->fd >= 0 && c->line.size > 0 && (end = memchr(c->line.bytes, '\n', c->line.size));) {
        size_t length = (size_t)(end - (char *)c->line.bytes);
        char *line = launcher_memory(NULL, length + 1);
        memcpy(line, c->line.bytes, length);
        line[length] = 0;
        c->line.size -= length + 1;
        memmove(c->line.bytes, end + 1, c->line.size);
        hear_line(n, local, line);
        free(line);
    }
}

void pmi_answer(struct node *n, uint32_t kind, struct wire_reader *r)
{
    uint32_t id = wire_get_u32(r);
    if (kind == SAY_FENCED)
        leave_barrier(n, r);
    else if (kind == SAY_GOT)
        answer_question(n, id, r);
}

void pmi_ended(struct node *n, uint32_t local)
{
    struct client *c = &n->pmi->clients[local];
    n->pmi->inside -= c->in_barrier && n->pmi->inside > 0;
    c->in_barrier = false;
    hang_up(c);
    send_barrier(n);
}

bool pmi_said_goodbye(const struct node *n, uint32_t local)
{
    return n->pmi->clients[local].said_goodbye;
}
