! The FTI interface for Fortran on Mend's store (fti.h). A program that says `use FTI` compiles and runs unchanged.
!
!     comm = MPI_COMM_WORLD
!     call FTI_Init('config.fti', comm, err)             ! comm becomes FTI's communicator
!     call FTI_Protect(0, iteration, err)                ! scalars and contiguous arrays of any type and rank
!     call FTI_Protect(1, grid, err)
!     call FTI_Snapshot(err)                             ! in every step
!     call FTI_Finalize(err)
!
! Compile with your program, and link with -lmend:
!
!     mpifort -c fti.f90 && mpifort heat.f90 fti.o $(pkg-config --libs mend)
module FTI
    use, intrinsic :: iso_c_binding
    implicit none
    private

    integer, parameter, public :: FTI_SCES = 0, FTI_NSCS = -1, FTI_NREC = -2, FTI_DONE = 1

    ! fti.h's types of the same size
    integer, parameter, public :: FTI_CHARACTER1 = 0
    integer, parameter, public :: FTI_INTEGER1 = 0, FTI_INTEGER2 = 1, FTI_INTEGER4 = 2, FTI_INTEGER8 = 3
    integer, parameter, public :: FTI_LOGICAL1 = 0, FTI_LOGICAL2 = 1, FTI_LOGICAL4 = 2, FTI_LOGICAL8 = 3
    integer, parameter, public :: FTI_REAL4 = 8, FTI_REAL8 = 9, FTI_REAL16 = 10
    integer, parameter, public :: FTI_COMPLEX4 = 9, FTI_COMPLEX8 = 10

    public :: FTI_Init, FTI_Status, FTI_Finalize
    public :: FTI_InitType, FTI_InitCompositeType, FTI_AddScalarField, FTI_AddVectorField
    public :: FTI_Protect, FTI_GetStoredSize, FTI_Realloc, FTI_setIDFromString, FTI_getIDFromString
    public :: FTI_Checkpoint, FTI_Snapshot, FTI_InitICP, FTI_AddVarICP, FTI_FinalizeICP
    public :: FTI_Recover, FTI_RecoverVar, FTI_RecoverVarInit, FTI_RecoverVarFinalize

    interface FTI_Protect
        module procedure protect_data, protect_address
    end interface

    interface
        function c_init(config_file, comm) result(code) bind(C, name="mend_fti_init_fortran")
            import :: c_int, c_char
            character(kind=c_char), intent(in) :: config_file(*)
            integer(c_int), intent(inout) :: comm
            integer(c_int) :: code
        end function
        function c_status() result(code) bind(C, name="FTI_Status")
            import :: c_int
            integer(c_int) :: code
        end function
        function c_finalize() result(code) bind(C, name="FTI_Finalize")
            import :: c_int
            integer(c_int) :: code
        end function
        function c_init_type(type, bytes) result(code) bind(C, name="FTI_InitType")
            import :: c_int
            integer(c_int), intent(out) :: type
            integer(c_int), value :: bytes
            integer(c_int) :: code
        end function
        function c_scalar_field(type, name, of, offset) result(code) bind(C, name="FTI_AddScalarField")
            import :: c_int, c_char, c_size_t
            integer(c_int), value :: type, of
            character(kind=c_char), intent(in) :: name(*)
            integer(c_size_t), value :: offset
            integer(c_int) :: code
        end function
        function c_vector_field(type, name, of, offset, dimensions, sizes) result(code) bind(C, name="FTI_AddVectorField")
            import :: c_int, c_char, c_size_t
            integer(c_int), value :: type, of, dimensions
            character(kind=c_char), intent(in) :: name(*)
            integer(c_size_t), value :: offset
            integer(c_int), intent(in) :: sizes(*)
            integer(c_int) :: code
        end function
        function c_protect(id, address, count, type) result(code) bind(C, name="FTI_Protect")
            import :: c_int, c_ptr, c_long
            integer(c_int), value :: id, type
            type(c_ptr), value :: address
            integer(c_long), value :: count
            integer(c_int) :: code
        end function
        function c_stored_size(id) result(bytes) bind(C, name="FTI_GetStoredSize")
            import :: c_int, c_long
            integer(c_int), value :: id
            integer(c_long) :: bytes
        end function
        function c_realloc(id, address) result(moved) bind(C, name="FTI_Realloc")
            import :: c_int, c_ptr
            integer(c_int), value :: id
            type(c_ptr), value :: address
            type(c_ptr) :: moved
        end function
        function c_set_id(name) result(id) bind(C, name="FTI_setIDFromString")
            import :: c_int, c_char
            character(kind=c_char), intent(in) :: name(*)
            integer(c_int) :: id
        end function
        function c_get_id(name) result(id) bind(C, name="FTI_getIDFromString")
            import :: c_int, c_char
            character(kind=c_char), intent(in) :: name(*)
            integer(c_int) :: id
        end function
        function c_checkpoint(id, level) result(code) bind(C, name="FTI_Checkpoint")
            import :: c_int
            integer(c_int), value :: id, level
            integer(c_int) :: code
        end function
        function c_snapshot() result(code) bind(C, name="FTI_Snapshot")
            import :: c_int
            integer(c_int) :: code
        end function
        function c_init_icp(id, level, activate) result(code) bind(C, name="FTI_InitICP")
            import :: c_int, c_bool
            integer(c_int), value :: id, level
            logical(c_bool), value :: activate
            integer(c_int) :: code
        end function
        function c_add_icp(id) result(code) bind(C, name="FTI_AddVarICP")
            import :: c_int
            integer(c_int), value :: id
            integer(c_int) :: code
        end function
        function c_finalize_icp() result(code) bind(C, name="FTI_FinalizeICP")
            import :: c_int
            integer(c_int) :: code
        end function
        function c_recover() result(code) bind(C, name="FTI_Recover")
            import :: c_int
            integer(c_int) :: code
        end function
        function c_recover_var(id) result(code) bind(C, name="FTI_RecoverVar")
            import :: c_int
            integer(c_int), value :: id
            integer(c_int) :: code
        end function
        function c_recover_init() result(code) bind(C, name="FTI_RecoverVarInit")
            import :: c_int
            integer(c_int) :: code
        end function
        function c_recover_finalize() result(code) bind(C, name="FTI_RecoverVarFinalize")
            import :: c_int
            integer(c_int) :: code
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

    subroutine FTI_Init(config_file, comm, err)
        character(len=*), intent(in) :: config_file
        integer, intent(inout) :: comm
        integer, intent(out) :: err
        err = c_init(c_string(config_file), comm)
    end subroutine

    subroutine FTI_Status(status)
        integer, intent(out) :: status
        status = c_status()
    end subroutine

    subroutine FTI_Finalize(err)
        integer, intent(out) :: err
        err = c_finalize()
    end subroutine

    ! A type of that many bytes, or FTI_NSCS.
    integer function FTI_InitType(bytes) result(type)
        integer(c_size_t), intent(in) :: bytes
        integer(c_int) :: made
        type = FTI_NSCS
        if (bytes > huge(made)) return
        if (c_init_type(made, int(bytes, c_int)) == FTI_SCES) type = made
    end function

    integer function FTI_InitCompositeType(name, bytes) result(type)
        character(len=*), intent(in) :: name
        integer(c_size_t), intent(in) :: bytes
        type = FTI_NSCS
        if (len_trim(name) > 0) type = FTI_InitType(bytes)
    end function

    integer function FTI_AddScalarField(type, name, of, offset) result(err)
        integer, intent(in) :: type, of
        character(len=*), intent(in) :: name
        integer(c_size_t), intent(in) :: offset
        err = c_scalar_field(type, c_string(name), of, offset)
    end function

    integer function FTI_AddVectorField(type, name, of, offset, dimensions, sizes) result(err)
        integer, intent(in) :: type, of, dimensions
        character(len=*), intent(in) :: name
        integer(c_size_t), intent(in) :: offset
        integer, intent(in) :: sizes(:)
        err = c_vector_field(type, c_string(name), of, offset, dimensions, sizes)
    end function

    subroutine protect_data(id, data, err)
        integer, intent(in) :: id
        type(*), dimension(..), intent(in), target :: data
        integer, intent(out) :: err
        err = FTI_NSCS
        if (is_contiguous(data)) err = c_protect(id, c_loc(data), int(sizeof(data), c_long), FTI_CHARACTER1)
    end subroutine

    subroutine protect_address(id, address, count, type, err)
        integer, intent(in) :: id, count, type
        type(c_ptr), intent(in) :: address
        integer, intent(out) :: err
        err = c_protect(id, address, int(count, c_long), type)
    end subroutine

    subroutine FTI_GetStoredSize(id, bytes)
        integer, intent(in) :: id
        integer, intent(out) :: bytes
        bytes = int(c_stored_size(id))
    end subroutine

    subroutine FTI_Realloc(id, address, err)
        integer, intent(in) :: id
        type(c_ptr), intent(inout) :: address
        integer, intent(out) :: err
        address = c_realloc(id, address)
        err = merge(FTI_SCES, FTI_NSCS, c_associated(address))
    end subroutine

    integer function FTI_setIDFromString(name) result(id)
        character(len=*), intent(in) :: name
        id = c_set_id(c_string(name))
    end function

    integer function FTI_getIDFromString(name) result(id)
        character(len=*), intent(in) :: name
        id = c_get_id(c_string(name))
    end function

    subroutine FTI_Checkpoint(id, level, err)
        integer, intent(in) :: id, level
        integer, intent(out) :: err
        err = c_checkpoint(id, level)
    end subroutine

    subroutine FTI_Snapshot(err)
        integer, intent(out) :: err
        err = c_snapshot()
    end subroutine

    subroutine FTI_InitICP(id, level, activate, err)
        integer, intent(in) :: id, level
        logical, intent(in) :: activate
        integer, intent(out) :: err
        err = c_init_icp(id, level, logical(activate, c_bool))
    end subroutine

    subroutine FTI_AddVarICP(id, err)
        integer, intent(in) :: id
        integer, intent(out) :: err
        err = c_add_icp(id)
    end subroutine

    subroutine FTI_FinalizeICP(err)
        integer, intent(out) :: err
        err = c_finalize_icp()
    end subroutine

    subroutine FTI_Recover(err)
        integer, intent(out) :: err
        err = c_recover()
    end subroutine

    subroutine FTI_RecoverVar(id, err)
        integer, intent(in) :: id
        integer, intent(out) :: err
        err = c_recover_var(id)
    end subroutine

    subroutine FTI_RecoverVarInit(err)
        integer, intent(out) :: err
        err = c_recover_init()
    end subroutine

    subroutine FTI_RecoverVarFinalize(err)
        integer, intent(out) :: err
        err = c_recover_finalize()
    end subroutine
end module
