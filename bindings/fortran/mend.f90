! Mend for Fortran: checkpoints (mend/store.h) and process recovery (mend/process.h).
!
! Compile this file with your own compiler, before your program, and link with -lmend:
!
!     mpifort -c mend.f90 && mpifort heat.f90 mend.o $(pkg-config --libs mend)
! Names and meanings are those of the C headers, including errors, collectivity and deaths.
! Differences:
!  - Communicators are the integers of `use mpi` and mpif.h; with `use mpi_f08` pass comm%MPI_VAL.
!  - The last argument, ierr, is 0 or a negative code; mend_error_text() has the facts.
!  - Pass data as c_loc(array) and its length in bytes, so that no compiler can pass the
!    address of a temporary copy. The array has the attribute target (or pointer) and is contiguous.
!  - Process recovery is in mode MANUAL: an MPI call returns its error, and the program calls
!    mend_process_repair(). A jump over Fortran procedures is not possible.
module mend
    use, intrinsic :: iso_c_binding
    implicit none
    private

    type, public :: mend_store
        type(c_ptr) :: handle = c_null_ptr
    end type

    type, public :: mend_process
        type(c_ptr) :: handle = c_null_ptr
    end type

    ! What a process knows of the present generation (mend_repair in mend/process.h).
    type, public :: mend_state
        integer :: comm = -1
        integer :: role = 4
        integer :: rank = -1
        integer :: size = 0
        integer :: generation = -1
        integer :: spares = 0
    end type

    integer, parameter, public :: mend_role_initial = 0, mend_role_recovered = 1, &
        mend_role_survivor = 2, mend_role_spare = 3, mend_role_released = 4
    integer, parameter, public :: mend_policy_none = 0, mend_policy_spare = 1, &
        mend_policy_spawn = 2, mend_policy_shrink = 3, mend_policy_stop = 4
    integer, parameter, public :: mend_err_peer_failed = -52, mend_err_stopped = -54, &
        mend_err_no_version = -71, mend_err_rank_count = -72

    public :: mend_error_text
    public :: mend_store_open, mend_store_rebind, mend_store_close
    public :: mend_store_region, mend_store_region_global, mend_store_region_remove
    public :: mend_store_save, mend_store_wait, mend_store_test
    public :: mend_store_newest, mend_store_restore, mend_store_restore_newest
    public :: mend_store_saved_size, mend_store_begin_restore, mend_store_end_restore
    public :: mend_store_prune, mend_store_discard
    public :: mend_process_open, mend_process_get, mend_process_repair, mend_process_check
    public :: mend_process_is_failure, mend_process_settled, mend_process_close

    interface
        function c_error_text() result(text) bind(C, name="mend_error_text")
            import :: c_ptr
            type(c_ptr) :: text
        end function
        function c_length(text) result(length) bind(C, name="strlen")
            import :: c_ptr, c_size_t
            type(c_ptr), value :: text
            integer(c_size_t) :: length
        end function
        function c_open(comm, logical_rank, name, local_dir, global_dir, store) result(code) &
            bind(C, name="mend_store_open_fortran")
            import :: c_ptr, c_int, c_char
            integer(c_int), value :: comm, logical_rank
            character(kind=c_char), intent(in) :: name(*), local_dir(*), global_dir(*)
            type(c_ptr), intent(out) :: store
            integer(c_int) :: code
        end function
        function c_rebind(store, comm, logical_rank) result(code) &
            bind(C, name="mend_store_rebind_fortran")
            import :: c_ptr, c_int
            type(c_ptr), value :: store
            integer(c_int), value :: comm, logical_rank
            integer(c_int) :: code
        end function
        function c_close(store) result(code) bind(C, name="mend_store_close")
            import :: c_ptr, c_int
            type(c_ptr), value :: store
            integer(c_int) :: code
        end function
        function c_region(store, id, label, address, bytes) result(code) &
            bind(C, name="mend_store_region")
            import :: c_ptr, c_int, c_char, c_size_t
            type(c_ptr), value :: store, address
            integer(c_int), value :: id
            character(kind=c_char), intent(in) :: label(*)
            integer(c_size_t), value :: bytes
            integer(c_int) :: code
        end function
        function c_region_global(store, id, label, address, bytes, offset, total) result(code) &
            bind(C, name="mend_store_region_global")
            import :: c_ptr, c_int, c_char, c_size_t, c_int64_t
            type(c_ptr), value :: store, address
            integer(c_int), value :: id
            character(kind=c_char), intent(in) :: label(*)
            integer(c_size_t), value :: bytes
            integer(c_int64_t), value :: offset, total
            integer(c_int) :: code
        end function
        function c_region_remove(store, id) result(code) bind(C, name="mend_store_region_remove")
            import :: c_ptr, c_int
            type(c_ptr), value :: store
            integer(c_int), value :: id
            integer(c_int) :: code
        end function
        function c_save(store, version) result(code) bind(C, name="mend_store_save")
            import :: c_ptr, c_int, c_long
            type(c_ptr), value :: store
            integer(c_long), value :: version
            integer(c_int) :: code
        end function
        function c_wait(store) result(code) bind(C, name="mend_store_wait")
            import :: c_ptr, c_int
            type(c_ptr), value :: store
            integer(c_int) :: code
        end function
        function c_test(store, done) result(code) bind(C, name="mend_store_test")
            import :: c_ptr, c_int
            type(c_ptr), value :: store
            integer(c_int), intent(out) :: done
            integer(c_int) :: code
        end function
        function c_newest(store, version) result(code) bind(C, name="mend_store_newest")
            import :: c_ptr, c_int, c_long
            type(c_ptr), value :: store
            integer(c_long), intent(inout) :: version
            integer(c_int) :: code
        end function
        function c_restore(store, version) result(code) bind(C, name="mend_store_restore")
            import :: c_ptr, c_int, c_long
            type(c_ptr), value :: store
            integer(c_long), value :: version
            integer(c_int) :: code
        end function
        function c_restore_newest(store, version) result(code) &
            bind(C, name="mend_store_restore_newest")
            import :: c_ptr, c_int, c_long
            type(c_ptr), value :: store
            integer(c_long), intent(inout) :: version
            integer(c_int) :: code
        end function
        function c_begin(store, version, rank) result(code) bind(C, name="mend_store_begin_restore")
            import :: c_ptr, c_int, c_long
            type(c_ptr), value :: store
            integer(c_long), value :: version
            integer(c_int), value :: rank
            integer(c_int) :: code
        end function
        function c_saved_size(store, id, bytes) result(code) bind(C, name="mend_store_saved_size")
            import :: c_ptr, c_int, c_size_t
            type(c_ptr), value :: store
            integer(c_int), value :: id
            integer(c_size_t), intent(inout) :: bytes
            integer(c_int) :: code
        end function
        function c_end(store) result(code) bind(C, name="mend_store_end_restore")
            import :: c_ptr, c_int
            type(c_ptr), value :: store
            integer(c_int) :: code
        end function
        function c_prune(store, before) result(code) bind(C, name="mend_store_prune")
            import :: c_ptr, c_int, c_long
            type(c_ptr), value :: store
            integer(c_long), value :: before
            integer(c_int) :: code
        end function
        function c_discard(store) result(code) bind(C, name="mend_store_discard")
            import :: c_ptr, c_int
            type(c_ptr), value :: store
            integer(c_int) :: code
        end function
        function c_start(base, spares, first, second, process) result(code) &
            bind(C, name="mend_process_open_fortran")
            import :: c_ptr, c_int
            integer(c_int), value :: base, spares, first, second
            type(c_ptr), intent(out) :: process
            integer(c_int) :: code
        end function
        subroutine c_state(process, comm, role, rank, size, generation, spares) &
            bind(C, name="mend_process_state_fortran")
            import :: c_ptr, c_int
            type(c_ptr), value :: process
            integer(c_int), intent(out) :: comm, role, rank, size, generation, spares
        end subroutine
        function c_repair(process) result(code) bind(C, name="mend_process_repair")
            import :: c_ptr, c_int
            type(c_ptr), value :: process
            integer(c_int) :: code
        end function
        function c_check(process, act) result(code) bind(C, name="mend_process_check")
            import :: c_ptr, c_int
            type(c_ptr), value :: process
            integer(c_int), value :: act
            integer(c_int) :: code
        end function
        function c_is_failure(mpi_error) result(yes) bind(C, name="mend_process_is_failure")
            import :: c_int
            integer(c_int), value :: mpi_error
            integer(c_int) :: yes
        end function
        function c_settled(process) result(code) bind(C, name="mend_process_settled")
            import :: c_ptr, c_int
            type(c_ptr), value :: process
            integer(c_int) :: code
        end function
        function c_finalize(process) result(code) bind(C, name="mend_process_close")
            import :: c_ptr, c_int
            type(c_ptr), value :: process
            integer(c_int) :: code
        end function
    end interface

contains

    ! The last failure of this thread, with its facts; '' if none.
    function mend_error_text() result(text)
        character(len=:), allocatable :: text
        character(kind=c_char), pointer :: letters(:)
        type(c_ptr) :: from
        integer :: i
        from = c_error_text()
        allocate (character(len=int(c_length(from))) :: text)
        call c_f_pointer(from, letters, [len(text)])
        do i = 1, len(text)
            text(i:i) = letters(i)
        end do
    end function

    pure function c_string(text) result(letters)
        character(len=*), intent(in), optional :: text
        character(kind=c_char), allocatable :: letters(:)
        integer :: i, n
        n = 0
        if (present(text)) n = len_trim(text)
        allocate (letters(n + 1))
        do i = 1, n
            letters(i) = text(i:i)
        end do
        letters(n + 1) = c_null_char
    end function

    ! ---- store --------------------------------------------------------------------------------

    ! logical_rank: the number of this process in the job; without it, its rank in comm.
    subroutine mend_store_open(store, comm, name, ierr, logical_rank, local_dir, global_dir)
        type(mend_store), intent(inout) :: store
        integer, intent(in) :: comm
        character(len=*), intent(in) :: name
        integer, intent(out) :: ierr
        integer, intent(in), optional :: logical_rank
        character(len=*), intent(in), optional :: local_dir, global_dir
        integer :: rank
        rank = -1
        if (present(logical_rank)) rank = logical_rank
        ierr = c_open(comm, rank, c_string(name), c_string(local_dir), c_string(global_dir), &
                      store%handle)
    end subroutine

    subroutine mend_store_rebind(store, comm, ierr, logical_rank)
        type(mend_store), intent(in) :: store
        integer, intent(in) :: comm
        integer, intent(out) :: ierr
        integer, intent(in), optional :: logical_rank
        integer :: rank
        rank = -1
        if (present(logical_rank)) rank = logical_rank
        ierr = c_rebind(store%handle, comm, rank)
    end subroutine

    subroutine mend_store_close(store, ierr)
        type(mend_store), intent(inout) :: store
        integer, intent(out) :: ierr
        ierr = c_close(store%handle)
        store%handle = c_null_ptr
    end subroutine

    subroutine mend_store_region(store, id, label, address, bytes, ierr)
        type(mend_store), intent(in) :: store
        integer, intent(in) :: id
        character(len=*), intent(in) :: label
        type(c_ptr), intent(in) :: address
        integer(c_size_t), intent(in) :: bytes
        integer, intent(out) :: ierr
        ierr = c_region(store%handle, id, c_string(label), address, bytes)
    end subroutine

    subroutine mend_store_region_global(store, id, label, address, bytes, offset, total, ierr)
        type(mend_store), intent(in) :: store
        integer, intent(in) :: id
        character(len=*), intent(in) :: label
        type(c_ptr), intent(in) :: address
        integer(c_size_t), intent(in) :: bytes
        integer(c_int64_t), intent(in) :: offset, total
        integer, intent(out) :: ierr
        ierr = c_region_global(store%handle, id, c_string(label), address, bytes, offset, total)
    end subroutine

    subroutine mend_store_region_remove(store, id, ierr)
        type(mend_store), intent(in) :: store
        integer, intent(in) :: id
        integer, intent(out) :: ierr
        ierr = c_region_remove(store%handle, id)
    end subroutine

    subroutine mend_store_save(store, version, ierr)
        type(mend_store), intent(in) :: store
        integer, intent(in) :: version
        integer, intent(out) :: ierr
        ierr = c_save(store%handle, int(version, c_long))
    end subroutine

    subroutine mend_store_wait(store, ierr)
        type(mend_store), intent(in) :: store
        integer, intent(out) :: ierr
        ierr = c_wait(store%handle)
    end subroutine

    subroutine mend_store_test(store, done, ierr)
        type(mend_store), intent(in) :: store
        logical, intent(out) :: done
        integer, intent(out) :: ierr
        integer(c_int) :: flag
        ierr = c_test(store%handle, flag)
        done = flag /= 0
    end subroutine

    subroutine mend_store_newest(store, version, ierr)
        type(mend_store), intent(in) :: store
        integer, intent(inout) :: version
        integer, intent(out) :: ierr
        integer(c_long) :: found
        found = version
        ierr = c_newest(store%handle, found)
        version = int(found)
    end subroutine

    subroutine mend_store_restore(store, version, ierr)
        type(mend_store), intent(in) :: store
        integer, intent(in) :: version
        integer, intent(out) :: ierr
        ierr = c_restore(store%handle, int(version, c_long))
    end subroutine

    subroutine mend_store_restore_newest(store, version, ierr)
        type(mend_store), intent(in) :: store
        integer, intent(inout) :: version
        integer, intent(out) :: ierr
        integer(c_long) :: found
        found = version
        ierr = c_restore_newest(store%handle, found)
        version = int(found)
    end subroutine

    subroutine mend_store_begin_restore(store, version, rank, ierr)
        type(mend_store), intent(in) :: store
        integer, intent(in) :: version, rank
        integer, intent(out) :: ierr
        ierr = c_begin(store%handle, int(version, c_long), rank)
    end subroutine

    subroutine mend_store_saved_size(store, id, bytes, ierr)
        type(mend_store), intent(in) :: store
        integer, intent(in) :: id
        integer(c_size_t), intent(inout) :: bytes
        integer, intent(out) :: ierr
        ierr = c_saved_size(store%handle, id, bytes)
    end subroutine

    subroutine mend_store_end_restore(store, ierr)
        type(mend_store), intent(in) :: store
        integer, intent(out) :: ierr
        ierr = c_end(store%handle)
    end subroutine

    subroutine mend_store_prune(store, before, ierr)
        type(mend_store), intent(in) :: store
        integer, intent(in) :: before
        integer, intent(out) :: ierr
        ierr = c_prune(store%handle, int(before, c_long))
    end subroutine

    subroutine mend_store_discard(store, ierr)
        type(mend_store), intent(in) :: store
        integer, intent(out) :: ierr
        ierr = c_discard(store%handle)
    end subroutine

    ! ---- process ------------------------------------------------------------------------------

    ! The last `spares` processes of comm wait inside this call until they are needed (their role is
    ! then mend_role_recovered) or the work is done (mend_role_released).
    ! Mend tries the policies in order; without them: as configured, or only spares.
    subroutine mend_process_open(process, comm, spares, ierr, first_policy, second_policy)
        type(mend_process), intent(inout) :: process
        integer, intent(in) :: comm, spares
        integer, intent(out) :: ierr
        integer, intent(in), optional :: first_policy, second_policy
        integer :: first, second
        first = mend_policy_none
        second = mend_policy_none
        if (present(first_policy)) first = first_policy
        if (present(second_policy)) second = second_policy
        ierr = c_start(comm, spares, first, second, process%handle)
    end subroutine

    function mend_process_get(process) result(state)
        type(mend_process), intent(in) :: process
        type(mend_state) :: state
        call c_state(process%handle, state%comm, state%role, state%rank, state%size, &
                     state%generation, state%spares)
    end function

    subroutine mend_process_repair(process, ierr)
        type(mend_process), intent(in) :: process
        integer, intent(out) :: ierr
        ierr = c_repair(process%handle)
    end subroutine

    subroutine mend_process_check(process, ierr)
        type(mend_process), intent(in) :: process
        integer, intent(out) :: ierr
        ierr = c_check(process%handle, 0)
    end subroutine

    function mend_process_is_failure(mpi_error) result(yes)
        integer, intent(in) :: mpi_error
        logical :: yes
        yes = c_is_failure(mpi_error) /= 0
    end function

    subroutine mend_process_settled(process, ierr)
        type(mend_process), intent(in) :: process
        integer, intent(out) :: ierr
        ierr = c_settled(process%handle)
    end subroutine

    subroutine mend_process_close(process, ierr)
        type(mend_process), intent(inout) :: process
        integer, intent(out) :: ierr
        ierr = c_finalize(process%handle)
        if (ierr /= mend_err_peer_failed) process%handle = c_null_ptr
    end subroutine
end module
