add_mpi_test(NAME store_kill_memory SOURCES store_kill.c ARGS memory 1 1 NP 4 SPARES 2 TIMEOUT 120 LABELS "store;fault")
