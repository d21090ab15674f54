! rod.f90 [STEPS [SPARES [VICTIM [AT]]]]: heat in a rod, in Fortran, that survives the death of ranks.
!
! Each rank has a piece of the rod. The store keeps versions in the memory of two ranks. When a rank
! dies, a spare takes its place, and all ranks return to the newest version and continue. With VICTIM,
! that rank kills itself at step AT. The sum printed at the end is the same with and without deaths,
! bit for bit.
program rod
    use, intrinsic :: iso_c_binding
    use mend
    implicit none
    include 'mpif.h'

    integer, parameter :: points = 1000, save_every = 20
    double precision, target :: heat(0:points + 1), new(0:points + 1)
    integer, target :: step
    type(mend_process) :: process
    type(mend_store) :: store
    type(mend_state) :: now
    integer :: steps, spares, victim, at, ierr, provided
    logical :: opened, done

    interface
        integer(c_int) function getpid() bind(C)
            import :: c_int
        end function
        integer(c_int) function kill(pid, signal) bind(C)
            import :: c_int
            integer(c_int), value :: pid, signal
        end function
    end interface

    call argument(1, 400, steps)
    call argument(2, 1, spares)
    call argument(3, -1, victim)
    call argument(4, 0, at)
    call MPI_Init_thread(MPI_THREAD_MULTIPLE, provided, ierr)
    call mend_process_open(process, MPI_COMM_WORLD, spares, ierr)
    call demand(ierr == 0, 'start')
    opened = .false.
    done = .false.
    now = mend_process_get(process)
    do while (.not. done .and. now%role /= mend_role_released)
        call work(ierr)
        if (ierr == 0) then
            call mend_process_close(process, ierr)
            done = ierr == 0
            call demand(done .or. ierr == mend_err_peer_failed, 'finalize')
        else
            call mend_process_repair(process, ierr)
            call demand(ierr == 0, 'repair')
        end if
        if (.not. done) now = mend_process_get(process)
    end do
    if (.not. done) call mend_process_close(process, ierr) ! a spare that was not needed
    if (opened) call mend_store_close(store, ierr)
    call MPI_Finalize(ierr)

contains

    ! From the newest version, or from the beginning, to the end. failed /= 0: a process died.
    subroutine work(failed)
        integer, intent(out) :: failed
        integer :: version
        call attach(failed)
        if (failed /= 0) return
        version = -1
        call mend_store_restore_newest(store, version, failed)
        if (failed == mend_err_no_version) then
            step = 0
            heat = 0
            if (now%rank == 0) heat(0) = 100
            failed = 0
        end if
        if (failed /= 0) return
        do while (step < steps)
            if (mod(step, save_every) == 0 .and. step > version) then
                call mend_store_save(store, step, failed)
                if (failed /= 0) return
                version = step
            end if
            if (now%rank == victim .and. step == at .and. now%generation == 0) ierr = kill(getpid(), 9)
            call exchange(failed)
            if (failed /= 0) return
            new(1:points) = heat(1:points) + 0.25d0*(heat(0:points - 1) - 2*heat(1:points) + heat(2:points + 1))
            heat(1:points) = new(1:points)
            step = step + 1
        end do
        call result(failed)
    end subroutine

    subroutine attach(failed)
        integer, intent(out) :: failed
        if (opened) then
            call mend_store_rebind(store, now%comm, failed)
            return
        end if
        call mend_store_open(store, now%comm, 'rod', failed)
        if (failed /= 0) return
        opened = .true.
        call mend_store_region(store, 0, 'heat', c_loc(heat), c_sizeof(heat), failed)
        if (failed == 0) call mend_store_region(store, 1, 'step', c_loc(step), c_sizeof(step), failed)
    end subroutine

    subroutine exchange(failed)
        integer, intent(out) :: failed
        integer :: left, right
        left = now%rank - 1
        right = now%rank + 1
        if (left < 0) left = MPI_PROC_NULL
        if (right == now%size) right = MPI_PROC_NULL
        call MPI_Sendrecv(heat(1), 1, MPI_DOUBLE_PRECISION, left, 1, heat(points + 1), 1, &
                          MPI_DOUBLE_PRECISION, right, 1, now%comm, MPI_STATUS_IGNORE, failed)
        if (failed /= 0) return
        call MPI_Sendrecv(heat(points), 1, MPI_DOUBLE_PRECISION, right, 2, heat(0), 1, &
                          MPI_DOUBLE_PRECISION, left, 2, now%comm, MPI_STATUS_IGNORE, failed)
    end subroutine

    subroutine result(failed)
        integer, intent(out) :: failed
        double precision :: mine, all
        mine = sum(heat(1:points))
        call MPI_Allreduce(mine, all, 1, MPI_DOUBLE_PRECISION, MPI_SUM, now%comm, failed)
        if (failed == 0 .and. now%rank == 0) print '(A,Z16.16,A,I0)', 'sum ', all, ' repairs ', now%generation
    end subroutine

    subroutine argument(number, otherwise, value)
        integer, intent(in) :: number, otherwise
        integer, intent(out) :: value
        character(len=32) :: text
        integer :: wrong
        value = otherwise
        if (number > command_argument_count()) return
        call get_command_argument(number, text)
        read (text, *, iostat=wrong) value
        call demand(wrong == 0, 'argument '//trim(text))
    end subroutine

    subroutine demand(holds, what)
        logical, intent(in) :: holds
        character(len=*), intent(in) :: what
        if (holds) return
        print '(4A)', 'rod: ', what, ': ', mend_error_text()
        error stop 1
    end subroutine
end program
