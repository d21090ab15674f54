# The VeloC face, as its users use it.
add_mpi_test(NAME veloc_sync SOURCES compat_veloc.c NP 4 ARGS sync TIMEOUT 120)
add_mpi_test(NAME veloc_async PROGRAM mpi_veloc_sync NP 4 ARGS async TIMEOUT 120)
add_mpi_test(NAME veloc_relaunch SCRIPT compat_veloc_relaunch.sh NP 4 TIMEOUT 300
    ENV "VELOC_PROGRAM=${CMAKE_BINARY_DIR}/tests/mpi_veloc_sync")
mend_quick(mpi.veloc_sync)
# Both faces with data in GPU memory.
foreach(face veloc fenix)
    set(program PROGRAM mpi_compat_device_veloc)
    if(face STREQUAL veloc)
        set(program SOURCES compat_device.c)
    endif()
    add_mpi_test(NAME compat_device_${face} ${program} ARGS ${face} NP 3 TIMEOUT 120 LABELS device
        ENV MEND_DEVICE_DRIVER=${CMAKE_BINARY_DIR}/tests/libfake_driver.so)
endforeach()
