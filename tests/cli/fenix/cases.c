/* cases NAME: programs as users of Fenix write them, with nothing of Mend in them. Built by
 * fenix.sh from an installed copy; rank 0 of the last communicator prints PASS. */
#include <fenix.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHECK(condition)                                                       \
    do {                                                                       \
        if (!(condition)) {                                                    \
            fprintf(stderr, "line %d is not so: %s\n", __LINE__, #condition);  \
            kill(getppid(), SIGTERM); /* a dead rank would just be replaced */ \
            _exit(1);                                                          \
        }                                                                      \
    } while (0)

static int seat; /* rank in MPI_COMM_WORLD */

static void die(void)
{
    kill(getpid(), SIGKILL);
    pause();
}

static void add_up(MPI_Comm comm)
{
    int rank, size, sum;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int i = 0; i < 20; i++) {
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
        CHECK(sum == size * (size - 1) / 2);
    }
}

static void done(MPI_Comm comm)
{
    int rank;
    MPI_Comm_rank(comm, &rank);
    Fenix_Finalize();
    if (rank == 0)
        puts("PASS");
    fflush(stdout);
    MPI_Finalize();
}

/* Two spares, three deaths: the third has nobody to take its place. 4 active ranks. */
static void exhaustion(int argc, char **argv)
{
    static int deaths;
    int role, error, size, count, *failed;
    MPI_Comm comm;
    Fenix_Init(&role, MPI_COMM_WORLD, &comm, &argc, &argv, 2, 0, MPI_INFO_NULL, &error);
    MPI_Comm_size(comm, &size);
    if (role == FENIX_ROLE_INITIAL_RANK)
        CHECK(error == FENIX_SUCCESS && size == 4);
    else
        CHECK(Fenix_Process_fail_list(&failed) == 1);
    deaths = 2 - Fenix_get_nspare() + (size < 4);
    if (deaths < 3) {
        int rank;
        MPI_Comm_rank(comm, &rank);
        if (rank == 1 + deaths % 3)
            die();
        for (;;)
            MPI_Barrier(comm);
    }
    CHECK(size == 3 && error == FENIX_WARNING_SPARE_RANKS_DEPLETED);
    CHECK(Fenix_get_number_of_ranks_with_role(FENIX_ROLE_INITIAL_RANK, &count) == FENIX_SUCCESS);
    CHECK(count == 0);
    add_up(comm);
    done(comm);
}

/* A spare dies while it waits; the other one is still good. 4 active ranks, 2 spares. */
static void failed_spare(int argc, char **argv)
{
    int role, error, rank, size;
    MPI_Comm comm;
    if (seat == 4) {
        signal(SIGALRM, SIG_DFL);
        alarm(1); /* it kills a process that sits in Fenix_Init */
    }
    Fenix_Init(&role, MPI_COMM_WORLD, &comm, &argc, &argv, 2, 0, MPI_INFO_NULL, &error);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    CHECK(size == 4);
    if (role == FENIX_ROLE_INITIAL_RANK) {
        sleep(2);
        if (rank == 2)
            die();
    }
    add_up(comm);
    CHECK(role != FENIX_ROLE_INITIAL_RANK && error == FENIX_SUCCESS);
    CHECK(role == FENIX_ROLE_SURVIVOR_RANK || rank == 2);
    done(comm);
}

/* A synchronous send that the dead rank never receives is cancelled, one before it is complete. */
static void pending_send(int argc, char **argv)
{
    static MPI_Request taken = MPI_REQUEST_NULL, left = MPI_REQUEST_NULL;
    static int value = 11;
    int role, error, rank;
    MPI_Comm comm;
    MPI_Status status;
    Fenix_Init(&role, MPI_COMM_WORLD, &comm, &argc, &argv, 1, 0, MPI_INFO_NULL, &error);
    MPI_Comm_rank(comm, &rank);
    if (role == FENIX_ROLE_INITIAL_RANK) {
        if (rank == 0) {
            MPI_Issend(&value, 1, MPI_INT, 1, 1, comm, &taken);
            MPI_Issend(&value, 1, MPI_INT, 1, 2, comm, &left);
            MPI_Wait(&taken, MPI_STATUS_IGNORE);
        }
        if (rank == 1) {
            MPI_Recv(&value, 1, MPI_INT, 0, 1, comm, MPI_STATUS_IGNORE);
            die();
        }
        for (;;)
            MPI_Barrier(comm);
    }
    if (rank == 0)
        CHECK(Fenix_check_cancelled(&left, &status) == 1 && left == MPI_REQUEST_NULL);
    add_up(comm);
    done(comm);
}

/* Fenix on some of the processes; the others do not know of it. */
static void subset(int argc, char **argv)
{
    int role, error, rank, size;
    MPI_Comm some, comm;
    MPI_Comm_split(MPI_COMM_WORLD, seat < 4, seat, &some);
    if (seat >= 4) {
        add_up(some);
        MPI_Finalize();
        return;
    }
    Fenix_Init(&role, some, &comm, &argc, &argv, 1, 0, MPI_INFO_NULL, &error);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    CHECK(size == 3);
    if (role == FENIX_ROLE_INITIAL_RANK && rank == 1)
        die();
    add_up(comm);
    CHECK(role != FENIX_ROLE_INITIAL_RANK);
    done(comm);
}

static int calls;

static void dying_callback(MPI_Comm comm, int code, void *data)
{
    (void)comm;
    (void)code;
    (void)data;
    if (calls++ == 0 && seat == 2)
        die();
}

/* The second failure comes inside the recovery from the first. */
static void double_failure(int argc, char **argv)
{
    int role, error, rank, *failed;
    MPI_Comm comm;
    Fenix_Init(&role, MPI_COMM_WORLD, &comm, &argc, &argv, 2, 0, MPI_INFO_NULL, &error);
    MPI_Comm_rank(comm, &rank);
    if (role == FENIX_ROLE_INITIAL_RANK) {
        Fenix_Callback_register(dying_callback, NULL);
        if (rank == 1)
            die();
    }
    add_up(comm);
    CHECK(role != FENIX_ROLE_INITIAL_RANK && error == FENIX_SUCCESS);
    CHECK(Fenix_Process_fail_list(&failed) == 1 && failed[0] == 2);
    CHECK(Fenix_get_nspare() == 0);
    done(comm);
}

/* MPI calls return their errors; everything is repaired when they do. */
static void no_jump(int argc, char **argv)
{
    int role, error, rank, sum = 0, one = 1;
    MPI_Comm comm;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "FENIX_RESUME_MODE", "NO_JUMP");
    Fenix_Init(&role, MPI_COMM_WORLD, &comm, &argc, &argv, 1, 0, info, &error);
    MPI_Comm_rank(comm, &rank);
    if (role == FENIX_ROLE_INITIAL_RANK) {
        if (rank == 1)
            die();
        while (MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS)
            ;
        CHECK(role == FENIX_ROLE_SURVIVOR_RANK);
    }
    add_up(comm);
    done(comm);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(int, char **);
    } cases[] = {{"exhaustion", exhaustion},         {"failed_spare", failed_spare},
                 {"pending_send", pending_send},     {"subset", subset},
                 {"double_failure", double_failure}, {"no_jump", no_jump}};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &seat);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (argc > 1 && strcmp(argv[1], cases[i].name) == 0)
            cases[i].run(argc, argv);
    return 0;
}
