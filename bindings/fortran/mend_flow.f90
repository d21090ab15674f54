! Mend for Fortran: safe points (mend/flow.h). A program survives the death of its ranks by a few changed lines.
!
!     program heat
!         use mend_flow
!         use plate, only: work
!         call mend_main(work)                          ! MPI_Init, work, MPI_Finalize
!     end program
!
!     subroutine work()                                 ! in a module
!         allocate (grid(nx, ny), species(nx, ny, 5))
!         call mend_view('grid', grid)                  ! what must survive: any type, any rank
!         call mend_view('species', species)
!         call mend_view('step', step, mend_control)
!         call mend_loop('time', advance)               ! a safe point before every call of advance
!     end subroutine
!
!     logical function advance()                        ! .false.: the loop is over
!         advance = step < steps
!         if (.not. advance) return
!         ...                                           ! MPI on mend_world() instead of MPI_COMM_WORLD
!         step = step + 1
!     end function
!
! When a process dies, all others leave `advance` by a jump and call it again with the data of the newest version; a
! spare (MEND_FLOW_SPARES of them wait inside mend_main) runs `work` up to the same loop and joins them. A job that is
! launched again resumes by the same code. The rules are those of mend/flow.h, among them:
!  - What changes from one call of the body to the next is a view. Views are variables of a module, or have the
!    attribute save, or belong to `work`. An array that moved (deallocate, allocate) is named again.
!  - A replacement runs the set-up in `work` alone: put code that communicates there into `if (mend_first())`, and make
!    communicators in a procedure that you pass to mend_rebuild, with mend_watch(comm) after each of them.
!  - `work` and the bodies are module procedures, without arguments. A jump out of a body does not free its local
!    allocatable arrays: allocate them once, in `work` or with save.
!  - A jump must not leave an input or output statement: no function that calls MPI inside print or write.
!  - An error ends the job with a message, unless MEND_FLOW_ON_ERROR=return.
!
! Communicators are the integers of `use mpi` and mpif.h; mend_flow_f08.f90 has the same calls for `use mpi_f08`.
! Compile with your program, and link with -lmend:
!
!     mpifort -c mend_flow.f90 && mpifort heat.f90 mend_flow.o $(pkg-config --libs mend)
module mend_flow
    use, intrinsic :: iso_c_binding
    implicit none
    private

    ! kinds of views, to be added (mend/flow.h)
    integer, parameter, public :: mend_control = 1, mend_constant = 2, mend_scratch = 4, mend_keep = 8, mend_try = 16

    public :: mend_main, mend_loop, mend_view, mend_view_global, mend_alias, mend_view_remove
    public :: mend_first, mend_save_now, mend_version, mend_repairs, mend_status
    public :: mend_rebuild, mend_watch, mend_world

    abstract interface
        subroutine procedure_without_arguments()
        end subroutine
        logical function loop_body()
        end function
    end interface

    interface
        function c_main(work) result(code) bind(C, name="mend_flow_main_fortran")
            import :: c_funptr, c_int
            type(c_funptr), value :: work
            integer(c_int) :: code
        end function
        subroutine c_loop(name, body) bind(C, name="mend_flow_loop_fortran")
            import :: c_funptr, c_char
            character(kind=c_char), intent(in) :: name(*)
            type(c_funptr), value :: body
        end subroutine
        function c_view(label, address, bytes, contiguous, flags) result(code) bind(C, name="mend_flow_view_fortran")
            import :: c_ptr, c_int, c_char, c_size_t
            character(kind=c_char), intent(in) :: label(*)
            type(c_ptr), value :: address
            integer(c_size_t), value :: bytes
            integer(c_int), value :: contiguous, flags
            integer(c_int) :: code
        end function
        function c_view_global(label, address, bytes, contiguous, offset, total, element, flags) result(code) &
            bind(C, name="mend_flow_view_global_fortran")
            import :: c_ptr, c_int, c_char, c_size_t, c_int64_t
            character(kind=c_char), intent(in) :: label(*)
            type(c_ptr), value :: address
            integer(c_size_t), value :: bytes, element
            integer(c_int64_t), value :: offset, total
            integer(c_int), value :: contiguous, flags
            integer(c_int) :: code
        end function
        function c_alias(flow, label, of) result(code) bind(C, name="mend_flow_alias")
            import :: c_ptr, c_int, c_char
            type(c_ptr), value :: flow
            character(kind=c_char), intent(in) :: label(*), of(*)
            integer(c_int) :: code
        end function
        function c_view_remove(flow, label) result(code) bind(C, name="mend_flow_view_remove")
            import :: c_ptr, c_int, c_char
            type(c_ptr), value :: flow
            character(kind=c_char), intent(in) :: label(*)
            integer(c_int) :: code
        end function
        function c_checked(code) result(same) bind(C, name="mend_flow_checked")
            import :: c_int
            integer(c_int), value :: code
            integer(c_int) :: same
        end function
        function c_first(flow) result(yes) bind(C, name="mend_flow_first")
            import :: c_ptr, c_int
            type(c_ptr), value :: flow
            integer(c_int) :: yes
        end function
        function c_save_now(flow) result(code) bind(C, name="mend_flow_save_now")
            import :: c_ptr, c_int
            type(c_ptr), value :: flow
            integer(c_int) :: code
        end function
        function c_version(flow) result(version) bind(C, name="mend_flow_version")
            import :: c_ptr, c_long
            type(c_ptr), value :: flow
            integer(c_long) :: version
        end function
        function c_repairs(flow) result(repairs) bind(C, name="mend_flow_repairs")
            import :: c_ptr, c_int
            type(c_ptr), value :: flow
            integer(c_int) :: repairs
        end function
        function c_status(flow) result(code) bind(C, name="mend_flow_status")
            import :: c_ptr, c_int
            type(c_ptr), value :: flow
            integer(c_int) :: code
        end function
        function c_rebuild(build) result(code) bind(C, name="mend_flow_rebuild_fortran")
            import :: c_funptr, c_int
            type(c_funptr), value :: build
            integer(c_int) :: code
        end function
        function c_watch(comm) result(code) bind(C, name="mend_flow_watch_fortran")
            import :: c_int
            integer(c_int), value :: comm
            integer(c_int) :: code
        end function
        function c_world() result(comm) bind(C, name="mend_flow_world_fortran")
            import :: c_int
            integer(c_int) :: comm
        end function
    end interface

contains

    pure function c_string(text) result(letters)
        character(len=*), intent(in) :: text
        character(kind=c_char), allocatable :: letters(:)
        integer :: i
        allocate (letters(len_trim(text) + 1))
        do i = 1, len_trim(text)
            letters(i) = text(i:i)
        end do
        letters(len_trim(text) + 1) = c_null_char
    end function

    ! MPI_Init with threads, where spares wait; work; MPI_Finalize. A spare that is not needed does not run work.
    subroutine mend_main(work, ierr)
        procedure(procedure_without_arguments) :: work
        integer, intent(out), optional :: ierr
        integer :: code
        code = c_main(c_funloc(work))
        if (present(ierr)) ierr = code
    end subroutine

    ! Loops have different names; one name is the same loop in every run.
    subroutine mend_loop(name, body)
        character(len=*), intent(in) :: name
        procedure(loop_body) :: body
        call c_loop(c_string(name), c_funloc(body))
    end subroutine

    ! Scalars and contiguous arrays of any type and rank. The memory stays the program's.
    subroutine mend_view(label, array, flags)
        character(len=*), intent(in) :: label
        type(*), dimension(..), intent(in), target :: array
        integer, intent(in), optional :: flags
        integer :: kinds, code
        kinds = 0
        if (present(flags)) kinds = flags
        code = c_view(c_string(label), c_loc(array), int(sizeof(array), c_size_t), &
                      merge(1_c_int, 0_c_int, is_contiguous(array)), int(kinds, c_int))
    end subroutine

    ! This rank's part of an array over all ranks: its elements begin at element offset (0: the first) of total.
    subroutine mend_view_global(label, array, offset, total, flags)
        character(len=*), intent(in) :: label
        type(*), dimension(..), intent(in), target :: array
        integer(c_int64_t), intent(in) :: offset, total
        integer, intent(in), optional :: flags
        integer(c_size_t) :: element
        integer :: kinds, code
        kinds = 0
        if (present(flags)) kinds = flags
        element = 1
        if (size(array) > 0) element = int(sizeof(array), c_size_t)/size(array, kind=c_size_t)
        code = c_view_global(c_string(label), c_loc(array), int(sizeof(array), c_size_t), &
                             merge(1_c_int, 0_c_int, is_contiguous(array)), offset, total, element, int(kinds, c_int))
    end subroutine

    subroutine mend_alias(label, of)
        character(len=*), intent(in) :: label, of
        integer :: code
        code = c_checked(c_alias(c_null_ptr, c_string(label), c_string(of)))
    end subroutine

    subroutine mend_view_remove(label)
        character(len=*), intent(in) :: label
        integer :: code
        code = c_checked(c_view_remove(c_null_ptr, c_string(label)))
    end subroutine

    logical function mend_first()
        mend_first = c_first(c_null_ptr) /= 0
    end function

    subroutine mend_save_now()
        integer :: code
        code = c_checked(c_save_now(c_null_ptr))
    end subroutine

    integer function mend_version()
        mend_version = int(c_version(c_null_ptr))
    end function

    integer function mend_repairs()
        mend_repairs = c_repairs(c_null_ptr)
    end function

    integer function mend_status()
        mend_status = c_status(c_null_ptr)
    end function

    ! Run build now and after every repair: it makes communicators from mend_world().
    subroutine mend_rebuild(build)
        procedure(procedure_without_arguments) :: build
        integer :: code
        code = c_rebuild(c_funloc(build))
    end subroutine

    ! Watch a communicator made from mend_world() by Fortran's MPI; it becomes invalid with the world. Call it in the
    ! builder.
    subroutine mend_watch(comm)
        integer, intent(in) :: comm
        integer :: code
        code = c_watch(comm)
    end subroutine

    ! The communicator of the working ranks, as repaired: get it again in every iteration.
    integer function mend_world()
        mend_world = c_world()
    end function
end module
