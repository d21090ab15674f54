#include "face.h"
! Groups, communicators, topologies and what neighbours exchange.
module chapter_comms
    use shared
    implicit none
    private
    public :: comms_begin, comms_round, comms_end
    integer, parameter :: most = 16
    COMM_T :: half, cart, graph, adjacent, spread, inter, shared_memory
    GROUP_T :: world_group, odd_group
contains
    subroutine comms_begin()
        integer :: ierr, i, dims(2), neighbours(2*most), ends(most), weights(2), one(1)
        logical :: periods(2)
        INFO_T :: info
        call MPI_Comm_group(MPI_COMM_WORLD, world_group, ierr)
        call MPI_Group_incl(world_group, ranks/2, (/(2*i + 1, i=0, ranks/2 - 1)/), odd_group, ierr)
        call MPI_Comm_split(MPI_COMM_WORLD, mod(me, 2), -me, half, ierr)
        dims = 0
        call MPI_Dims_create(ranks, 2, dims, ierr)
        CHECK(dims(1)*dims(2) == ranks)
        periods = (/.true., .false./)
        call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, .false., cart, ierr)
        ends(1:ranks) = (/(2*i, i=1, ranks)/)
        do i = 0, ranks - 1
            neighbours(2*i + 1) = mod(i + ranks - 1, ranks)
            neighbours(2*i + 2) = mod(i + 1, ranks)
        end do
        call MPI_Graph_create(MPI_COMM_WORLD, ranks, ends, neighbours, .false., graph, ierr)
        call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, (/left, right/), MPI_UNWEIGHTED, 2, (/left, right/), &
                                            MPI_UNWEIGHTED, MPI_INFO_NULL, .false., adjacent, ierr)
        weights = (/3, 4/)
        call MPI_Info_create(info, ierr)
        one = me
        call MPI_Dist_graph_create(MPI_COMM_WORLD, 1, one, (/2/), (/left, right/), weights, info, .false., spread, ierr)
        call MPI_Info_free(info, ierr)
        call MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, merge(ranks - 1 - mod(ranks - 1, 2), ranks - 1 - mod(ranks, 2), &
                                                                 mod(me, 2) == 1), 5, inter, ierr)
        call MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, me, MPI_INFO_NULL, shared_memory, ierr)
    end subroutine
    subroutine comms_round(r)
        integer, intent(in) :: r
        call groups()
        call communicators(r)
        call grids(r)
        call graphs(r)
        call neighbours_exchange(r)
    end subroutine
    subroutine comms_end()
        integer :: ierr
        call MPI_Group_free(world_group, ierr)
        CHECK(world_group == MPI_GROUP_NULL)
        call MPI_Group_free(odd_group, ierr)
        call MPI_Comm_free(half, ierr)
        call MPI_Comm_free(cart, ierr)
        call MPI_Comm_free(graph, ierr)
        call MPI_Comm_free(adjacent, ierr)
        call MPI_Comm_free(spread, ierr)
        call MPI_Comm_free(inter, ierr)
        call MPI_Comm_free(shared_memory, ierr)
    end subroutine

    subroutine groups()
        integer :: ierr, n, i, range(3, 1), there(most), how
        GROUP_T :: even, both, none, some
        call MPI_Group_size(world_group, n, ierr)
        CHECK(n == ranks)
        call MPI_Group_rank(world_group, n, ierr)
        CHECK(n == me)
        call MPI_Group_rank(odd_group, n, ierr)
        CHECK(n == merge(me/2, MPI_UNDEFINED, mod(me, 2) == 1))
        call MPI_Group_difference(world_group, odd_group, even, ierr)
        call MPI_Group_union(even, odd_group, both, ierr)
        call MPI_Group_compare(both, world_group, how, ierr)
        CHECK(how == merge(MPI_IDENT, MPI_SIMILAR, ranks == 2))
        call MPI_Group_intersection(even, odd_group, none, ierr)
        call MPI_Group_size(none, n, ierr)
        CHECK(n == 0)
        call MPI_Group_compare(none, MPI_GROUP_EMPTY, how, ierr)
        CHECK(how == MPI_IDENT)
        call MPI_Group_translate_ranks(world_group, ranks, (/(i, i=0, ranks - 1)/), odd_group, there, ierr)
        CHECK(there(1) == MPI_UNDEFINED .and. there(2) == 0)
        call MPI_Group_free(both, ierr)
        range(:, 1) = (/0, ranks - 1, 2/)
        call MPI_Group_range_incl(world_group, 1, range, some, ierr)
        call MPI_Group_compare(some, even, how, ierr)
        CHECK(how == MPI_IDENT)
        call MPI_Group_free(some, ierr)
        call MPI_Group_range_excl(world_group, 1, range, some, ierr)
        call MPI_Group_compare(some, odd_group, how, ierr)
        CHECK(how == MPI_IDENT)
        call MPI_Group_free(some, ierr)
        call MPI_Group_excl(world_group, 1, (/0/), some, ierr)
        call MPI_Group_size(some, n, ierr)
        CHECK(n == ranks - 1)
        call MPI_Group_free(some, ierr)
        call MPI_Group_free(even, ierr)
        if (none /= MPI_GROUP_EMPTY) call MPI_Group_free(none, ierr)
    end subroutine

    subroutine communicators(r)
        integer, intent(in) :: r
        integer :: ierr, n, how, v, length
        logical :: flag
        character(len=MPI_MAX_OBJECT_NAME) :: name
        COMM_T :: twin, odd, merged, later
        GROUP_T :: group
        REQUEST_T :: q
        INFO_T :: info
        call MPI_Comm_rank(half, n, ierr)
        v = (ranks - mod(me, 2) + 1)/2 ! the size of my half, in which ranks count down
        CHECK(n == v - 1 - me/2)
        call MPI_Comm_dup(half, twin, ierr)
        call MPI_Comm_compare(half, twin, how, ierr)
        CHECK(how == MPI_CONGRUENT)
        call MPI_Comm_compare(half, MPI_COMM_WORLD, how, ierr)
        CHECK(how == MPI_UNEQUAL)
        call MPI_Comm_set_name(twin, "a name  with blanks   ", ierr)
        call MPI_Comm_get_name(twin, name, length, ierr)
        CHECK(name == "a name  with blanks" .and. length == 19)
        call MPI_Comm_free(twin, ierr)
        call MPI_Comm_get_name(MPI_COMM_WORLD, name, length, ierr)
        CHECK(name(1:length) == "MPI_COMM_WORLD")
        call MPI_Comm_create(MPI_COMM_WORLD, odd_group, odd, ierr)
        if (mod(me, 2) == 1) then
            call MPI_Comm_size(odd, n, ierr)
            CHECK(n == ranks/2)
            call MPI_Comm_free(odd, ierr)
            call MPI_Comm_create_group(MPI_COMM_WORLD, odd_group, 9, odd, ierr)
            call MPI_Comm_rank(odd, n, ierr)
            CHECK(n == me/2)
            call MPI_Comm_free(odd, ierr)
        else
            CHECK(odd == MPI_COMM_NULL)
        end if
        call MPI_Info_create(info, ierr)
        call MPI_Info_set(info, "mpi_assert_no_any_tag", "false", ierr)
        call MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, twin, ierr)
        call MPI_Comm_set_info(twin, info, ierr)
        call MPI_Info_free(info, ierr)
        call MPI_Comm_get_info(twin, info, ierr)
        CHECK(info /= MPI_INFO_NULL)
        call MPI_Info_free(info, ierr)
        call MPI_Comm_idup(twin, later, q, ierr)
        call MPI_Wait(q, MPI_STATUS_IGNORE, ierr)
        v = me + r
        call MPI_Allreduce(v, n, 1, MPI_INTEGER, MPI_SUM, later, ierr)
        CHECK(n == ranks*(ranks - 1)/2 + ranks*r)
        MIX(n)
        call MPI_Comm_free(later, ierr)
        call MPI_Comm_free(twin, ierr)
        call MPI_Comm_test_inter(inter, flag, ierr)
        CHECK(flag)
        call MPI_Comm_remote_size(inter, n, ierr)
        CHECK(n == (ranks + mod(me, 2))/2)
        call MPI_Comm_remote_group(inter, group, ierr)
        call MPI_Group_size(group, v, ierr)
        CHECK(n == v)
        call MPI_Group_free(group, ierr)
        call MPI_Intercomm_merge(inter, mod(me, 2) == 1, merged, ierr)
        call MPI_Comm_size(merged, n, ierr)
        CHECK(n == ranks)
        call MPI_Comm_rank(merged, n, ierr)
        MIX(n)
        call MPI_Comm_free(merged, ierr)
        call MPI_Comm_size(shared_memory, n, ierr)
        CHECK(n == ranks)
    end subroutine

    subroutine grids(r)
        integer, intent(in) :: r
        integer :: ierr, n, dims(2), at(2), from, to, status
        logical :: periods(2)
        COMM_T :: line
        call MPI_Topo_test(cart, status, ierr)
        CHECK(status == MPI_CART)
        call MPI_Topo_test(MPI_COMM_WORLD, status, ierr)
        CHECK(status == MPI_UNDEFINED)
        call MPI_Cartdim_get(cart, n, ierr)
        CHECK(n == 2)
        call MPI_Cart_get(cart, 2, dims, periods, at, ierr)
        CHECK(dims(1)*dims(2) == ranks .and. periods(1) .and. .not. periods(2))
        call MPI_Cart_rank(cart, at, n, ierr)
        CHECK(n == me)
        call MPI_Cart_coords(cart, mod(me + r, ranks), 2, at, ierr)
        CHECK(at(1)*dims(2) + at(2) == mod(me + r, ranks))
        call MPI_Cart_shift(cart, 1, 1, from, to, ierr)
        if (mod(me, dims(2)) == 0) then
            CHECK(from == MPI_PROC_NULL)
        else
            CHECK(from == me - 1)
        end if
        call MPI_Cart_shift(cart, 0, 1, from, to, ierr)
        CHECK(to == mod(me + dims(2), ranks))
        call MPI_Cart_sub(cart, (/.true., .false./), line, ierr)
        call MPI_Comm_size(line, n, ierr)
        CHECK(n == dims(1))
        call MPI_Allreduce(me, n, 1, MPI_INTEGER, MPI_MIN, line, ierr)
        CHECK(n == mod(me, dims(2)))
        call MPI_Comm_free(line, ierr)
        call MPI_Cart_map(MPI_COMM_WORLD, 2, dims, periods, n, ierr)
        CHECK(n >= 0 .and. n < ranks)
    end subroutine

    subroutine graphs(r)
        integer, intent(in) :: r
        integer :: ierr, n, edges, list(2*most), ends(most), i, weights(2), back(2), sources(2), targets(2), outs
        logical :: weighted
        call MPI_Graphdims_get(graph, n, edges, ierr)
        CHECK(n == ranks .and. edges == 2*ranks)
        call MPI_Graph_get(graph, n, edges, ends, list, ierr)
        CHECK(all(ends(1:ranks) == (/(2*i, i=1, ranks)/)) .and. list(2*me + 2) == right)
        call MPI_Graph_neighbors_count(graph, me, n, ierr)
        CHECK(n == 2)
        call MPI_Graph_neighbors(graph, mod(me + r, ranks), 2, list, ierr)
        CHECK(list(2) == mod(me + r + 1, ranks))
        call MPI_Graph_map(MPI_COMM_WORLD, ranks, ends, list, n, ierr)
        call MPI_Dist_graph_neighbors_count(adjacent, n, outs, weighted, ierr)
        CHECK(n == 2 .and. outs == 2 .and. .not. weighted)
        call MPI_Dist_graph_neighbors(adjacent, 2, sources, MPI_UNWEIGHTED, 2, targets, MPI_UNWEIGHTED, ierr)
        CHECK(all(sources == (/left, right/)) .and. all(targets == (/left, right/)))
        call MPI_Dist_graph_neighbors_count(spread, n, outs, weighted, ierr)
        CHECK(n == 2 .and. outs == 2 .and. weighted)
        call MPI_Dist_graph_neighbors(spread, 2, sources, back, 2, targets, weights, ierr)
        CHECK(sum(sources) == left + right .and. sum(weights) == 7 .and. sum(back) == 7)
        call MPI_Topo_test(spread, n, ierr)
        CHECK(n == MPI_DIST_GRAPH)
    end subroutine

    subroutine neighbours_exchange(r)
        integer, intent(in) :: r
        integer :: ierr, a(4), b(4), c(4), counts(2), disps(2), ones(2)
        ADDRESS :: bytes(2)
        TYPE_T :: types(2)
        REQUEST_T :: q(5)
        integer, asynchronous :: d(4, 6)
        counts = 1
        ones = 1
        disps = (/0, 1/)
        bytes = (/0, 4/)
        types = MPI_INTEGER
        a = me*10 + r
        b = -1
        call MPI_Neighbor_allgather(a, 1, MPI_INTEGER, b, 1, MPI_INTEGER, adjacent, ierr)
        CHECK(all(b(1:2) == (/left*10 + r, right*10 + r/)))
        b = -1
        call MPI_Neighbor_allgatherv(a, 1, MPI_INTEGER, b, counts, disps, MPI_INTEGER, adjacent, ierr)
        CHECK(all(b(1:2) == (/left*10 + r, right*10 + r/)))
        ! with two ranks both neighbours are one: what it sent first comes first, natively too
        a(1:2) = (/me*10 + 1, me*10 + 2/)
        call MPI_Neighbor_alltoall(a, 1, MPI_INTEGER, b, 1, MPI_INTEGER, adjacent, ierr)
        if (ranks > 2) then
            CHECK(all(b(1:2) == (/left*10 + 2, right*10 + 1/)))
        else
            CHECK(sum(b(1:2)) == 2*left*10 + 3)
        end if
        call MPI_Neighbor_alltoallv(a, counts, disps, MPI_INTEGER, c, ones, disps, MPI_INTEGER, adjacent, ierr)
        CHECK(all(b(1:2) == c(1:2)))
        c = 0
        call MPI_Neighbor_alltoallw(a, counts, bytes, types, c, ones, bytes, types, adjacent, ierr)
        CHECK(all(b(1:2) == c(1:2)))
        call MPI_Ineighbor_allgather(a, 1, MPI_INTEGER, d(:, 1), 1, MPI_INTEGER, adjacent, q(1), ierr)
        call MPI_Ineighbor_allgatherv(a, 1, MPI_INTEGER, d(:, 2), counts, disps, MPI_INTEGER, adjacent, q(2), ierr)
        call MPI_Ineighbor_alltoall(a, 1, MPI_INTEGER, d(:, 3), 1, MPI_INTEGER, adjacent, q(3), ierr)
        call MPI_Ineighbor_alltoallv(a, counts, disps, MPI_INTEGER, d(:, 4), ones, disps, MPI_INTEGER, adjacent, q(4), ierr)
        call MPI_Ineighbor_alltoallw(a, counts, bytes, types, d(:, 5), ones, bytes, types, adjacent, q(5), ierr)
        call MPI_Waitall(5, q, MPI_STATUSES_IGNORE, ierr)
        CHECK(all(d(1:2, 1) == (/left*10 + 1, right*10 + 1/)) .and. all(d(1:2, 2) == d(1:2, 1)))
        CHECK(all(d(1:2, 3) == b(1:2)) .and. all(d(1:2, 4) == b(1:2)) .and. all(d(1:2, 5) == b(1:2)))
        a = me
        call MPI_Neighbor_allgather(a, 1, MPI_INTEGER, d(:, 1), 1, MPI_INTEGER, graph, ierr)
        CHECK(all(d(1:2, 1) == (/left, right/)))
    end subroutine
end module
