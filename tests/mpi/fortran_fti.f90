! The module FTI: arrays of several types and ranks, scalars, structures by address, a checkpoint in parts, names.
!
!   fortran_fti CONFIG save|check
program fortran_fti
    use, intrinsic :: iso_c_binding
    use FTI
    use mpi
    implicit none
    type :: cell
        integer :: material
        real(8) :: density
    end type
    character(len=255) :: config, what, marker
    integer :: comm, rank, err, status, bytes, name, i
    integer, target :: step
    real(8), pointer :: grid(:, :)
    real(4) :: cube(2, 3, 4)
    complex(8), allocatable :: waves(:)
    logical :: flags(5), whole
    character(len=8) :: words(2)
    type(cell), target :: cells(6)
    type(c_ptr) :: memory

    call get_command_argument(1, config)
    call get_command_argument(2, what)
    call MPI_Init(err)
    comm = MPI_COMM_WORLD
    call FTI_Init(config, comm, err)
    call must(err == FTI_SCES .and. comm /= MPI_COMM_WORLD, 'FTI_Init')
    call MPI_Comm_rank(comm, rank, err)
    call FTI_Status(status)
    call must(status == merge(0, 1, what == 'save'), 'FTI_Status')
    allocate (grid(10, 20), waves(7))
    step = 0; grid = 0; cube = 0; waves = 0; flags = .false.; words = ''
    cells = cell(0, 0)
    memory = c_loc(cells)
    call FTI_Protect(1, step, err)
    call FTI_Protect(2, grid, err)
    call FTI_Protect(3, cube, err)
    call FTI_Protect(4, waves, err)
    call FTI_Protect(5, flags, err)
    call FTI_Protect(6, words, err)
    call FTI_Protect(7, memory, 6, FTI_InitType(int(storage_size(cells(1))/8, c_size_t)), err)
    call must(err == FTI_SCES, 'FTI_Protect')
    call FTI_Protect(8, grid(1:10:2, :), err)
    call must(err == FTI_NSCS, 'an array that is not contiguous')
    if (what == 'save') then
        name = FTI_setIDFromString('ghosts')
        call must(name == 0, 'FTI_setIDFromString')
        step = 41 + rank
        grid = reshape([(real(i + rank, 8), i=1, 200)], [10, 20])
        cube = 1.5 + rank
        waves = cmplx(rank, 2, 8)
        flags(2:4) = .true.
        words = ['oxygen  ', 'hydrogen']
        cells(3) = cell(rank, 0.25d0)
        call FTI_InitICP(1, 2, .true., err)
        call FTI_AddVarICP(2, err)
        grid = -1
        call FTI_FinalizeICP(err)
        call must(err == FTI_SCES, 'FTI_FinalizeICP')
        call FTI_GetStoredSize(2, bytes)
        call must(bytes == 1600, 'FTI_GetStoredSize')
    else
        call must(FTI_getIDFromString('ghosts') == 0, 'FTI_getIDFromString')
        call FTI_Recover(err)
        whole = err == FTI_SCES .and. step == 41 + rank .and. all(cube == 1.5 + rank) &
            .and. all(waves == cmplx(rank, 2, 8)) .and. all(flags .eqv. [.false., .true., .true., .true., .false.]) &
            .and. words(2) == 'hydrogen' .and. cells(3)%material == rank .and. cells(3)%density == 0.25d0
        call must(whole, 'what was recovered')
        call must(grid(1, 1) == 1 + rank .and. grid(10, 20) == 200 + rank, 'the part')
        call FTI_Checkpoint(2, 1, err)
        call must(err == FTI_DONE, 'FTI_Checkpoint')
        call FTI_Finalize(err)
        call must(err == FTI_SCES, 'FTI_Finalize')
    end if
    call MPI_Barrier(MPI_COMM_WORLD, err)
    if (rank == 0) then
        call get_environment_variable('MEND_TEST_MARKER', marker)
        open (unit=10, file=marker, action='write')
        write (10, '(A)') 'PASS'
        close (10)
    end if
    call MPI_Finalize(err)
contains
    subroutine must(condition, text)
        logical, intent(in) :: condition
        character(len=*), intent(in) :: text
        integer :: ignored
        if (condition) return
        print '(A, I0, 2A)', 'rank ', rank, ': ', text
        call MPI_Abort(MPI_COMM_WORLD, 1, ignored)
    end subroutine
end program
