/* args.c - MPI functions with arguments that no program should pass, drawn from pools by a seed: null handles, ranks and tags
 * that do not exist, negative counts. Each call must return, with an error where the library gives one natively: what
 * happened is printed. Nothing is sent that is not received, so that all can be let go at the end.
 * usage: args CALLS SEED
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state;
static unsigned any(unsigned n)
{
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (unsigned)(state >> 33) % n;
}

static long buf[64], buf2[64];
static MPI_Datatype vector;
static MPI_Comm dup;
static int count(void)
{
    static const int pool[] = {1, 1, 1, 2, 0, -1, -2000000000};
    return pool[any(7)];
}
static MPI_Datatype type(void)
{
    MPI_Datatype pool[] = {MPI_INT, MPI_LONG, MPI_DOUBLE, MPI_BYTE, MPI_DATATYPE_NULL, vector};
    return pool[any(6)];
}
static int rank(void)
{
    static const int pool[] = {0, 0, MPI_PROC_NULL, 1, 1000, -77, 0x7fffffff};
    return pool[any(7)];
}
static int tag(void)
{
    static const int pool[] = {0, 1, 1000, -5, 1 << 30};
    return pool[any(5)];
}
static MPI_Comm comm(void)
{
    MPI_Comm pool[] = {MPI_COMM_SELF, MPI_COMM_SELF, dup, MPI_COMM_NULL};
    return pool[any(4)];
}
static MPI_Op op(void)
{
    MPI_Op pool[] = {MPI_SUM, MPI_MAX, MPI_OP_NULL};
    return pool[any(3)];
}
static int root(void)
{
    static const int pool[] = {0, 0, 0, -9, 5};
    return pool[any(5)];
}

/* A message to oneself is received at once; one that was refused is not there. */
static int to_self(void)
{
    MPI_Request r = MPI_REQUEST_NULL;
    MPI_Comm c = comm();
    int rc = MPI_Isend(buf, count(), type(), rank(), tag(), c, &r), flag = 0;
    if (rc)
        return rc;
    MPI_Status s;
    for (int i = 0; i < 3 && !flag; i++)
        if (MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, c, &flag, &s))
            return -1;
    if (flag)
        MPI_Recv(buf2, sizeof buf2, MPI_BYTE, s.MPI_SOURCE, s.MPI_TAG, c, MPI_STATUS_IGNORE);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    return 0;
}
static int from_nobody(void)
{
    MPI_Request r = MPI_REQUEST_NULL;
    int rc = MPI_Irecv(buf2, count(), type(), rank(), tag(), comm(), &r);
    if (rc == 0 && r != MPI_REQUEST_NULL) {
        MPI_Cancel(&r);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    }
    return rc;
}
static int of_types(void)
{
    MPI_Datatype t = MPI_DATATYPE_NULL;
    int rc = any(2) ? MPI_Type_contiguous(count(), type(), &t)
                    : MPI_Type_vector(count(), count(), 2, type(), &t);
    if (rc == 0)
        MPI_Type_free(&t);
    return rc;
}
static int of_comms(void)
{
    MPI_Comm c = MPI_COMM_NULL;
    int rc = any(2) ? MPI_Comm_dup(comm(), &c) : MPI_Comm_split(comm(), any(2) ? 1 : -3, 0, &c);
    if (rc == 0 && c != MPI_COMM_NULL)
        MPI_Comm_free(&c);
    return rc;
}
static int asked(void)
{
    int n;
    MPI_Group g;
    switch (any(4)) {
    case 0: return MPI_Comm_rank(comm(), &n);
    case 1: return MPI_Comm_size(comm(), &n);
    case 2: return MPI_Type_size(any(2) ? MPI_INT : MPI_DATATYPE_NULL, &n);
    default: {
        int rc = MPI_Comm_group(comm(), &g);
        if (rc == 0)
            MPI_Group_free(&g);
        return rc;
    }
    }
}

int main(int argc, char **argv)
{
    int calls = argc > 1 ? atoi(argv[1]) : 1000;
    state = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_dup(MPI_COMM_SELF, &dup);
    MPI_Type_vector(2, 1, 2, MPI_INT, &vector);
    MPI_Type_commit(&vector);
    for (int i = 0; i < calls; i++) {
        int rc = 0;
        unsigned which = any(12);
        switch (which) {
        case 0:
        case 1: rc = to_self(); break;
        case 2:
        case 3: rc = from_nobody(); break;
        case 4: rc = MPI_Bcast(buf, count(), type(), root(), comm()); break;
        case 5:
            rc = MPI_Allreduce(buf, buf2, count(), any(2) ? MPI_INT : type(), op(), comm());
            break;
        case 6: rc = MPI_Reduce(buf, buf2, count(), MPI_LONG, op(), root(), comm()); break;
        case 7: rc = MPI_Barrier(comm()); break;
        case 8: rc = of_types(); break;
        case 9: rc = of_comms(); break;
        case 10: rc = asked(); break;
        default:
            rc = MPI_Gather(buf, count(), MPI_INT, buf2, count(), MPI_INT, root(), comm());
            break;
        }
        printf("%d: %u %s\n", i, which, rc ? "error" : "done");
    }
    MPI_Type_free(&vector);
    MPI_Comm_free(&dup);
    MPI_Finalize();
    return 0;
}
