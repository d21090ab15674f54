mend_unit_test(NAME process_seating MPI SOURCES test_process_seating.c LABELS process)
