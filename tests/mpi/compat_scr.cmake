# The SCR face, as its users use it.
if(MEND_WITH_MPI)
    add_executable(mpi_scr compat_scr.c)
    set_target_properties(mpi_scr PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
    mend_use_layers(mpi_scr)
    target_include_directories(mpi_scr PRIVATE ${CMAKE_SOURCE_DIR}/include/compat)
endif()
add_mpi_test(NAME scr SCRIPT compat_scr.sh ARGS $<TARGET_FILE:mpi_scr> NP 4 TIMEOUT 300 LABELS "store")
