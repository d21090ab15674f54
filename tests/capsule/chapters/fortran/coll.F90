#include "face.h"
! Collective operations: blocking, non-blocking, persistent, in place, with user operations, between groups.
module chapter_coll
    use shared
    implicit none
    private
    public :: coll_begin, coll_round, coll_end
    integer, parameter :: most = 16
    COMM_T :: comm, inter
    OP_T :: add_op, left_op
    REQUEST_T :: stored(3)
    integer :: stored_in(4), stored_out(4), stored_all(4*most)
contains
    subroutine coll_begin()
        integer :: ierr
        COMM_T :: half
        call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierr)
        call MPI_Op_create(add_fn, .true., add_op, ierr)
        call MPI_Op_create(left_fn, .false., left_op, ierr)
        call MPI_Comm_split(comm, mod(me, 2), me, half, ierr)
        call MPI_Intercomm_create(half, 0, comm, 1 - mod(me, 2), 17, inter, ierr)
        call MPI_Comm_free(half, ierr)
        call MPI_Allreduce_init(stored_in, stored_out, 4, MPI_INTEGER, MPI_SUM, comm, MPI_INFO_NULL, stored(1), ierr)
        call MPI_Allgather_init(stored_in, 4, MPI_INTEGER, stored_all, 4, MPI_INTEGER, comm, MPI_INFO_NULL, stored(2), ierr)
        call MPI_Barrier_init(comm, MPI_INFO_NULL, stored(3), ierr)
    end subroutine
    subroutine coll_round(r)
        integer, intent(in) :: r
        call rooted(r)
        call everywhere(r)
        call in_place(r)
        call reductions(r)
        call nonblocking(r)
        call persistent(r)
        call between_groups(r)
    end subroutine
    subroutine coll_end()
        integer :: ierr, i
        do i = 1, 3
            call MPI_Request_free(stored(i), ierr)
        end do
        call MPI_Op_free(add_op, ierr)
        CHECK(add_op == MPI_OP_NULL)
        call MPI_Op_free(left_op, ierr)
        call MPI_Comm_free(inter, ierr)
        call MPI_Comm_free(comm, ierr)
    end subroutine

    ! in + inout, and an operation that is not commutative: 10 inout + in, digits in the order of ranks
#if FACE == 2
    subroutine add_fn(invec, inoutvec, length, datatype)
        type(c_ptr), value :: invec, inoutvec
        integer :: length
        type(MPI_Datatype) :: datatype
        integer, pointer :: a(:), b(:)
        call c_f_pointer(invec, a, (/length/))
        call c_f_pointer(inoutvec, b, (/length/))
        call ok(datatype == MPI_INTEGER, __FILE__, __LINE__)
        b = a + b
    end subroutine
    subroutine left_fn(invec, inoutvec, length, datatype)
        type(c_ptr), value :: invec, inoutvec
        integer :: length
        type(MPI_Datatype) :: datatype
        integer(kind=8), pointer :: a(:), b(:)
        call c_f_pointer(invec, a, (/length/))
        call c_f_pointer(inoutvec, b, (/length/))
        call append(a, b, length)
    end subroutine
#else
    subroutine add_fn(a, b, length, datatype)
        integer :: length, datatype
        integer :: a(length), b(length)
        call ok(datatype == MPI_INTEGER, __FILE__, __LINE__)
        b = a + b
    end subroutine
    subroutine left_fn(a, b, length, datatype)
        integer :: length, datatype
        integer(kind=8) :: a(length), b(length)
        call append(a, b, length)
    end subroutine
#endif
    ! a number with as many digits as ranks went into it, before it the digits of lower ranks
    subroutine append(a, b, length)
        integer, intent(in) :: length
        integer(kind=8), intent(in) :: a(length)
        integer(kind=8), intent(inout) :: b(length)
        integer :: i
        integer(kind=8) :: scale
        do i = 1, length
            scale = 10
            do while (scale <= b(i))
                scale = scale*10
            end do
            b(i) = a(i)*scale + b(i)
        end do
    end subroutine
    function digits_until(last) result(d)
        integer, intent(in) :: last
        integer(kind=8) :: d
        integer :: i
        d = 0
        do i = 0, last
            d = d*10 + i + 1
        end do
    end function

    subroutine rooted(r)
        integer, intent(in) :: r
        integer :: ierr, root, i, counts(most), disps(most), own(most), many(most*most), b(5)
        root = mod(r, ranks)
        b = 0
        if (me == root) b = (/(r*10 + i, i=1, 5)/)
        call MPI_Bcast(b, 5, MPI_INTEGER, root, comm, ierr)
        CHECK(all(b == (/(r*10 + i, i=1, 5)/)))
        own = me + r
        many = -1
        call MPI_Gather(own, 2, MPI_INTEGER, many, 2, MPI_INTEGER, root, comm, ierr)
        if (me == root) then
            CHECK(all(many(1:2*ranks) == (/(i/2 + r, i=0, 2*ranks - 1)/)))
        end if
        counts(1:ranks) = (/(i, i=1, ranks)/)
        disps(1:ranks) = (/(i*most, i=0, ranks - 1)/)
        many = -1
        call MPI_Gatherv(own, me + 1, MPI_INTEGER, many, counts, disps, MPI_INTEGER, root, comm, ierr)
        if (me == root) then
            do i = 0, ranks - 1
                CHECK(all(many(i*most + 1:i*most + i + 1) == i + r) .and. many(i*most + i + 2) == -1)
            end do
            many = (/(i + r, i=1, most*most)/)
        end if
        own = 0
        call MPI_Scatter(many, 3, MPI_INTEGER, own, 3, MPI_INTEGER, root, comm, ierr)
        CHECK(all(own(1:3) == (/(me*3 + i + r, i=1, 3)/)))
        call MPI_Scatterv(many, counts, disps, MPI_INTEGER, own, me + 1, MPI_INTEGER, root, comm, ierr)
        CHECK(own(me + 1) == me*most + me + 1 + r)
        MIX(own(1))
    end subroutine

    subroutine everywhere(r)
        integer, intent(in) :: r
        integer :: ierr, i, counts(most), disps(most), to(most), from(most), sizes(most)
        integer :: own(most), many(most*most), other(most*most)
        TYPE_T :: types(most)
        own = me*7 + r
        call MPI_Allgather(own, 1, MPI_INTEGER, many, 1, MPI_INTEGER, comm, ierr)
        CHECK(all(many(1:ranks) == (/(i*7 + r, i=0, ranks - 1)/)))
        counts(1:ranks) = (/(i, i=1, ranks)/)
        disps(1:ranks) = (/(i*most, i=0, ranks - 1)/)
        call MPI_Allgatherv(own, me + 1, MPI_INTEGER, many, counts, disps, MPI_INTEGER, comm, ierr)
        do i = 0, ranks - 1
            CHECK(all(many(i*most + 1:i*most + i + 1) == i*7 + r))
        end do
        many(1:2*ranks) = (/(me*100 + i + r, i=1, 2*ranks)/)
        call MPI_Alltoall(many, 2, MPI_INTEGER, other, 2, MPI_INTEGER, comm, ierr)
        CHECK(all(other(1:2*ranks:2) == (/(i*100 + 2*me + 1 + r, i=0, ranks - 1)/)))
        sizes(1:ranks) = me + 1
        many(1:most*ranks) = (/(me*1000 + i, i=0, most*ranks - 1)/)
        call MPI_Alltoallv(many, sizes, disps, MPI_INTEGER, other, counts, disps, MPI_INTEGER, comm, ierr)
        do i = 0, ranks - 1
            CHECK(other(i*most + i + 1) == i*1000 + me*most + i)
        end do
        types(1:ranks) = MPI_INTEGER
        to(1:ranks) = disps(1:ranks)*4
        from(1:ranks) = disps(1:ranks)*4
        other = 0
        call MPI_Alltoallw(many, sizes, to, types, other, counts, from, types, comm, ierr)
        do i = 0, ranks - 1
            CHECK(other(i*most + i + 1) == i*1000 + me*most + i)
            MIX(other(i*most + 1))
        end do
    end subroutine

    subroutine in_place(r)
        integer, intent(in) :: r
        integer :: ierr, i, root, many(most), total
        root = mod(r, ranks)
        total = ranks*(ranks - 1)/2
        many = me + r
        call MPI_Allreduce(MPI_IN_PLACE, many, 2, MPI_INTEGER, MPI_SUM, comm, ierr)
        CHECK(all(many(1:2) == total + ranks*r))
        many = -1
        many(me + 1) = me + r
        call MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, many, 1, MPI_INTEGER, comm, ierr)
        CHECK(all(many(1:ranks) == (/(i + r, i=0, ranks - 1)/)))
        many(1:ranks) = (/(me*10 + i, i=0, ranks - 1)/)
        call MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, many, 1, MPI_INTEGER, comm, ierr)
        CHECK(all(many(1:ranks) == (/(i*10 + me, i=0, ranks - 1)/)))
        many = -1
        many(me + 1) = me + r
        if (me == root) then
            call MPI_Gather(MPI_IN_PLACE, 1, MPI_INTEGER, many, 1, MPI_INTEGER, root, comm, ierr)
            CHECK(all(many(1:ranks) == (/(i + r, i=0, ranks - 1)/)))
            call MPI_Scatter(many, 1, MPI_INTEGER, MPI_IN_PLACE, 1, MPI_INTEGER, root, comm, ierr)
            many = 1
            call MPI_Reduce(MPI_IN_PLACE, many, 1, MPI_INTEGER, MPI_SUM, root, comm, ierr)
            CHECK(many(1) == ranks)
        else
            call MPI_Gather(many(me + 1), 1, MPI_INTEGER, many, 1, MPI_INTEGER, root, comm, ierr)
            call MPI_Scatter(many, 1, MPI_INTEGER, i, 1, MPI_INTEGER, root, comm, ierr)
            CHECK(i == me + r)
            i = 1
            call MPI_Reduce(i, many, 1, MPI_INTEGER, MPI_SUM, root, comm, ierr)
        end if
        many = me + 1
        call MPI_Scan(MPI_IN_PLACE, many, 1, MPI_INTEGER, MPI_SUM, comm, ierr)
        CHECK(many(1) == (me + 1)*(me + 2)/2)
    end subroutine

    subroutine reductions(r)
        integer, intent(in) :: r
        integer :: ierr, i, a(most), b(most), pair(2), best(2), counts(most)
        integer(kind=8) :: digit, number
        double precision :: d(2), e(2)
        real :: f(2), g(2)
        complex :: z, sum_z
        complex(kind=8) :: w, prod_w
        logical :: flag, all_of, any_of, commutes
        a = me + 1
        call MPI_Allreduce(a, b, 3, MPI_INTEGER, add_op, comm, ierr)
        CHECK(all(b(1:3) == ranks*(ranks + 1)/2))
        digit = me + 1
        call MPI_Allreduce(digit, number, 1, MPI_INTEGER8, left_op, comm, ierr)
        CHECK(number == digits_until(ranks - 1))
        call MPI_Scan(digit, number, 1, MPI_INTEGER8, left_op, comm, ierr)
        CHECK(number == digits_until(me))
        call MPI_Exscan(digit, number, 1, MPI_INTEGER8, left_op, comm, ierr)
        if (me > 0) then
            CHECK(number == digits_until(me - 1))
        end if
        call MPI_Op_commutative(left_op, commutes, ierr)
        CHECK(.not. commutes)
        call MPI_Op_commutative(add_op, commutes, ierr)
        CHECK(commutes)
        pair = (/mod(me*3 + r, ranks + 1), me/)
        call MPI_Allreduce(pair, best, 1, MPI_2INTEGER, MPI_MAXLOC, comm, ierr)
        CHECK(best(1) == maxval((/(mod(i*3 + r, ranks + 1), i=0, ranks - 1)/)))
        MIX(best(2))
        d = (/dble(-me), dble(me)/)
        call MPI_Allreduce(d, e, 1, MPI_2DOUBLE_PRECISION, MPI_MINLOC, comm, ierr)
        CHECK(e(1) == dble(1 - ranks) .and. e(2) == dble(ranks - 1))
        f = (/real(me), real(me)/)
        call MPI_Allreduce(f, g, 1, MPI_2REAL, MPI_MAXLOC, comm, ierr)
        CHECK(g(1) == real(ranks - 1) .and. g(2) == real(ranks - 1))
        z = cmplx(me, 1)
        call MPI_Allreduce(z, sum_z, 1, MPI_COMPLEX, MPI_SUM, comm, ierr)
        CHECK(sum_z == cmplx(ranks*(ranks - 1)/2, ranks))
        w = (0d0, 1d0)
        call MPI_Allreduce(w, prod_w, 1, MPI_DOUBLE_COMPLEX, MPI_PROD, comm, ierr)
        CHECK(prod_w == w**ranks)
        flag = me /= r
        call MPI_Allreduce(flag, all_of, 1, MPI_LOGICAL, MPI_LAND, comm, ierr)
        CHECK(all_of .eqv. r >= ranks)
        flag = me == 0
        call MPI_Allreduce(flag, any_of, 1, MPI_LOGICAL, MPI_LOR, comm, ierr)
        CHECK(any_of)
        call MPI_Allreduce(flag, any_of, 1, MPI_LOGICAL, MPI_LXOR, comm, ierr)
        CHECK(any_of)
        a(1) = ibset(0, me)
        call MPI_Allreduce(a, b, 1, MPI_INTEGER, MPI_BOR, comm, ierr)
        CHECK(b(1) == 2**ranks - 1)
        call MPI_Reduce(a, b, 1, MPI_INTEGER, MPI_MAX, 0, comm, ierr)
        if (me == 0) then
            CHECK(b(1) == 2**(ranks - 1))
        end if
        a = me + r
        counts(1:ranks) = 1
        call MPI_Reduce_scatter(a, b, counts, MPI_INTEGER, MPI_SUM, comm, ierr)
        CHECK(b(1) == ranks*(ranks - 1)/2 + ranks*r)
        call MPI_Reduce_scatter_block(a, b, 1, MPI_INTEGER, MPI_MIN, comm, ierr)
        CHECK(b(1) == r)
        b = 5
        call MPI_Reduce_local(a, b, 2, MPI_INTEGER, MPI_PROD, ierr)
        CHECK(all(b(1:2) == 5*(me + r)) .and. b(3) == 5)
        call MPI_Reduce_local(a, b, 2, MPI_INTEGER, add_op, ierr)
        CHECK(all(b(1:2) == 6*(me + r)))
    end subroutine

    subroutine nonblocking(r)
        integer, intent(in) :: r
        integer :: ierr, i, j, counts(most), disps(most), bytes(most), ones(most)
        integer, asynchronous :: a(most), b(most), c(most), d(most, most), e(most, most), f(most), g(most), h(most)
        integer, asynchronous :: k(most), l(most), m(most, most), o(most, most)
        TYPE_T :: types(most)
        REQUEST_T :: q(16)
        counts(1:ranks) = 1
        ones = 1
        disps(1:ranks) = (/(i, i=0, ranks - 1)/)
        bytes(1:ranks) = 4*disps(1:ranks)
        types(1:ranks) = MPI_INTEGER
        a = me + r
        b = 0
        if (me == 0) b = r
        c = 0
        call MPI_Ibarrier(comm, q(1), ierr)
        call MPI_Ibcast(b, 3, MPI_INTEGER, 0, comm, q(2), ierr)
        call MPI_Iallreduce(a, c, 1, MPI_INTEGER, add_op, comm, q(3), ierr)
        call MPI_Iallgather(a, 1, MPI_INTEGER, d(:, 1), 1, MPI_INTEGER, comm, q(4), ierr)
        call MPI_Iallgatherv(a, 1, MPI_INTEGER, d(:, 2), counts, disps, MPI_INTEGER, comm, q(5), ierr)
        call MPI_Igather(a, 1, MPI_INTEGER, m(:, 1), 1, MPI_INTEGER, 0, comm, q(6), ierr)
        call MPI_Igatherv(a, 1, MPI_INTEGER, m(:, 2), counts, disps, MPI_INTEGER, 0, comm, q(7), ierr)
        e(1:ranks, 1) = (/(me*10 + i, i=0, ranks - 1)/)
        call MPI_Ialltoall(e(:, 1), 1, MPI_INTEGER, e(:, 2), 1, MPI_INTEGER, comm, q(8), ierr)
        call MPI_Ialltoallv(e(:, 1), counts, disps, MPI_INTEGER, e(:, 3), counts, disps, MPI_INTEGER, comm, q(9), ierr)
        call MPI_Ialltoallw(e(:, 1), counts, bytes, types, e(:, 4), counts, bytes, types, comm, q(10), ierr)
        o(1:ranks, 1) = (/(r + i, i=0, ranks - 1)/)
        call MPI_Iscatter(o(:, 1), 1, MPI_INTEGER, f, 1, MPI_INTEGER, 0, comm, q(11), ierr)
        call MPI_Iscatterv(o(:, 1), counts, disps, MPI_INTEGER, g, 1, MPI_INTEGER, 0, comm, q(12), ierr)
        call MPI_Ireduce(a, h, 1, MPI_INTEGER, MPI_SUM, 0, comm, q(13), ierr)
        call MPI_Iscan(a, k, 1, MPI_INTEGER, MPI_MAX, comm, q(14), ierr)
        call MPI_Ireduce_scatter_block(a, l, 1, MPI_INTEGER, MPI_SUM, comm, q(15), ierr)
        call MPI_Iexscan(a, o(:, 2), 1, MPI_INTEGER, MPI_SUM, comm, q(16), ierr)
        call MPI_Waitall(16, q, MPI_STATUSES_IGNORE, ierr)
        CHECK(all(b(1:3) == r))
        CHECK(c(1) == ranks*(ranks - 1)/2 + ranks*r)
        CHECK(all(d(1:ranks, 1) == (/(i + r, i=0, ranks - 1)/)) .and. all(d(1:ranks, 2) == d(1:ranks, 1)))
        if (me == 0) then
            CHECK(all(m(1:ranks, 1) == d(1:ranks, 1)) .and. all(m(1:ranks, 2) == d(1:ranks, 1)))
            CHECK(h(1) == c(1))
        end if
        do i = 2, 4
            CHECK(all(e(1:ranks, i) == (/(10*j + me, j=0, ranks - 1)/)))
        end do
        CHECK(f(1) == r + me .and. g(1) == r + me)
        CHECK(k(1) == me + r .and. l(1) == c(1))
        if (me > 0) then
            CHECK(o(1, 2) == me*(me - 1)/2 + me*r)
        end if
        call MPI_Ireduce_scatter(a, l, ones, MPI_INTEGER, MPI_SUM, comm, q(1), ierr)
        call MPI_Wait(q(1), MPI_STATUS_IGNORE, ierr)
        CHECK(l(1) == c(1))
        MIX(c(1))
    end subroutine

    subroutine persistent(r)
        integer, intent(in) :: r
        integer :: ierr, i
        stored_in = me + 2*r
        call MPI_Startall(3, stored, ierr)
        call MPI_Waitall(3, stored, MPI_STATUSES_IGNORE, ierr)
        CHECK(all(stored_out == ranks*(ranks - 1)/2 + 2*r*ranks))
        do i = 0, ranks - 1
            CHECK(all(stored_all(4*i + 1:4*i + 4) == i + 2*r))
        end do
    end subroutine

    ! even ranks on one side, odd ranks on the other
    subroutine between_groups(r)
        integer, intent(in) :: r
        integer :: ierr, a, b, root, others, many(most), i
        call MPI_Comm_remote_size(inter, others, ierr)
        a = me + r
        call MPI_Allreduce(a, b, 1, MPI_INTEGER, MPI_SUM, inter, ierr)
        CHECK(b == sum((/(2*i + 1 - mod(me, 2) + r, i=0, others - 1)/)))
        root = 0
        if (mod(me, 2) == 0) then
            root = MPI_PROC_NULL
            if (me == 0) root = MPI_ROOT
            a = 100 + r
        else
            a = 0
        end if
        call MPI_Bcast(a, 1, MPI_INTEGER, root, inter, ierr)
        if (mod(me, 2) == 1) then
            CHECK(a == 100 + r)
        end if
        a = me
        call MPI_Allgather(a, 1, MPI_INTEGER, many, 1, MPI_INTEGER, inter, ierr)
        CHECK(all(many(1:others) == (/(2*i + 1 - mod(me, 2), i=0, others - 1)/)))
    end subroutine
end module
