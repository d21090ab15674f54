if(TARGET mend_flow)
    mend_unit_test(NAME flow_arena MPI SOURCES test_flow_arena.c LABELS flow)
endif()
