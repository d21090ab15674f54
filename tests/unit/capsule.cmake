# Rooms of the capsule's lower half that are nearly pure, without MPI.
set(lower ${CMAKE_SOURCE_DIR}/src/capsule/lower)
function(capsule_unit_test name)
    cmake_parse_arguments(ARG "" "" "SOURCES" ${ARGN})
    list(TRANSFORM ARG_SOURCES PREPEND ${lower}/)
    mend_unit_test(NAME capsule_${name} SOURCES test_capsule_${name}.c ${lower}/ground/ground.c ${ARG_SOURCES}
        LABELS capsule)
    target_include_directories(test_capsule_${name} PRIVATE ${CMAKE_SOURCE_DIR}/src/capsule ${lower}
        ${CMAKE_CURRENT_SOURCE_DIR}/without_mpi)
    mend_quick(unit.capsule_${name})
endfunction()
capsule_unit_test(plan SOURCES online/plan.c)
capsule_unit_test(versions SOURCES versions/retention.c versions/candidates.c)
capsule_unit_test(collect SOURCES round/collect.c round/counts.c)
capsule_unit_test(door SOURCES round/door.c)
capsule_unit_test(images SOURCES images/check.c images/selection.c images/look.c images/pagemap.c
    ground/threads.c)
capsule_unit_test(paged SOURCES images/capture.c images/compare.c images/lent.c images/paged.c images/paged_delta.c images/paged_stream.c images/pool.c
    images/selection.c images/look.c ground/threads.c images/track.c)
capsule_unit_test(track SOURCES images/track.c images/pagemap.c)
set_tests_properties(unit.capsule_track PROPERTIES SKIP_RETURN_CODE 77)
capsule_unit_test(undo SOURCES undo/undo.c undo/touched.c undo/log.c undo/quiet.c undo/missed.c undo/apply.c undo/stored.c undo/shared.c)
capsule_unit_test(due SOURCES round/due.c)
