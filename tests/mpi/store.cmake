add_mpi_test(NAME store_levels SOURCES store_levels.c NP 4 TIMEOUT 240 LABELS store)
add_mpi_test(NAME store_levels_serialized PROGRAM mpi_store_levels ARGS 2 NP 3 TIMEOUT 240 LABELS store)
add_mpi_test(NAME store_damage SOURCES store_damage.c NP 4 TIMEOUT 240 LABELS store)
mend_quick(mpi.store_levels mpi.store_damage)
