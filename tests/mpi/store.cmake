add_mpi_test(NAME store_levels SOURCES store_levels.c NP 4 TIMEOUT 240 LABELS store)
add_mpi_test(NAME store_levels_serialized PROGRAM mpi_store_levels ARGS 2 NP 3 TIMEOUT 240 LABELS store)
add_mpi_test(NAME store_damage SOURCES store_damage.c NP 4 TIMEOUT 240 LABELS store)
add_mpi_test(NAME store_device SOURCES store_device.c NP 3 TIMEOUT 120 LABELS "store;device"
    ENV MEND_DEVICE_DRIVER=${CMAKE_BINARY_DIR}/tests/libfake_driver.so)
mend_quick(mpi.store_levels mpi.store_damage)
# messages and bytes a rank, against the formulas of docs/guide/scale.md
add_mpi_test(NAME store_count_4 SOURCES store_count.c NP 4 TIMEOUT 120 LABELS store)
foreach(ranks 8 16 32 64)
    add_mpi_test(NAME store_count_${ranks} PROGRAM mpi_store_count_4 NP ${ranks} TIMEOUT 600 LABELS store)
endforeach()
foreach(ranks 16 32 64)
    set_property(TEST mpi.store_count_${ranks} APPEND PROPERTY LABELS campaign)
endforeach()
