add_mpi_test(NAME harness_kill SOURCES harness_kill.c NP 3 TIMEOUT 60)
add_mpi_test(NAME harness_shrink SOURCES harness_shrink.c ARGS 0 NP 3 TIMEOUT 120)
if(MEND_WITH_MPI)
    add_mpi_test(NAME harness_nodes_names SCRIPT harness_nodes.sh ARGS names
        $<TARGET_FILE:mpi_harness_shrink> NP 6 NODES 3 TIMEOUT 120)
    add_mpi_test(NAME harness_nodes_ranks SCRIPT harness_nodes.sh ARGS ranks
        $<TARGET_FILE:mpi_harness_shrink> NP 6 NODES 3 TIMEOUT 180)
    add_mpi_test(NAME harness_nodes_off SCRIPT harness_nodes.sh ARGS off
        $<TARGET_FILE:mpi_harness_shrink> NP 6 NODES 3 TIMEOUT 400)
    set_tests_properties(mpi.harness_nodes_off PROPERTIES PROCESSORS 1) # it mostly waits
    foreach(seed 1 2 3)
        add_mpi_test(NAME harness_kill_random_${seed} PROGRAM mpi_harness_shrink ARGS 1 NP 4
            KILL_RANDOM ${seed} TIMEOUT 120)
    endforeach()
endif()
add_mpi_test(NAME harness_cases SOURCES harness_cases.c ARGS pass NP 3 TIMEOUT 60)
if(MEND_WITH_MPI)
    add_mpi_test(NAME harness_kill_at_place PROGRAM mpi_harness_cases ARGS place NP 4 KILL 2@io.rename TIMEOUT 120)
endif()
mend_quick(mpi.harness_kill_at_place mpi.harness_kill_random_1)
