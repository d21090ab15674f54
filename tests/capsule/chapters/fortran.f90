! Fortran's own ground: callbacks (attributes, error handlers, operations), strings, logicals, files, windows, requests.
! Prints the same last line on any library, interrupted or not.
module state
    use mpi
    implicit none
    integer :: copies = 0, deletes = 0, errors = 0
contains
    subroutine copy_fn(comm, key, extra, val_in, val_out, flag, ierr)
        integer :: comm, key, ierr
        integer(kind=MPI_ADDRESS_KIND) :: extra, val_in, val_out
        logical :: flag
        copies = copies + int(extra)
        val_out = val_in + 1
        flag = .true.
        ierr = MPI_SUCCESS
    end subroutine
    subroutine delete_fn(comm, key, val, extra, ierr)
        integer :: comm, key, ierr
        integer(kind=MPI_ADDRESS_KIND) :: val, extra
        deletes = deletes + int(extra)
        ierr = MPI_SUCCESS
    end subroutine
    subroutine on_error(comm, code)
        integer :: comm, code
        errors = errors + 1
    end subroutine
    subroutine add(in, inout, n, type)
        integer :: n, type, i
        integer :: in(n), inout(n)
        do i = 1, n
            inout(i) = inout(i) + in(i)
        end do
    end subroutine
end module

program fortran
    use mpi
    use state
    implicit none
    integer :: code, c0, d0
    integer :: ierr, me, ranks, r, rounds, key, comm, twin, op, errh, win, file, info, q(2), st(MPI_STATUS_SIZE, 2), class
    integer :: left, right, v, w, n, bad, total, length, group, contents(8), types(4), ni, na, nt, combiner, vec
    integer(kind=8) :: sum
    integer(kind=MPI_ADDRESS_KIND) :: val, extra, addr(4), bytes
    integer(kind=MPI_OFFSET_KIND) :: at
    integer, volatile :: memory(4)
    logical :: flag, periods(1)
    character(len=256) :: text, path
    character(len=20) :: small
    call MPI_Init(ierr)
    call MPI_Comm_rank(MPI_COMM_WORLD, me, ierr)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
    rounds = 8
    if (command_argument_count() > 0) then
        call get_command_argument(1, text)
        read (text, *) rounds
    end if
    call get_environment_variable("CHAPTER_FILE", path)
    if (path == "") path = "chapter-fortran.dat"
    left = mod(me + ranks - 1, ranks)
    right = mod(me + 1, ranks)
    bad = 0
    sum = 7
    memory = 0
    extra = 3
    call MPI_Comm_create_keyval(copy_fn, delete_fn, key, extra, ierr)
    periods(1) = .true.
    call MPI_Cart_create(MPI_COMM_WORLD, 1, (/ranks/), periods, .false., comm, ierr)
    val = 1000
    call MPI_Comm_set_attr(comm, key, val, ierr)
    call MPI_Comm_create_errhandler(on_error, errh, ierr)
    call MPI_Comm_set_errhandler(comm, errh, ierr)
    call MPI_Op_create(add, .true., op, ierr)
    bytes = 16
    call MPI_Win_create(memory, bytes, 4, MPI_INFO_NULL, comm, win, ierr)
    call MPI_Info_create(info, ierr)
    call MPI_Info_set(info, "a key", "its value", ierr)
    call MPI_Type_vector(3, 1, 2, MPI_INTEGER, vec, ierr)
    call MPI_Type_commit(vec, ierr)
    if (me == 0) call MPI_File_delete(trim(path), MPI_INFO_NULL, ierr)
    call MPI_Barrier(comm, ierr)
    call MPI_File_open(comm, trim(path), MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, file, ierr)
    call MPI_Send_init(v, 1, MPI_INTEGER, right, 5, comm, q(1), ierr)
    call MPI_Recv_init(w, 1, MPI_INTEGER, left, 5, comm, q(2), ierr)
    do r = 1, rounds
        c0 = copies
        d0 = deletes
        call MPI_Comm_dup(comm, twin, ierr)
        call MPI_Comm_get_attr(twin, key, val, flag, ierr)
        if (.not. flag .or. val /= 1001) bad = bad + 1
        call MPI_Comm_free(twin, ierr)
        if (copies - c0 /= 3 .or. deletes - d0 /= 3) bad = bad + 1
        call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, val, flag, ierr)
        if (.not. flag .or. val < 32767) bad = bad + 1
        call MPI_Send(v, 1, MPI_INTEGER, ranks + 3, 1, comm, code)
        if (code == MPI_SUCCESS .or. errors /= r) bad = bad + 1
        call MPI_Error_class(code, class, ierr)
        if (class /= MPI_ERR_RANK) bad = bad + 1
        v = me*10 + r
        call MPI_Startall(2, q, ierr)
        call MPI_Waitall(2, q, st, ierr)
        if (w /= left*10 + r .or. st(MPI_SOURCE, 2) /= left) bad = bad + 1
        call MPI_Allreduce(v, total, 1, MPI_INTEGER, op, comm, ierr)
        sum = sum*31 + total
        call MPI_Win_fence(0, win, ierr)
        bytes = 1
        call MPI_Put(v, 1, MPI_INTEGER, right, bytes, 1, MPI_INTEGER, win, ierr)
        call MPI_Win_fence(0, win, ierr)
        if (memory(2) /= left*10 + r) bad = bad + 1
        at = int((r - 1)*ranks + me, MPI_OFFSET_KIND)*4
        call MPI_File_write_at_all(file, at, v, 1, MPI_INTEGER, st(:, 1), ierr)
        call MPI_File_sync(file, ierr) ! another rank may do the writing: Open MPI's does, from four ranks on
        call MPI_Barrier(comm, ierr)
        n = -1
        call MPI_File_read_at(file, at, n, 1, MPI_INTEGER, st(:, 1), ierr)
        if (n /= v) bad = bad + 1
        call MPI_Get_count(st(:, 1), MPI_INTEGER, n, ierr)
        if (n /= 1) bad = bad + 1
        call MPI_Info_get(info, "a key", len(small), small, flag, ierr)
        if (.not. flag .or. small /= "its value") bad = bad + 1
        call MPI_Info_get_valuelen(info, "a key", length, flag, ierr)
        if (length /= 9) bad = bad + 1
        call MPI_Comm_set_name(comm, "a name", ierr)
        call MPI_Comm_get_name(comm, text, length, ierr)
        if (length /= 6 .or. text(1:length) /= "a name") bad = bad + 1
        call MPI_Type_get_envelope(vec, ni, na, nt, combiner, ierr)
        if (ni /= 3 .or. nt /= 1 .or. combiner /= MPI_COMBINER_VECTOR) bad = bad + 1
        call MPI_Type_get_contents(vec, ni, na, nt, contents, addr, types, ierr)
        if (contents(3) /= 2 .or. types(1) /= MPI_INTEGER) bad = bad + 1
        call MPI_Comm_group(comm, group, ierr)
        call MPI_Group_size(group, n, ierr)
        if (n /= ranks) bad = bad + 1
        call MPI_Group_free(group, ierr)
        call MPI_Barrier(comm, ierr)
    end do
    call MPI_Request_free(q(1), ierr)
    call MPI_Request_free(q(2), ierr)
    call MPI_File_close(file, ierr)
    if (me == 0) call MPI_File_delete(trim(path), MPI_INFO_NULL, ierr)
    call MPI_Win_free(win, ierr)
    call MPI_Info_free(info, ierr)
    call MPI_Type_free(vec, ierr)
    call MPI_Op_free(op, ierr)
    call MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL, ierr)
    call MPI_Errhandler_free(errh, ierr)
    call MPI_Comm_free_keyval(key, ierr)
    call MPI_Comm_free(comm, ierr)
    call MPI_Allreduce(bad, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
    if (me == 0) then
        if (total == 0) then
            print '(a,i0,a,i0,a)', "fortran: ", rounds, " rounds, checksum ", sum, ", ok"
        else
            print '(a,i0,a)', "fortran: ", total, " FAILED"
        end if
    end if
    call MPI_Finalize(ierr)
end program
