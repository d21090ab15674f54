mend_unit_test(NAME process_seating MPI SOURCES test_process_seating.c LABELS process)
if(MEND_WITH_MPI)
    mend_unit_test(NAME process_static_mpi SOURCES test_process_static_mpi.c ${CMAKE_SOURCE_DIR}/src/process/intercept.c
        LABELS process)
    target_include_directories(test_process_static_mpi PRIVATE
        $<TARGET_PROPERTY:PkgConfig::OMPI,INTERFACE_INCLUDE_DIRECTORIES>)
endif()
