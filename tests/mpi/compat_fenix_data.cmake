# Fenix' data functions, without and with real kills.
add_mpi_test(NAME fenix_data SOURCES compat_fenix_data.c NP 4 ARGS 1 0 TIMEOUT 120)
add_mpi_test(NAME fenix_data_kill PROGRAM mpi_fenix_data NP 4 SPARES 1 ARGS 1 1 TIMEOUT 120)
add_mpi_test(NAME fenix_data_kills PROGRAM mpi_fenix_data NP 4 SPARES 3 ARGS 1 3 TIMEOUT 180)
add_mpi_test(NAME fenix_data_parity PROGRAM mpi_fenix_data NP 6 ARGS 5 0 TIMEOUT 120)
add_mpi_test(NAME fenix_data_parity_kills PROGRAM mpi_fenix_data NP 6 SPARES 2 ARGS 5 2 TIMEOUT 180)
mend_quick(mpi.fenix_data_kill)
# Subsets over several snapshots.
add_mpi_test(NAME fenix_subset SOURCES compat_fenix_subset.c NP 4 ARGS 1 TIMEOUT 120)
add_mpi_test(NAME fenix_subset_parity PROGRAM mpi_fenix_subset NP 4 ARGS 5 TIMEOUT 120)
add_mpi_test(NAME fenix_subset_kill PROGRAM mpi_fenix_subset NP 4 SPARES 1 ARGS 1 TIMEOUT 120)
add_mpi_test(NAME fenix_subset_parity_kill PROGRAM mpi_fenix_subset NP 4 SPARES 1 ARGS 5 TIMEOUT 120)
