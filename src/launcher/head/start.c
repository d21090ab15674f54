/* Starts the nodes' daemons and authenticates those that connect.
 *
 *  1. On this machine the daemon is a child process, and its connection is a socket pair that nobody else can reach.
 *  2. For other machines the head listens on one address, the one from which packets to them leave.
 *  3. An agent (ssh, srun, or what the user names) runs `mend-node daemon` on each of them. The daemon's standard
 *     input gets one line: the address, the node's number, and a secret. The secret is on no command line and in no
 *     environment.
 *  4. The daemon connects and says hello. The head closes a connection that sends anything else, too many bytes, or
 *     nothing for a while. If there are too many newcomers, it closes the oldest.
 */
#include "head/head.h"

#include "node.h"

#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

extern char **environ;
static const double hello_time = 10; /* seconds */

/* ---- where we listen ------------------------------------------------------------------------- */

static bool set_port(struct sockaddr_storage *a, in_port_t port)
{
    if (a->ss_family == AF_INET)
        ((struct sockaddr_in *)a)->sin_port = port;
    else if (a->ss_family == AF_INET6)
        ((struct sockaddr_in6 *)a)->sin6_port = port;
    else
        return false;
    return true;
}

/* Our address as seen from `host`: the source address of packets to it. */
static bool address_towards(const char *host, struct sockaddr_storage *own, socklen_t *size)
{
    struct addrinfo hints = {.ai_socktype = SOCK_DGRAM}, *found;
    if (getaddrinfo(host, "9", &hints, &found))
        return false;
    int fd = socket(found->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    *size = sizeof *own;
    bool ok = fd >= 0 && connect(fd, found->ai_addr, found->ai_addrlen) == 0 &&
              getsockname(fd, (struct sockaddr *)own, size) == 0;
    if (fd >= 0)
        close(fd);
    freeaddrinfo(found);
    return ok;
}

static bool address_of_interface(const char *name, struct sockaddr_storage *own, socklen_t *size)
{
    struct ifaddrs *all, *i;
    bool ok = false;
    if (getifaddrs(&all))
        return false;
    for (i = all; i && !ok; i = i->ifa_next)
        if (i->ifa_addr && i->ifa_addr->sa_family == AF_INET && !strcmp(i->ifa_name, name)) {
            *size = sizeof(struct sockaddr_in);
            memcpy(own, i->ifa_addr, *size);
            ok = true;
        }
    freeifaddrs(all);
    return ok;
}

/* An address of ours, for a host to connect to. */
struct own_address {
    struct sockaddr_storage address;
    socklen_t size;
};

static bool find_address(const struct head *h, const char *host, struct own_address *own)
{
    return h->interface ? address_of_interface(h->interface, &own->address, &own->size)
                        : address_towards(host, &own->address, &own->size);
}

static bool listen_at(struct head *h, struct own_address *own)
{
    struct sockaddr *address = (struct sockaddr *)&own->address;
    set_port(&own->address, 0);
    h->listener = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (h->listener < 0 || bind(h->listener, address, own->size) || listen(h->listener, 1024) ||
        getsockname(h->listener, address, &own->size) ||
        getnameinfo(address, own->size, h->address, sizeof h->address, h->port, sizeof h->port,
                    NI_NUMERICHOST | NI_NUMERICSERV)) {
        head_say(h, "cannot listen for nodes: %s", strerror(errno));
        if (h->listener >= 0)
            close(h->listener);
        h->listener = -1; /* the next node tries again */
        return false;
    }
    return true;
}

/* ---- starting -------------------------------------------------------------------------------- */

static bool start_here(struct head *h, uint32_t i)
{
    int ends[2];
    struct head_node *n = &h->nodes[i];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
        return false;
    n->agent = fork();
    if (n->agent == 0) {
        setrlimit(RLIMIT_NOFILE, &h->files);
        for (uint32_t k = 0; k < h->hosts.count; k++)
            if (h->nodes[k].link.fd >= 0)
                close(h->nodes[k].link.fd);
        for (int k = 0; k < NEWCOMERS; k++)
            if (h->newcomers[k].link.fd >= 0)
                close(h->newcomers[k].link.fd);
        if (h->listener >= 0)
            close(h->listener);
        if (h->report >= 0)
            close(h->report);
        close(ends[0]);
        int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
        dup2(nothing, 0);
        node_serve(ends[1], i);
        _exit(0);
    }
    close(ends[1]);
    if (n->agent < 0) {
        close(ends[0]);
        return false;
    }
    link_open(&n->link, ends[0], LINK_LIMIT);
    return true;
}

static void become_agent(struct head *h, const char *host, int in)
{
    char *rest = NULL, own[4096], *agent = launcher_text(h->agent);
    char **word = launcher_memory(NULL, (strlen(agent) + 4) * sizeof *word);
    int count = 0;
    sigset_t none;
    ssize_t n = readlink("/proc/self/exe", own, sizeof own - 1);
    own[n > 0 ? n : 0] = 0;
    for (char *w = strtok_r(agent, " \t", &rest); w; w = strtok_r(NULL, " \t", &rest))
        word[count++] = w;
    word[count++] = (char *)host;
    word[count++] = own;
    word[count++] = (char *)"daemon";
    word[count] = NULL;
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    setrlimit(RLIMIT_NOFILE, &h->files);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setpgid(0, 0);
    dup2(in, 0);
    dup2(2, 1); /* the agent's messages are not the program's output */
    execvp(word[0], word);
    dprintf(2, "mend-node: cannot run %s: %s\n", word[0], strerror(errno));
    _exit(127);
}

static bool start_there(struct head *h, uint32_t i)
{
    struct head_node *n = &h->nodes[i];
    char line[512];
    int ends[2], size = snprintf(line, sizeof line, "mend 1 %s %s %u ", h->address, h->port, i);
    for (int k = 0; k < SECRET_SIZE; k++)
        size += snprintf(line + size, sizeof line - (size_t)size, "%02x", h->secret[k]);
    line[size++] = '\n';
    if (pipe2(ends, O_CLOEXEC))
        return false;
    bool ok = write(ends[1], line, (size_t)size) == size;
    n->agent = fork();
    if (n->agent == 0)
        become_agent(h, h->hosts.name[i], ends[0]);
    if (n->agent > 0) /* here as well: head_lose may end the group before the agent has made it */
        setpgid(n->agent, n->agent);
    close(ends[0]);
    close(ends[1]);
    return ok && n->agent > 0;
}

/* Is it this machine? If not, may its daemon have our path? */
static bool look_at(struct head *h, uint32_t i)
{
    char own[4096];
    ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
    own[length > 0 ? length : 0] = 0;
    h->nodes[i].began = launcher_clock();
    h->nodes[i].here = hosts_is_here(h->hosts.name[i]);
    if (h->nodes[i].here)
        return true;
    if (own[strcspn(own, " \t\"'$`\\;&|<>()*?~#")]) {
        head_say(h, "the path %s contains characters that a remote shell would interpret", own);
        return false;
    }
    return true;
}

/* Can it reach us? */
static bool find_way(struct head *h, uint32_t i)
{
    struct own_address own = {0};
    if (!look_at(h, i))
        return false;
    if (h->nodes[i].here || h->listener >= 0)
        return true;
    if (find_address(h, h->hosts.name[i], &own))
        return listen_at(h, &own);
    head_say(h, "%s %s", h->interface ? "no address of interface" : "no route to",
             h->interface ? h->interface : h->hosts.name[i]);
    return false;
}

/* While the job runs, the head must not wait for a name server: without its answers all nodes would end. So a child
 * process asks, and start_hear_scout() does the rest. */
static bool send_scout(struct head *h, uint32_t i)
{
    int ends[2];
    if (h->scout.answer >= 0) /* it is on its way; all others go when it is back */
        return true;
    if (pipe2(ends, O_CLOEXEC))
        return false;
    pid_t pid = fork();
    if (pid == 0) {
        struct own_address own = {0};
        sigset_t none;
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (uint32_t k = 0; k < h->hosts.count; k++)
            if (h->nodes[k].link.fd >= 0)
                close(h->nodes[k].link.fd);
        bool ok = find_address(h, h->hosts.name[i], &own);
        _exit(ok && write(ends[1], &own, sizeof own) == sizeof own ? 0 : 1);
    }
    close(ends[1]);
    if (pid < 0)
        close(ends[0]);
    else
        h->scout.pid = pid, h->scout.answer = ends[0], h->scout.node = i;
    return pid > 0;
}

static bool waits_for_scout(const struct head *h, uint32_t i)
{
    const struct head_node *n = &h->nodes[i];
    return n->state == NODE_STARTING && n->late && !n->here && n->agent == 0 && n->link.fd < 0;
}

void start_hear_scout(struct head *h)
{
    struct own_address own;
    bool ok = read(h->scout.answer, &own, sizeof own) == sizeof own && listen_at(h, &own);
    uint32_t asked = h->scout.node;
    close(h->scout.answer);
    h->scout.answer = -1;
    if (!ok && waits_for_scout(h, asked))
        head_lose(h, asked, "there is no route to it");
    for (uint32_t i = 0; i < h->hosts.count; i++)
        if (waits_for_scout(h, i) && !(ok ? start_there(h, i) : send_scout(h, i)))
            head_lose(h, i, "its daemon could not be started");
}

bool start_later(struct head *h, uint32_t i)
{
    if (!look_at(h, i))
        return false;
    return h->nodes[i].here                   ? start_here(h, i)
           : h->listener >= 0 || h->interface ? find_way(h, i) && start_there(h, i)
                                              : send_scout(h, i);
}

static bool cannot_start(struct head *h, uint32_t i)
{
    head_say(h, "cannot start the daemon of %s: %s", h->hosts.name[i], strerror(errno));
    return false;
}

bool start_all(struct head *h)
{
    if (getrandom(h->secret, sizeof h->secret, 0) != sizeof h->secret) {
        head_say(h, "no random bytes for a secret");
        return false;
    }
    for (uint32_t i = 0; i < h->hosts.count; i++)
        if (!find_way(h, i)) {
            head_lose(h, i, "there is no route to it");
            return false;
        }
    for (uint32_t i = 0; i < h->hosts.count; i++) /* remote ones first: their agents take a while */
        if (!h->nodes[i].here && !start_there(h, i))
            return cannot_start(h, i);
    for (uint32_t i = 0; i < h->hosts.count; i++)
        if (h->nodes[i].here && !start_here(h, i))
            return cannot_start(h, i);
    return true;
}

/* ---- who has come ---------------------------------------------------------------------------- */

void start_accept(struct head *h)
{
    for (int fd; (fd = accept4(h->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0;) {
        struct newcomer *oldest = &h->newcomers[0], *free_one = NULL;
        for (int i = 0; i < NEWCOMERS && !free_one; i++) {
            if (h->newcomers[i].link.fd < 0)
                free_one = &h->newcomers[i];
            else if (h->newcomers[i].since < oldest->since)
                oldest = &h->newcomers[i];
        }
        if (!free_one) {
            link_close(&oldest->link);
            free_one = oldest;
        }
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
        link_open(&free_one->link, fd, LINK_BEFORE_HELLO);
        free_one->since = launcher_clock();
    }
}

static bool same(const unsigned char *a, const unsigned char *b, size_t size)
{
    unsigned char differ = 0;
    for (size_t i = 0; i < size; i++)
        differ |= (unsigned char)(a[i] ^ b[i]);
    return differ == 0;
}

static bool is_known(const struct head *h, uint32_t kind, struct wire_reader *r, uint32_t *node)
{
    size_t size;
    uint32_t magic = wire_get_u32(r), version = wire_get_u32(r);
    *node = wire_get_u32(r);
    const void *half = wire_get_bytes(r, &size);
    return wire_ended(r) && kind == SAY_HELLO && magic == PROTOCOL_MAGIC &&
           version == PROTOCOL_VERSION && size == SECRET_SIZE / 2 && same(half, h->secret, size) &&
           *node < h->hosts.count && !h->nodes[*node].here &&
           h->nodes[*node].state == NODE_STARTING && h->nodes[*node].link.fd < 0;
}

void start_hear(struct head *h, struct newcomer *c)
{
    uint32_t kind, node;
    struct wire_reader r;
    bool open = link_receive(&c->link) && c->link.in.size <= LINK_BEFORE_HELLO;
    int rc = open ? link_next(&c->link, &kind, &r) : -1;
    if (rc == 0)
        return;
    if (rc < 0 || !is_known(h, kind, &r, &node)) {
        link_close(&c->link);
        return;
    }
    struct wire w = {0};
    h->nodes[node].link = c->link;
    h->nodes[node].link.limit = LINK_LIMIT;
    c->link = (struct link){.fd = -1};
    wire_put_bytes(&w, h->secret + SECRET_SIZE / 2, SECRET_SIZE / 2);
    link_send(&h->nodes[node].link, SAY_WELCOME, &w);
    wire_free(&w);
}

void start_tick(struct head *h, double now)
{
    for (int i = 0; i < NEWCOMERS; i++)
        if (h->newcomers[i].link.fd >= 0 && now - h->newcomers[i].since > hello_time)
            link_close(&h->newcomers[i].link);
    for (uint32_t i = 0; i < h->hosts.count; i++)
        if (h->nodes[i].state == NODE_STARTING && now - h->nodes[i].began > h->start_time) {
            if (h->scout.answer >= 0 && h->scout.node == i)
                kill(h->scout.pid, SIGKILL);
            head_lose(h, i, "no answer");
        }
}
