/* Cases of process_cases: what is made of the communicator, and what comes back after a repair. */
#include "process_cases.h"

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

void derived(const char *kind)
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
void making(const char *kind)
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

void callbacks(void)
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
void in_callback(void)
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

int build_pairs(MPI_Comm comm, MPI_Comm *made, void *arg)
{
    int rank;
    MPI_Comm_rank(comm, &rank);
    return MPI_Comm_split(comm, rank / *(int *)arg, rank, made);
}

/* Mode RETURN: everything is repaired when the failing call returns, what was built as well. */
void builders(void)
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

/* ---- pending requests ------------------------------------------------------------------------ */

void requests(void)
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
