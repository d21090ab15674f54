! plate.f90 [STEPS [VICTIM AT]]: heat in a plate, in Fortran with mpi_f08, that survives the death of ranks by safe
! points: no repair, no restore and no error code in sight.
!
!     mpifort -c mend_flow.f90 mend_flow_f08.f90
!     mpifort plate.f90 mend_flow.o mend_flow_f08.o $(pkg-config --libs mend) -o plate
!     MEND_FLOW_SPARES=1 MEND_FLOW_EVERY=20 mpirun --with-ft ulfm -n 5 ./plate 400
!
! With VICTIM, that rank kills itself at step AT. The sum printed at the end is the same with and without deaths, bit
! for bit.
module plate
    use, intrinsic :: iso_c_binding
    use mpi_f08
    use mend_flow_f08
    implicit none
    private
    public :: work

    integer, parameter :: width = 200, height = 50 ! of a rank's part
    real(c_double), allocatable :: heat(:, :), new(:, :)
    integer :: step, steps, victim, at
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

    subroutine work()
        integer :: rank, repairs ! a replacement has seen fewer of them
        real(c_double) :: mine, total
        steps = argument(1, 400)
        victim = argument(2, -1)
        at = argument(3, 0)
        step = 0
        original = mend_first()
        if (.not. allocated(heat)) allocate (heat(width, 0:height + 1), new(width, 0:height + 1))
        heat = 0
        call MPI_Comm_rank(mend_world(), rank)
        if (rank == 0) heat(:, 0) = 100
        call mend_view('heat', heat)
        call mend_view('step', step, mend_control)
        call mend_loop('time', advance)
        mine = sum(heat(:, 1:height))
        call MPI_Allreduce(mine, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, mend_world())
        call MPI_Allreduce(mend_repairs(), repairs, 1, MPI_INTEGER, MPI_MAX, mend_world())
        if (rank == 0) print '(A,Z16.16,A,I0)', 'sum ', total, ' repairs ', repairs
    end subroutine

    logical function advance()
        integer :: rank, size, ignored
        type(MPI_Comm) :: world
        advance = step < steps
        if (.not. advance) return
        world = mend_world()
        call MPI_Comm_rank(world, rank)
        call MPI_Comm_size(world, size)
        if (rank == victim .and. step == at .and. original) ignored = kill(getpid(), 9)
        call MPI_Sendrecv(heat(:, 1), width, MPI_DOUBLE_PRECISION, neighbour(rank - 1), 1, heat(:, height + 1), width, &
                          MPI_DOUBLE_PRECISION, neighbour(rank + 1), 1, world, MPI_STATUS_IGNORE)
        call MPI_Sendrecv(heat(:, height), width, MPI_DOUBLE_PRECISION, neighbour(rank + 1), 2, heat(:, 0), width, &
                          MPI_DOUBLE_PRECISION, neighbour(rank - 1), 2, world, MPI_STATUS_IGNORE)
        new(2:width - 1, 1:height) = heat(2:width - 1, 1:height) + 0.2d0*(heat(1:width - 2, 1:height) + heat(3:width, 1:height) &
            + heat(2:width - 1, 0:height - 1) + heat(2:width - 1, 2:height + 1) - 4*heat(2:width - 1, 1:height))
        heat(2:width - 1, 1:height) = new(2:width - 1, 1:height)
        step = step + 1
    contains
        integer function neighbour(other)
            integer, intent(in) :: other
            neighbour = other
            if (other < 0 .or. other == size) neighbour = MPI_PROC_NULL
        end function
    end function

    integer function argument(number, otherwise)
        integer, intent(in) :: number, otherwise
        character(len=32) :: text
        integer :: wrong
        argument = otherwise
        if (number > command_argument_count()) return
        call get_command_argument(number, text)
        read (text, *, iostat=wrong) argument
        if (wrong /= 0) error stop 'plate: an argument is not a number'
    end function
end module

program main
    use mend_flow_f08, only: mend_main
    use plate, only: work
    implicit none
    call mend_main(work)
end program
