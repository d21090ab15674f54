#include "face.h"
! Point-to-point communication: all modes, persistent requests, probes, completion, status fields, buffers.
module chapter_p2p
    use shared
    implicit none
    private
    public :: p2p_begin, p2p_round, p2p_end
    integer, parameter :: n = 120
    COMM_T :: ring, apart
    REQUEST_T :: kept(5), late
    integer :: out(n), in(n), kept_out(n, 4), kept_in(n), late_in(n)
    integer, asynchronous :: four_out(n, 4), four_in(n, 4)
    integer :: attached(10*(n + 100))
    integer :: queries = 0, frees = 0, cancels = 0
contains
    subroutine p2p_begin()
        integer :: ierr
        call MPI_Comm_dup(MPI_COMM_WORLD, ring, ierr)
        call MPI_Comm_dup(ring, apart, ierr)
        call MPI_Buffer_attach(attached, size(attached)*4, ierr)
        call MPI_Send_init(kept_out(:, 1), n, MPI_INTEGER, right, 60, apart, kept(1), ierr)
        call MPI_Ssend_init(kept_out(:, 2), n, MPI_INTEGER, right, 61, apart, kept(2), ierr)
        call MPI_Bsend_init(kept_out(:, 3), n, MPI_INTEGER, right, 62, apart, kept(3), ierr)
        call MPI_Rsend_init(kept_out(:, 4), n, MPI_INTEGER, right, 63, apart, kept(4), ierr)
        call MPI_Recv_init(kept_in, n, MPI_INTEGER, left, MPI_ANY_TAG, apart, kept(5), ierr)
        late = MPI_REQUEST_NULL
    end subroutine
    subroutine p2p_round(r)
        integer, intent(in) :: r
        call blocking(r)
        call nonblocking(r)
        call both_ways(r)
        call probing(r)
        call persistent(r)
        call across_rounds(r)
        call cancelling()
        call generalized(r)
        call other_types(r)
    end subroutine
    subroutine p2p_end()
        integer :: ierr, i, bytes
        integer :: where(2)
        STATUS_IS(st)
        call MPI_Send(out, 0, MPI_INTEGER, right, 70, ring, ierr)
        call MPI_Wait(late, st, ierr)
        call MPI_Recv(late_in, n, MPI_INTEGER, left, 71, ring, st, ierr)
        do i = 1, 5
            call MPI_Request_free(kept(i), ierr)
            CHECK(kept(i) == MPI_REQUEST_NULL)
        end do
        call detach(bytes)
        CHECK(bytes == size(attached)*4)
        call MPI_Comm_free(apart, ierr)
        call MPI_Comm_free(ring, ierr)
        CHECK(ring == MPI_COMM_NULL)
    end subroutine
    subroutine detach(bytes)
        integer, intent(out) :: bytes
        integer :: ierr
#if FACE == 2
        type(c_ptr) :: where
#else
        integer :: where(4)
#endif
        call MPI_Buffer_detach(where, bytes, ierr)
    end subroutine

    subroutine fill(a, seed)
        integer, intent(out) :: a(n)
        integer, intent(in) :: seed
        integer :: i
        a = (/(seed*1000 + i, i=1, n)/)
    end subroutine
    subroutine filled(a, seed, line)
        integer, intent(in) :: a(n), seed, line
        integer :: i
        call ok(all(a == (/(seed*1000 + i, i=1, n)/)), __FILE__, line)
        MIX(a(n))
    end subroutine

    subroutine blocking(r)
        integer, intent(in) :: r
        integer :: mode, ierr, c
        REQUEST_T :: ready
        STATUS_IS(st)
        do mode = 0, 3
            call fill(out, me + r + mode)
            call MPI_Irecv(in, n, MPI_INTEGER, left, 10 + mode, ring, ready, ierr)
            select case (mode)
            case (0); call MPI_Send(out, n, MPI_INTEGER, right, 10, ring, ierr)
            case (1); call MPI_Ssend(out, n, MPI_INTEGER, right, 11, ring, ierr)
            case (2); call MPI_Bsend(out, n, MPI_INTEGER, right, 12, ring, ierr)
            case (3)
                call MPI_Sendrecv(out, 0, MPI_INTEGER, left, 99, kept_in, 0, MPI_INTEGER, right, 99, ring, &
                                  MPI_STATUS_IGNORE, ierr)
                call MPI_Rsend(out, n, MPI_INTEGER, right, 13, ring, ierr)
            end select
            CHECK(ierr == MPI_SUCCESS)
            call MPI_Wait(ready, st, ierr)
            call MPI_Get_count(st, MPI_INTEGER, c, ierr)
            CHECK(c == n)
            CHECK(SOURCE(st) == left)
            CHECK(TAG(st) == 10 + mode)
            call MPI_Get_elements(st, MPI_INTEGER, c, ierr)
            CHECK(c == n)
            call filled(in, left + r + mode, __LINE__)
        end do
        call MPI_Send(out, n, MPI_INTEGER, MPI_PROC_NULL, 1, ring, ierr)
        call MPI_Recv(in, n, MPI_INTEGER, MPI_PROC_NULL, 1, ring, st, ierr)
        CHECK(SOURCE(st) == MPI_PROC_NULL)
        CHECK(TAG(st) == MPI_ANY_TAG)
        call MPI_Get_count(st, MPI_INTEGER, c, ierr)
        CHECK(c == 0)
        call MPI_Recv(in, n, MPI_INTEGER, MPI_PROC_NULL, 1, ring, MPI_STATUS_IGNORE, ierr)
        CHECK(ierr == MPI_SUCCESS)
    end subroutine

    subroutine nonblocking(r)
        integer, intent(in) :: r
        integer :: i, ierr, idx(8), some, done, from
        logical :: flag
        REQUEST_T :: q(8)
        STATUS_IS(st)
        STATUSES_ARE(sts, 8)
        do i = 1, 4
            from = left
            if (mod(i, 2) == 0) from = MPI_ANY_SOURCE
            call MPI_Irecv(four_in(:, i), n, MPI_INTEGER, from, 20 + i, ring, q(i), ierr)
            call fill(four_out(:, i), me + r + i)
        end do
        call MPI_Barrier(ring, ierr)
        call MPI_Isend(four_out(:, 1), n, MPI_INTEGER, right, 21, ring, q(5), ierr)
        call MPI_Issend(four_out(:, 2), n, MPI_INTEGER, right, 22, ring, q(6), ierr)
        call MPI_Ibsend(four_out(:, 3), n, MPI_INTEGER, right, 23, ring, q(7), ierr)
        call MPI_Irsend(four_out(:, 4), n, MPI_INTEGER, right, 24, ring, q(8), ierr)
        flag = .false.
        do while (.not. flag)
            call MPI_Request_get_status(q(1), flag, st, ierr)
        end do
        CHECK(TAG(st) == 21)
        CHECK(q(1) /= MPI_REQUEST_NULL)
        done = 0
        select case (mod(r, 6))
        case (0)
            call MPI_Waitall(8, q, sts, ierr)
            CHECK(NTH_SOURCE(sts, 4) == left)
            CHECK(NTH_TAG(sts, 3) == 23)
        case (1)
            call MPI_Waitall(8, q, MPI_STATUSES_IGNORE, ierr)
        case (2)
            do done = 1, 8
                call MPI_Waitany(8, q, i, st, ierr)
                CHECK(i >= 1 .and. i <= 8)
                CHECK(q(i) == MPI_REQUEST_NULL)
                if (i <= 4) then
                    CHECK(SOURCE(st) == left .and. TAG(st) == 20 + i)
                end if
            end do
            call MPI_Waitany(8, q, i, MPI_STATUS_IGNORE, ierr)
#if FACE < 2
            CHECK(i == MPI_UNDEFINED) ! MPICH 4.2's mpi_f08 adds one to it
#endif
        case (3)
            do while (done < 8)
                call MPI_Waitsome(8, q, some, idx, sts, ierr)
                CHECK(some > 0)
                do i = 1, some
                    CHECK(idx(i) >= 1 .and. idx(i) <= 8)
                    if (idx(i) <= 4) then
                        CHECK(NTH_TAG(sts, i) == 20 + idx(i))
                    end if
                end do
                done = done + some
            end do
            call MPI_Waitsome(8, q, some, idx, MPI_STATUSES_IGNORE, ierr)
            CHECK(some == MPI_UNDEFINED)
        case (4)
            do while (done < 8)
                call MPI_Testany(8, q, i, flag, st, ierr)
                if (flag) then
                    CHECK(q(i) == MPI_REQUEST_NULL)
                    done = done + 1
                end if
                call MPI_Testsome(8, q, some, idx, sts, ierr)
                if (some /= MPI_UNDEFINED) done = done + some
            end do
        case default
            flag = .false.
            do while (.not. flag)
                call MPI_Test(q(1), flag, st, ierr)
            end do
            flag = .false.
            do while (.not. flag)
                call MPI_Testall(8, q, flag, sts, ierr)
            end do
        end select
        do i = 1, 8
            CHECK(q(i) == MPI_REQUEST_NULL)
        end do
        do i = 1, 4
            call filled(four_in(:, i), left + r + i, __LINE__)
        end do
    end subroutine

    subroutine both_ways(r)
        integer, intent(in) :: r
        integer :: ierr
        REQUEST_T :: q
        STATUS_IS(st)
        call fill(out, me + r)
        call MPI_Sendrecv(out, n, MPI_INTEGER, right, 30, in, n, MPI_INTEGER, left, 30, ring, st, ierr)
        CHECK(SOURCE(st) == left)
        call filled(in, left + r, __LINE__)
        call MPI_Sendrecv_replace(out, n, MPI_INTEGER, right, 31, left, 31, ring, st, ierr)
        call filled(out, left + r, __LINE__)
        call fill(out, me + 2*r)
        call MPI_Isendrecv(out, n, MPI_INTEGER, right, 32, in, n, MPI_INTEGER, left, 32, ring, q, ierr)
        call MPI_Wait(q, st, ierr)
        call filled(in, left + 2*r, __LINE__)
        call MPI_Isendrecv_replace(out, n, MPI_INTEGER, right, 33, left, 33, ring, q, ierr)
        call MPI_Wait(q, MPI_STATUS_IGNORE, ierr)
        call filled(out, left + 2*r, __LINE__)
    end subroutine

    subroutine probing(r)
        integer, intent(in) :: r
        integer :: k, c, ierr
        logical :: flag
        MESSAGE_T :: message
        REQUEST_T :: sent, q
        STATUS_IS(st)
        call fill(out, me + r)
        do k = 0, 3
            call MPI_Isend(out, n, MPI_INTEGER, right, 40 + k, ring, sent, ierr)
            in = 0
            flag = .false.
            select case (k)
            case (0)
                call MPI_Probe(MPI_ANY_SOURCE, 40, ring, st, ierr)
                call MPI_Get_count(st, MPI_INTEGER, c, ierr)
                call MPI_Recv(in, c, MPI_INTEGER, SOURCE(st), TAG(st), ring, st, ierr)
            case (1)
                do while (.not. flag)
                    call MPI_Iprobe(left, 41, ring, flag, st, ierr)
                end do
                call MPI_Get_count(st, MPI_INTEGER, c, ierr)
                call MPI_Recv(in, c, MPI_INTEGER, left, 41, ring, MPI_STATUS_IGNORE, ierr)
            case (2)
                call MPI_Mprobe(left, 42, ring, message, st, ierr)
                call MPI_Get_count(st, MPI_INTEGER, c, ierr)
                call MPI_Mrecv(in, c, MPI_INTEGER, message, st, ierr)
                CHECK(message == MPI_MESSAGE_NULL)
            case (3)
                do while (.not. flag)
                    call MPI_Improbe(MPI_ANY_SOURCE, 43, ring, flag, message, st, ierr)
                end do
                call MPI_Get_count(st, MPI_INTEGER, c, ierr)
                call MPI_Imrecv(in, c, MPI_INTEGER, message, q, ierr)
                call MPI_Wait(q, st, ierr)
            end select
            CHECK(c == n .and. SOURCE(st) == left)
            call filled(in, left + r, __LINE__)
            call MPI_Wait(sent, MPI_STATUS_IGNORE, ierr)
        end do
        call MPI_Mprobe(MPI_PROC_NULL, 1, ring, message, st, ierr)
        CHECK(message == MPI_MESSAGE_NO_PROC)
        call MPI_Mrecv(in, 1, MPI_INTEGER, message, st, ierr)
        CHECK(SOURCE(st) == MPI_PROC_NULL)
    end subroutine

    subroutine persistent(r)
        integer, intent(in) :: r
        integer :: i, ierr
        REQUEST_T :: two(2)
        STATUS_IS(st)
        STATUSES_ARE(sts, 2)
        do i = 1, 4
            call fill(kept_out(:, i), me + r + 10*i)
            call MPI_Start(kept(5), ierr)
            if (i == 4) call MPI_Barrier(ring, ierr) ! ready mode: all have posted
            call MPI_Start(kept(i), ierr)
            call MPI_Wait(kept(5), st, ierr)
            CHECK(TAG(st) == 59 + i .and. SOURCE(st) == left)
            call MPI_Wait(kept(i), MPI_STATUS_IGNORE, ierr)
            call filled(kept_in, left + r + 10*i, __LINE__)
            CHECK(kept(i) /= MPI_REQUEST_NULL)
        end do
        two(1) = kept(1)
        two(2) = kept(5)
        call fill(kept_out(:, 1), me + r + 50)
        call MPI_Startall(2, two, ierr)
        call MPI_Waitall(2, two, sts, ierr)
        CHECK(NTH_SOURCE(sts, 2) == left)
        call filled(kept_in, left + r + 50, __LINE__)
    end subroutine

    ! a receive stays open and a message unreceived over a whole round
    subroutine across_rounds(r)
        integer, intent(in) :: r
        integer :: ierr, c
        STATUS_IS(st)
        if (r > 1) then
            call MPI_Send(out, 0, MPI_INTEGER, right, 70, ring, ierr)
            call MPI_Wait(late, st, ierr)
            call MPI_Get_count(st, MPI_INTEGER, c, ierr)
            CHECK(c == 0)
            call MPI_Recv(late_in, n, MPI_INTEGER, left, 71, ring, st, ierr)
            call filled(late_in, left + r - 1, __LINE__)
        end if
        call MPI_Irecv(late_in, n, MPI_INTEGER, left, 70, ring, late, ierr)
        call fill(out, me + r)
        call MPI_Bsend(out, n, MPI_INTEGER, right, 71, ring, ierr)
    end subroutine

    subroutine cancelling()
        integer :: ierr
        logical :: flag
        REQUEST_T :: q
        STATUS_IS(st)
        call MPI_Irecv(in, n, MPI_INTEGER, left, 80, ring, q, ierr)
        call MPI_Cancel(q, ierr)
        call MPI_Wait(q, st, ierr)
        call MPI_Test_cancelled(st, flag, ierr)
        CHECK(flag)
        call MPI_Status_set_cancelled(st, .false., ierr)
        call MPI_Test_cancelled(st, flag, ierr)
        CHECK(.not. flag)
    end subroutine

#if FACE == 2
    subroutine query_fn(extra, status, ierror)
        ADDRESS :: extra
        type(MPI_Status) :: status
        integer :: ierror
#else
    subroutine query_fn(extra, status, ierror)
        ADDRESS :: extra
        integer :: status(MPI_STATUS_SIZE), ierror
#endif
        queries = queries + 1
        call MPI_Status_set_elements(status, MPI_INTEGER, int(extra), ierror)
        call MPI_Status_set_cancelled(status, .false., ierror)
        SOURCE(status) = 5
        TAG(status) = 6
        ierror = MPI_SUCCESS
    end subroutine
    subroutine free_fn(extra, ierror)
        ADDRESS :: extra
        integer :: ierror
        frees = frees + int(extra)
        ierror = MPI_SUCCESS
    end subroutine
    subroutine cancel_fn(extra, complete, ierror)
        ADDRESS :: extra
        logical :: complete
        integer :: ierror
        if (.not. complete) cancels = cancels + 1
        ierror = MPI_SUCCESS
    end subroutine
    subroutine generalized(r)
        integer, intent(in) :: r
        integer :: ierr, c, q0, f0
        logical :: flag
        ADDRESS :: extra
        REQUEST_T :: q
        STATUS_IS(st)
        extra = 3
        q0 = queries
        f0 = frees
        call MPI_Grequest_start(query_fn, free_fn, cancel_fn, extra, q, ierr)
        call MPI_Test(q, flag, st, ierr)
        CHECK(.not. flag)
        call MPI_Cancel(q, ierr)
        CHECK(cancels == r)
        call MPI_Barrier(ring, ierr)
        call MPI_Grequest_complete(q, ierr)
        call MPI_Wait(q, st, ierr)
        call MPI_Get_count(st, MPI_INTEGER, c, ierr)
        CHECK(c == 3 .and. SOURCE(st) == 5 .and. TAG(st) == 6)
        CHECK(queries > q0 .and. frees - f0 == 3)
    end subroutine

    ! what only Fortran has: characters with their blanks, logicals, complex numbers
    subroutine other_types(r)
        integer, intent(in) :: r
        integer :: ierr
        character(len=12) :: word, words(2)
        logical :: flags(3), got(3)
        complex :: z(2)
        double precision :: d(4)
        complex(kind=8) :: w
        write (word, '(a,i4.4)') "rank ", me*100 + r
        words = "????"
        call MPI_Sendrecv(word, 12, MPI_CHARACTER, right, 90, words(2), 12, MPI_CHARACTER, left, 90, ring, &
                          MPI_STATUS_IGNORE, ierr)
        write (word, '(a,i4.4)') "rank ", left*100 + r
        CHECK(words(2) == word)
        CHECK(words(1) == "????")
        flags = (/.true., .false., mod(me + r, 2) == 0/)
        call MPI_Sendrecv(flags, 3, MPI_LOGICAL, right, 91, got, 3, MPI_LOGICAL, left, 91, ring, MPI_STATUS_IGNORE, ierr)
        CHECK(got(1) .and. .not. got(2))
        CHECK(got(3) .eqv. mod(left + r, 2) == 0)
        z = (/cmplx(me, r), cmplx(-1, me)/)
        call MPI_Sendrecv_replace(z, 2, MPI_COMPLEX, right, 92, left, 92, ring, MPI_STATUS_IGNORE, ierr)
        CHECK(z(1) == cmplx(left, r) .and. z(2) == cmplx(-1, left))
        w = cmplx(me*0.5d0, r*0.25d0, kind=8)
        call MPI_Sendrecv_replace(w, 1, MPI_DOUBLE_COMPLEX, right, 93, left, 93, ring, MPI_STATUS_IGNORE, ierr)
        CHECK(w == cmplx(left*0.5d0, r*0.25d0, kind=8))
        d = me + 0.125d0*r
        call MPI_Sendrecv_replace(d, 4, MPI_DOUBLE_PRECISION, right, 94, left, 94, ring, MPI_STATUS_IGNORE, ierr)
        CHECK(all(d == left + 0.125d0*r))
    end subroutine
end module
