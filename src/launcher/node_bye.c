/* The end of a daemon whose ranks have ended.
 *
 *  1. Send what is left in the ranks' pipes.
 *  2. Clean up.
 *  3. Say BYE, and wait until the head has closed the connection, as it does then. It may be slow: whatever it has not
 *     received yet would be lost with us. Read what it still says: if something is unread when we close a connection,
 *     the kernel resets it, and what the head has not received is lost, too.
 * A head that takes nothing for END_LIMIT seconds gets no more.
 */
#include "node.h"
#include "server.h"

#include <pthread.h>
#include <unistd.h>

static void *close_server(void *nothing)
{
    server_close();
    return nothing;
}

/* Remove what the ranks and their MPI library left in our folders, and elsewhere. Only the PMIx library knows the
 * latter, and it may wait for clients that were killed, so give it two seconds. */
static void clean_up(struct node *n)
{
    struct timespec limit;
    pthread_t closer;
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec += 2;
    if (n->job.name && server_wake() >= 0 && pthread_create(&closer, NULL, close_server, NULL) == 0)
        pthread_timedjoin_np(closer, NULL, &limit);
    folders_remove(n);
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

static void send_rest(struct node *n)
{
    double limit = launcher_clock() + END_LIMIT;
    for (bool there = n->head.fd >= 0; there && launcher_clock() < limit;) {
        size_t before = n->head.out.size - n->head.out_at;
        there = link_flush(&n->head);
        if (n->head.out.size - n->head.out_at < before) {
            limit = launcher_clock() + END_LIMIT;
            node_fence_at(n, limit);
        }
        struct pollfd p = {n->head.fd, (short)(POLLIN | (link_pending(&n->head) ? POLLOUT : 0)), 0};
        if (there && poll(&p, 1, 100) > 0 && p.revents & (POLLIN | POLLHUP | POLLERR))
            there = read_on(n);
    }
}

void node_say_bye(struct node *n)
{
    for (uint32_t i = 0; i < n->count; i++)
        for (int stream = 0; stream < 2; stream++)
            ranks_read(n, &n->ranks[i], stream, true);
    if (n->head.fd >= 0)
        link_flush(&n->head);
    clean_up(n);
    link_send(&n->head, SAY_BYE, NULL);
    send_rest(n);
}
