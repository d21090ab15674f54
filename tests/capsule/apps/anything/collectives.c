/* Collectives, blocking or not, of groups and between two groups; neighbourhoods; a user's operation. */
#include "anything.h"

static MPI_Op twist = MPI_OP_NULL;
static MPI_Datatype quad = MPI_DATATYPE_NULL;

/* products of 2x2 matrices: associative, not commutative */
static void multiply(void *a, void *b, int *n, MPI_Datatype *type)
{
    int *x = a, *y = b;
    (void)type;
    for (int k = 0; k < *n; k++, x += 4, y += 4) {
        int r[4] = {x[0] * y[0] + x[1] * y[2], x[0] * y[1] + x[1] * y[3], x[2] * y[0] + x[3] * y[2],
                    x[2] * y[1] + x[3] * y[3]};
        for (int i = 0; i < 4; i++)
            y[i] = r[i] % 10007;
    }
}

/* the combination of what `members[0..n)` give, at index `first` and on */
static void combine(int *want, const int *members, int n, int first, int count, int how)
{
    int *next = need((size_t)count, sizeof(int));
    for (int r = 0; r < n; r++) {
        for (int i = 0; i < count; i++) {
            int v = value(members[r], step, first + i);
            if (r == 0 && how != 2)
                want[i] = v;
            else if (how == 0)
                want[i] += v;
            else if (how == 1)
                want[i] = want[i] > v ? want[i] : v;
            else
                next[i] = v;
        }
        if (how == 2 && r == 0)
            memcpy(want, next, (size_t)count * sizeof(int));
        else if (how == 2) { /* want = want * next */
            int quads = count / 4;
            multiply(want, next, &quads, NULL);
            memcpy(want, next, (size_t)count * sizeof(int));
        }
    }
    free(next);
}

#define EITHER(name, lower, ...)                                \
    do {                                                        \
        w->what = #name;                                        \
        if (later)                                              \
            MPI_I##lower(__VA_ARGS__, p->comm, &w->request[0]); \
        else                                                    \
            MPI_##name(__VA_ARGS__, p->comm);                   \
    } while (0)

struct parts {
    int *count_out, *at_out, *count_in, *at_in;
    MPI_Datatype *types;
};
static struct parts parts_of(struct work *w, int n)
{
    int *all = need((size_t)n, 4 * sizeof(int) + sizeof(MPI_Datatype));
    w->extra = all;
    MPI_Datatype *types = (MPI_Datatype *)all;
    all = (int *)(types + n);
    return (struct parts){all, all + n, all + 2 * n, all + 3 * n, types};
}

static void with_root(struct place *p, int kind, int c, int root_of, int how, int later)
{
    int r = root_of % (p->inter && p->side == 1 ? p->m : p->n);
    /* between groups, the root is in the group of side 0 */
    int roots = p->inter ? p->side == 0 : 1, is_root = roots && p->rank == r;
    int gives = p->inter ? p->side == 1 : 1,
        root = p->inter && roots ? (is_root ? MPI_ROOT : MPI_PROC_NULL) : r;
    int *peers = p->peers, m = p->m;
    struct work *w = begin("", m * c, m * c);
    for (int i = 0; i < m * c; i++)
        w->out[i] = value(me, step, i);
    if (p->inter && kind == 0)
        later = 0; /* MPICH 4.2 forgets ranks of the other group in MPI_Ibcast */
    w->requests = later;
    MPI_Op op = how == 0 ? MPI_SUM : how == 1 ? MPI_MAX : twist;
    MPI_Datatype type = how == 2 ? quad : MPI_INT;
    int units = how == 2 ? c / 4 : c;
    switch (kind) {
    case 0:
        if (is_root)
            memcpy(w->in, w->out, (size_t)c * sizeof(int)),
                memcpy(w->want, w->out, (size_t)c * sizeof(int));
        else if (!p->inter || p->side == 1)
            for (int i = 0; i < c; i++)
                w->want[i] = value(peers[r], step, i);
        EITHER(Bcast, bcast, w->in, c, MPI_INT, root);
        break;
    case 1:
        if (is_root)
            for (int j = 0; j < m; j++)
                for (int i = 0; i < c; i++)
                    w->want[j * c + i] = value(peers[j], step, i);
        EITHER(Gather, gather, w->out, c, MPI_INT, w->in, c, MPI_INT, root);
        break;
    case 2:
        if (gives)
            for (int i = 0; i < c; i++)
                w->want[i] = value(peers[r], step, p->rank * c + i);
        EITHER(Scatter, scatter, w->out, c, MPI_INT, w->in, c, MPI_INT, root);
        break;
    default:
        if (is_root)
            combine(w->want, peers, m, 0, c, how);
        EITHER(Reduce, reduce, w->out, w->in, units, type, op, root);
    }
    later ? end_sometime(w) : end_now(w);
}

static void between_all(struct place *p, int kind, int c, int how, int later)
{
    int m = p->m, *peers = p->peers, *n_in = NULL;
    struct work *w = begin("", m * c, m * c);
    struct parts v = parts_of(w, m);
    for (int i = 0; i < m * c; i++)
        w->out[i] = value(me, step, i);
    w->requests = later;
    MPI_Op op = how == 0 ? MPI_SUM : how == 1 ? MPI_MAX : twist;
    MPI_Datatype type = how == 2 ? quad : MPI_INT;
    int units = how == 2 ? c / 4 : c, to_each = 1, bytes = kind == 4 ? (int)sizeof(int) : 1;
    for (int j = 0; j < m; j++) { /* in the v forms, rank a gives rank b (a + b) % c ints */
        v.count_out[j] = v.count_in[j] = (p->rank + j) % c;
        v.at_out[j] = v.at_in[j] = j * c * bytes;
        v.types[j] = MPI_INT;
    }
    switch (kind) {
    case 0:
        to_each = 0;
        EITHER(Allgather, allgather, w->out, c, MPI_INT, w->in, c, MPI_INT);
        break;
    case 1:
        to_each = 0, n_in = v.count_in;
        for (int j = 0; j < m; j++)
            v.count_in[j] = j % c;
        EITHER(Allgatherv, allgatherv, w->out, p->rank % c, MPI_INT, w->in, v.count_in, v.at_in,
               MPI_INT);
        break;
    case 2: EITHER(Alltoall, alltoall, w->out, c, MPI_INT, w->in, c, MPI_INT); break;
    case 3:
        n_in = v.count_in;
        EITHER(Alltoallv, alltoallv, w->out, v.count_out, v.at_out, MPI_INT, w->in, v.count_in,
               v.at_in, MPI_INT);
        break;
    case 4:
        n_in = v.count_in;
        EITHER(Alltoallw, alltoallw, w->out, v.count_out, v.at_out, v.types, w->in, v.count_in,
               v.at_in, v.types);
        break;
    default: EITHER(Allreduce, allreduce, w->out, w->in, units, type, op);
    }
    if (kind == 5)
        combine(w->want, peers, m, 0, c, how);
    else
        for (int j = 0; j < m; j++)
            for (int i = 0; i < (n_in ? n_in[j] : c); i++)
                w->want[j * c + i] = value(peers[j], step, (to_each ? p->rank * c : 0) + i);
    later ? end_sometime(w) : end_now(w);
}

/* only inside one group: the ranks are in order, or the result is in parts */
static void in_order(struct place *p, int kind, int c, int how, int later)
{
    struct work *w = begin("", c, p->n * c);
    struct parts v = parts_of(w, p->n);
    for (int i = 0; i < p->n * c; i++)
        w->out[i] = value(me, step, i);
    w->requests = later;
    MPI_Op op = how == 0 ? MPI_SUM : how == 1 ? MPI_MAX : twist;
    MPI_Datatype type = how == 2 ? quad : MPI_INT;
    int units = how == 2 ? c / 4 : c;
    for (int j = 0; j < p->n; j++)
        v.count_in[j] = units;
    switch (kind) {
    case 0:
        combine(w->want, p->members, p->rank + 1, 0, c, how);
        EITHER(Scan, scan, w->out, w->in, units, type, op);
        break;
    case 1:
        if (p->rank > 0)
            combine(w->want, p->members, p->rank, 0, c, how);
        EITHER(Exscan, exscan, w->out, w->in, units, type, op);
        if (p->rank == 0)
            w->count = 0; /* undefined there */
        break;
    case 2:
        combine(w->want, p->members, p->n, p->rank * c, c, how);
        EITHER(Reduce_scatter_block, reduce_scatter_block, w->out, w->in, units, type, op);
        break;
    default:
        combine(w->want, p->members, p->n, p->rank * c, c, how);
        EITHER(Reduce_scatter, reduce_scatter, w->out, w->in, v.count_in, type, op);
    }
    later ? end_sometime(w) : end_now(w);
}

/* the neighbours of a ring or of a grid, in the order in which they are served */
static void neighbours(struct place *p, int kind, int c, int later)
{
    int from[4], back[4] = {1, 0, 3, 2}, n = 2;
    if (p->dims < 0) {
        from[0] = (p->rank + p->n - 1) % p->n;
        from[1] = (p->rank + 1) % p->n;
    } else {
        n = 4;
        MPI_Cart_shift(p->comm, 0, 1, &from[0], &from[1]);
        MPI_Cart_shift(p->comm, 1, 1, &from[2], &from[3]);
    }
    struct work *w = begin("", n * c, n * c);
    for (int i = 0; i < n * c; i++)
        w->out[i] = value(me, step, i);
    w->requests = later;
    if (kind == 0)
        EITHER(Neighbor_allgather, neighbor_allgather, w->out, c, MPI_INT, w->in, c, MPI_INT);
    else
        EITHER(Neighbor_alltoall, neighbor_alltoall, w->out, c, MPI_INT, w->in, c, MPI_INT);
    for (int j = 0; j < n; j++)
        for (int i = 0; i < c && from[j] != MPI_PROC_NULL; i++)
            w->want[j * c + i] = value(p->members[from[j]], step, (kind ? back[j] * c : 0) + i);
    /* with two ranks in a circle both neighbours are the same one: which message is which is the library's choice */
    if (kind && (from[0] == from[1] || (n == 4 && from[2] == from[3])))
        w->count = 0;
    later ? end_sometime(w) : end_now(w);
}

void collective(struct place *p)
{
    unsigned family = draw(8), kind = draw(60), how = draw(3), later = draw(2), big = draw(8),
             root = draw(7);
    int c = 4 * (1 + (int)draw(12));
    if (twist == MPI_OP_NULL) {
        MPI_Op_create(multiply, 0, &twist);
        MPI_Type_contiguous(4, MPI_INT, &quad);
        MPI_Type_commit(&quad);
    }
    if (p->comm == MPI_COMM_NULL)
        return;
    if (big == 0)
        c *= 400;
    if (family < 3) {
        with_root(p, (int)kind % 4, c, (int)root, (int)how, (int)later);
    } else if (family < 6) {
        between_all(p, (int)kind % 6, c, (int)how, (int)later);
    } else if (p->inter) {
        MPI_Barrier(p->comm);
    } else if (p->dims && family == 6) {
        neighbours(p, (int)kind % 2, c, (int)later);
    } else if (kind % 5 == 4) {
        struct work *w = begin("barrier", 0, 0);
        w->requests = 1;
        MPI_Ibarrier(p->comm, &w->request[0]);
        end_sometime(w);
    } else {
        in_order(p, (int)kind % 5, c, (int)how, (int)later);
    }
}

void collectives_end(void)
{
    if (twist == MPI_OP_NULL)
        return;
    MPI_Op_free(&twist);
    MPI_Type_free(&quad);
}
