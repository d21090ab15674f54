! Safe points in Fortran with `use mpi`: views of many types and ranks, a communicator that is made again, two loops.
! fortran_flow STEPS [VICTIM LOOP AT]: rank VICTIM kills itself at step AT of loop LOOP. Prints a sum of every bit.
module types
    use, intrinsic :: iso_c_binding
    use, intrinsic :: iso_fortran_env, only: int8, int16, int64, real32, real64
    use mpi
    use mend_flow
    implicit none

    type :: body
        integer :: number
        real(real64) :: place(3)
        logical :: alive
    end type

    integer(int8) :: tiny(3)
    integer(int16), allocatable :: small(:, :)
    integer(int64), allocatable :: large(:, :, :, :)
    real(real32), allocatable :: single(:, :, :)
    real(real64) :: seven(2, 1, 2, 1, 2, 1, 3)
    complex(real64), allocatable :: wave(:)
    logical :: flags(5)
    character(len=12) :: words(2)
    type(body), allocatable :: bodies(:)
    real(real64), pointer :: moved(:)
    integer :: step, phase, steps, victim, victim_loop, at, halves
    logical :: original ! not a replacement

    interface
        integer(c_int) function getpid() bind(C)
            import :: c_int
        end function
        integer(c_int) function kill(pid, signal) bind(C)
            import :: c_int
            integer(c_int), value :: pid, signal
        end function
    end interface

contains

    ! The ranks with even and those with odd numbers.
    subroutine split()
        integer :: ierr, rank
        call MPI_Comm_rank(mend_world(), rank, ierr)
        call MPI_Comm_split(mend_world(), mod(rank, 2), rank, halves, ierr)
        call mend_watch(halves)
    end subroutine

    subroutine work()
        integer :: rank, ierr
        call MPI_Comm_rank(mend_world(), rank, ierr)
        if (.not. allocated(small)) then
            allocate (small(3, 4), large(2, 3, 2, 2), single(4, 0:2, -1:1), wave(100), bodies(7), moved(10))
        end if
        original = mend_first()
        tiny = 1; small = 2; large = 3; single = 4; seven = 5; wave = (6, 7); flags = .false.; words = ''
        bodies = body(rank, [1d0, 2d0, 3d0], .true.)
        moved = 8
        step = 0
        phase = 0
        call mend_view('tiny', tiny)
        call mend_view('small', small)
        call mend_view('large', large)
        call mend_view('single', single)
        call mend_view('seven', seven)
        call mend_view('wave', wave)
        call mend_view('flags', flags)
        call mend_view('words', words)
        call mend_view('bodies', bodies)
        call mend_view('moved', moved)
        call mend_view('step', step, mend_control)
        call mend_view('phase', phase, mend_control)
        call mend_rebuild(split)
        call mend_loop('first', first)
        phase = 1
        call mend_loop('second', second)
        call print_sum()
    end subroutine

    logical function first()
        first = phase == 0 .and. step < steps
        if (first) call advance(1)
    end function

    logical function second()
        second = step < 2*steps
        if (second) call advance(2)
    end function

    subroutine advance(loop)
        integer, intent(in) :: loop
        integer :: rank, size, ierr, ignored
        real(real64) :: mine, all
        call MPI_Comm_rank(mend_world(), rank, ierr)
        if (rank == victim .and. loop == victim_loop .and. step == at .and. original) ignored = kill(getpid(), 9)
        mine = seven(1, 1, 2, 1, 1, 1, 3) + rank + step
        call MPI_Allreduce(mine, all, 1, MPI_DOUBLE_PRECISION, MPI_SUM, halves, ierr)
        call MPI_Comm_size(halves, size, ierr)
        tiny(2) = int(mod(step, 100), int8)
        small(:, 2) = small(:, 2) + int(step, int16)
        large(1, :, 2, 1) = large(1, :, 2, 1) + step*int(2, int64)**35
        single = single*0.5 + real(step)
        seven = seven*0.99d0 + all/size
        wave = wave*(0.6d0, 0.8d0) + step
        flags(1 + mod(step, 5)) = .not. flags(1 + mod(step, 5))
        write (words(1 + mod(step, 2)), '(A,I0)') 'step ', step
        bodies%number = bodies%number + 1
        bodies(3)%place = bodies(3)%place + all
        bodies(1 + mod(step, 7))%alive = .not. bodies(1 + mod(step, 7))%alive
        moved = moved + bodies(3)%place(1)
        step = step + 1
    end subroutine

    ! All bits of all views of all ranks.
    subroutine print_sum()
        integer(int64) :: mine, all
        integer :: rank, ierr, i, repairs ! a replacement has seen fewer of them
        mine = sum(int(tiny, int64)) + sum(int(small, int64)) + sum(large) + count(flags) + sum(bodies%number) &
               + count(bodies%alive)
        mine = ieor(mine, iall_of(transfer(single, [0_int64])))
        mine = mine + iall_of(transfer(seven, [0_int64])) + iall_of(transfer(wave, [0_int64])) + iall_of(transfer(moved, [0_int64]))
        do i = 1, 7
            mine = mine + iall_of(transfer(bodies(i)%place, [0_int64]))
        end do
        do i = 1, 2
            mine = mine + iall_of(transfer(words(i)//'    ', [0_int64]))
        end do
        call MPI_Comm_rank(mend_world(), rank, ierr)
        mine = ishftc(mine, 5*rank)
        call MPI_Reduce(mine, all, 1, MPI_INTEGER8, MPI_BXOR, 0, mend_world(), ierr)
        call MPI_Allreduce(mend_repairs(), repairs, 1, MPI_INTEGER, MPI_MAX, mend_world(), ierr)
        if (rank == 0) print '(A,Z16.16,A,I0,A,I0)', 'sum ', all, ' steps ', step, ' repairs ', repairs
    end subroutine

    integer(int64) function iall_of(bits)
        integer(int64), intent(in) :: bits(:)
        integer :: i
        iall_of = 0
        do i = 1, size(bits)
            iall_of = ieor(ishftc(iall_of, 7), bits(i))
        end do
    end function

    integer function argument(number, otherwise)
        integer, intent(in) :: number, otherwise
        character(len=32) :: text
        argument = otherwise
        if (number > command_argument_count()) return
        call get_command_argument(number, text)
        read (text, *) argument
    end function
end module

program fortran_flow
    use types
    implicit none
    steps = argument(1, 60)
    victim = argument(2, -1)
    victim_loop = argument(3, 1)
    at = argument(4, 0)
    call mend_main(work)
end program
