# The VeloC face, as its users use it.
add_mpi_test(NAME veloc_sync SOURCES compat_veloc.c NP 4 ARGS sync TIMEOUT 120)
add_mpi_test(NAME veloc_async PROGRAM mpi_veloc_sync NP 4 ARGS async TIMEOUT 120)
add_mpi_test(NAME veloc_relaunch SCRIPT compat_veloc_relaunch.sh NP 4 TIMEOUT 300
    ENV "VELOC_PROGRAM=${CMAKE_BINARY_DIR}/tests/mpi_veloc_sync")
mend_quick(mpi.veloc_sync)
