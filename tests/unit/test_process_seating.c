/* Who takes the place of whom: spares by failure domain, policies in their order, the end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "seating.h"
#include <mend/process.h>

enum { SIZE = 6, MAX = 16 };

struct job {
    struct mend_meeting_card cards[MAX];
    int n;
    int domains[SIZE];
    struct mend_seating_rules rules;
    struct mend_seating plan;
};

static void living(struct job *job, int rank, int domain)
{
    job->cards[job->n++] = (struct mend_meeting_card){.rank = rank, .size = SIZE, .domain = domain};
}

/* Six ranks in three domains of two; rank r lives in domain 1 + r / 2. Those in `dead` are gone. */
static void begin(struct job *job, unsigned dead)
{
    *job = (struct job){.rules = {.order = {MEND_POLICY_SPARE, MEND_POLICY_SHRINK}}};
    for (int rank = 0; rank < SIZE; rank++) {
        job->domains[rank] = 1 + rank / 2;
        if (!(dead >> rank & 1))
            living(job, rank, 1 + rank / 2);
    }
}

static void spare(struct job *job, int domain)
{
    living(job, -1, domain);
}

static void decide(struct job *job)
{
    assert_int_equal(mend_seating_make(&job->plan, job->cards, job->n, job->domains, &job->rules),
                     0);
}

static int domain_of_player(const struct job *job, int rank)
{
    return job->cards[job->plan.player[rank]].domain;
}

static int next_but_one(int rank, int size, void *arg)
{
    (void)arg;
    return (rank + 2) % size;
}

static void same_domain_is_best(void **state)
{
    struct job job;
    (void)state;
    begin(&job, 1u << 2);
    spare(&job, 7);
    spare(&job, 2);
    decide(&job);
    assert_int_equal(job.plan.policy, MEND_POLICY_SPARE);
    assert_int_equal(domain_of_player(&job, 2), 2);
    assert_int_equal(job.plan.spares, 1);
    mend_seating_clear(&job.plan);
}

/* The copy of rank 1 is on rank 3, in domain 2: a spare there would die together with the copy. */
static void never_beside_the_copy(void **state)
{
    struct job job;
    (void)state;
    begin(&job, 1u << 1);
    job.rules.keep_apart = next_but_one;
    spare(&job, 2);
    spare(&job, 3);
    decide(&job);
    assert_int_equal(domain_of_player(&job, 1), 3);
    assert_int_equal(job.plan.n_too_close, 0);
    mend_seating_clear(&job.plan);
}

static void beside_the_copy_if_there_is_no_other(void **state)
{
    struct job job;
    (void)state;
    begin(&job, 1u << 1);
    job.rules.keep_apart = next_but_one;
    spare(&job, 2);
    decide(&job);
    assert_int_equal(domain_of_player(&job, 1), 2);
    assert_int_equal(job.plan.n_too_close, 1);
    mend_seating_clear(&job.plan);
}

/* Domain 1 is lost (ranks 0 and 1): the two spares of other domains take the places, in rank order;
 * the copies are on ranks 2 and 3, so the spare in domain 2 comes last. */
static void a_whole_domain(void **state)
{
    struct job job;
    (void)state;
    begin(&job, 3u);
    job.rules.keep_apart = next_but_one;
    spare(&job, 2);
    spare(&job, 3);
    spare(&job, 4);
    decide(&job);
    assert_int_equal(domain_of_player(&job, 0), 3);
    assert_int_equal(domain_of_player(&job, 1), 4);
    assert_int_equal(job.plan.n_failed, 2);
    assert_true(job.plan.replaced[0] && job.plan.replaced[1] && !job.plan.replaced[2]);
    mend_seating_clear(&job.plan);
}

static void too_few_spares(void **state)
{
    struct job job;
    (void)state;
    begin(&job, 1u << 0 | 1u << 5);
    spare(&job, 9);
    decide(&job);
    assert_int_equal(job.plan.action, PLAN_RESUME);
    assert_int_equal(job.plan.policy, MEND_POLICY_SHRINK);
    assert_int_equal(job.plan.size, SIZE - 1);
    assert_int_equal(domain_of_player(&job, 0), 9); /* rank 0 is replaced, rank 5 is closed */
    mend_seating_clear(&job.plan);

    begin(&job, 1u << 0 | 1u << 5);
    job.rules.order[1] = MEND_POLICY_NONE;
    spare(&job, 9);
    decide(&job);
    assert_int_equal(job.plan.action, PLAN_STOP);
    mend_seating_clear(&job.plan);
}

static void spawn_after_spares(void **state)
{
    struct job job;
    (void)state;
    begin(&job, 1u << 4);
    job.rules.order[1] = MEND_POLICY_SPAWN;
    job.rules.order[2] = MEND_POLICY_SHRINK;
    decide(&job);
    assert_int_equal(job.plan.action, PLAN_SPAWN);
    assert_int_equal(job.plan.spawn, 1);
    mend_seating_clear(&job.plan);

    job.cards[0].spawn_failures = PLAN_SPAWN_ATTEMPTS - 1;
    decide(&job);
    assert_int_equal(job.plan.action, PLAN_SPAWN);
    mend_seating_clear(&job.plan);

    job.cards[0].spawn_failures++; /* one who could not is enough */
    decide(&job);
    assert_int_equal(job.plan.action, PLAN_RESUME);
    assert_int_equal(job.plan.policy, MEND_POLICY_SHRINK);
    mend_seating_clear(&job.plan);
}

/* One who saw all come to the end is enough, even if others died since. */
static void the_end(void **state)
{
    struct job job;
    (void)state;
    begin(&job, 1u << 3);
    job.cards[1].passed = 1;
    decide(&job);
    assert_int_equal(job.plan.action, PLAN_FINISHED);
    mend_seating_clear(&job.plan);

    begin(&job, 0);
    job.cards[2].rules = 5;
    decide(&job);
    assert_int_equal(job.plan.action, PLAN_MISMATCH);
    mend_seating_clear(&job.plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_domain_is_best),
        cmocka_unit_test(never_beside_the_copy),
        cmocka_unit_test(beside_the_copy_if_there_is_no_other),
        cmocka_unit_test(a_whole_domain),
        cmocka_unit_test(too_few_spares),
        cmocka_unit_test(spawn_after_spares),
        cmocka_unit_test(the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
