add_mpi_test(NAME harness_kill SOURCES harness_kill.c NP 3 TIMEOUT 60)
