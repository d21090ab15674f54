# Programs with safe points are linked to the shared library, as a user's are.
function(flow_program name)
    add_executable(${name} ${ARGN})
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
    target_compile_options(${name} PRIVATE -ffp-contract=off)
    target_link_libraries(${name} PRIVATE mend PkgConfig::OMPI m)
endfunction()

if(TARGET mend_flow)
    flow_program(flow_loops flow_loops.c)
    foreach(scenario break continue return nested grow move phases kinds)
        add_mpi_test(NAME flow_loops_${scenario} SCRIPT flow_loops.sh
            ARGS $<TARGET_FILE:flow_loops> ${scenario} 9 NP 3 TIMEOUT 600 LABELS flow)
        add_mpi_test(NAME flow_loops_${scenario}_all SCRIPT flow_loops.sh
            ARGS $<TARGET_FILE:flow_loops> ${scenario} 1 NP 3 TIMEOUT 3000 LABELS flow campaign)
    endforeach()
endif()
if(TARGET mend_flow)
    add_mpi_test(NAME flow_campaign SCRIPT flow_campaign.sh ARGS ${CMAKE_BINARY_DIR}/apps 1 25 NP 1 TIMEOUT 900 LABELS flow)
    add_mpi_test(NAME flow_campaign_long SCRIPT flow_campaign.sh ARGS ${CMAKE_BINARY_DIR}/apps 1000 1250 NP 1 TIMEOUT 7200
        LABELS flow campaign)
    add_mpi_test(NAME flow_campaign_nodes SCRIPT flow_campaign.sh ARGS ${CMAKE_BINARY_DIR}/apps 2000 2060 NP 10 NODES 4
        TIMEOUT 7200 LABELS flow campaign)
endif()
if(TARGET mend_flow)
    flow_program(flow_learn flow_learn.c)
    foreach(case maximum:live rarely:any butone:live turns:any converge:any honest:dead hidden:off)
        string(REGEX MATCH "(.*):(.*)" matched ${case})
        add_mpi_test(NAME flow_learn_${CMAKE_MATCH_1} SCRIPT flow_learn.sh
            ARGS $<TARGET_FILE:flow_learn> ${CMAKE_MATCH_1} ${CMAKE_MATCH_2} NP 3 TIMEOUT 600 LABELS flow)
    endforeach()
endif()
if(TARGET mend_flow)
    flow_program(flow_misuse flow_misuse.c)
    add_mpi_test(NAME flow_misuse SCRIPT flow_misuse.sh ARGS $<TARGET_FILE:flow_misuse> NP 2 TIMEOUT 900 LABELS flow)
endif()
if(TARGET mend_flow)
    add_mpi_test(NAME flow_resume SCRIPT flow_resume.sh ARGS ${CMAKE_BINARY_DIR}/apps NP 3 TIMEOUT 1200 LABELS flow)
endif()
