#include "face.h"
! Files: individual and shared pointers, explicit offsets, views, non-blocking and split accesses.
module chapter_io
    use shared
    implicit none
    private
    public :: io_begin, io_round, io_end
    FILE_T :: file, viewed
    TYPE_T :: every
    ERRH_T :: handler
    character(len=300) :: path
    integer :: errors = 0
contains
    subroutine io_begin()
        integer :: ierr
        ADDRESS :: bytes
        OFFSET :: at
        call get_environment_variable("CHAPTER_FILE", path)
        if (path == "") path = "chapter-fortran.dat"
        if (me == 0) then
            call MPI_File_delete(path, MPI_INFO_NULL, ierr)
            call MPI_File_delete(trim(path)//"2", MPI_INFO_NULL, ierr)
        end if
        call MPI_Barrier(MPI_COMM_WORLD, ierr)
        call MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, file, ierr) ! with its blanks
        CHECK(ierr == MPI_SUCCESS)
        call MPI_File_open(MPI_COMM_WORLD, trim(path)//"2", ior(MPI_MODE_CREATE, MPI_MODE_RDWR), MPI_INFO_NULL, viewed, ierr)
        CHECK(ierr == MPI_SUCCESS)
        bytes = 4*ranks
        call MPI_Type_create_resized(MPI_INTEGER, 0_MPI_ADDRESS_KIND, bytes, every, ierr)
        call MPI_Type_commit(every, ierr)
        at = 4*me
        call MPI_File_set_view(viewed, at, MPI_INTEGER, every, "native", MPI_INFO_NULL, ierr)
        call MPI_File_create_errhandler(on_error, handler, ierr)
        call MPI_File_set_errhandler(file, handler, ierr)
    end subroutine
    subroutine io_round(r)
        integer, intent(in) :: r
        call asked()
        call explicit_offsets(r)
        call own_pointers(r)
        call shared_pointers(r)
        call views(r)
        call later(r)
    end subroutine
    subroutine io_end()
        integer :: ierr
        call MPI_File_close(file, ierr)
        CHECK(file == MPI_FILE_NULL)
        call MPI_File_close(viewed, ierr)
        call MPI_Type_free(every, ierr)
        call MPI_Errhandler_free(handler, ierr)
        call MPI_Barrier(MPI_COMM_WORLD, ierr)
        if (me == 0) then
            call MPI_File_delete(path, MPI_INFO_NULL, ierr)
            call MPI_File_delete(trim(path)//"2", MPI_INFO_NULL, ierr)
        end if
    end subroutine
    subroutine on_error(object, error)
        FILE_T :: object
        integer :: error
        errors = errors + 1
    end subroutine

    ! what one rank wrote is there for all
    subroutine settle(which)
        FILE_T :: which
        integer :: ierr
        call MPI_File_sync(which, ierr)
        call MPI_Barrier(MPI_COMM_WORLD, ierr)
        call MPI_File_sync(which, ierr)
    end subroutine

    subroutine asked()
        integer :: ierr, mode, n, e0
        ADDRESS :: bytes
        OFFSET :: at, how_long
        logical :: flag
        character(len=MPI_MAX_DATAREP_STRING) :: representation
        TYPE_T :: element, pattern
        GROUP_T :: group
        INFO_T :: info
        call MPI_File_get_amode(file, mode, ierr)
        CHECK(mode == MPI_MODE_CREATE + MPI_MODE_RDWR)
        call MPI_File_get_group(file, group, ierr)
        call MPI_Group_size(group, n, ierr)
        CHECK(n == ranks)
        call MPI_Group_free(group, ierr)
        call MPI_File_get_info(file, info, ierr)
        CHECK(ierr == MPI_SUCCESS)
        if (info /= MPI_INFO_NULL) call MPI_Info_free(info, ierr)
        call MPI_File_set_atomicity(file, .false., ierr)
        call MPI_File_get_atomicity(file, flag, ierr)
        CHECK(.not. flag)
        call MPI_File_get_type_extent(file, MPI_DOUBLE_PRECISION, bytes, ierr)
        CHECK(bytes == 8)
        call MPI_File_get_view(viewed, at, element, pattern, representation, ierr)
        CHECK(at == 4*me .and. representation == "native")
        how_long = 4096
        call MPI_File_preallocate(file, how_long, ierr)
        call MPI_File_get_size(file, how_long, ierr)
        CHECK(how_long >= 4096)
        how_long = 8192
        call MPI_File_set_size(file, how_long, ierr)
        call MPI_File_get_size(file, how_long, ierr)
        CHECK(how_long == 8192)
        e0 = errors
        at = -5
        call MPI_File_seek(file, at, MPI_SEEK_SET, ierr)
        CHECK(ierr /= MPI_SUCCESS .and. errors == e0 + 1)
    end subroutine

    subroutine explicit_offsets(r)
        integer, intent(in) :: r
        integer :: ierr, a(4), b(4), n
        OFFSET :: at
        STATUS_IS(st)
        a = (/me, r, me + r, me*r/)
        at = 16*me
        call MPI_File_write_at(file, at, a, 4, MPI_INTEGER, st, ierr)
        call MPI_Get_count(st, MPI_INTEGER, n, ierr)
        CHECK(n == 4)
        call settle(file)
        at = 16*right
        b = 0
        call MPI_File_read_at(file, at, b, 4, MPI_INTEGER, st, ierr)
        CHECK(all(b == (/right, r, right + r, right*r/)))
        at = 16*(ranks + me)
        call MPI_File_write_at_all(file, at, a, 4, MPI_INTEGER, MPI_STATUS_IGNORE, ierr)
        call settle(file)
        at = 16*(ranks + left)
        call MPI_File_read_at_all(file, at, b, 4, MPI_INTEGER, st, ierr)
        CHECK(all(b == (/left, r, left + r, left*r/)))
        MIX(b(3))
        call MPI_Barrier(MPI_COMM_WORLD, ierr)
    end subroutine

    subroutine own_pointers(r)
        integer, intent(in) :: r
        integer :: ierr
        double precision :: d(2), e(2)
        OFFSET :: at
        d = (/me + 0.5d0, r + 0.25d0/)
        at = 1024 + 16*me
        call MPI_File_seek(file, at, MPI_SEEK_SET, ierr)
        call MPI_File_write(file, d, 2, MPI_DOUBLE_PRECISION, MPI_STATUS_IGNORE, ierr)
        call MPI_File_get_position(file, at, ierr)
        CHECK(at == 1024 + 16*me + 16)
        call MPI_File_get_byte_offset(file, at, at, ierr)
        CHECK(at == 1024 + 16*me + 16)
        call settle(file)
        at = -16
        call MPI_File_seek(file, at, MPI_SEEK_CUR, ierr)
        call MPI_File_read(file, e, 2, MPI_DOUBLE_PRECISION, MPI_STATUS_IGNORE, ierr)
        CHECK(all(d == e))
        call MPI_Barrier(MPI_COMM_WORLD, ierr)
        at = 2048 + 16*me
        call MPI_File_seek(file, at, MPI_SEEK_SET, ierr)
        call MPI_File_write_all(file, d, 2, MPI_DOUBLE_PRECISION, MPI_STATUS_IGNORE, ierr)
        call settle(file)
        at = 2048 + 16*right
        call MPI_File_seek(file, at, MPI_SEEK_SET, ierr)
        call MPI_File_read_all(file, e, 2, MPI_DOUBLE_PRECISION, MPI_STATUS_IGNORE, ierr)
        CHECK(all(e == (/right + 0.5d0, r + 0.25d0/)))
        call MPI_Barrier(MPI_COMM_WORLD, ierr)
    end subroutine

    subroutine shared_pointers(r)
        integer, intent(in) :: r
        integer :: ierr, v, w, total
        OFFSET :: at
        at = 3072
        call MPI_File_seek_shared(file, at, MPI_SEEK_SET, ierr)
        call MPI_Barrier(MPI_COMM_WORLD, ierr)
        v = me*10 + r
        call MPI_File_write_ordered(file, v, 1, MPI_INTEGER, MPI_STATUS_IGNORE, ierr)
        call settle(file)
        call MPI_File_get_position_shared(file, at, ierr)
        CHECK(at == 3072 + 4*ranks)
        call MPI_Barrier(MPI_COMM_WORLD, ierr)
        at = 3072
        call MPI_File_seek_shared(file, at, MPI_SEEK_SET, ierr)
        call MPI_File_read_ordered(file, w, 1, MPI_INTEGER, MPI_STATUS_IGNORE, ierr)
        CHECK(w == v)
        call MPI_Barrier(MPI_COMM_WORLD, ierr)
        call MPI_File_write_shared(file, v, 1, MPI_INTEGER, MPI_STATUS_IGNORE, ierr)
        call settle(file)
        at = 3072 + 4*ranks
        call MPI_File_seek_shared(file, at, MPI_SEEK_SET, ierr)
        call MPI_File_read_shared(file, w, 1, MPI_INTEGER, MPI_STATUS_IGNORE, ierr)
        call MPI_Allreduce(w, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
        CHECK(total == 10*ranks*(ranks - 1)/2 + ranks*r) ! in whatever order
    end subroutine

    subroutine views(r)
        integer, intent(in) :: r
        integer :: ierr, a(5), b(5), i
        OFFSET :: at
        a = (/(me*100 + r*10 + i, i=1, 5)/)
        at = 0
        call MPI_File_seek(viewed, at, MPI_SEEK_SET, ierr)
        call MPI_File_write_all(viewed, a, 5, MPI_INTEGER, MPI_STATUS_IGNORE, ierr)
        call settle(viewed)
        at = 2
        call MPI_File_read_at(viewed, at, b, 2, MPI_INTEGER, MPI_STATUS_IGNORE, ierr)
        CHECK(all(b(1:2) == a(3:4)))
        call MPI_File_get_position(viewed, at, ierr)
        CHECK(at == 5)
        call MPI_File_get_byte_offset(viewed, at, at, ierr)
        CHECK(at == 4*me + 20*ranks)
        call MPI_Barrier(MPI_COMM_WORLD, ierr)
    end subroutine

    subroutine later(r)
        integer, intent(in) :: r
        integer :: ierr
        integer, asynchronous :: a(3), b(3)
        OFFSET :: at
        REQUEST_T :: q
        STATUS_IS(st)
        a = me - r
        at = 4096 + 12*me
        call MPI_File_iwrite_at(file, at, a, 3, MPI_INTEGER, q, ierr)
        call MPI_Wait(q, st, ierr)
        b = 0
        call MPI_File_iread_at(file, at, b, 3, MPI_INTEGER, q, ierr)
        call MPI_Wait(q, st, ierr)
        CHECK(all(a == b))
        at = 5120 + 12*me
        call MPI_File_seek(file, at, MPI_SEEK_SET, ierr)
        call MPI_File_iwrite(file, a, 3, MPI_INTEGER, q, ierr)
        call MPI_Wait(q, st, ierr)
        call MPI_File_seek(file, at, MPI_SEEK_SET, ierr)
        b = 0
        call MPI_File_iread(file, b, 3, MPI_INTEGER, q, ierr)
        call MPI_Wait(q, st, ierr)
        CHECK(all(a == b))
        call MPI_Barrier(MPI_COMM_WORLD, ierr)
        at = 6144 + 12*me
        call MPI_File_write_at_all_begin(file, at, a, 3, MPI_INTEGER, ierr)
        call MPI_File_write_at_all_end(file, a, st, ierr)
        call settle(file)
        b = 0
        at = 6144 + 12*left
        call MPI_File_read_at_all_begin(file, at, b, 3, MPI_INTEGER, ierr)
        call MPI_File_read_at_all_end(file, b, st, ierr)
        CHECK(all(b == left - r))
        call MPI_Barrier(MPI_COMM_WORLD, ierr)
    end subroutine
end module
