! One program per face: every chapter in each round, so that an image finds the objects of all of them alive.
program chapters
    use shared
    use chapter_p2p
    use chapter_coll
    use chapter_comms
    use chapter_types
    use chapter_objects
    use chapter_rma
    use chapter_io
    implicit none
    integer :: r
    call begin()
    call p2p_begin()
    call coll_begin()
    call comms_begin()
    call types_begin()
    call objects_begin()
    call rma_begin()
    call io_begin()
    do r = 1, rounds
        call p2p_round(r)
        call coll_round(r)
        call comms_round(r)
        call types_round(r)
        call objects_round(r)
        call rma_round(r)
        call io_round(r)
    end do
    call io_end()
    call rma_end()
    call objects_end()
    call types_end()
    call comms_end()
    call coll_end()
    call p2p_end()
    call finish("fortran chapters")
end program
