#include "face.h"
! Datatypes: all constructors, Fortran's own types, types by precision, addresses, packing.
module chapter_types
    use shared
    implicit none
    private
    public :: types_begin, types_round, types_end
    integer, parameter :: made = 13
    TYPE_T :: kept(made), basic(14)
    integer, parameter :: bytes_of(14) = (/4, 4, 8, 8, 16, 4, 1, 1, 2, 4, 8, 4, 8, 1/)
    integer :: matrix(6, 5)
contains
    subroutine types_begin()
        integer :: ierr, i
        ADDRESS :: disps(3), where(2)
        kept = MPI_DATATYPE_NULL
        call MPI_Type_contiguous(3, MPI_INTEGER, kept(1), ierr)
        call MPI_Type_vector(3, 1, 2, MPI_INTEGER, kept(2), ierr)
        call MPI_Type_create_hvector(3, 1, 8_MPI_ADDRESS_KIND, MPI_INTEGER, kept(3), ierr)
        call MPI_Type_indexed(2, (/1, 2/), (/0, 3/), MPI_INTEGER, kept(4), ierr)
        disps = (/0, 12, 20/)
        call MPI_Type_create_hindexed(2, (/1, 2/), disps, MPI_INTEGER, kept(5), ierr)
        call MPI_Type_create_indexed_block(3, 1, (/0, 2, 5/), MPI_INTEGER, kept(6), ierr)
        disps = (/0, 8, 20/)
        call MPI_Type_create_hindexed_block(3, 1, disps, MPI_INTEGER, kept(7), ierr)
        call MPI_Type_create_struct(2, (/1, 1/), disps(1:2), (/MPI_INTEGER, MPI_DOUBLE_PRECISION/), kept(8), ierr)
        call MPI_Type_create_subarray(2, (/6, 5/), (/2, 3/), (/1, 1/), MPI_ORDER_FORTRAN, MPI_INTEGER, kept(9), ierr)
        call MPI_Type_create_darray(2, 0, 2, (/6, 5/), (/MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC/), &
                                    (/MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG/), (/2, 1/), MPI_ORDER_FORTRAN, &
                                    MPI_INTEGER, kept(10), ierr)
        call MPI_Type_create_resized(MPI_INTEGER, 0_MPI_ADDRESS_KIND, 12_MPI_ADDRESS_KIND, kept(11), ierr)
        call MPI_Type_dup(kept(2), kept(12), ierr)
        ! absolute addresses: for MPI_BOTTOM
        call MPI_Get_address(matrix(1, 1), where(1), ierr)
        call MPI_Get_address(matrix(3, 2), where(2), ierr)
#if FACE > 0
        CHECK(MPI_Aint_diff(where(2), where(1)) == 32)
        CHECK(MPI_Aint_add(where(1), 32_MPI_ADDRESS_KIND) == where(2))
#endif
        call MPI_Type_create_hindexed(2, (/1, 1/), where, MPI_INTEGER, kept(13), ierr)
        do i = 1, made
            call MPI_Type_commit(kept(i), ierr)
            CHECK(ierr == MPI_SUCCESS)
        end do
        basic = (/MPI_INTEGER, MPI_REAL, MPI_DOUBLE_PRECISION, MPI_COMPLEX, MPI_DOUBLE_COMPLEX, MPI_LOGICAL, MPI_CHARACTER, &
                  MPI_INTEGER1, MPI_INTEGER2, MPI_INTEGER4, MPI_INTEGER8, MPI_REAL4, MPI_REAL8, MPI_BYTE/)
    end subroutine
    subroutine types_round(r)
        integer, intent(in) :: r
        call sizes()
        call contents()
        call travelling(r)
        call bottom(r)
        call precision_types(r)
        call packing(r)
    end subroutine
    subroutine types_end()
        integer :: ierr, i
        do i = 1, made
            call MPI_Type_free(kept(i), ierr)
            CHECK(kept(i) == MPI_DATATYPE_NULL)
        end do
    end subroutine

    subroutine sizes()
        integer :: ierr, i, n, length
        ADDRESS :: lb, extent
        integer(kind=MPI_COUNT_KIND) :: big, big_lb
        integer, parameter :: size_of(13) = (/12, 12, 12, 12, 12, 12, 12, 12, 24, 60, 4, 12, 8/)
        integer, parameter :: extent_of(13) = (/12, 20, 20, 20, 20, 24, 24, 16, 120, 120, 12, 20, 36/)
        character(len=MPI_MAX_OBJECT_NAME) :: name
        do i = 1, 14
            call MPI_Type_size(basic(i), n, ierr)
            CHECK(n == bytes_of(i))
        end do
        do i = 1, made
            call MPI_Type_size(kept(i), n, ierr)
            CHECK(n == size_of(i))
            call MPI_Type_get_extent(kept(i), lb, extent, ierr)
            if (i /= 13) then
                CHECK(lb == 0)
            end if
            CHECK(extent == extent_of(i))
            call MPI_Type_size_x(kept(i), big, ierr)
            CHECK(big == size_of(i))
        end do
        call MPI_Type_get_true_extent(kept(9), lb, extent, ierr)
        CHECK(lb == 28 .and. extent == 52 + 4)
        call MPI_Type_get_extent_x(kept(11), big_lb, big, ierr)
        CHECK(big_lb == 0 .and. big == 12)
        call MPI_Type_get_true_extent_x(kept(11), big_lb, big, ierr)
        CHECK(big == 4)
        call MPI_Type_set_name(kept(2), "every other  ", ierr)
        call MPI_Type_get_name(kept(2), name, length, ierr)
        CHECK(name == "every other" .and. length == 11)
        call MPI_Type_get_name(MPI_DOUBLE_PRECISION, name, length, ierr)
        CHECK(name(1:length) == "MPI_DOUBLE_PRECISION")
    end subroutine

    subroutine contents()
        integer :: ierr, ni, na, nt, how, ints(20)
        ADDRESS :: addresses(4)
        TYPE_T :: inside(4)
        call MPI_Type_get_envelope(MPI_REAL, ni, na, nt, how, ierr)
        CHECK(how == MPI_COMBINER_NAMED)
        call MPI_Type_get_envelope(kept(2), ni, na, nt, how, ierr)
        CHECK(how == MPI_COMBINER_VECTOR .and. ni == 3 .and. na == 0 .and. nt == 1)
        call MPI_Type_get_contents(kept(2), ni, na, nt, ints, addresses, inside, ierr)
        CHECK(all(ints(1:3) == (/3, 1, 2/)) .and. inside(1) == MPI_INTEGER)
        call MPI_Type_get_envelope(kept(8), ni, na, nt, how, ierr)
        CHECK(how == MPI_COMBINER_STRUCT .and. ni == 3 .and. na == 2 .and. nt == 2)
        call MPI_Type_get_contents(kept(8), ni, na, nt, ints, addresses, inside, ierr)
        CHECK(ints(1) == 2 .and. addresses(2) == 8 .and. inside(2) == MPI_DOUBLE_PRECISION)
        call MPI_Type_get_envelope(kept(9), ni, na, nt, how, ierr)
        CHECK(how == MPI_COMBINER_SUBARRAY)
        call MPI_Type_get_contents(kept(9), ni, na, nt, ints, addresses, inside, ierr)
        CHECK(all(ints(1:8) == (/2, 6, 5, 2, 3, 1, 1, MPI_ORDER_FORTRAN/)))
        call MPI_Type_get_envelope(kept(10), ni, na, nt, how, ierr)
        CHECK(how == MPI_COMBINER_DARRAY)
        call MPI_Type_get_contents(kept(10), ni, na, nt, ints, addresses, inside, ierr)
        CHECK(ints(6) == MPI_DISTRIBUTE_BLOCK .and. ints(7) == MPI_DISTRIBUTE_CYCLIC)
        CHECK(ints(8) == MPI_DISTRIBUTE_DFLT_DARG)
        call MPI_Type_get_envelope(kept(12), ni, na, nt, how, ierr)
        CHECK(how == MPI_COMBINER_DUP)
        call MPI_Type_get_contents(kept(12), ni, na, nt, ints, addresses, inside, ierr)
        call MPI_Type_get_envelope(inside(1), ni, na, nt, how, ierr)
        CHECK(how == MPI_COMBINER_VECTOR)
        call MPI_Type_free(inside(1), ierr)
    end subroutine

    ! each type to the right, as its integers
    subroutine travelling(r)
        integer, intent(in) :: r
        integer :: ierr, i, j, n, a(30), b(30), c(30)
        STATUS_IS(st)
        do i = 1, made - 1
            a = (/(me*1000 + r*100 + j, j=1, 30)/)
            b = 0
            call MPI_Type_size(kept(i), n, ierr)
            n = n/4
            call MPI_Sendrecv(a, 1, kept(i), right, i, b, n, MPI_INTEGER, left, i, MPI_COMM_WORLD, st, ierr)
            c = 0
            ! and back into its places
            call MPI_Sendrecv(b, n, MPI_INTEGER, me, 50, c, 1, kept(i), me, 50, MPI_COMM_WORLD, st, ierr)
            CHECK(count(c /= 0) == n)
            CHECK(all(c == 0 .or. c == (/(left*1000 + r*100 + j, j=1, 30)/)))
            call MPI_Get_count(st, kept(i), n, ierr)
            CHECK(n == 1)
            MIX(b(2))
        end do
        matrix = reshape((/(j, j=1, 30)/), (/6, 5/))
        b = 0
        call MPI_Sendrecv(matrix, 1, kept(9), me, 51, b, 6, MPI_INTEGER, me, 51, MPI_COMM_WORLD, st, ierr)
        CHECK(all(b(1:6) == reshape(matrix(2:3, 2:4), (/6/))))
    end subroutine

    subroutine bottom(r)
        integer, intent(in) :: r
        integer :: ierr, b(2)
        matrix = 0
        matrix(1, 1) = me + r
        matrix(3, 2) = me - r
        call MPI_Sendrecv(MPI_BOTTOM, 1, kept(13), right, 52, b, 2, MPI_INTEGER, left, 52, MPI_COMM_WORLD, &
                          MPI_STATUS_IGNORE, ierr)
        CHECK(all(b == (/left + r, left - r/)))
        if (me == 0) b = (/r, 2*r/)
        if (me == 0) then
            call MPI_Bcast(b, 2, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
        else
            call MPI_Bcast(MPI_BOTTOM, 1, kept(13), 0, MPI_COMM_WORLD, ierr)
#if FACE == 2
            call MPI_F_sync_reg(matrix)
#endif
            CHECK(matrix(1, 1) == r .and. matrix(3, 2) == 2*r)
        end if
    end subroutine

    subroutine precision_types(r)
        integer, intent(in) :: r
        integer :: ierr, n, ni, na, nt, how, ints(2)
        ADDRESS :: addresses(1)
        TYPE_T :: t, inside(1)
        integer(kind=selected_int_kind(12)) :: i, j
        real(kind=selected_real_kind(12, 100)) :: x, y
        complex(kind=selected_real_kind(5)) :: z, w
        call MPI_Type_create_f90_integer(12, t, ierr)
        i = me + r*10_8**11
        call MPI_Sendrecv(i, 1, t, right, 60, j, 1, t, left, 60, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
        CHECK(j == left + r*10_8**11)
        call MPI_Type_get_envelope(t, ni, na, nt, how, ierr)
        CHECK(how == MPI_COMBINER_F90_INTEGER .and. ni == 1 .and. nt == 0)
        call MPI_Type_get_contents(t, ni, na, nt, ints, addresses, inside, ierr)
        CHECK(ints(1) == 12)
        call MPI_Type_create_f90_real(12, 100, t, ierr)
        x = me + 1d-9*r
        call MPI_Sendrecv(x, 1, t, right, 61, y, 1, t, left, 61, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
        CHECK(y == left + 1d-9*r)
        call MPI_Type_create_f90_complex(5, MPI_UNDEFINED, t, ierr)
        z = cmplx(me, r)
        call MPI_Sendrecv(z, 1, t, right, 62, w, 1, t, left, 62, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
        CHECK(w == cmplx(left, r))
        call MPI_Type_match_size(MPI_TYPECLASS_REAL, 8, t, ierr)
        call MPI_Type_size(t, n, ierr)
        CHECK(n == 8)
        call MPI_Type_match_size(MPI_TYPECLASS_INTEGER, 2, t, ierr)
        call MPI_Type_size(t, n, ierr)
        CHECK(n == 2)
        call MPI_Type_match_size(MPI_TYPECLASS_COMPLEX, 16, t, ierr)
        call MPI_Type_size(t, n, ierr)
        CHECK(n == 16)
#if FACE > 0
        call MPI_Sizeof(x, n, ierr)
        CHECK(n == 8)
        call MPI_Sizeof(matrix(:, 1), n, ierr)
        CHECK(n == 4)
        call MPI_Sizeof(z, n, ierr)
        CHECK(n == 8)
        call MPI_Sizeof(i, n, ierr)
        CHECK(n == 8)
#endif
    end subroutine

    subroutine packing(r)
        integer, intent(in) :: r
        integer :: ierr, n, total, position, i(3), length
        double precision :: d(2)
        character(len=5) :: word
        character(len=200) :: buffer, other
        ADDRESS :: at, bytes
        call MPI_Pack_size(3, MPI_INTEGER, MPI_COMM_WORLD, n, ierr)
        CHECK(n >= 12)
        position = 0
        call MPI_Pack((/me, r, 3/), 3, MPI_INTEGER, buffer, 200, position, MPI_COMM_WORLD, ierr)
        call MPI_Pack((/me*0.5d0, 2d0/), 2, MPI_DOUBLE_PRECISION, buffer, 200, position, MPI_COMM_WORLD, ierr)
        call MPI_Pack("hello", 5, MPI_CHARACTER, buffer, 200, position, MPI_COMM_WORLD, ierr)
        length = position
        call MPI_Sendrecv(buffer, length, MPI_PACKED, right, 70, other, 200, MPI_PACKED, left, 70, MPI_COMM_WORLD, &
                          MPI_STATUS_IGNORE, ierr)
        position = 0
        call MPI_Unpack(other, length, position, i, 3, MPI_INTEGER, MPI_COMM_WORLD, ierr)
        call MPI_Unpack(other, length, position, d, 2, MPI_DOUBLE_PRECISION, MPI_COMM_WORLD, ierr)
        call MPI_Unpack(other, length, position, word, 5, MPI_CHARACTER, MPI_COMM_WORLD, ierr)
        CHECK(position == length)
        CHECK(all(i == (/left, r, 3/)) .and. all(d == (/left*0.5d0, 2d0/)) .and. word == "hello")
        call MPI_Pack_external_size("external32", 3, MPI_INTEGER, bytes, ierr)
        CHECK(bytes == 12)
        at = 0
        call MPI_Pack_external("external32", (/me, r, 258/), 3, MPI_INTEGER, buffer, 200_MPI_ADDRESS_KIND, at, ierr)
        CHECK(at == 12)
        CHECK(iachar(buffer(11:11)) == 1 .and. iachar(buffer(12:12)) == 2) ! big-endian
        at = 0
        i = 0
        call MPI_Unpack_external("external32", buffer, 200_MPI_ADDRESS_KIND, at, i, 3, MPI_INTEGER, ierr)
        CHECK(all(i == (/me, r, 258/)))
    end subroutine
end module
