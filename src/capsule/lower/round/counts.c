/* round/counts.c - step 2 of a round (coordinator.c): how many messages a rank must have received.
 *
 * Every rank counts what it sends to each other rank, and what it receives. A rank has received everything when the
 * sum of what it received equals the sum of what was sent to it: no single count can exceed its counterpart.
 * So the coordinator keeps one number per rank, not one per pair of ranks:
 *
 *   1. A stopped rank reports, for each rank to which it has sent since its last report, how many more.
 *   2. The coordinator adds them up, including those of a round that it has given up by then: ranks report them once.
 *   3. When all are stopped, it sends each rank its sum.
 *
 * Both sides begin at zero with a new coordinator. A round's bytes grow with the pairs that have talked to each other
 * since the last round, not with all pairs.
 */
#include "round/counts.h"
#include "round/coordinator.h"

size_t counts_to_tell(const long *sent, int64_t *told, int ranks, struct control_count *list)
{
    size_t n = 0;
    for (int i = 0; i < ranks; i++)
        if (sent[i] != told[i]) {
            list[n++] = (struct control_count){(uint64_t)i, sent[i] - told[i]};
            told[i] = sent[i];
        }
    return n;
}

int64_t counts_sum(const long *received, int ranks)
{
    int64_t sum = 0;
    for (int i = 0; i < ranks; i++)
        sum += received[i];
    return sum;
}

void add_counts(const struct control_count *list, size_t bytes)
{
    if (bytes % sizeof *list)
        return;
    for (size_t i = 0; i < bytes / sizeof *list; i++)
        if (list[i].to < (uint64_t)the.ranks)
            the.member[list[i].to].expected =
                (int64_t)((uint64_t)the.member[list[i].to].expected + (uint64_t)list[i].more);
}

void take_stopped(struct member *m)
{
    m->stopped = 1;
    if (!ALL(stopped))
        return;
    for (int i = 0; i < the.ranks; i++)
        tell(i, CONTROL_EXPECT, &the.member[i].expected, sizeof the.member[i].expected);
}

/* Called after each message of a round, so it must not look at all ranks each time: it continues where it
 * last found one that is missing. */
int all(size_t field)
{
    for (int k = 0; k < the.ranks; k++) {
        if (!*(int *)((char *)&the.member[the.missing] + field))
            return 0;
        the.missing = (the.missing + 1) % the.ranks;
    }
    return 1;
}
