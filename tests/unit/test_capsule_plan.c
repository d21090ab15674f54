/* The plan of a recovery: who plays which rank, from which version, and whose second image is where. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "online/plan.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 8 };
static struct meeting_card cards[MOST];
static struct plan plan;

static void begin(int processes)
{
    free(plan.player);
    plan = (struct plan){.processes = processes, .card = cards};
    memset(cards, 0, sizeof cards);
    for (int p = 0; p < processes; p++)
        cards[p] = (struct meeting_card){.rank = p, .id = (uint64_t)p + 1, .host = (unsigned)p};
}

static void holds(int process, int rank, int version)
{
    int i = 0;
    while (cards[process].image[i].version)
        i++;
    cards[process].image[i].rank = rank;
    cards[process].image[i].version = version;
}

static void nobody_died(void **state)
{
    (void)state;
    begin(4);
    for (int r = 0; r < 4; r++) {
        holds(r, r, 7);
        holds(r, (r + 3) % 4, 7);
    }
    plan.me = 2;
    plan_make(&plan, 4);
    assert_int_equal(plan.version, 7);
    assert_int_equal(plan.rank, 2);
    assert_int_equal(plan.hopeless, 0);
    assert_int_equal(plan.id, 4);
    for (int r = 0; r < 4; r++) {
        assert_int_equal(plan.player[r], r);
        assert_int_equal(plan_partner_of(&plan, plan_partner(&plan, r)), r);
    }
}

/* At the start: the ranks are where the launcher has put them, and with them rank 0's input. */
static void in_order_at_the_start(void **state)
{
    (void)state;
    begin(6);
    for (int p = 0; p < 6; p++)
        cards[p] = (struct meeting_card){.rank = -1, .host = (unsigned)p / 2};
    plan_make(&plan, 4);
    for (int r = 0; r < 4; r++)
        assert_int_equal(plan.player[r], r);
}

/* Rank 1 has died. Its partner has version 6 of it, others are at 7 already. */
static void the_newest_that_all_have(void **state)
{
    (void)state;
    begin(4);
    cards[1].rank = -1; /* the spare */
    for (int p = 0; p < 4; p++)
        if (p != 1) {
            holds(p, p, 7);
            holds(p, p, 6);
        }
    holds(2, 1, 6);
    plan.me = 1;
    plan_make(&plan, 4);
    assert_int_equal(plan.version, 6);
    assert_int_equal(plan.rank, 1);
    assert_int_equal(plan_holder(&plan, 1, 6), 2);
    assert_int_equal(plan_holder(&plan, 1, 7), -1);
}

static void files_cannot_go_back_so_far(void **state)
{
    (void)state;
    begin(2);
    holds(0, 0, 3);
    holds(1, 1, 3);
    cards[1].floor = 4;
    plan_make(&plan, 2);
    assert_int_equal(plan.version, 0); /* another level has to help */
}

/* Two spares: the one on the host that keeps rank 0's image is the worse one. */
static void a_spare_elsewhere_is_better(void **state)
{
    (void)state;
    begin(4);
    cards[0] = (struct meeting_card){.rank = -1, .host = 1};
    cards[3] = (struct meeting_card){.rank = -1, .host = 9};
    cards[2].rank = 2;
    holds(1, 1, 5);
    holds(1, 0, 5);
    holds(2, 2, 5);
    plan_make(&plan, 3);
    assert_int_equal(plan.version, 5);
    assert_int_equal(plan.player[0], 3);
}

static void nobody_is_left_for_a_rank(void **state)
{
    (void)state;
    begin(2);
    plan_make(&plan, 3);
    assert_int_equal(plan.hopeless, 1);
    assert_int_equal(plan.player[2], -1);
}

static void open_windows_are_not_repaired(void **state)
{
    (void)state;
    begin(2);
    cards[1].windows = 1;
    plan_make(&plan, 2);
    assert_int_equal(plan.windows, 1);
    assert_int_equal(plan.hopeless, 1);
}

static void all_have_finished(void **state)
{
    (void)state;
    begin(2);
    cards[0].finished = cards[1].finished = 1;
    plan_make(&plan, 2);
    assert_int_equal(plan.finished, 1);
}

static void partners_are_on_other_hosts(void **state)
{
    (void)state;
    begin(4);
    for (int p = 0; p < 4; p++)
        cards[p].host = (unsigned)p / 2; /* two to a host */
    plan_make(&plan, 4);
    for (int r = 0; r < 4; r++)
        assert_int_not_equal(cards[plan_partner(&plan, r)].host, cards[r].host);
}

/* Tried one by one: the newest version of which every rank's image is held, and the first distance that sets most pairs
 * apart. */
static void is_the_best(int ranks)
{
    int newest = 0, best = 0, most = -1;
    for (int version = 1; version <= 3; version++) {
        int held = 0;
        for (int r = 0; r < ranks; r++)
            for (int p = 0, found = 0; p < plan.processes && !found; p++)
                held += found = plan_holds(&plan, p, r, version);
        newest = held == ranks ? version : newest;
    }
    assert_int_equal(plan.version, newest);
    for (int shift = 1; shift < ranks && !plan.hopeless && !plan.finished; shift++) {
        int apart = 0;
        for (int r = 0; r < ranks; r++)
            apart += cards[plan.player[r]].host != cards[plan.player[(r + shift) % ranks]].host;
        best = apart > most ? shift : best;
        most = apart > most ? apart : most;
    }
    if (!plan.hopeless && !plan.finished)
        assert_int_equal(plan.shift, best);
}

/* Whatever the cards say: all processes compute the same plan, no process plays two ranks, and a version that is
 * chosen can be had. */
static void any_cards(void **state)
{
    (void)state;
    unsigned seed = 1;
    for (int round = 0; round < 20000; round++) {
        int processes = rand_r(&seed) % MOST + 1, ranks = rand_r(&seed) % processes + 1;
        int order[MOST], player[2][MOST], version[2];
        begin(processes);
        for (int p = 0; p < processes; p++)
            order[p] = p;
        for (int p = processes - 1; p > 0; p--) {
            int q = rand_r(&seed) % (p + 1), t = order[p];
            order[p] = order[q];
            order[q] = t;
        }
        for (int p = 0; p < processes; p++) {
            cards[p].rank = order[p] < ranks && rand_r(&seed) % 3 ? order[p] : -1;
            cards[p].host = (unsigned)rand_r(&seed) % 3;
            for (int k = rand_r(&seed) % IMAGES_HELD; k > 0; k--)
                holds(p, rand_r(&seed) % ranks, rand_r(&seed) % 3 + 1);
        }
        for (int side = 0; side < 2; side++) {
            plan.me = side ? processes - 1 : 0;
            plan_make(&plan, ranks);
            memcpy(player[side], plan.player, (size_t)ranks * sizeof(int));
            version[side] = plan.version;
        }
        assert_memory_equal(player[0], player[1], (size_t)ranks * sizeof(int));
        assert_int_equal(version[0], version[1]);
        is_the_best(ranks);
        for (int r = 0; r < ranks; r++) {
            for (int q = 0; q < r; q++)
                assert_true(plan.player[r] < 0 || plan.player[r] != plan.player[q]);
            if (plan.version)
                assert_true(plan_holder(&plan, r, plan.version) >= 0);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nobody_died),
        cmocka_unit_test(in_order_at_the_start),
        cmocka_unit_test(the_newest_that_all_have),
        cmocka_unit_test(files_cannot_go_back_so_far),
        cmocka_unit_test(a_spare_elsewhere_is_better),
        cmocka_unit_test(nobody_is_left_for_a_rank),
        cmocka_unit_test(open_windows_are_not_repaired),
        cmocka_unit_test(all_have_finished),
        cmocka_unit_test(partners_are_on_other_hosts),
        cmocka_unit_test(any_cards),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
