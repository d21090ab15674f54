#include "face.h"
! Attributes and error handlers with the program's own functions, error codes, info, and what a process asks about itself.
module chapter_objects
    use shared
    implicit none
    private
    public :: objects_begin, objects_round, objects_end
    COMM_T :: comm
    TYPE_T :: pair
    INFO_T :: info
    ERRH_T :: counting
    integer :: keys(3), type_key, class, code
    ADDRESS :: extra_of_all ! MPICH keeps its address, not its value
    integer :: copies = 0, deletes = 0, errors = 0, seen = 0
contains
    subroutine objects_begin()
        integer :: ierr
        call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierr)
        extra_of_all = 3
        call MPI_Comm_create_keyval(copy_fn, delete_fn, keys(1), extra_of_all, ierr)
        call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, keys(2), extra_of_all, ierr)
        call MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_fn, keys(3), extra_of_all, ierr)
        call MPI_Comm_set_attr(comm, keys(1), 1000_MPI_ADDRESS_KIND, ierr)
        call MPI_Comm_set_attr(comm, keys(2), -2000_MPI_ADDRESS_KIND*1000000_MPI_ADDRESS_KIND, ierr)
        call MPI_Comm_set_attr(comm, keys(3), 3000_MPI_ADDRESS_KIND, ierr)
        call MPI_Type_create_keyval(type_copy_fn, type_delete_fn, type_key, extra_of_all, ierr)
        call MPI_Type_contiguous(2, MPI_INTEGER, pair, ierr)
        call MPI_Type_commit(pair, ierr)
        call MPI_Type_set_attr(pair, type_key, 70_MPI_ADDRESS_KIND, ierr)
        call MPI_Comm_create_errhandler(on_error, counting, ierr)
        call MPI_Comm_set_errhandler(comm, counting, ierr)
        call MPI_Info_create(info, ierr)
        call MPI_Info_set(info, "a key  ", "  its value ", ierr)
        call MPI_Info_set(info, "second", "2", ierr)
        call MPI_Add_error_class(class, ierr)
        call MPI_Add_error_code(class, code, ierr)
        call MPI_Add_error_string(code, "a code of our own  ", ierr)
    end subroutine
    subroutine objects_round(r)
        integer, intent(in) :: r
        call attributes(r)
        call error_handlers(r)
        call infos(r)
        call questions()
    end subroutine
    subroutine objects_end()
        integer :: ierr, i
        call MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL, ierr)
        call MPI_Errhandler_free(counting, ierr)
        CHECK(counting == MPI_ERRHANDLER_NULL)
        call MPI_Comm_free(comm, ierr)
        do i = 1, 3
            call MPI_Comm_free_keyval(keys(i), ierr)
            CHECK(keys(i) == MPI_KEYVAL_INVALID)
        end do
        call MPI_Type_free(pair, ierr)
        call MPI_Type_free_keyval(type_key, ierr)
        call MPI_Info_free(info, ierr)
        CHECK(info == MPI_INFO_NULL)
    end subroutine

    subroutine copy_fn(object, key, extra, value_in, value_out, flag, ierror)
        COMM_T :: object
        integer :: key, ierror
        ADDRESS :: extra, value_in, value_out
        logical :: flag
        copies = copies + int(extra)
        call ok(key == keys(1), __FILE__, __LINE__)
        value_out = value_in + 1
        flag = .true.
        ierror = MPI_SUCCESS
    end subroutine
    subroutine delete_fn(object, key, value, extra, ierror)
        COMM_T :: object
        integer :: key, ierror
        ADDRESS :: value, extra
        deletes = deletes + int(extra)
        ierror = MPI_SUCCESS
    end subroutine
    subroutine type_copy_fn(object, key, extra, value_in, value_out, flag, ierror)
        TYPE_T :: object
        integer :: key, ierror
        ADDRESS :: extra, value_in, value_out
        logical :: flag
        value_out = value_in*2
        flag = .true.
        ierror = MPI_SUCCESS
    end subroutine
    subroutine type_delete_fn(object, key, value, extra, ierror)
        TYPE_T :: object
        integer :: key, ierror
        ADDRESS :: value, extra
        deletes = deletes + int(value)
        ierror = MPI_SUCCESS
    end subroutine
    subroutine on_error(object, error)
        COMM_T :: object
        integer :: error
        errors = errors + 1
        seen = error
        call ok(object == comm, __FILE__, __LINE__)
    end subroutine

    subroutine attributes(r)
        integer, intent(in) :: r
        integer :: ierr, c0, d0
        logical :: flag
        ADDRESS :: value
        COMM_T :: twin
        TYPE_T :: other
        c0 = copies
        d0 = deletes
        call MPI_Comm_dup(comm, twin, ierr)
        CHECK(copies - c0 == 3)
        call MPI_Comm_get_attr(twin, keys(1), value, flag, ierr)
        CHECK(flag .and. value == 1001)
        call MPI_Comm_get_attr(twin, keys(2), value, flag, ierr)
        CHECK(flag .and. value == -2000_MPI_ADDRESS_KIND*1000000_MPI_ADDRESS_KIND)
        call MPI_Comm_get_attr(twin, keys(3), value, flag, ierr)
        CHECK(.not. flag)
        call MPI_Comm_set_attr(twin, keys(1), 5_MPI_ADDRESS_KIND, ierr)
        CHECK(deletes - d0 == 3)
        call MPI_Comm_delete_attr(twin, keys(1), ierr)
        CHECK(deletes - d0 == 6)
        call MPI_Comm_get_attr(twin, keys(1), value, flag, ierr)
        CHECK(.not. flag)
        call MPI_Comm_set_errhandler(twin, MPI_ERRORS_RETURN, ierr)
        call MPI_Comm_free(twin, ierr)
        call MPI_Type_dup(pair, other, ierr)
        call MPI_Type_get_attr(other, type_key, value, flag, ierr)
        CHECK(flag .and. value == 140)
        d0 = deletes
        call MPI_Type_delete_attr(other, type_key, ierr)
        CHECK(deletes - d0 == 140)
        call MPI_Type_free(other, ierr)
        call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, value, flag, ierr)
        CHECK(flag .and. value >= 32767)
        call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, value, flag, ierr)
        CHECK(flag)
        MIX(copies + r)
    end subroutine

    subroutine error_handlers(r)
        integer, intent(in) :: r
        integer :: ierr, returned, length, which, v
        character(len=MPI_MAX_ERROR_STRING) :: text
        ERRH_T :: current
        call MPI_Send(v, 1, MPI_INTEGER, ranks + 3, 1, comm, returned)
        CHECK(returned /= MPI_SUCCESS .and. errors == 3*r - 2 .and. seen == returned)
        call MPI_Error_class(returned, which, ierr)
        CHECK(which == MPI_ERR_RANK)
        call MPI_Error_string(returned, text, length, ierr)
        CHECK(length > 0 .and. text(length:length) /= " " .and. text(length + 1:) == "")
        call MPI_Send(v, -1, MPI_INTEGER, right, 1, comm, returned)
        call MPI_Error_class(returned, which, ierr)
        CHECK(which == MPI_ERR_COUNT)
        call MPI_Comm_call_errhandler(comm, code, ierr)
        CHECK(ierr == MPI_SUCCESS .and. errors == 3*r .and. seen == code)
        call MPI_Error_class(code, which, ierr)
        CHECK(which == class)
        call MPI_Error_string(code, text, length, ierr)
        CHECK(text == "a code of our own" .and. length == 17)
        call MPI_Comm_get_errhandler(comm, current, ierr)
        CHECK(current == counting)
        call MPI_Errhandler_free(current, ierr)
    end subroutine

    subroutine infos(r)
        integer, intent(in) :: r
        integer :: ierr, n, length
        logical :: flag
        character(len=20) :: value
        character(len=MPI_MAX_INFO_KEY) :: key
        INFO_T :: twin
        call MPI_Info_get(info, "a key", 20, value, flag, ierr)
        CHECK(flag .and. value == "its value") ! blanks around keys and values do not count
        call MPI_Info_get_valuelen(info, " a key", length, flag, ierr)
        CHECK(flag .and. length == 9)
        value = "untouched"
        call MPI_Info_get(info, "no such key", 20, value, flag, ierr)
        CHECK(.not. flag .and. value == "untouched")
        length = 20
        call MPI_Info_get_string(info, "second", length, value, flag, ierr)
        CHECK(flag .and. value == "2")
        call MPI_Info_dup(info, twin, ierr)
        call MPI_Info_delete(twin, "second", ierr)
        call MPI_Info_get_nkeys(twin, n, ierr)
        CHECK(n == 1)
        call MPI_Info_get_nkeys(info, n, ierr)
        CHECK(n == 2)
        call MPI_Info_get_nthkey(twin, 0, key, ierr)
        CHECK(key == "a key")
        call MPI_Info_free(twin, ierr)
        MIX(r)
    end subroutine

    subroutine questions()
        integer :: ierr, version, sub, length, level
        logical :: flag
        double precision :: a, b
        character(len=MPI_MAX_PROCESSOR_NAME) :: name
        character(len=MPI_MAX_LIBRARY_VERSION_STRING) :: text
        call MPI_Initialized(flag, ierr)
        CHECK(flag)
        call MPI_Finalized(flag, ierr)
        CHECK(.not. flag)
        call MPI_Get_version(version, sub, ierr)
        CHECK(version >= 3)
        call MPI_Get_library_version(text, length, ierr)
        CHECK(length > 0 .and. text(1:1) /= " ")
        call MPI_Get_processor_name(name, length, ierr)
        CHECK(length > 0 .and. name(length + 1:) == "")
        call MPI_Query_thread(level, ierr)
        CHECK(level >= MPI_THREAD_SINGLE .and. level <= MPI_THREAD_MULTIPLE)
        call MPI_Is_thread_main(flag, ierr)
        CHECK(flag)
        a = MPI_Wtime()
        b = MPI_Wtime()
        CHECK(b >= a .and. MPI_Wtick() > 0 .and. MPI_Wtick() < 1)
    end subroutine
end module
