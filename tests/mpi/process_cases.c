/* process_cases CASE: what a process layer must survive, one case a run. */
#include "process_test.h"

#include <base/event.h>

#include <pthread.h>
#include <sys/wait.h>
#include <time.h>

static mend_process *start(mend_process_options options)
{
    mend_process *p = NULL;
    options.spares = test_spares();
    EXPECT(mend_process_open(MPI_COMM_WORLD, &options, &p) == 0);
    return p;
}

/* Work that proves that all are there: the sum of all ranks, some times. */
static void add_up(MPI_Comm comm, int times)
{
    int rank, size, sum;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int i = 0; i < times; i++) {
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
        EXPECT(sum == size * (size - 1) / 2);
    }
}

static void finish(mend_process *p)
{
    int rank = mend_process_state(p)->rank;
    EXPECT(mend_process_close(p) == 0);
    if (rank == 0)
        test_pass();
}

static const mend_process_options jump = {.resume = MEND_RESUME_JUMP};

/* ---- who dies
 * ------------------------------------------------------------------------------------- */

static void victims(int n, const int *seats, int expected_size, mend_process_options options)
{
    mend_process *p = start(options);
    EXPECT(mend_process_resume_here(p) == 0);
    const mend_repair *now = mend_process_state(p);
    if (now->role != MEND_ROLE_RELEASED) {
        if (now->generation == 0)
            for (int i = 0; i < n; i++)
                test_die_as(seats[i]);
        add_up(now->comm, 50);
        EXPECT(now->generation > 0 && now->size == expected_size);
    }
    finish(p);
}

static void rank_zero(void)
{
    victims(1, (int[]){0}, 4, jump);
}

/* One after the other, each in a generation of its own. */
static void one_by_one(void)
{
    mend_process *p = start(jump);
    EXPECT(mend_process_resume_here(p) == 0);
    const mend_repair *now = mend_process_state(p);
    if (now->role != MEND_ROLE_RELEASED) {
        if (now->generation < 2)
            test_die_as(1 + now->generation);
        add_up(now->comm, 50);
        EXPECT(now->generation == 2 && now->size == 4);
    }
    finish(p);
}
static void several(void)
{
    victims(2, (int[]){1, 2}, 4, jump);
}

static void all_active(void)
{
    victims(4, (int[]){0, 1, 2, 3}, 4, jump);
}

static void zero_spares_shrink(void)
{
    mend_process_options options = jump;
    options.order[0] = MEND_POLICY_SHRINK;
    victims(1, (int[]){2}, 3, options);
}

/* Two die, one spare: the spare takes the first place, the other one is closed. */
static void spare_then_shrink(void)
{
    mend_process_options options = jump;
    options.order[0] = MEND_POLICY_SPARE;
    options.order[1] = MEND_POLICY_SHRINK;
    victims(2, (int[]){1, 2}, 3, options);
}

/* Both spares die before they are needed; then a rank dies: the stop is the same for all. */
static void spares_first(void)
{
    mend_process_options options = {.spares = 2, .resume = MEND_RESUME_JUMP, .spares_return = 1};
    mend_process *p = start(options);
    if (mend_process_state(p)->role == MEND_ROLE_SPARE)
        test_die();
    int rc = mend_process_resume_here(p);
    if (rc == 0) {
        const mend_repair *now = mend_process_state(p);
        EXPECT(now->generation == 0);
        add_up(now->comm, 200); /* the dead spares disturb nobody */
        test_die_as(1);
        for (;;)
            MPI_Barrier(now->comm);
    }
    EXPECT(rc == MEND_ERR_STOPPED && strstr(mend_error_text(), "dead ranks 1"));
    EXPECT(mend_process_repair(p) == MEND_ERR_STOPPED);
    EXPECT(mend_process_close(p) == 0);
    if (test_rank() == 0)
        test_pass();
}

static void zero_spares_stop(void)
{
    mend_process *p = start((mend_process_options){0}); /* mode MANUAL, policy SPARE */
    const mend_repair *now = mend_process_state(p);
    test_die_as(2);
    while (MPI_Barrier(now->comm) == MPI_SUCCESS)
        ;
    EXPECT(mend_process_repair(p) == MEND_ERR_STOPPED);
    EXPECT(mend_process_close(p) == 0);
    if (test_rank() == 0)
        test_pass();
}

/* ---- derived communicators ------------------------------------------------------------------- */

/* Rank 0 sits in a receive on a derived communicator from rank 1, which lives; rank 3 dies, and
 * only rank 2 talks to it. */
static void sit(mend_process *p, MPI_Comm derived, int partner_of_0)
{
    const mend_repair *now = mend_process_state(p);
    int value;
    if (now->generation > 0)
        return;
    MPI_Barrier(now->comm);
    if (now->rank == 3)
        test_die();
    if (now->rank == 0) {
        MPI_Recv(&value, 1, MPI_INT, partner_of_0, 77, derived, MPI_STATUS_IGNORE);
        MPI_Barrier(now->comm); /* if the handler of `derived` is not ours */
    }
    if (now->rank == 1)
        MPI_Recv(&value, 1, MPI_INT, 2, 78, now->comm, MPI_STATUS_IGNORE);
    if (now->rank == 2)
        MPI_Recv(&value, 1, MPI_INT, 3, 79, now->comm, MPI_STATUS_IGNORE);
    EXPECT(!"a message that nobody sent");
}

static void derived(const char *kind)
{
    mend_process *p = start(jump);
    EXPECT(mend_process_resume_here(p) == 0);
    const mend_repair *now = mend_process_state(p);
    if (now->role != MEND_ROLE_RELEASED) {
        MPI_Comm comm = now->comm, made = MPI_COMM_NULL, other;
        int rank = now->rank, partner = 1, pair = rank < 2;
        MPI_Group all, group;
        MPI_Comm_group(comm, &all);
        if (strcmp(kind, "dup") == 0) {
            MPI_Comm_dup(comm, &made);
        } else if (strcmp(kind, "idup") == 0) {
            MPI_Request request;
            MPI_Comm_idup(comm, &made, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        } else if (strcmp(kind, "split") == 0) {
            MPI_Comm_split(comm, pair, rank, &made);
        } else if (strcmp(kind, "split_type") == 0) {
            MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &made);
        } else if (strcmp(kind, "create") == 0) {
            MPI_Group_incl(all, 2, (int[]){0, 1}, &group);
            MPI_Comm_create(comm, group, &made);
        } else if (strcmp(kind, "create_group") == 0) {
            MPI_Group_incl(all, 3, (int[]){0, 1, 2}, &group);
            if (rank != 3)
                MPI_Comm_create_group(comm, group, 5, &made);
        } else if (strcmp(kind, "cart") == 0) {
            MPI_Cart_create(comm, 2, (int[]){2, 2}, (int[]){1, 1}, 0, &other);
            MPI_Cart_sub(other, (int[]){0, 1}, &made);
        } else if (strcmp(kind, "graph") == 0) {
            MPI_Graph_create(comm, 4, (int[]){1, 2, 3, 4}, (int[]){1, 0, 3, 2}, 0, &made);
        } else if (strcmp(kind, "dist_graph") == 0) {
            int neighbour[1] = {rank ^ 1}, weight[1] = {1};
            MPI_Dist_graph_create_adjacent(comm, 1, neighbour, weight, 1, neighbour, weight,
                                           MPI_INFO_NULL, 0, &made);
        } else if (strcmp(kind, "intercomm") == 0) {
            MPI_Comm half;
            MPI_Comm_split(comm, rank % 2, rank, &half); /* {0, 2} and {1, 3} */
            MPI_Intercomm_create(half, 0, comm, rank % 2 ? 0 : 1, 9, &made);
            partner = 0;
        } else if (strcmp(kind, "dup_of_split_with_handler") == 0) {
            MPI_Comm_split(comm, pair, rank, &other);
            MPI_Comm_set_errhandler(other, MPI_ERRORS_RETURN); /* a library that does as it likes */
            MPI_Comm_dup(other, &made);
        } else {
            EXPECT(!"known kind");
        }
        sit(p, made, partner);
        add_up(now->comm, 20);
        EXPECT(now->generation == 1);
    }
    finish(p);
}

/* Deaths while communicators are being made, again and again: whoever got one must not wait in it
 * for those who did not. */
static void making(const char *kind)
{
    mend_process *p = start(jump);
    EXPECT(mend_process_resume_here(p) == 0);
    const mend_repair *now = mend_process_state(p);
    if (now->role != MEND_ROLE_RELEASED) {
        srand((unsigned)test_rank() + 1000u * (unsigned)now->generation);
        for (int i = 0; i < 60; i++) {
            MPI_Comm made = MPI_COMM_NULL;
            MPI_Group all, group;
            if (now->generation < 2 && now->rank == 1 + now->generation && i == 20) {
                usleep((unsigned)rand() % 3000);
                test_die();
            }
            if (strcmp(kind, "group") == 0) {
                MPI_Comm_group(now->comm, &all);
                MPI_Group_incl(all, now->size - 1, (int[]){0, 1, 2, 3, 4, 5, 6, 7}, &group);
                if (now->rank < now->size - 1)
                    MPI_Comm_create_group(now->comm, group, i, &made);
                MPI_Group_free(&group);
                MPI_Group_free(&all);
            } else {
                MPI_Comm_split(now->comm, now->rank % 2, 0, &made);
            }
            if (made != MPI_COMM_NULL) {
                add_up(made, 2);
                MPI_Comm_free(&made);
            }
        }
        MPI_Barrier(now->comm); /* one rank was in no group */
        EXPECT(now->generation >= 1);
    }
    finish(p);
}

/* ---- callbacks and builders ------------------------------------------------------------------ */

static int called[8], n_called;

/* The options' callback runs on every active rank, so it may use collectives. */
static void on_all(mend_process *p, const mend_repair *now, void *arg)
{
    (void)p;
    add_up(now->comm, 3);
    called[n_called++ % 8] = (int)(intptr_t)arg;
}

/* Those that were pushed run on survivors only. */
static void on_survivors(mend_process *p, const mend_repair *now, void *arg)
{
    (void)p;
    EXPECT(now->comm != MPI_COMM_NULL);
    called[n_called++ % 8] = (int)(intptr_t)arg;
}

/* A death inside a callback: the others meet it in theirs; the repair is done again, and so are the
 * callbacks. */
static void dying_callback(mend_process *p, const mend_repair *now, void *arg)
{
    (void)p;
    (void)arg;
    if (now->generation == 1 && now->rank == 0)
        test_die();
}

static void callbacks(void)
{
    mend_process_options options = jump;
    options.on_repair = on_all;
    options.on_repair_arg = (void *)1;
    mend_process *p = start(options);
    EXPECT(mend_process_resume_here(p) == 0);
    const mend_repair *now = mend_process_state(p);
    if (now->role != MEND_ROLE_RELEASED) {
        if (now->generation == 0) {
            EXPECT(mend_process_callback_push(p, on_survivors, (void *)2) == 0);
            EXPECT(mend_process_callback_push(p, dying_callback, NULL) == 0);
            EXPECT(mend_process_callback_push(p, on_survivors, (void *)4) == 0);
            EXPECT(mend_process_callback_pop(p) == 0);
            test_die_as(3);
        }
        add_up(now->comm, 30);
        EXPECT(now->generation == 2 && now->n_failed == 1 && now->failed[0] == 0);
        if (now->role == MEND_ROLE_SURVIVOR)
            EXPECT(n_called >= 2 && called[n_called - 1] == 1 && called[n_called - 2] == 2);
        else /* never resumed before: still recovered, though rank 3 came with the first repair */
            EXPECT((now->rank == 0 || now->rank == 3) && called[n_called - 1] == 1);
        EXPECT(now->n_replaced == 2 && now->replaced[0] == 0 && now->replaced[1] == 3);
    }
    finish(p);
}

/* Dies where MEND_FAULT says, before the callback of rank 1's repair. */
static void in_callback(void)
{
    mend_process_options options = jump;
    options.on_repair = on_all;
    mend_process *p = start(options);
    EXPECT(mend_process_resume_here(p) == 0);
    const mend_repair *now = mend_process_state(p);
    if (now->role != MEND_ROLE_RELEASED) {
        if (now->generation == 0)
            test_die_as(1);
        add_up(now->comm, 30);
        EXPECT(now->generation == 2 && n_called > 0);
    }
    EXPECT(mend_process_close(p) == 0);
    test_pass();
}

static int build_pairs(MPI_Comm comm, MPI_Comm *made, void *arg)
{
    int rank;
    MPI_Comm_rank(comm, &rank);
    return MPI_Comm_split(comm, rank / *(int *)arg, rank, made);
}

/* Mode RETURN: everything is repaired when the failing call returns, what was built as well. */
static void builders(void)
{
    static MPI_Comm pairs;
    int two = 2;
    mend_process_builder builder = {build_pairs, &two, &pairs};
    mend_process_options options = {
        .resume = MEND_RESUME_RETURN, .builders = &builder, .n_builders = 1};
    mend_process *p = start(options);
    const mend_repair *now = mend_process_state(p);
    if (now->role == MEND_ROLE_RELEASED)
        return finish(p);
    test_die_as(2);
    if (now->generation == 0) {
        while (MPI_Barrier(pairs) == MPI_SUCCESS && MPI_Barrier(now->comm) == MPI_SUCCESS)
            ;
        EXPECT(now->generation == 1);
    }
    add_up(pairs, 10);
    add_up(now->comm, 10);
    finish(p);
}

/* ---- the end, and the beginning
 * -------------------------------------------------------------------- */

/* Dies where MEND_FAULT says, in finalize. If not all had come, the work is done again. */
static void at_the_end(void)
{
    static volatile int rounds;
    mend_process *p = start(jump);
    EXPECT(mend_process_resume_here(p) == 0);
    const mend_repair *now = mend_process_state(p);
    if (now->role != MEND_ROLE_RELEASED) {
        rounds = rounds + 1;
        add_up(now->comm, 20);
        EXPECT(rounds <= 2);
    }
    EXPECT(mend_process_close(p) == 0);
    test_pass(); /* rank 0 may be the one that died at the very end */
}

/* Dies where MEND_FAULT says, inside the repair of rank 1. */
static void in_repair(void)
{
    mend_process *p = start(jump);
    EXPECT(mend_process_resume_here(p) == 0);
    const mend_repair *now = mend_process_state(p);
    if (now->role != MEND_ROLE_RELEASED) {
        if (now->generation == 0)
            test_die_as(1);
        add_up(now->comm, 50);
        EXPECT(now->generation > 0 && now->size == atoi(getenv("MEND_TEST_NP")));
    }
    EXPECT(mend_process_close(p) == 0);
    test_pass();
}

static void again_and_again(void)
{
    int expected = atoi(getenv("MEND_TEST_NP"));
    MPI_Comm base;
    MPI_Comm_dup(MPI_COMM_WORLD, &base);
    for (int round = 0; round < 20; round++) {
        mend_process *p;
        mend_process_options options = {.spares = test_spares()};
        EXPECT(mend_process_open(base, &options, &p) == 0);
        mend_process *second;
        EXPECT(mend_process_open(base, &options, &second) == MEND_ERR_STATE);
        const mend_repair *now = mend_process_state(p);
        if (now->role != MEND_ROLE_RELEASED) {
            EXPECT(now->role == MEND_ROLE_INITIAL && now->size == expected);
            add_up(now->comm, 5);
        }
        EXPECT(mend_process_close(p) == 0);
    }
    if (test_rank() == 0)
        test_pass();
}

/* Two resilient communicators side by side, each with its spare; a rank of the first dies, then one
 * of the second. */
static void side_by_side(void)
{
    int seat = test_rank(), side = seat % 2;
    MPI_Comm mine;
    MPI_Comm_split(MPI_COMM_WORLD, side, seat, &mine);
    mend_process *p;
    mend_process_options options = {.spares = 1, .resume = MEND_RESUME_JUMP};
    EXPECT(mend_process_open(mine, &options, &p) == 0);
    EXPECT(mend_process_resume_here(p) == 0);
    const mend_repair *now = mend_process_state(p);
    if (now->role != MEND_ROLE_RELEASED) {
        if (now->generation == 0) {
            usleep(side ? 30000 : 0);
            if (now->rank == 1)
                test_die();
        }
        add_up(now->comm, 100);
        EXPECT(now->generation == 1 && now->size == 3);
    }
    int rank = now->rank;
    EXPECT(mend_process_close(p) == 0);
    test_file(side ? "right" : "left", "x");
    for (int i = 0; i < 1000 && !(test_file_exists("right") && test_file_exists("left")); i++)
        usleep(10000);
    if (rank == 0)
        test_pass();
}

/* ---- wrong use
 * ----------------------------------------------------------------------------------- */

static void wrong(void)
{
    mend_process *p = (mend_process *)1;
    mend_process_options options = {.spares = -1};
    int size, count;
    mend_role role;
    mend_request_fate fate;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    EXPECT(mend_process_open(MPI_COMM_WORLD, &options, NULL) == MEND_ERR_ARGUMENT);
    EXPECT(mend_process_open(MPI_COMM_NULL, &options, &p) == MEND_ERR_ARGUMENT && !p);
    EXPECT(mend_process_open(MPI_COMM_WORLD, &options, &p) == MEND_ERR_ARGUMENT && !p);
    options.spares = size;
    EXPECT(mend_process_open(MPI_COMM_WORLD, &options, &p) == MEND_ERR_ARGUMENT && !p);
    options.spares = test_rank() == 0 ? 1 : 0; /* not the same everywhere */
    EXPECT(mend_process_open(MPI_COMM_WORLD, &options, &p) == MEND_ERR_ARGUMENT && !p);
    options.spares = test_rank() == 0 ? -5 : 0; /* wrong on one rank only */
    EXPECT(mend_process_open(MPI_COMM_WORLD, &options, &p) == MEND_ERR_ARGUMENT && !p);
    options.spares = 0;
    options.order[0] = (mend_policy)17;
    EXPECT(mend_process_open(MPI_COMM_WORLD, &options, &p) == MEND_ERR_ARGUMENT && !p);
    options.order[0] = MEND_POLICY_NONE;
    options.n_builders = 1;
    EXPECT(mend_process_open(MPI_COMM_WORLD, &options, &p) == MEND_ERR_ARGUMENT && !p);
    mend_process_builder builder = {build_pairs, NULL, NULL};
    options.builders = &builder;
    EXPECT(mend_process_open_sized(MPI_COMM_WORLD, &options, sizeof options, sizeof builder - 8,
                                   &p) == MEND_ERR_UNSUPPORTED &&
           !p && strstr(mend_error_text(), "mend_process_builder has ")); /* another header */
    EXPECT(mend_process_close(NULL) == MEND_ERR_ARGUMENT);
    EXPECT(mend_process_repair(NULL) == MEND_ERR_ARGUMENT);
    EXPECT(mend_process_check(NULL, 1) == MEND_ERR_ARGUMENT);
    EXPECT(mend_process_state(NULL) == NULL);
    EXPECT(mend_process_resume_here((mend_process *)NULL) == MEND_ERR_ARGUMENT);
    EXPECT(mend_process_run(MPI_COMM_WORLD, NULL, NULL, NULL, NULL) == MEND_ERR_ARGUMENT);
    EXPECT(!mend_process_is_failure(MPI_SUCCESS) && !mend_process_is_failure(MPI_ERR_RANK));

    EXPECT(mend_process_open(MPI_COMM_WORLD, NULL, &p) == 0);
    EXPECT(mend_process_callback_push(p, NULL, NULL) == MEND_ERR_ARGUMENT);
    EXPECT(mend_process_callback_pop(p) == MEND_ERR_STATE);
    EXPECT(mend_process_role_of(p, size, &role) == MEND_ERR_ARGUMENT);
    EXPECT(mend_process_role_of(p, -1, &role) == MEND_ERR_ARGUMENT);
    EXPECT(mend_process_count_role(p, MEND_ROLE_INITIAL, &count) == 0 && count == size);
    EXPECT(mend_process_count_role(p, (mend_role)99, &count) == MEND_ERR_ARGUMENT);
    EXPECT(mend_process_watch(p, MPI_COMM_NULL) == MEND_ERR_ARGUMENT);
    EXPECT(mend_process_request(p, NULL, MPI_STATUS_IGNORE, &fate) == MEND_ERR_ARGUMENT);
    EXPECT(mend_process_builder_add(p, NULL, NULL, NULL) == MEND_ERR_ARGUMENT);
    EXPECT(mend_process_check(p, 1) == 0);
    EXPECT(strstr(mend_error_text(), "NULL") != NULL);
    add_up(mend_process_state(p)->comm, 3);
    finish(p);
}

/* ---- processes that hang --------------------------------------------------------------------- */

/* Rank 2 is stopped; with the detector it becomes an ordinary failure. */
static void stopped(void)
{
    mend_process_options options = jump;
    options.hang_timeout = 10;
    mend_process *p = start(options);
    EXPECT(mend_process_resume_here(p) == 0);
    const mend_repair *now = mend_process_state(p);
    if (now->role != MEND_ROLE_RELEASED) {
        if (now->generation == 0 && test_rank() == 2)
            kill(getpid(), SIGSTOP);
        add_up(now->comm, 20);
        EXPECT(now->generation == 1 && now->failed[0] == 2);
    }
    finish(p);
}

/* Rank 1 dies; rank 2 does not come to the repair. The others are told whom they wait for. */
static void watchdog(void)
{
    mend_process_options options = {.watchdog = 12, .spares = test_spares()};
    mend_process *p;
    int rc = mend_process_open(MPI_COMM_WORLD, &options, &p);
    EXPECT(rc == (test_rank() < 4 ? 0 : MEND_ERR_HUNG)); /* the spare is told as well */
    if (rc != 0)
        _exit(0);
    const mend_repair *now = mend_process_state(p);
    if (now->rank == 1) {
        usleep(100000);
        test_die();
    }
    if (test_rank() == 2) {
        for (int i = 0; i < 600 && !test_file_exists("told"); i++)
            usleep(100000); /* it computes, and computes */
        _exit(0);
    }
    while (MPI_Barrier(now->comm) == MPI_SUCCESS)
        ;
    EXPECT(mend_process_repair(p) == MEND_ERR_HUNG);
    EXPECT(strstr(mend_error_text(), "phase shrink") && strstr(mend_error_text(), "rank 2 (pid"));
    test_file("told", "x");
    test_pass();
    _exit(0);
}

/* The same on two nodes, two ranks each: the neighbour of the absent rank names it, the one on the
 * other node names the ranks over there. */
static void watchdog_away(void)
{
    mend_process_options options = {.watchdog = 12};
    mend_process *p;
    EXPECT(mend_process_open(MPI_COMM_WORLD, &options, &p) == 0);
    const mend_repair *now = mend_process_state(p);
    if (now->rank == 1) {
        usleep(100000);
        test_die();
    }
    if (now->rank == 2) {
        for (int i = 0; i < 900 && !(test_file_exists("told.0") && test_file_exists("told.3")); i++)
            usleep(100000);
        _exit(0);
    }
    while (MPI_Barrier(now->comm) == MPI_SUCCESS)
        ;
    EXPECT(mend_process_repair(p) == MEND_ERR_HUNG);
    EXPECT(strstr(mend_error_text(),
                  now->rank == 0 ? "of other nodes (some of the ranks 2, 3)" : "rank 2 (pid"));
    test_file(now->rank == 0 ? "told.0" : "told.3", "x");
    test_pass();
    _exit(0);
}

/* ---- spawn ----------------------------------------------------------------------------------- */

static void spawn(void)
{
    mend_process_options options = jump;
    options.order[0] = MEND_POLICY_SPARE;
    options.order[1] = MEND_POLICY_SPAWN;
    mend_process *p = start(options);
    EXPECT(mend_process_resume_here(p) == 0);
    const mend_repair *now = mend_process_state(p);
    if (now->role != MEND_ROLE_RELEASED) {
        if (now->generation == 0 && now->rank == 1)
            test_die();
        add_up(now->comm, 20);
        EXPECT(now->generation == 1 && now->size == 3 && now->policy == MEND_POLICY_SPAWN);
    }
    finish(p);
}

/* ---- pending requests ------------------------------------------------------------------------ */

static void requests(void)
{
    static int arrived, missing;
    static MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    mend_process *p = start((mend_process_options){0});
    const mend_repair *now = mend_process_state(p);
    if (now->role == MEND_ROLE_RELEASED)
        return finish(p);
    int value = 5, flag;
    if (now->generation == 0) {
        if (now->rank == 0) {
            MPI_Irecv(&arrived, 1, MPI_INT, 1, 1, now->comm, &requests[0]);
            MPI_Irecv(&missing, 1, MPI_INT, 1, 2, now->comm, &requests[1]);
        }
        if (now->rank == 1)
            MPI_Send(&value, 1, MPI_INT, 0, 1, now->comm);
        MPI_Barrier(now->comm);
        while (now->rank == 0 && arrived != 5)
            MPI_Iprobe(MPI_ANY_SOURCE, 99, now->comm, &flag, MPI_STATUS_IGNORE);
        test_out_of_it("arrived", now->size - 1, now->rank == 2);
        test_die_as(2);
        while (MPI_Barrier(now->comm) == MPI_SUCCESS)
            ;
        EXPECT(mend_process_repair(p) == 0);
    }
    if (now->rank == 0) {
        mend_request_fate fate;
        MPI_Status status;
        EXPECT(mend_process_request(p, &requests[0], &status, &fate) == 0);
        EXPECT(fate == MEND_REQUEST_COMPLETED && arrived == 5 && requests[0] == MPI_REQUEST_NULL);
        EXPECT(mend_process_request(p, &requests[1], &status, &fate) == 0);
        EXPECT(fate == MEND_REQUEST_LOST && requests[1] == MPI_REQUEST_NULL);
    }
    add_up(now->comm, 5);
    finish(p);
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "", *kind = argc > 2 ? argv[2] : "";
    static const struct {
        const char *name;
        void (*run)(void);
    } cases[] = {{"rank_zero", rank_zero},
                 {"several", several},
                 {"all_active", all_active},
                 {"zero_spares_shrink", zero_spares_shrink},
                 {"zero_spares_stop", zero_spares_stop},
                 {"spare_then_shrink", spare_then_shrink},
                 {"spares_first", spares_first},
                 {"callbacks", callbacks},
                 {"in_callback", in_callback},
                 {"builders", builders},
                 {"at_the_end", at_the_end},
                 {"in_repair", in_repair},
                 {"one_by_one", one_by_one},
                 {"again_and_again", again_and_again},
                 {"side_by_side", side_by_side},
                 {"wrong", wrong},
                 {"stopped", stopped},
                 {"watchdog", watchdog},
                 {"watchdog_away", watchdog_away},
                 {"spawn", spawn},
                 {"requests", requests}};
    mend_process *early;
    EXPECT(mend_process_open(MPI_COMM_WORLD, NULL, &early) == MEND_ERR_STATE); /* before MPI_Init */
    int level;
    MPI_Init_thread(&argc, &argv,
                    getenv("MEND_TEST_THREADS") ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
    if (getenv("MEND_TEST_EVENTS"))
        EXPECT(mend_event_open(getenv("MEND_TEST_EVENTS")) == 0);
    if (strcmp(name, "derived") == 0)
        derived(kind);
    else if (strcmp(name, "making") == 0)
        making(kind);
    else
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
            if (strcmp(cases[i].name, name) == 0)
                cases[i].run();
    MPI_Finalize();
    return 0;
}
