/* drain.c - bring every message in flight into memory of the upper half.
 *
 * While a checkpoint stops the ranks, each receives every message that others have sent to it and that
 * it has not received yet, on all communicators. The messages wait in the order of their arrival
 * (arrived.c), and later receives look there first. Then the lower half holds nothing of the
 * application.
 */
#include "messages/messages.h"

static void probe_and_keep(object *c)
{
    int flag = 0;
    struct status s;
    while (!LOWER(Iprobe, NEUTRAL_ANY_SOURCE, NEUTRAL_ANY_TAG, c->real, &flag, &s) && flag) {
        struct message *m = new_message(s.bytes);
        void *data = message_data(m);
        struct status *status = message_status(m);
        int rc = LOWER(recv_bytes, data, s.bytes, s.source, s.tag, c->real, status);
        if (rc) { /* the counts will not match: this checkpoint cannot complete */
            upper.doubtful = 1;
            message_free(m);
            return;
        }
        count_recv(c, status);
        keep_drained(m, c);
    }
}

/* MPICH's collective operations on a file go on only while they are tested, and begin collectives of their own then. All
 * ranks must begin those in the same order, so each operation is tested when those before it on its file are done, as
 * MPI_Waitall does. The places of requests in memory differ from rank to rank. */
static int has_its_turn(const object *request)
{
    EACH_REQUEST (r)
        if (r->req.tag == TAG_OF_FILE && !r->req.done && r->req.comm == request->req.comm &&
            r->req.order < request->req.order)
            return 0;
    return 1;
}

/* Take in what has arrived and complete what can complete. Requests still belong to the application, so
 * this only marks them as done. A communicator that the lower half has not finished cannot be probed.
 */
int drain_step(void)
{
    static unsigned step;
    int quiet = 1;
    step += step + 1 ? 1 : 2; /* never 0 */
    if (upper.later)          /* the first step, if a signal brought us here */
        begin_later();
    EACH_REQUEST (r)
        if (r->req.tag == TAG_OF_FILE && !r->req.done && !has_its_turn(r)) {
            quiet = 0;
        } else if (!r->req.special && !request_poll(r) && !r->req.is_recv) {
            quiet = 0;
            if (r->req.tag == TAG_MAKES_COMM)
                r->req.comm->comm.unmade = step;
        }
    drain_matched();
    probe_and_keep(COMM_WORLD);
    probe_and_keep(COMM_SELF);
    EACH_LIVE (c, KIND_COMM)
        if (!c->comm.released && c != core.creation_channel && c->comm.unmade != step)
            probe_and_keep(c);
    return quiet;
}
