! The module mend_flow for programs with `use mpi_f08`: communicators are of type(MPI_Comm), all else is the same.
! Compile it after mend_flow.f90.
module mend_flow_f08
    use mpi_f08, only: MPI_Comm
    use mend_flow, world_number => mend_world, watch_number => mend_watch
    implicit none
    private :: world_number, watch_number

contains

    function mend_world() result(comm)
        type(MPI_Comm) :: comm
        comm%MPI_VAL = world_number()
    end function

    subroutine mend_watch(comm)
        type(MPI_Comm), intent(in) :: comm
        call watch_number(comm%MPI_VAL)
    end subroutine
end module
