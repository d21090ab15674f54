add_mpi_test(NAME process_jump SOURCES process_jump.c NP 4 SPARES 2 TIMEOUT 60 LABELS process)
