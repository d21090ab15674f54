/* Communicators and types that come and go, the types also while something is under way with them. */
#include "anything.h"

static int keyval = MPI_KEYVAL_INVALID;

static int copy(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
    (void)comm, (void)key, (void)extra;
    *(long *)out = (long)in + 1;
    *flag = 1;
    return MPI_SUCCESS;
}
static int gone(MPI_Comm comm, int key, void *v, void *extra)
{
    (void)comm, (void)key, (void)extra;
    if ((long)v < 0)
        fail("attribute that goes", (long)v, 0);
    return MPI_SUCCESS;
}

static int *world_ranks(MPI_Group group, int n)
{
    MPI_Group world;
    int *from = need((size_t)n, sizeof(int)), *to = need((size_t)n, sizeof(int));
    for (int i = 0; i < n; i++)
        from[i] = i;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_translate_ranks(group, n, from, world, to);
    MPI_Group_free(&world);
    MPI_Group_free(&group);
    free(from);
    return to;
}

static void describe(struct place *p, int dims)
{
    MPI_Group group;
    p->dims = dims;
    if (p->comm == MPI_COMM_NULL)
        return;
    MPI_Comm_test_inter(p->comm, &p->inter);
    MPI_Comm_size(p->comm, &p->n);
    MPI_Comm_rank(p->comm, &p->rank);
    MPI_Comm_group(p->comm, &group);
    p->members = world_ranks(group, p->n);
    p->m = p->n;
    if (p->inter) {
        MPI_Comm_remote_size(p->comm, &p->m);
        MPI_Comm_remote_group(p->comm, &group);
    } else {
        MPI_Comm_group(p->comm, &group);
    }
    p->peers = world_ranks(group, p->m);
    p->side = p->inter && p->members[0] > p->peers[0];
    char name[MPI_MAX_OBJECT_NAME], back[MPI_MAX_OBJECT_NAME];
    int length;
    snprintf(name, sizeof name, "made in step %d", step);
    MPI_Comm_set_name(p->comm, name);
    MPI_Comm_get_name(p->comm, back, &length);
    if (strcmp(name, back) != 0)
        fail("name", length, (long)strlen(name));
}

static void make_inter(struct place *from, struct place *p)
{
    MPI_Comm half;
    int odd = from->rank % 2;
    MPI_Comm_split(from->comm, odd, -from->rank, &half);
    /* its first rank is the last one with this parity */
    int last[2] = {(from->n - 1) / 2 * 2, from->n / 2 * 2 - 1};
    MPI_Intercomm_create(half, 0, from->comm, last[!odd], 77, &p->comm);
    MPI_Comm_free(&half);
}

static void make_subset(struct place *from, struct place *p, int by_group)
{
    MPI_Group all, some;
    int keep[3] = {0, from->n - 1, 2}; /* at least two ranks, at most three */
    int n = from->n < 2 ? 1 : from->n > 3 ? 3 : 2;
    MPI_Comm_group(from->comm, &all);
    MPI_Group_incl(all, n, keep, &some);
    p->comm = MPI_COMM_NULL;
    int in_it;
    MPI_Group_rank(some, &in_it);
    if (!by_group)
        MPI_Comm_create(from->comm, some, &p->comm);
    else if (in_it != MPI_UNDEFINED)
        MPI_Comm_create_group(from->comm, some, step % 1000, &p->comm);
    MPI_Group_free(&some);
    MPI_Group_free(&all);
}

static int make_topology(struct place *from, struct place *p, int kind)
{
    int dims[2] = {0, 0}, periods[2] = {1, 0}, left = (from->rank + from->n - 1) % from->n;
    int right = (from->rank + 1) % from->n, nodes[2] = {left, right};
    if (kind == 0) {
        MPI_Dims_create(from->n, 2, dims);
        MPI_Cart_create(from->comm, 2, dims, periods, 0, &p->comm);
        return 2;
    }
    MPI_Dist_graph_create_adjacent(from->comm, 2, nodes, MPI_UNWEIGHTED, 2, nodes, MPI_UNWEIGHTED,
                                   MPI_INFO_NULL, 0, &p->comm);
    return -1;
}

static void attribute(struct place *old, struct place *p, int copied)
{
    void *got;
    int flag;
    if (keyval == MPI_KEYVAL_INVALID)
        MPI_Comm_create_keyval(copy, gone, &keyval, NULL);
    if (p->comm == MPI_COMM_NULL)
        return;
    MPI_Comm_get_attr(p->comm, keyval, &got, &flag);
    if (copied && old->comm != MPI_COMM_NULL && old->comm != MPI_COMM_WORLD && !flag)
        fail("attribute of the copy", flag, 1);
    if (flag && copied)
        sum += (uint64_t)(long)got;
    else
        MPI_Comm_set_attr(p->comm, keyval, (void *)(long)(step * 10));
}

void change_place(int k)
{
    struct place *p = &place[k], made = {.comm = MPI_COMM_NULL},
                 *from = &place[k ? draw((unsigned)k) : 0];
    unsigned kind = draw(11), color = 1 + draw(3), disconnect = draw(2);
    int dims = 0, copied = 0;
    MPI_Request request;
    if (k == 0) {
        p->comm = MPI_COMM_WORLD;
        describe(p, 0);
        return;
    }
    if (from->comm != MPI_COMM_NULL && from->inter) {
        if (kind % 2)
            MPI_Comm_dup(from->comm, &made.comm), copied = 1;
        else
            MPI_Intercomm_merge(from->comm, from->side, &made.comm);
    } else if (from->comm != MPI_COMM_NULL) {
        switch (kind) {
        case 0: MPI_Comm_dup(from->comm, &made.comm), copied = 1, dims = from->dims; break;
        case 1:
            MPI_Comm_idup(from->comm, &made.comm, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            copied = 1, dims = from->dims;
            break;
        case 2:
        case 3:
            MPI_Comm_split(from->comm, from->rank % (int)color, from->rank * 5 % 7, &made.comm);
            break;
        case 4:
            MPI_Comm_split_type(from->comm, MPI_COMM_TYPE_SHARED, -from->rank, MPI_INFO_NULL,
                                &made.comm);
            break;
        case 5:
        case 6: make_subset(from, &made, kind == 5); break;
        case 7:
        case 8: dims = make_topology(from, &made, kind == 7 ? 0 : 1); break;
        default:
            if (from->n > 1)
                make_inter(from, &made);
            else
                MPI_Comm_dup(from->comm, &made.comm), copied = 1, dims = from->dims;
        }
    }
    attribute(from, &made, copied);
    if (p->members) {
        finish(ALL); /* Open MPI 5.0 does not always stand a free under way */
        if (p->comm != MPI_COMM_NULL && disconnect)
            MPI_Comm_disconnect(&p->comm);
        else if (p->comm != MPI_COMM_NULL)
            MPI_Comm_free(&p->comm);
        free(p->members);
        free(p->peers);
    }
    *p = made;
    describe(p, dims);
}

void make_shape(int k)
{
    struct shape *s = &shape[k];
    unsigned kind = draw(8), a = 1 + draw(4), b = 1 + draw(3);
    int lengths[3] = {(int)a, 1, (int)b}, at[3] = {0, 6, 9}, sizes[2] = {4, 5}, part[2] = {2, 3},
        start[2] = {1, 1};
    MPI_Aint bytes[3] = {0, 24, 36}, lower, extent;
    MPI_Datatype of[3] = {MPI_INT, MPI_INT, MPI_INT}, base;
    if (s->map) {
        MPI_Type_free(&s->type);
        free(s->map);
    }
    switch (kind) {
    case 0: MPI_Type_contiguous((int)(a * b), MPI_INT, &s->type); break;
    case 1: MPI_Type_vector((int)b, (int)a, (int)a + 2, MPI_INT, &s->type); break;
    case 2: MPI_Type_indexed(3, lengths, at, MPI_INT, &s->type); break;
    case 3: MPI_Type_create_hindexed(3, lengths, bytes, MPI_INT, &s->type); break;
    case 4: MPI_Type_create_struct(3, lengths, bytes, of, &s->type); break;
    case 5:
        MPI_Type_vector((int)a, 1, 2, MPI_INT, &base);
        MPI_Type_create_resized(base, 0, 48, &s->type);
        MPI_Type_free(&base);
        break;
    case 6: MPI_Type_create_subarray(2, sizes, part, start, MPI_ORDER_C, MPI_INT, &s->type); break;
    default:
        MPI_Type_create_indexed_block(3, (int)b, at, MPI_INT, &base);
        MPI_Type_dup(base, &s->type);
        MPI_Type_free(&base);
    }
    MPI_Type_commit(&s->type);
    MPI_Type_get_extent(s->type, &lower, &extent);
    MPI_Type_size(s->type, &s->ints);
    s->ints /= (int)sizeof(int);
    s->extent = (int)(extent / (MPI_Aint)sizeof(int));
    s->map = need((size_t)s->ints, sizeof(int));
    int index[64], position = 0;
    for (int i = 0; i < 64; i++)
        index[i] = i;
    MPI_Pack(index, 1, s->type, s->map, s->ints * (int)sizeof(int), &position, MPI_COMM_WORLD);
}

void places_end(void)
{
    for (int k = 1; k < PLACES; k++)
        if (place[k].comm != MPI_COMM_NULL)
            MPI_Comm_free(&place[k].comm);
    for (int k = 0; k < TYPES; k++)
        MPI_Type_free(&shape[k].type);
    MPI_Comm_free_keyval(&keyval);
}
