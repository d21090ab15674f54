/* The first step of a round: how far the ranks run before they stop, from what they report. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "round/coordinator.h"
#include "round/counts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct coordinator the;
static int stops, told[4];
static uint64_t target[4][16];
static size_t target_bytes[4];
static size_t messages, bytes_told;
static int64_t expect[64];

int control_send(int fd, uint32_t type, uint32_t round, const void *bytes, size_t count)
{
    (void)round;
    messages++;
    bytes_told += sizeof(struct control_head) + count;
    if (type == CONTROL_EXPECT)
        memcpy(&expect[fd], bytes, sizeof *expect);
    if (type == CONTROL_STOP)
        stops++;
    if (type == CONTROL_TARGETS) {
        told[fd]++;
        target_bytes[fd] = count;
        memcpy(target[fd], bytes, count);
    }
    return 0;
}

static void begin(int ranks)
{
    for (int i = 0; i < the.ranks; i++)
        free(the.member[i].clocks);
    free(the.member);
    free(the.target);
    the = (struct coordinator){.ranks = ranks, .state = COLLECTING};
    the.member = calloc((size_t)ranks, sizeof *the.member);
    for (int i = 0; i < ranks; i++)
        the.member[i].fd = i;
    stops = 0;
    memset(told, 0, sizeof told);
}

/* What a rank says: pairs of an id and how many were begun on it. */
static void report(int rank, int activity, int waiting_for, uint64_t door, int n, ...)
{
    size_t bytes = sizeof(struct control_clocks) + (size_t)n * sizeof(struct control_clock);
    struct control_clocks *c = calloc(1, bytes);
    va_list list;
    c->activity = (uint64_t)activity;
    c->waiting_for = (uint64_t)waiting_for;
    c->count = (uint64_t)n;
    va_start(list, n);
    for (int i = 0; i < n; i++) {
        c->clock[i].id = (uint64_t)va_arg(list, int);
        c->clock[i].begun = (uint64_t)va_arg(list, int);
        c->clock[i].at_door = door && c->clock[i].id == door;
    }
    va_end(list);
    take_clocks(&the.member[rank], c, bytes);
    free(c);
}

static void all_are_even(void **state)
{
    (void)state;
    begin(2);
    report(0, ACTIVITY_NONE, 0, 0, 1, 1, 5);
    assert_int_equal(stops, 0); /* one has not reported yet */
    report(1, ACTIVITY_NONE, 0, 0, 1, 1, 5);
    assert_int_equal(stops, 2);
    assert_int_equal(the.state, STOPPING);
}

static void who_is_behind_runs_on(void **state)
{
    (void)state;
    begin(2);
    report(0, ACTIVITY_NONE, 0, 0, 2, 1, 5, 9, 1);
    report(1, ACTIVITY_NONE, 0, 0, 2, 1, 7, 9, 1);
    assert_int_equal(stops, 0);
    assert_int_equal(told[0], 1);
    assert_int_equal(told[1], 0);
    assert_int_equal(target_bytes[0], 2 * sizeof(uint64_t));
    assert_int_equal(target[0][0], 1);
    assert_int_equal(target[0][1], 7);
    report(0, ACTIVITY_NONE, 0, 0, 2, 1, 6, 9, 1); /* on its way: not told again */
    assert_int_equal(told[0], 1);
    report(0, ACTIVITY_NONE, 0, 0, 2, 1, 7, 9, 1);
    assert_int_equal(stops, 2);
}

static void one_that_makes_a_communicator_is_waited_for(void **state)
{
    (void)state;
    begin(2);
    report(0, ACTIVITY_CREATING, 0, 0, 1, 1, 5);
    report(1, ACTIVITY_NONE, 0, 0, 1, 1, 5);
    assert_int_equal(stops, 0);
    report(0, ACTIVITY_NONE, 0, 0, 1, 1, 5);
    assert_int_equal(stops, 2);
}

/* Rank 0 is behind and waits for a message of rank 1, which stands at the door of a collective: it is let in. */
static void a_door_is_opened(void **state)
{
    (void)state;
    begin(3);
    report(0, ACTIVITY_WAITING, 2, 0, 2, 1, 5, 8, 2);
    report(1, ACTIVITY_NONE, 0, 8, 2, 1, 6, 8, 3);
    report(2, ACTIVITY_NONE, 0, 0, 2, 1, 6, 8, 3);
    assert_int_equal(stops, 0);
    int before = told[1];
    open_doors();
    assert_int_equal(told[1], before + 1);
    assert_int_equal(target[1][0], 8);
    assert_int_equal(target[1][1], 4);
}

/* A message that lies about its length is dropped, also where the product of count and size is small again. */
static void lies_are_dropped(void **state)
{
    (void)state;
    begin(1);
    uint64_t words[8] = {0};
    words[2] = 3;
    take_clocks(&the.member[0], words, sizeof words);
    assert_int_equal(the.member[0].reported, 0);
    words[2] = 1ull << 60;
    take_clocks(&the.member[0], words, sizeof(struct control_clocks));
    assert_int_equal(the.member[0].reported, 0);
    take_clocks(&the.member[0], words, 3);
    assert_int_equal(the.member[0].reported, 0);
}

static void many_communicators(void **state)
{
    (void)state;
    enum { MANY = 5000 };
    begin(2);
    size_t bytes = sizeof(struct control_clocks) + MANY * sizeof(struct control_clock);
    struct control_clocks *c = calloc(1, bytes);
    c->count = MANY;
    for (int rank = 0; rank < 2; rank++) {
        for (uint64_t i = 0; i < MANY; i++)
            c->clock[i] = (struct control_clock){(i + 1) * 64, i, 0};
        take_clocks(&the.member[rank], c, bytes);
    }
    assert_int_equal(stops, 2);
    free(c);
}

/* One who has to hurry after each raise: told once for each, whoever reports in between. */
static void a_late_raise_reaches_those_behind(void **state)
{
    (void)state;
    begin(3);
    report(0, ACTIVITY_NONE, 0, 0, 1, 1, 5);
    report(1, ACTIVITY_NONE, 0, 0, 1, 1, 5);
    report(2, ACTIVITY_NONE, 0, 0, 1, 1, 6);
    assert_int_equal(told[0] + told[1] + told[2], 2);
    report(0, ACTIVITY_NONE, 0, 0, 1, 1, 6);
    assert_int_equal(stops, 0);
    report(0, ACTIVITY_NONE, 0, 0, 1, 1, 7); /* behind elsewhere, it went on */
    assert_int_equal(told[1], 2);
    assert_int_equal(told[2], 1);
    report(1, ACTIVITY_NONE, 0, 0, 1, 1, 7);
    assert_int_equal(stops, 0);
    report(2, ACTIVITY_NONE, 0, 0, 1, 1, 7);
    assert_int_equal(stops, 3);
}

/* --- what was sent to whom ---------------------------------------------------------------------------- */
enum { MOST = 64 };
static long sent[MOST][MOST], received[MOST][MOST];
static int64_t told_counts[MOST][MOST];
static size_t agent_bytes;

static void begin_counts(int ranks)
{
    begin(ranks);
    memset(sent, 0, sizeof sent);
    memset(received, 0, sizeof received);
    memset(told_counts, 0, sizeof told_counts);
    agent_bytes = messages = bytes_told = 0;
}

static void say_stopped(int rank)
{
    struct control_count list[MOST];
    size_t n = counts_to_tell(sent[rank], told_counts[rank], the.ranks, list);
    agent_bytes += sizeof(struct control_head) + n * sizeof *list;
    add_counts(list, n * sizeof *list);
    take_stopped(&the.member[rank]);
}

static void next_round(void)
{
    for (int i = 0; i < the.ranks; i++)
        the.member[i].stopped = 0;
    memset(expect, 0xff, sizeof expect);
}

static void each_hears_what_was_sent_to_it(void **state)
{
    (void)state;
    begin_counts(3);
    next_round();
    sent[0][1] = 5, sent[2][1] = 7, sent[1][0] = 1;
    say_stopped(0), say_stopped(2);
    assert_int_equal(messages, 0); /* one is missing */
    say_stopped(1);
    assert_int_equal(expect[0], 1);
    assert_int_equal(expect[1], 12);
    assert_int_equal(expect[2], 0);
    received[1][0] = 5, received[1][2] = 6;
    assert_int_not_equal(counts_sum(received[1], 3), expect[1]);
    received[1][2] = 7;
    assert_int_equal(counts_sum(received[1], 3), expect[1]);
    next_round(); /* given up after one had spoken: what it said is not lost, and not said twice */
    sent[0][1] = 6;
    say_stopped(0);
    next_round();
    sent[0][1] = 8, sent[1][0] = 0; /* and one that could not be sent after all */
    say_stopped(0), say_stopped(1), say_stopped(2);
    assert_int_equal(expect[1], 15);
    assert_int_equal(expect[0], 0);
    struct control_count bad = {3, 1};
    add_counts(&bad, sizeof bad); /* no such rank */
    add_counts(&bad, sizeof bad - 1);
}

/* Each rank talks to two others. Messages and bytes of a stop, per rank, at 4, 16 and 64 ranks: the same. */
static void a_round_is_linear_in_ranks(void **state)
{
    (void)state;
    size_t per_rank[3], n = 0;
    for (int ranks = 4; ranks <= MOST; ranks *= 4) {
        begin_counts(ranks);
        for (int round = 1; round <= 2; round++) {
            next_round();
            messages = bytes_told = agent_bytes = 0;
            for (int i = 0; i < ranks; i++) {
                sent[i][(i + 1) % ranks] += 3;
                sent[i][(i + ranks - 1) % ranks] += 4;
            }
            for (int i = 0; i < ranks; i++)
                say_stopped(i);
            for (int i = 0; i < ranks; i++)
                assert_int_equal(expect[i], 7 * round);
            assert_int_equal(messages, ranks);
        }
        per_rank[n++] = (agent_bytes + bytes_told) / (size_t)ranks;
        print_message("%2d ranks: %zu messages, %zu bytes\n", ranks, messages + (size_t)ranks,
                      agent_bytes + bytes_told);
    }
    assert_int_equal(per_rank[0], per_rank[1]);
    assert_int_equal(per_rank[0], per_rank[2]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_are_even),
        cmocka_unit_test(who_is_behind_runs_on),
        cmocka_unit_test(one_that_makes_a_communicator_is_waited_for),
        cmocka_unit_test(a_door_is_opened),
        cmocka_unit_test(lies_are_dropped),
        cmocka_unit_test(many_communicators),
        cmocka_unit_test(a_late_raise_reaches_those_behind),
        cmocka_unit_test(each_hears_what_was_sent_to_it),
        cmocka_unit_test(a_round_is_linear_in_ranks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
