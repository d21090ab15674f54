/* Cases of process_cases: processes that hang. */
#include "process_cases.h"

/* ---- processes that hang --------------------------------------------------------------------- */

/* Rank 2 is stopped; with the detector it becomes an ordinary failure. */
void stopped(void)
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
void watchdog(void)
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
void watchdog_away(void)
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
