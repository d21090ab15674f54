add_mpi_test(NAME process_jump SOURCES process_jump.c NP 4 SPARES 2 TIMEOUT 60 LABELS process)
add_mpi_test(NAME process_campaign_one SOURCES process_campaign.c NP 4 SPARES 2 ARGS 7 jump TIMEOUT 120 LABELS process)
