/* The end of a daemon whose ranks have ended.
 *
 *  1. Send what is left in the ranks' pipes.
 *  2. Clean up. The head still hears our heartbeat: a node that it gave up now would lose what it has to say.
 *  3. Say BYE, and wait until the head has closed the connection, as it does then. It may be slow: whatever it has not
 *     received yet would be lost with us. Read what it still says: if something is unread when we close a connection,
 *     the kernel resets it, and what the head has not received is lost, too.
 * A head that takes nothing for END_LIMIT seconds gets no more.
 */
#include "node.h"
#include "server.h"

#include <math.h>
#include <pthread.h>
#include <unistd.h>

static void *close_server(void *nothing)
{
    server_close();
    return nothing;
}

/* False: the head is gone. What it says now is for the ranks, which have ended. */
static bool read_on(struct node *n)
{
    uint32_t kind;
    struct wire_reader fields;
    if (!link_receive(&n->head))
        return false;
    while (link_next(&n->head, &kind, &fields) > 0)
        ;
    return true;
}

void node_talk(struct node *n, int milliseconds)
{
    if (n->head.fd < 0) {
        usleep(1000 * (useconds_t)milliseconds);
        return;
    }
    node_beat(n, launcher_clock());
    bool there = link_flush(&n->head);
    struct pollfd p = {n->head.fd, (short)(POLLIN | (link_pending(&n->head) ? POLLOUT : 0)), 0};
    if (there && poll(&p, 1, milliseconds) > 0 && p.revents & (POLLIN | POLLHUP | POLLERR))
        there = read_on(n);
    if (!there)
        link_close(&n->head);
}

/* Remove what the ranks and their MPI library left in our folders, and elsewhere. Only the PMIx library knows the
 * latter, and it may wait for clients that were killed, so give it two seconds. */
static void clean_up(struct node *n)
{
    pthread_t closer;
    double limit = launcher_clock() + 2;
    if (n->job.name && server_wake() >= 0 && pthread_create(&closer, NULL, close_server, NULL) == 0)
        while (pthread_tryjoin_np(closer, NULL) && launcher_clock() < limit)
            node_talk(n, 5);
    folders_remove(n);
}

static void send_rest(struct node *n)
{
    double limit = launcher_clock() + END_LIMIT;
    while (n->head.fd >= 0 && launcher_clock() < limit) {
        size_t before = n->head.out.size - n->head.out_at;
        node_talk(n, 100);
        if (n->head.out.size - n->head.out_at < before) {
            limit = launcher_clock() + END_LIMIT;
            node_fence_at(n, limit);
        }
    }
}

void node_say_bye(struct node *n)
{
    for (uint32_t i = 0; i < n->count; i++)
        for (int stream = 0; stream < 2; stream++)
            ranks_read(n, &n->ranks[i], stream, true);
    clean_up(n);
    n->next_beat = INFINITY;
    link_send(&n->head, SAY_BYE, NULL);
    send_rest(n);
}
