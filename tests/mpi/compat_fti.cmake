# The FTI face, as its users use it.
if(MEND_WITH_MPI)
    add_executable(mpi_fti compat_fti.c)
    set_target_properties(mpi_fti PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
    mend_use_layers(mpi_fti)
    target_include_directories(mpi_fti PRIVATE ${CMAKE_SOURCE_DIR}/include/compat)
endif()
add_mpi_test(NAME fti SCRIPT compat_fti.sh ARGS $<TARGET_FILE:mpi_fti> NP 4 TIMEOUT 300 LABELS "store")
