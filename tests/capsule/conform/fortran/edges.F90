! Calls at the edges of the standard through Fortran: each line says what a call gave. One source for the three faces:
! -DFACE_H (mpif.h), -DFACE_MPI (use mpi), -DFACE_F08 (use mpi_f08).
! -DNO_PARTITIONED: Open MPI 5.0's mpi_f08 forgets the info of MPI_Psend_init.
#ifdef FACE_F08
#define A_COMM type(MPI_Comm)
#define A_DATATYPE type(MPI_Datatype)
#define A_ERRHANDLER type(MPI_Errhandler)
#define A_GROUP type(MPI_Group)
#define A_INFO type(MPI_Info)
#define A_OP type(MPI_Op)
#define A_REQUEST type(MPI_Request)
#define A_SESSION type(MPI_Session)
#define STATUSES     type(MPI_Status) :: st, sts(4)
#define SOURCE(s)    s%MPI_SOURCE
#define TAG(s)       s%MPI_TAG
#else
#define A_COMM integer
#define A_DATATYPE integer
#define A_ERRHANDLER integer
#define A_GROUP integer
#define A_INFO integer
#define A_OP integer
#define A_REQUEST integer
#define A_SESSION integer
#define STATUSES     integer :: st(MPI_STATUS_SIZE), sts(MPI_STATUS_SIZE, 4)
#define SOURCE(s)    s(MPI_SOURCE)
#define TAG(s)       s(MPI_TAG)
#endif
#if defined(FACE_F08)
#define FACE use mpi_f08
#define HEADER
#elif defined(FACE_MPI)
#define FACE use mpi
#define HEADER
#else
#define FACE
#define HEADER include 'mpif.h'
#endif

module said
    implicit none
    integer :: rank = 0, size = 0
contains
    subroutine say(what, ierr, values)
        FACE
        implicit none
        HEADER
        character(*), intent(in) :: what
        integer, intent(in) :: ierr
        integer, intent(in), optional :: values(:)
        integer :: class, e
        class = 0
        if (ierr /= MPI_SUCCESS) call MPI_Error_class(ierr, class, e)
        if (present(values)) then
            write (*, '(a, 1x, i0, 1x, 20(1x, i0))') what, class, values
        else
            write (*, '(a, 1x, i0)') what, class
        end if
    end subroutine
end module

subroutine add_up(a, b, n, type)
    FACE
    implicit none
    HEADER
    integer :: n
    integer :: a(n), b(n)
    A_DATATYPE :: type
    b = b + 2 * a
end subroutine

subroutine count_errors(comm, code)
    FACE
    implicit none
    HEADER
    A_COMM :: comm
    integer :: code, class, e, times
    common /counted/ times
    call MPI_Error_class(code, class, e)
    times = times + 100 + class
end subroutine

subroutine messages()
    FACE
    use said
    implicit none
    HEADER
    STATUSES
    A_REQUEST :: q(4), null
    integer :: e, n, x(4), y(4), index, indices(4), count
    logical :: flag
    x = rank
    y = -1
    call MPI_Recv(y, 4, MPI_INTEGER, MPI_PROC_NULL, MPI_ANY_TAG, MPI_COMM_WORLD, st, e)
    call MPI_Get_count(st, MPI_INTEGER, n, e)
    call say('recv null', e, (/SOURCE(st), TAG(st), n, y(1)/))
    call MPI_Send(x, 0, MPI_INTEGER, MPI_PROC_NULL, 0, MPI_COMM_WORLD, e)
    call say('send null', e)
    call MPI_Send(x, 1, MPI_INTEGER, size, 0, MPI_COMM_WORLD, e)
    call say('send to nobody', e)
    call MPI_Send(x, -1, MPI_INTEGER, 0, 0, MPI_COMM_WORLD, e)
    call say('send -1', e)
    call MPI_Irecv(y(1), 1, MPI_INTEGER, mod(rank + size - 1, size), 5, MPI_COMM_WORLD, q(1), e)
    call MPI_Isend(x(1), 1, MPI_INTEGER, mod(rank + 1, size), 5, MPI_COMM_WORLD, q(2), e)
    q(3) = MPI_REQUEST_NULL
    call MPI_Waitall(3, q, MPI_STATUSES_IGNORE, e)
    call say('waitall', e, (/y(1)/))
    call MPI_Waitany(3, q, index, st, e)
    call say('waitany of none', e, (/index - MPI_UNDEFINED, SOURCE(st) - MPI_ANY_SOURCE/))
    call MPI_Testany(3, q, index, flag, MPI_STATUS_IGNORE, e)
    call say('testany of none', e, (/index - MPI_UNDEFINED, merge(1, 0, flag)/))
    call MPI_Irecv(y(2), 1, MPI_INTEGER, mod(rank + size - 1, size), 6, MPI_COMM_WORLD, q(2), e)
    q(1) = MPI_REQUEST_NULL
    call MPI_Send(x(2), 1, MPI_INTEGER, mod(rank + 1, size), 6, MPI_COMM_WORLD, e)
    call MPI_Waitsome(3, q, count, indices, sts, e)
    call say('waitsome', e, (/count, indices(1), y(2)/))
    call MPI_Waitsome(3, q, count, indices, MPI_STATUSES_IGNORE, e)
    call say('waitsome of none', e, (/count - MPI_UNDEFINED/))
    null = MPI_REQUEST_NULL
    call MPI_Request_get_status(null, flag, st, e)
    call say('get_status of null', e, (/merge(1, 0, flag)/))
    call MPI_Irecv(y, 1, MPI_INTEGER, rank, 77, MPI_COMM_WORLD, q(1), e)
    call MPI_Cancel(q(1), e)
    call MPI_Wait(q(1), st, e)
    call MPI_Test_cancelled(st, flag, e)
    call say('cancelled', e, (/merge(1, 0, flag)/))
    call MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, flag, MPI_STATUS_IGNORE, e)
    call say('iprobe', e, (/merge(1, 0, flag)/))
end subroutine

subroutine collectives()
    FACE
    use said
    implicit none
    HEADER
    external add_up
    integer :: e, x(8), y(8), i
    integer :: counts(8), shifts(8)
    A_DATATYPE :: types(8), type
    A_OP :: op
    integer(MPI_ADDRESS_KIND) :: at(1)
    x = (/(rank * 10 + i, i=1, 8)/)
    call MPI_Allreduce(MPI_IN_PLACE, x, 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, e)
    call say('allreduce in place', e, x(1:2))
    y = -1
    if (rank == 0) then
        y(1) = 7
        call MPI_Gather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, y, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, e)
    else
        call MPI_Gather(x(3), 1, MPI_INTEGER, y, 0, MPI_DATATYPE_NULL, 0, MPI_COMM_WORLD, e)
    end if
    call say('gather in place', e, y(1:3))
    counts = 1
    types = MPI_INTEGER
    shifts = (/(4 * (i - 1), i=1, 8)/)
    y = (/(rank * 100 + i, i=1, 8)/)
    call MPI_Alltoallw(MPI_IN_PLACE, counts, shifts, types, y, counts, shifts, types, MPI_COMM_WORLD, e)
    call say('alltoallw in place', e, y(1:size))
    call MPI_Op_create(add_up, .true., op, e)
    call MPI_Reduce(x(4), y(1), 2, MPI_INTEGER, op, 0, MPI_COMM_WORLD, e)
    if (rank == 0 .and. size == 1) call say('own operation', e, y(1:2))
    call MPI_Op_free(op, e)
    call say('op_free', e, (/merge(1, 0, op == MPI_OP_NULL)/))
    call MPI_Get_address(x, at(1), e)
    call MPI_Type_create_hindexed(1, (/2/), at, MPI_INTEGER, type, e)
    call MPI_Type_commit(type, e)
    call MPI_Bcast(MPI_BOTTOM, 1, type, 0, MPI_COMM_WORLD, e)
    call say('bcast bottom', e, x(1:2))
    call MPI_Type_free(type, e)
    call MPI_Bcast(x, 1, MPI_INTEGER, size, MPI_COMM_WORLD, e)
    call say('bcast from nobody', e)
end subroutine

subroutine errors()
    FACE
    use said
    implicit none
    HEADER
    external count_errors
    A_ERRHANDLER :: h, now
    A_COMM :: c, none
    integer :: e, times
    common /counted/ times
    times = 0
    call MPI_Comm_dup(MPI_COMM_WORLD, c, e)
    call MPI_Comm_create_errhandler(count_errors, h, e)
    call MPI_Comm_set_errhandler(c, h, e)
    call MPI_Comm_get_errhandler(c, now, e)
    call say('errhandler', e, (/merge(1, 0, now == h)/))
    call MPI_Send(e, 1, MPI_INTEGER, size + 5, 0, c, e)
    call say('handled', e, (/times/))
    call MPI_Comm_call_errhandler(c, MPI_ERR_OTHER, e)
    call say('called', e, (/times/))
    call MPI_Errhandler_free(h, e)
    call MPI_Comm_free(c, e)
    call say('comm_free', e, (/merge(1, 0, c == MPI_COMM_NULL)/))
    none = MPI_COMM_NULL
    call MPI_Comm_free(none, e)
    call say('comm_free of null', e)
end subroutine

subroutine words()
    FACE
    use said
    implicit none
    HEADER
    character(20) :: value_of
    character(MPI_MAX_OBJECT_NAME) :: name
    character(MPI_MAX_INFO_KEY) :: key
    A_INFO :: info
    A_COMM :: cart
    integer :: e, n, dims(2), coords(2), i, keyval
    integer(MPI_ADDRESS_KIND) :: value, extra, got
    logical :: flag, periods(2)
    call MPI_Info_create(info, e)
    call MPI_Info_set(info, '  a key  ', '  some value ', e)
    call MPI_Info_set(info, 'other', 'x', e)
    call MPI_Info_get_nkeys(info, n, e)
    call say('info keys', e, (/n/))
    value_of = ' '
    call MPI_Info_get(info, 'a key', 19, value_of, flag, e)
    call say('info <'//trim(value_of)//'>', e, (/merge(1, 0, flag)/))
    call MPI_Info_get_valuelen(info, 'a key', n, flag, e)
    call say('info valuelen', e, (/n/))
    call MPI_Info_get_nthkey(info, 1, key, e)
    call say('info key <'//trim(key)//'>', e)
    call MPI_Info_delete(info, 'nothing', e)
    call say('info delete', e)
    call MPI_Info_free(info, e)
    dims = 0
    call MPI_Dims_create(size, 2, dims, e)
    call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, (/.true., .false./), .false., cart, e)
    call MPI_Cart_get(cart, 2, dims, periods, coords, e)
    call say('cart', e, (/merge(1, 0, periods)/))
    call MPI_Cart_shift(cart, 1, 1000, i, n, e)
    call say('cart_shift', e, (/i - MPI_PROC_NULL, n - MPI_PROC_NULL/))
    call MPI_Comm_set_name(cart, 'a grid  ', e)
    call MPI_Comm_get_name(cart, name, n, e)
    call say('name <'//name(1:n)//'>', e)
    call MPI_Comm_free(cart, e)
    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, value, flag, e)
    call say('attribute', e, (/merge(1, 0, flag)/))
    extra = 3
    value = 42
    got = 0
    call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, keyval, extra, e)
    call MPI_Comm_set_attr(MPI_COMM_SELF, keyval, value, e)
    call MPI_Comm_dup(MPI_COMM_SELF, cart, e)
    call MPI_Comm_get_attr(cart, keyval, got, flag, e)
    call say('copied attribute', e, (/int(got), merge(1, 0, flag)/))
    call MPI_Comm_free(cart, e)
    call MPI_Comm_delete_attr(MPI_COMM_SELF, keyval, e)
    call MPI_Comm_free_keyval(keyval, e)
    call say('keyval', e, (/merge(1, 0, keyval == MPI_KEYVAL_INVALID)/))
end subroutine

subroutine sessions()
    FACE
    use said
    implicit none
    HEADER
    A_SESSION :: s
    A_GROUP :: g
    A_COMM :: c
    A_INFO :: info
    A_ERRHANDLER :: h
    integer :: e, n, length, sum
    character(64) :: name
    call MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, s, e)
    call say('session', e)
    call MPI_Session_get_num_psets(s, MPI_INFO_NULL, n, e)
    call say('psets', e, (/merge(1, 0, n >= 2)/))
    length = 0
    call MPI_Session_get_nth_pset(s, MPI_INFO_NULL, 0, length, name, e)
    call say('length of a name', e, (/merge(1, 0, length >= len('mpi://WORLD'))/))
    call MPI_Session_get_errhandler(s, h, e)
    call say('its handler', e)
    call MPI_Session_get_pset_info(s, 'mpi://WORLD', info, e)
    call say('pset_info', e)
    call MPI_Info_free(info, e)
    call MPI_Group_from_session_pset(s, 'mpi://WORLD', g, e)
    call MPI_Group_size(g, n, e)
    call say('world', e, (/n/))
    call MPI_Comm_create_from_group(g, 'edges', MPI_INFO_NULL, MPI_ERRORS_RETURN, c, e)
    call say('its communicator', e)
    call MPI_Allreduce(rank, sum, 1, MPI_INTEGER, MPI_SUM, c, e)
    call say('its sum', e, (/sum/))
    call MPI_Comm_free(c, e)
    call MPI_Group_free(g, e)
    call MPI_Session_finalize(s, e)
    call say('finalized', e)
end subroutine

#ifndef NO_PARTITIONED
subroutine partitioned()
    FACE
    use said
    implicit none
    HEADER
    integer, parameter :: parts = 4, each = 8
    integer(MPI_COUNT_KIND) :: n = each
    integer :: e, i, x(parts * each), y(parts * each), round
    A_REQUEST :: q(2)
    logical :: flag
    call MPI_Psend_init(x, parts, n, MPI_INTEGER, mod(rank + 1, size), 3, MPI_COMM_WORLD, MPI_INFO_NULL, q(1), e)
    call say('psend_init', e)
    call MPI_Precv_init(y, parts, n, MPI_INTEGER, mod(rank + size - 1, size), 3, MPI_COMM_WORLD, MPI_INFO_NULL, q(2), e)
    call say('precv_init', e)
    do round = 1, 3
        x = (/(round * 1000 + rank * 100 + i, i=1, parts * each)/)
        y = 0
        call MPI_Startall(2, q, e)
        call MPI_Pready(2, q(1), e)
        call MPI_Pready_range(0, 1, q(1), e)
        call MPI_Pready_list(1, (/3/), q(1), e)
        call say('pready', e)
        call MPI_Parrived(q(2), 3, flag, e)
        call say('parrived', e)
        call MPI_Waitall(2, q, MPI_STATUSES_IGNORE, e)
        call say('parts', e, (/y(1), y(parts * each)/))
    end do
    call MPI_Request_free(q(1), e)
    call MPI_Request_free(q(2), e)
    call say('request_free', e, (/merge(1, 0, q(2) == MPI_REQUEST_NULL)/))
end subroutine
#endif

program edges
    FACE
    use said
    implicit none
    HEADER
    integer :: e, round
    call MPI_Init(e)
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, e)
    call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN, e)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, e)
    call MPI_Comm_size(MPI_COMM_WORLD, size, e)
    do round = 1, 3 ! a checkpoint may come in any of them
        call messages()
        call collectives()
        call errors()
        call words()
        call sessions()
#ifndef NO_PARTITIONED
        call partitioned()
#endif
    end do
    call MPI_Finalize(e)
    call say('end:', e)
end program
