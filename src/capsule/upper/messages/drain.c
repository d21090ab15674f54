/* drain.c - bringing every message that was sent into memory of the upper half.
 *
 * While a checkpoint stops the ranks, each receives what others have sent to it and it has not yet
 * asked for, on whatever communicator. The messages wait in the order of their arrival (arrived.c),
 * and later receives look there first. Then the lower half holds nothing of the application.
 */
#include "messages/messages.h"

static void probe_and_keep(object *c)
{
    int flag = 0;
    struct status s;
    while (LOWER(Iprobe, NEUTRAL_ANY_SOURCE, NEUTRAL_ANY_TAG, c->real, &flag, &s), flag) {
        struct message *m = new_message(s.bytes);
        void *data = message_data(m);
        struct status *status = message_status(m);
        LOWER(recv_bytes, data, s.bytes, s.source, s.tag, c->real, status);
        count_recv(c, status);
        keep_drained(m, c);
    }
}

/* Take what has arrived, let complete what can. Requests stay in the hands of the application: they
 * are only marked as done. On a communicator that is not complete below nothing can be asked for.
 */
int drain_step(void)
{
    static unsigned step;
    int quiet = 1;
    step += step + 1 ? 1 : 2; /* never 0 */
    EACH_REQUEST (r)
        if (!r->req.special && !request_poll(r) && !r->req.is_recv) {
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
