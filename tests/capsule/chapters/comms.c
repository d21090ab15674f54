/* Chapter 6 of MPI-3.1: groups, communicators, inter-communicators, names, caching over them. */
#include "chapter.h"

static MPI_Comm dup, split, inter, merged, created, by_group, node, idup, info_dup, local_half;

static void members(MPI_Comm c, int size, int first)
{
    int s, r, v, got;
    MPI_Comm_size(c, &s);
    MPI_Comm_rank(c, &r);
    SAME(s, size);
    v = me;
    MPI_Bcast((got = v, &got), 1, MPI_INT, 0, c);
    SAME(got, first);
    mix_int(r);
}

static void groups(void)
{
    MPI_Group world, odd, even, u, i, d, ri, re, empty, ex;
    int size, rank, res, ones[8], back[8], nodd = ranks / 2;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    for (int k = 0; k < nodd; k++)
        ones[k] = 2 * k + 1;
    MPI_Group_incl(world, nodd, ones, &odd);
    MPI_Group_excl(world, nodd, ones, &even);
    MPI_Group_size(even, &size);
    SAME(size, ranks - nodd);
    MPI_Group_rank(odd, &rank);
    SAME(rank == MPI_UNDEFINED ? -1 : rank, me % 2 ? me / 2 : -1);
    MPI_Group_union(odd, even, &u);
    MPI_Group_compare(u, world, &res);
    SAME(res == MPI_SIMILAR, 1);
    MPI_Group_intersection(u, odd, &i);
    MPI_Group_compare(i, odd, &res);
    SAME(res == MPI_IDENT, 1);
    MPI_Group_difference(world, odd, &d);
    MPI_Group_compare(d, even, &res);
    SAME(res == MPI_IDENT, 1);
    MPI_Group_range_incl(world, 1, (int[][3]){{ranks - 1, 0, -1}}, &ri);
    MPI_Group_translate_ranks(ri, 2, (int[]){0, MPI_PROC_NULL}, world, back);
    SAME(back[0], ranks - 1);
    SAME(back[1] == MPI_PROC_NULL, 1);
    MPI_Group_translate_ranks(world, 1, (int[]){0}, odd, back);
    SAME(back[0] == MPI_UNDEFINED, 1);
    MPI_Group_range_excl(world, 1, (int[][3]){{0, ranks - 1, 2}}, &re);
    MPI_Group_compare(re, odd, &res);
    SAME(res == MPI_IDENT, 1);
    MPI_Group_difference(odd, odd, &empty);
    MPI_Group_size(empty, &size);
    SAME(size, 0);
    MPI_Group_compare(empty, MPI_GROUP_EMPTY, &res);
    SAME(res == MPI_IDENT, 1);
    MPI_Group_excl(world, 0, NULL, &ex);
    MPI_Group *all[] = {&world, &odd, &even, &u, &i, &d, &ri, &re, &ex};
    for (unsigned k = 0; k < sizeof all / sizeof *all; k++) {
        MPI_Group_free(all[k]);
        CHECK(*all[k] == MPI_GROUP_NULL);
    }
    if (empty != MPI_GROUP_EMPTY)
        MPI_Group_free(&empty);
}

static void create(void)
{
    MPI_Group world, low;
    MPI_Request q;
    MPI_Info info;
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Comm_split(dup, me % 2, -me, &split);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_range_incl(world, 1, (int[][3]){{0, (ranks - 1) / 2, 1}}, &low);
    MPI_Comm_create(MPI_COMM_WORLD, low, &created);
    by_group = MPI_COMM_NULL;
    if (me <= (ranks - 1) / 2)
        MPI_Comm_create_group(MPI_COMM_WORLD, low, 5, &by_group);
    CHECK((created == MPI_COMM_NULL) == (me > (ranks - 1) / 2));
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, me, MPI_INFO_NULL, &node);
    MPI_Comm_idup(split, &idup, &q);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_assert_no_any_tag", "false");
    MPI_Comm_dup_with_info(dup, info, &info_dup);
    MPI_Info_free(&info);
    /* even and odd ranks: two groups, one inter-communicator between them */
    MPI_Comm_split(MPI_COMM_WORLD, me % 2, me, &local_half);
    MPI_Intercomm_create(local_half, 0, MPI_COMM_WORLD, me % 2 ? 0 : 1, 17, &inter);
    MPI_Intercomm_merge(inter, me % 2, &merged);
    MPI_Comm_set_name(inter, "between even and odd");
    MPI_Comm_set_name(dup, "copy");
    MPI_Group_free(&low);
    MPI_Group_free(&world);
}

static void use_intra(int r)
{
    int res, flag, even = (ranks + 1) / 2, odd = ranks / 2;
    members(dup, ranks, 0);
    members(split, me % 2 ? odd : even, me % 2 ? 2 * odd - 1 : 2 * even - 2);
    members(idup, me % 2 ? odd : even, me % 2 ? 2 * odd - 1 : 2 * even - 2);
    members(info_dup, ranks, 0);
    members(node, ranks, 0);
    members(merged, ranks, 0);
    if (created != MPI_COMM_NULL) {
        members(created, (ranks - 1) / 2 + 1, 0);
        members(by_group, (ranks - 1) / 2 + 1, 0);
        MPI_Comm_compare(created, by_group, &res);
        SAME(res == MPI_CONGRUENT, 1);
    }
    MPI_Comm_compare(MPI_COMM_WORLD, dup, &res);
    SAME(res == MPI_CONGRUENT, 1);
    MPI_Comm_compare(dup, dup, &res);
    SAME(res == MPI_IDENT, 1);
    MPI_Comm_compare(dup, split, &res);
    SAME(res == MPI_UNEQUAL, 1);
    MPI_Comm_test_inter(dup, &flag);
    SAME(flag, 0);
    char name[MPI_MAX_OBJECT_NAME];
    int len;
    MPI_Comm_get_name(dup, name, &len);
    SAME(strcmp(name, "copy"), 0);
    MPI_Comm_get_name(MPI_COMM_WORLD, name, &len);
    SAME(strcmp(name, "MPI_COMM_WORLD"), 0);
    MPI_Comm_get_name(split, name, &len);
    mix_int(r);
}

static void use_inter(int r)
{
    int flag, size, remote, rank, res, len, odd = ranks / 2, even = ranks - odd,
                                            mine = me % 2 ? odd : even;
    int other = ranks - mine, out = me * 10 + r, in = -1, all[8], outs[8];
    char name[MPI_MAX_OBJECT_NAME];
    MPI_Group g;
    MPI_Status st;
    MPI_Comm twin;
    MPI_Comm_test_inter(inter, &flag);
    SAME(flag, 1);
    MPI_Comm_size(inter, &size);
    MPI_Comm_remote_size(inter, &remote);
    MPI_Comm_rank(inter, &rank);
    SAME(size, mine);
    SAME(remote, other);
    SAME(rank, me / 2);
    MPI_Comm_remote_group(inter, &g);
    MPI_Group_size(g, &len);
    SAME(len, other);
    MPI_Group_free(&g);
    MPI_Comm_get_name(inter, name, &len);
    SAME(strcmp(name, "between even and odd"), 0);
    if (rank < other) {
        MPI_Sendrecv(&out, 1, MPI_INT, rank, 3, &in, 1, MPI_INT, rank, 3, inter, &st);
        SAME(in, (me ^ 1) * 10 + r);
        SAME(st.MPI_SOURCE, rank);
    }
    MPI_Barrier(inter);
    MPI_Allgather(&out, 1, MPI_INT, all, 1, MPI_INT, inter);
    for (int i = 0; i < other; i++)
        SAME(all[i], (2 * i + (me % 2 ? 0 : 1)) * 10 + r);
    in = out;
    MPI_Bcast(&in, 1, MPI_INT, me % 2 ? 0 : me == 0 ? MPI_ROOT : MPI_PROC_NULL, inter);
    SAME(in, me % 2 ? r : out);
    int total = 0;
    MPI_Allreduce(&out, &total, 1, MPI_INT, MPI_SUM, inter);
    mix_int(total);
    MPI_Reduce(&out, &total, 1, MPI_INT, MPI_MAX,
               me % 2    ? 0
               : me == 0 ? MPI_ROOT
                         : MPI_PROC_NULL,
               inter);
    mix_int(total);
    MPI_Gather(&out, 1, MPI_INT, all, 1, MPI_INT,
               me % 2    ? 0
               : me == 0 ? MPI_ROOT
                         : MPI_PROC_NULL,
               inter);
    if (me == 0)
        SAME(all[odd - 1], (2 * odd - 1) * 10 + r);
    for (int i = 0; i < 8; i++)
        outs[i] = me * 100 + i;
    MPI_Alltoall(outs, 1, MPI_INT, all, 1, MPI_INT, inter);
    SAME(all[0], (me % 2 ? 0 : 1) * 100 + rank);
    MPI_Comm_dup(inter, &twin);
    MPI_Comm_compare(inter, twin, &res);
    SAME(res == MPI_CONGRUENT, 1);
    MPI_Barrier(twin);
    MPI_Comm_free(&twin);
    MPI_Comm_split(inter, 0, me, &twin); /* one from each side: all */
    MPI_Comm_remote_size(twin, &remote);
    SAME(remote, other);
    MPI_Comm_free(&twin);
    MPI_Request q;
    MPI_Iallgather(&out, 1, MPI_INT, all, 1, MPI_INT, inter, &q);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    SAME(all[0], (me % 2 ? 0 : 1) * 10 + r);
}

static void infos(int r)
{
    MPI_Info in, used;
    char v[MPI_MAX_INFO_VAL];
    int flag;
    MPI_Info_create(&in);
    MPI_Info_set(in, "mend_test_hint", r % 2 ? "one" : "zero");
    MPI_Comm_set_info(dup, in);
    MPI_Comm_get_info(dup, &used);
    MPI_Info_get(used, "mpi_no_such_key", sizeof v - 1, v, &flag);
    SAME(flag, 0);
    MPI_Info_free(&used);
    MPI_Info_free(&in);
}

/* made and freed in each round; ids must not run out */
static void churn(int r)
{
    MPI_Comm c[4], none;
    int parent_null;
    for (int i = 0; i < 4; i++)
        MPI_Comm_split(i ? c[i - 1] : MPI_COMM_WORLD, 0, i % 2 ? -me : me, &c[i]);
    members(c[3], ranks, ranks - 1);
    MPI_Comm_split(MPI_COMM_WORLD, me ? 0 : MPI_UNDEFINED, 0, &none);
    SAME(none == MPI_COMM_NULL, me == 0);
    if (me)
        MPI_Comm_free(&none);
    for (int i = 0; i < 4; i++)
        MPI_Comm_free(&c[(i + r) % 4]);
    MPI_Comm parent;
    MPI_Comm_get_parent(&parent);
    parent_null = parent == MPI_COMM_NULL;
    SAME(parent_null, 1);
    MPI_Comm_dup(dup, &none);
    MPI_Comm_disconnect(&none);
    CHECK(none == MPI_COMM_NULL);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    chapter_begin(argc, argv);
    if (ranks < 2)
        MPI_Abort(MPI_COMM_WORLD, 2);
    create();
    for (int r = 0; chapter_round(&r); r++) {
        groups();
        use_intra(r);
        use_inter(r);
        infos(r);
        churn(r);
    }
    MPI_Comm *all[] = {&dup,      &split, &inter, &merged,   &created,
                       &by_group, &node,  &idup,  &info_dup, &local_half};
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++)
        if (*all[i] != MPI_COMM_NULL)
            MPI_Comm_free(all[i]);
    return chapter_end("comms");
}
