#include "face.h"
! Common to the chapters in Fortran: plain MPI programs through one of the three faces, each function with a check.
! The last line depends on nothing but the number of ranks and rounds (as in ../chapter.h).
module shared
    use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer, c_loc, c_associated
    THE_MODULE
    implicit none
    THE_HEADER
    integer :: me, ranks, left, right, rounds = 4
    integer(kind=8) :: failures = 0, sum_of_all = 7
contains
    subroutine ok(condition, file, line)
        logical, intent(in) :: condition
        character(len=*), intent(in) :: file
        integer, intent(in) :: line
        if (condition) return
        failures = failures + 1
        write (0, '(2a,i0,a,i0)') file, ":", line, ": not true on rank ", me
    end subroutine
    subroutine mix(v)
        integer(kind=8), intent(in) :: v
        sum_of_all = iand(ieor(sum_of_all, iand(v, 65535_8))*16777619_8, 1152921504606846975_8)
    end subroutine
    subroutine begin()
        integer :: ierr
        character(len=20) :: text
        call MPI_Init(ierr)
        call MPI_Comm_rank(MPI_COMM_WORLD, me, ierr)
        call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
        left = mod(me + ranks - 1, ranks)
        right = mod(me + 1, ranks)
        if (command_argument_count() > 0) then
            call get_command_argument(1, text)
            read (text, *) rounds
        end if
    end subroutine
    subroutine finish(name)
        character(len=*), intent(in) :: name
        integer(kind=8) :: all_sums, bad
        integer :: ierr
        sum_of_all = sum_of_all + me*7919_8
        call MPI_Allreduce(sum_of_all, all_sums, 1, MPI_INTEGER8, MPI_BXOR, MPI_COMM_WORLD, ierr)
        call MPI_Allreduce(failures, bad, 1, MPI_INTEGER8, MPI_SUM, MPI_COMM_WORLD, ierr)
        if (me == 0) then
            if (bad == 0) then
                print '(2a,i0,a,z16.16,a)', name, ": ", rounds, " rounds, checksum ", all_sums, ", ok"
            else
                print '(2a,i0,a)', name, ": ", bad, " FAILED"
            end if
        end if
        call MPI_Finalize(ierr)
    end subroutine
end module
