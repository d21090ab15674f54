/* Nodes that say nothing: protocol.h, 6.
 *
 *  1. If nothing has come from a node for half of the limit, the head says something to it (an ECHO of nothing, which
 *     extends no lease). The node's kernel acknowledges that, if it can, whatever its daemon does.
 *  2. At the limit the node is lost. What is acknowledged by then tells a machine that cannot be reached from a daemon
 *     that stands still.
 */
#include "head/head.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <sys/socket.h>

double silence_limit(const struct head *h)
{
    static const double a_moment = 0.2; /* a node whose lease is over ends its ranks */
    return 1e-3 * h->job.timeout_ms + a_moment;
}

static void ask(struct head_node *n)
{
    struct wire w = {0};
    wire_put_u64(&w, 0);
    link_send(&n->link, SAY_ECHO, &w);
    wire_free(&w);
    n->asked = true;
}

static void describe(const struct head_node *n, char *text, size_t size)
{
    struct tcp_info info;
    socklen_t length = sizeof info;
    snprintf(text, size, "silence");
    if (!n->asked || getsockopt(n->link.fd, IPPROTO_TCP, TCP_INFO, &info, &length))
        return;
    if (info.tcpi_unacked || link_pending(&n->link))
        snprintf(text, size,
                 "silence: its machine cannot be reached, nothing was acknowledged for %.1f s and "
                 "%u attempts",
                 1e-3 * info.tcpi_last_ack_recv, 1u + info.tcpi_retransmits);
    else
        snprintf(text, size, "silence: its machine answers, but its daemon stands still");
}

/* `asked`: when we last looked for messages. What has come since then is no silence, however late we are. */
void silence_check(struct head *h, double asked)
{
    double limit = silence_limit(h);
    for (uint32_t i = 0; i < h->hosts.count; i++) {
        struct head_node *n = &h->nodes[i];
        if (n->state != NODE_UP || asked - n->heard <= limit / 2)
            continue;
        if (asked - n->heard > limit) {
            char how[160];
            describe(n, how, sizeof how);
            head_lose(h, i, how);
        } else if (!n->asked)
            ask(n);
    }
}
