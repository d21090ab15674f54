#include "face.h"
! One-sided communication: windows of every flavour, all accesses, all kinds of synchronisation.
module chapter_rma
    use shared
    implicit none
    private
    public :: rma_begin, rma_round, rma_end
    integer, parameter :: n = 16
    COMM_T :: comm
    WIN_T :: created, allocated, of_all, dynamic
    GROUP_T :: from_left, to_right
    integer, volatile :: memory(n)
    integer, asynchronous :: plain(n)
    integer, pointer :: mine(:), common_mine(:), taken(:)
    type(c_ptr) :: base, common_base, taken_base
    integer :: key
    ADDRESS :: there(64), extra = 0
contains
    subroutine rma_begin()
        integer :: ierr
        ADDRESS :: bytes, at
        GROUP_T :: all_of
        call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierr)
        bytes = 4*n
        memory = 0
        call MPI_Win_create(memory, bytes, 4, MPI_INFO_NULL, comm, created, ierr)
        call MPI_Win_allocate(bytes, 4, MPI_INFO_NULL, comm, base, allocated, ierr)
        call c_f_pointer(base, mine, (/n/))
        mine = 0
        call MPI_Win_allocate_shared(bytes, 4, MPI_INFO_NULL, comm, common_base, of_all, ierr)
        call c_f_pointer(common_base, common_mine, (/n/))
        common_mine = 0
        call MPI_Win_create_dynamic(MPI_INFO_NULL, comm, dynamic, ierr)
        call MPI_Alloc_mem(bytes, MPI_INFO_NULL, taken_base, ierr)
        call c_f_pointer(taken_base, taken, (/n/))
        taken = 0
        call MPI_Win_attach(dynamic, taken, bytes, ierr)
        call MPI_Get_address(taken(1), at, ierr)
        call MPI_Allgather(at, 1, MPI_AINT, there, 1, MPI_AINT, comm, ierr)
        call MPI_Comm_group(comm, all_of, ierr)
        call MPI_Group_incl(all_of, 1, (/left/), from_left, ierr)
        call MPI_Group_incl(all_of, 1, (/right/), to_right, ierr)
        call MPI_Group_free(all_of, ierr)
        call MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, key, extra, ierr)
        call MPI_Win_set_attr(created, key, 77_MPI_ADDRESS_KIND, ierr)
        call MPI_Win_set_name(created, "the first window ", ierr)
        call MPI_Barrier(comm, ierr)
    end subroutine
    subroutine rma_round(r)
        integer, intent(in) :: r
        call asked()
        call fences(r)
        call locks(r)
        call posts(r)
        call requests(r)
        call shared_memory(r)
        call attached(r)
    end subroutine
    subroutine rma_end()
        integer :: ierr
        call MPI_Win_detach(dynamic, taken, ierr)
        call MPI_Win_free(dynamic, ierr)
        call MPI_Free_mem(taken, ierr)
        call MPI_Win_free(of_all, ierr)
        call MPI_Win_free(allocated, ierr)
        call MPI_Win_free(created, ierr)
        CHECK(created == MPI_WIN_NULL)
        call MPI_Win_free_keyval(key, ierr)
        call MPI_Group_free(from_left, ierr)
        call MPI_Group_free(to_right, ierr)
        call MPI_Comm_free(comm, ierr)
    end subroutine

    subroutine asked()
        integer :: ierr, length, members
        logical :: flag
        ADDRESS :: value, at
        character(len=MPI_MAX_OBJECT_NAME) :: name
        GROUP_T :: group
        INFO_T :: info
        ERRH_T :: handler
        call MPI_Win_get_attr(created, key, value, flag, ierr)
        CHECK(flag .and. value == 77)
        call MPI_Win_get_attr(created, MPI_WIN_SIZE, value, flag, ierr)
        CHECK(flag .and. value == 4*n)
        call MPI_Win_get_attr(created, MPI_WIN_DISP_UNIT, value, flag, ierr)
        CHECK(flag .and. value == 4)
        call MPI_Get_address(memory, at, ierr)
        call MPI_Win_get_attr(created, MPI_WIN_BASE, value, flag, ierr)
        CHECK(flag .and. value == at)
        call MPI_Win_get_attr(allocated, MPI_WIN_CREATE_FLAVOR, value, flag, ierr)
        CHECK(flag .and. value == MPI_WIN_FLAVOR_ALLOCATE)
        call MPI_Win_get_attr(dynamic, MPI_WIN_MODEL, value, flag, ierr)
        CHECK(flag .and. (value == MPI_WIN_UNIFIED .or. value == MPI_WIN_SEPARATE))
        call MPI_Win_get_name(created, name, length, ierr)
        CHECK(length == 16)
#if FACE < 2
        CHECK(name == "the first window") ! Open MPI 5.0.7's mpi_f08 gives the length only
#endif
        call MPI_Win_get_group(created, group, ierr)
        call MPI_Group_size(group, members, ierr)
        CHECK(members == ranks)
        call MPI_Group_free(group, ierr)
        call MPI_Win_get_info(created, info, ierr)
        call MPI_Win_set_info(created, info, ierr)
        call MPI_Info_free(info, ierr)
        call MPI_Win_get_errhandler(created, handler, ierr)
        CHECK(handler == MPI_ERRORS_ARE_FATAL)
    end subroutine

    subroutine fences(r)
        integer, intent(in) :: r
        integer :: ierr
        plain(1) = me*10 + r
        plain(2) = -1
        call MPI_Win_fence(MPI_MODE_NOPRECEDE, created, ierr)
        call MPI_Put(plain(1), 1, MPI_INTEGER, right, 1_MPI_ADDRESS_KIND, 1, MPI_INTEGER, created, ierr)
        call MPI_Win_fence(0, created, ierr)
        CHECK(memory(2) == left*10 + r)
        call MPI_Get(plain(2), 1, MPI_INTEGER, left, 1_MPI_ADDRESS_KIND, 1, MPI_INTEGER, created, ierr)
        call MPI_Win_fence(0, created, ierr)
        CHECK(plain(2) == mod(left + ranks - 1, ranks)*10 + r)
        memory(3) = 0
        call MPI_Win_fence(0, created, ierr)
        call MPI_Accumulate(plain(1), 1, MPI_INTEGER, 0, 2_MPI_ADDRESS_KIND, 1, MPI_INTEGER, MPI_SUM, created, ierr)
        call MPI_Win_fence(MPI_MODE_NOSUCCEED, created, ierr)
        if (me == 0) then
            CHECK(memory(3) == 10*ranks*(ranks - 1)/2 + ranks*r)
            MIX(memory(3))
        end if
    end subroutine

    subroutine locks(r)
        integer, intent(in) :: r
        integer :: ierr, old, one, got(2), compare
        one = 1
        call MPI_Win_lock_all(0, allocated, ierr)
        call MPI_Fetch_and_op(one, old, MPI_INTEGER, 0, 0_MPI_ADDRESS_KIND, MPI_SUM, allocated, ierr)
        call MPI_Win_flush(0, allocated, ierr)
        CHECK(old >= (r - 1)*ranks .and. old < r*ranks)
        call MPI_Barrier(comm, ierr)
        call MPI_Fetch_and_op(one, old, MPI_INTEGER, 0, 0_MPI_ADDRESS_KIND, MPI_NO_OP, allocated, ierr)
        call MPI_Win_flush_local(0, allocated, ierr)
        call MPI_Win_flush_all(allocated, ierr)
        call MPI_Win_flush_local_all(allocated, ierr)
        call MPI_Win_sync(allocated, ierr)
        CHECK(old == r*ranks)
        call MPI_Win_unlock_all(allocated, ierr)
        call MPI_Barrier(comm, ierr)
        call MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, allocated, ierr)
        plain(1:2) = (/me + r, me - r/)
        call MPI_Put(plain, 2, MPI_INTEGER, right, 4_MPI_ADDRESS_KIND, 2, MPI_INTEGER, allocated, ierr)
        call MPI_Win_unlock(right, allocated, ierr)
        call MPI_Barrier(comm, ierr)
        call MPI_Win_lock(MPI_LOCK_SHARED, me, 0, allocated, ierr)
        CHECK(mine(5) == left + r .and. mine(6) == left - r)
        call MPI_Get_accumulate(plain, 2, MPI_INTEGER, got, 2, MPI_INTEGER, me, 4_MPI_ADDRESS_KIND, 2, MPI_INTEGER, &
                                MPI_REPLACE, allocated, ierr)
        call MPI_Win_unlock(me, allocated, ierr)
        CHECK(all(got == (/left + r, left - r/)))
        call MPI_Win_lock(MPI_LOCK_EXCLUSIVE, me, 0, allocated, ierr)
        compare = me + r
        one = 4711
        call MPI_Compare_and_swap(one, compare, old, MPI_INTEGER, me, 4_MPI_ADDRESS_KIND, allocated, ierr)
        call MPI_Win_unlock(me, allocated, ierr)
        CHECK(old == me + r .and. mine(5) == 4711)
        call MPI_Barrier(comm, ierr)
    end subroutine

    subroutine posts(r)
        integer, intent(in) :: r
        integer :: ierr
        logical :: flag
        plain(1) = me*100 + r
        call MPI_Win_post(from_left, 0, created, ierr)
        call MPI_Win_start(to_right, 0, created, ierr)
        call MPI_Put(plain, 1, MPI_INTEGER, right, 7_MPI_ADDRESS_KIND, 1, MPI_INTEGER, created, ierr)
        call MPI_Win_complete(created, ierr)
        if (mod(r, 2) == 0) then
            call MPI_Win_wait(created, ierr)
        else
            flag = .false.
            do while (.not. flag)
                call MPI_Win_test(created, flag, ierr)
            end do
        end if
        CHECK(memory(8) == left*100 + r)
    end subroutine

    subroutine requests(r)
        integer, intent(in) :: r
        integer :: ierr
        REQUEST_T :: q
        plain(1:3) = (/me, r, me + r/)
        call MPI_Win_lock_all(0, allocated, ierr)
        call MPI_Rput(plain, 3, MPI_INTEGER, right, 10_MPI_ADDRESS_KIND, 3, MPI_INTEGER, allocated, q, ierr)
        call MPI_Wait(q, MPI_STATUS_IGNORE, ierr)
        call MPI_Win_flush_all(allocated, ierr)
        call MPI_Barrier(comm, ierr)
        plain(4:6) = 0
        call MPI_Rget(plain(4:6), 3, MPI_INTEGER, me, 10_MPI_ADDRESS_KIND, 3, MPI_INTEGER, allocated, q, ierr)
        call MPI_Wait(q, MPI_STATUS_IGNORE, ierr)
        CHECK(all(plain(4:6) == (/left, r, left + r/)))
        call MPI_Barrier(comm, ierr)
        call MPI_Raccumulate(plain, 3, MPI_INTEGER, right, 10_MPI_ADDRESS_KIND, 3, MPI_INTEGER, MPI_SUM, allocated, q, ierr)
        call MPI_Wait(q, MPI_STATUS_IGNORE, ierr)
        call MPI_Win_flush_all(allocated, ierr)
        call MPI_Barrier(comm, ierr)
        call MPI_Rget_accumulate(plain, 3, MPI_INTEGER, plain(7:9), 3, MPI_INTEGER, me, 10_MPI_ADDRESS_KIND, 3, MPI_INTEGER, &
                                 MPI_NO_OP, allocated, q, ierr)
        call MPI_Wait(q, MPI_STATUS_IGNORE, ierr)
        CHECK(all(plain(7:9) == 2*(/left, r, left + r/)))
        call MPI_Win_unlock_all(allocated, ierr)
        call MPI_Barrier(comm, ierr)
    end subroutine

    subroutine shared_memory(r)
        integer, intent(in) :: r
        integer :: ierr, unit
        ADDRESS :: bytes
        type(c_ptr) :: other
        integer, pointer :: theirs(:)
        call MPI_Win_shared_query(of_all, right, bytes, unit, other, ierr)
        CHECK(bytes == 4*n .and. unit == 4)
        call c_f_pointer(other, theirs, (/n/))
        call MPI_Win_lock_all(0, of_all, ierr)
        theirs(3) = me*10 + r
        call MPI_Win_sync(of_all, ierr)
        call MPI_Barrier(comm, ierr)
        call MPI_Win_sync(of_all, ierr)
        CHECK(common_mine(3) == left*10 + r)
        call MPI_Win_unlock_all(of_all, ierr)
        call MPI_Barrier(comm, ierr)
    end subroutine

    subroutine attached(r)
        integer, intent(in) :: r
        integer :: ierr
        plain(1) = me*7 + r
        call MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, dynamic, ierr)
        call MPI_Put(plain, 1, MPI_INTEGER, right, there(right + 1) + 8, 1, MPI_INTEGER, dynamic, ierr)
        call MPI_Win_unlock(right, dynamic, ierr)
        call MPI_Barrier(comm, ierr)
        call MPI_Win_lock(MPI_LOCK_SHARED, me, 0, dynamic, ierr)
        CHECK(taken(3) == left*7 + r)
        call MPI_Win_unlock(me, dynamic, ierr)
        call MPI_Barrier(comm, ierr)
    end subroutine
end module
