/* process_cases CASE: what a process layer must survive, one case a run. */
#include "process_cases.h"

/* ---- who dies -------------------------------------------------------------------------------- */

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

/* More deaths than one card of a repair names (src/ulfm/inside.h). */
static void nearly_all(void)
{
    mend_process_options options = jump;
    options.order[0] = MEND_POLICY_SHRINK;
    victims(14, (int[]){0, 1, 2, 3, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14}, 2, options);
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

/* A call fails because of a death, but with a code that does not say so, and before the notice of the death arrives: the
 * job is repaired. The program's own errors are still its own: a wrong argument, and a class that it has defined. */
static int own_errors;

static void count_error(MPI_Comm comm, int code, void *arg)
{
    (void)comm, (void)code, (void)arg;
    own_errors++;
}

static void other_error(void)
{
    mend_process_options options = jump;
    options.on_error = count_error;
    mend_process *p = start(options);
    EXPECT(mend_process_resume_here(p) == 0);
    const mend_repair *now = mend_process_state(p);
    if (now->role != MEND_ROLE_RELEASED && now->generation == 0) {
        int pid = getpid(), class;
        MPI_Bcast(&pid, 1, MPI_INT, 1, now->comm);
        if (now->rank == 0) {
            MPI_Comm_call_errhandler(now->comm, MPI_ERR_RANK);
            MPI_Add_error_class(&class);
            MPI_Comm_call_errhandler(now->comm, class);
            EXPECT(own_errors == 2);
            kill(pid, SIGKILL);
            MPI_Comm_call_errhandler(now->comm, MPI_ERR_PROC_ABORTED);
            EXPECT(!"repaired"); /* the handler has jumped */
        }
        for (;;)
            MPI_Barrier(now->comm);
    }
    if (now->role != MEND_ROLE_RELEASED) {
        EXPECT(now->generation == 1);
        add_up(now->comm, 50);
    }
    finish(p);
}

/* ---- the end, and the beginning -------------------------------------------------------------- */

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

/* ---- wrong use ------------------------------------------------------------------------------- */

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
                 {"nearly_all", nearly_all},
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
                 {"other_error", other_error},
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
