# The flow layer with parts of the user's own; see flow_own.c.
if(TARGET mend_flow)
    add_mpi_test(NAME flow_own SOURCES flow_own.c ARGS own own NP 3 SPARES 2 TIMEOUT 120 LABELS flow)
    add_mpi_test(NAME flow_own_repair PROGRAM mpi_flow_own ARGS mend own NP 3 SPARES 2 TIMEOUT 120 LABELS flow)
    add_mpi_test(NAME flow_own_store PROGRAM mpi_flow_own ARGS own mend NP 3 SPARES 2 TIMEOUT 120 LABELS flow)
    foreach(store own mend) # no repair at all: started again after each death
        add_mpi_test(NAME flow_restart_${store} SCRIPT flow_restart.sh ARGS $<TARGET_FILE:mpi_flow_own> ${store} NP 3
            TIMEOUT 240 LABELS flow)
    endforeach()
endif()
