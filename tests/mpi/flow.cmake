if(TARGET mend_flow)
add_mpi_test(NAME flow_own SOURCES flow_own.c NP 3 SPARES 2 TIMEOUT 120)
endif()
