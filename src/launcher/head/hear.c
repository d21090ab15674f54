/* What nodes say to the head. protocol.h has the messages. */
#include "head/head.h"

/* 4. */
static void note_ended(struct head *h, uint32_t node, struct wire_reader *r)
{
    uint32_t rank = wire_get_u32(r), signal = wire_get_u32(r), code = wire_get_u32(r);
    bool goodbye = wire_get_u32(r);
    if (r->bad || rank >= h->job.processes || h->job.node_of[rank] != node ||
        h->ranks[rank] >= RANK_DONE)
        return;
    /* a new process has no business to end before it joins */
    bool member = fill_is_member(h, rank), badly = signal || code || !member;
    h->ranks[rank] = badly ? RANK_DEAD : RANK_DONE;
    h->left -= member;
    head_report(h, "ended %u %s %u", rank, signal ? "signal" : "exit", signal ? signal : code);
    bool known = badly ? fill_ended(h, rank) : member;
    if ((badly || !goodbye) && known && !h->ending) {
        struct wire dead = {0};
        wire_put_u32(&dead, 1);
        wire_put_u32(&dead, rank);
        head_tell(h, rank < h->job.ranks ? node : UINT32_MAX, &dead);
        wire_free(&dead);
        fill_died(h);
    }
    if (badly && member && !h->ending) {
        if (!h->tell || code)
            head_fail(h, signal ? 128 + (int)signal : (int)code);
        if (!h->tell)
            head_end(h);
    }
    gather_check(h);
}

static void note_abort(struct head *h, struct wire_reader *r)
{
    uint32_t rank = wire_get_u32(r), code = wire_get_u32(r);
    head_report(h, "aborted %u %d", rank, (int)code);
    head_fail(h, (int)code & 255 ? (int)code & 255 : 1);
    head_end(h);
}

/* The job cannot start without a node of the launch. It does not depend on one that came later. Another launch can do without
 * this node, if there are others; otherwise it helps only if the cause may go away. */
static void note_refused(struct head *h, uint32_t node, const char *why, bool passes)
{
    bool late = h->nodes[node].late;
    head_say(h, "on %s: %s", h->hosts.name[node], why);
    if (!late && h->hosts.count == 1 && !passes)
        head_report(h, "refused");
    if (!late)
        head_fail(h, 1);
    head_lose(h, node, "refused");
    if (!late)
        head_end(h);
}

static void hear(struct head *h, uint32_t node, uint32_t kind, struct wire_reader *r)
{
    struct wire w = {0};
    switch (kind) {
    case SAY_BEAT:
        wire_put_u64(&w, wire_get_u64(r));
        link_send(&h->nodes[node].link, SAY_ECHO, &w);
        h->beats++;
        wire_free(&w);
        break;
    case SAY_STARTED: {
        uint32_t rank = wire_get_u32(r), pid = wire_get_u32(r);
        if (rank < h->job.processes && h->ranks[rank] == RANK_WAITS)
            h->ranks[rank] = RANK_RUNS;
        head_report(h, "started %u %u %s", rank, pid, h->hosts.name[node]);
        break;
    }
    case SAY_REFUSED: {
        const char *why = wire_get_text(r);
        note_refused(h, node, why, wire_get_u32(r));
        break;
    }
    case SAY_ENDED: note_ended(h, node, r); break;
    case SAY_ABORT: note_abort(h, r); break;
    case SAY_WARNED: head_report(h, "warned %s", h->hosts.name[node]); break;
    case SAY_FENCE: gather_fence(h, node, r); break;
    case SAY_MODEX: gather_modex(h, node, r); break;
    case SAY_MODEX_GIVE: gather_give(h, node, r); break;
    case SAY_PUT:
    case SAY_GET: gather_name(h, node, kind, r); break;
    case SAY_ADDED: fill_added(h, node, r); break;
    case SAY_OUTPUT: streams_output(h, node, r); break;
    case SAY_INPUT_TAKEN: {
        uint32_t taken = wire_get_u32(r);
        h->input_ahead -= taken < h->input_ahead ? taken : h->input_ahead;
        break;
    }
    case SAY_BYE:
        if (h->ending) {
            h->nodes[node].state = NODE_BYE;
            head_close(h, &h->nodes[node]);
        } else
            head_lose(h, node, "its daemon was ended");
        break;
    default: head_lose(h, node, "it sent an unknown message"); break;
    }
}

void hear_node(struct head *h, uint32_t i)
{
    struct head_node *n = &h->nodes[i];
    uint32_t kind;
    struct wire_reader fields;
    int rc = 0;
    bool open = link_receive(&n->link);
    n->heard = launcher_clock();
    n->asked = false;
    if (h->ending) /* the last output may be long */
        head_wait_longer(h);
    while (n->state == NODE_UP && (rc = link_next(&n->link, &kind, &fields)) > 0)
        hear(h, i, kind, &fields);
    if (n->state <= NODE_UP && (!open || rc < 0))
        head_lose(h, i, rc < 0 ? "it sent a malformed message" : "its connection was closed");
}
