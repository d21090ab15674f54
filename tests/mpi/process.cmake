# The process layer. process_cases has one case per run; the campaign kills at random.
add_mpi_test(NAME process_jump SOURCES process_jump.c NP 4 SPARES 2 TIMEOUT 120 LABELS process)
add_mpi_test(NAME fenix_jump SOURCES fenix_jump.c NP 4 SPARES 2 TIMEOUT 120 LABELS process)
add_mpi_test(NAME fenix_many SOURCES fenix_many.c NP 4 SPARES 2 ARGS 3 TIMEOUT 120 LABELS process)
add_mpi_test(NAME fenix_many_threads PROGRAM mpi_fenix_many NP 4 SPARES 2 ARGS 2 threads TIMEOUT 120 LABELS process)
add_mpi_test(NAME fenix_many_campaign SCRIPT fenix_many.sh NP 4 SPARES 2 ARGS ${CMAKE_BINARY_DIR}/tests/mpi_fenix_many 500 1
    TIMEOUT 7200 LABELS process campaign)
add_mpi_test(NAME fenix_no_jump_info SOURCES fenix_no_jump.c NP 4 SPARES 1 ARGS info TIMEOUT 120 LABELS process)
add_mpi_test(NAME fenix_no_jump_option PROGRAM mpi_fenix_no_jump_info NP 4 SPARES 1 ARGS option TIMEOUT 120
    LABELS process)

add_mpi_test(NAME process_wrong SOURCES process_cases.c process_cases_comms.c process_cases_hang.c NP 4 ARGS wrong TIMEOUT 120 LABELS process)
# name, ranks, spares
foreach(case "rank_zero 4 2" "several 4 2" "one_by_one 4 2" "all_active 4 4" "zero_spares_shrink 4 0" "zero_spares_stop 4 0"
        "spare_then_shrink 4 1" "spares_first 4 2" "callbacks 4 2" "builders 4 2" "again_and_again 3 2"
        "side_by_side 8 0" "other_error 4 1" "stopped 4 1" "watchdog 4 1" "requests 4 1")
    separate_arguments(case)
    list(GET case 0 name)
    list(GET case 1 np)
    list(GET case 2 spares)
    add_mpi_test(NAME process_${name} PROGRAM mpi_process_wrong NP ${np} SPARES ${spares} ARGS ${name}
        TIMEOUT 120 LABELS process)
endforeach()
add_mpi_test(NAME process_watchdog_away PROGRAM mpi_process_wrong NP 4 NODES 2 ARGS watchdog_away TIMEOUT 120
    LABELS process)
if(MEND_WITH_MPI)
    add_library(process_late_waits SHARED process_late_waits.c)
    set_target_properties(process_late_waits PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
    target_link_libraries(process_late_waits PRIVATE ${CMAKE_DL_LIBS})
    add_executable(mpi_process_late process_late.c)
    set_target_properties(mpi_process_late PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
    mend_use_layers(mpi_process_late)
    add_mpi_test(NAME process_late SCRIPT process_late.sh
        ARGS $<TARGET_FILE:mpi_process_late> $<TARGET_FILE:process_late_waits> NP 4 SPARES 1 TIMEOUT 180 LABELS process)
endif()
add_mpi_test(NAME ulfm_star SOURCES ulfm_star.c NP 4 TIMEOUT 60 LABELS "process;ulfm")
add_mpi_test(NAME process_large SOURCES process_large.c NP 4 SPARES 2 NODES 3 TIMEOUT 180 LABELS process)
foreach(kind dup idup split split_type create create_group cart graph dist_graph intercomm
        dup_of_split_with_handler)
    add_mpi_test(NAME process_derived_${kind} PROGRAM mpi_process_wrong NP 4 SPARES 1 ARGS derived ${kind}
        TIMEOUT 120 LABELS process)
endforeach()
foreach(kind split group)
    add_mpi_test(NAME process_making_${kind} PROGRAM mpi_process_wrong NP 6 SPARES 2 ARGS making ${kind}
        TIMEOUT 120 LABELS process)
endforeach()
add_mpi_test(NAME process_spawn PROGRAM mpi_process_wrong NP 3 SPAWN ARGS spawn TIMEOUT 120 LABELS process)

# A second death at every named step of a repair: of rank 2 (a survivor) and of rank 4 (the spare).
add_mpi_test(NAME process_dies_at_alarm PROGRAM mpi_process_wrong NP 4 SPARES 3 ARGS in_repair
    FAULT process.alarm:rank=2:kill TIMEOUT 120 LABELS process)
foreach(place meet.begin meet.shrunk meet.cards meet.world meet.vote meet.agreed resume)
    add_mpi_test(NAME process_dies_at_${place} PROGRAM mpi_process_wrong NP 4 SPARES 3 ARGS in_repair
        FAULT process.${place}:rank=2:hit=2:kill TIMEOUT 120 LABELS process) # hit 1 is the start
endforeach()
foreach(place meet.begin meet.shrunk meet.cards meet.world meet.vote meet.agreed)
    add_mpi_test(NAME process_spare_dies_at_${place} PROGRAM mpi_process_wrong NP 4 SPARES 3 ARGS in_repair
        FAULT process.${place}:rank=4:hit=2:kill TIMEOUT 120 LABELS process)
endforeach()
add_mpi_test(NAME process_spare_dies_at_wake PROGRAM mpi_process_wrong NP 4 SPARES 3 ARGS in_repair
    FAULT process.spare.wake:rank=4:kill TIMEOUT 120 LABELS process)
foreach(rank 0 2)
    add_mpi_test(NAME process_rank${rank}_dies_at_callback PROGRAM mpi_process_wrong NP 4 SPARES 3 ARGS in_callback
        FAULT process.callback:rank=${rank}:kill TIMEOUT 120 LABELS process)
endforeach()
# Deaths in the first meeting: somebody else takes the rank, or nobody has to.
foreach(place start meet.begin meet.shrunk meet.connected meet.cards meet.world meet.vote meet.agreed)
    add_mpi_test(NAME process_dies_starting_at_${place} PROGRAM mpi_process_wrong NP 4 SPARES 3 ARGS at_the_end
        FAULT process.${place}:rank=1:kill TIMEOUT 120 LABELS process)
endforeach()
foreach(place finalize.enter finalize.passed finalize.agreed)
    add_mpi_test(NAME process_dies_at_${place} PROGRAM mpi_process_wrong NP 4 SPARES 2 ARGS at_the_end
        FAULT process.${place}:rank=0:kill TIMEOUT 120 LABELS process)
endforeach()

# Random deaths: at least 20 recoveries in every check, at least 500 in the campaign.
add_mpi_test(NAME process_campaign_program SOURCES process_campaign.c NP 4 SPARES 2 ARGS 7 jump TIMEOUT 120
    LABELS process)
set(campaign ${CMAKE_BINARY_DIR}/tests/mpi_process_campaign_program)
add_mpi_test(NAME process_campaign_short SCRIPT process_campaign.sh NP 1
    ARGS ${campaign} 20 100 4+2 8+3 6+2 TIMEOUT 900 LABELS process)
add_mpi_test(NAME process_campaign_long SCRIPT process_campaign.sh NP 1
    ARGS ${campaign} 500 10000 4+2 6+2 8+3 12+4 TIMEOUT 7200 LABELS process campaign)
add_mpi_test(NAME process_campaign_nodes SCRIPT process_campaign.sh NP 1 NODES 4
    ARGS ${campaign} 60 20000 8+4 12+4 ENV CAMPAIGN_STEPS=120 TIMEOUT 3600 LABELS process campaign)

# The examples print what they should although ranks die.
foreach(example "hello|5|4|generation 1, 1 failed" "ring|5|1|token 40: right"
        "stencil|6|1|heat after 400 steps: 1079.436637043229 (2 failures survived)"
        "no_jump|5|1|sum of the ranks of 4: 6 after 1 failures" "shrink|4|1|3 ranks, sum of all tasks: 499500")
    string(REPLACE "|" ";" parts "${example}")
    list(GET parts 0 name)
    list(GET parts 1 ranks)
    list(GET parts 2 lines)
    list(GET parts 3 text)
    add_mpi_test(NAME process_example_${name} SCRIPT process_example.sh NP 1
        ARGS ${ranks} ${CMAKE_BINARY_DIR}/examples/example-${name} ${lines} "${text}" TIMEOUT 120 LABELS process)
endforeach()

# Profiling tools: in front of Mend and behind it.
add_library(process_tool SHARED process_tool.c)
set_target_properties(process_tool PROPERTIES C_VISIBILITY_PRESET default)
target_link_libraries(process_tool PRIVATE PkgConfig::OMPI)
foreach(order tool_first mend_first)
    add_executable(process_${order} process_tooled.c)
    set_target_properties(process_${order} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
    if(order STREQUAL tool_first)
        target_link_libraries(process_${order} PRIVATE process_tool mend)
    else()
        target_link_libraries(process_${order} PRIVATE mend process_tool)
    endif()
    add_mpi_test(NAME process_${order} PROGRAM process_${order} NP 4 SPARES 1 TIMEOUT 120 LABELS process)
endforeach()
add_mpi_test(NAME process_spare_cpu SOURCES process_spare_cpu.c NP 2 SPARES 2 TIMEOUT 120 LABELS process)
add_mpi_test(NAME process_events SOURCES process_events.c NP 4 SPARES 1 TIMEOUT 120 LABELS process)

# Whole nodes are lost, ranks and storage: the one with rank 0, then the other one with ranks; one of
# each kind (with ranks, with spares) at once.
add_executable(mpi_process_node process_node.c)
set_target_properties(mpi_process_node PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
mend_use_layers(mpi_process_node)
add_mpi_test(NAME process_nodes_one_by_one SCRIPT process_node.sh NP 1 NODES 4
    ARGS ${CMAKE_BINARY_DIR}/tests/mpi_process_node 6+6 0 1 TIMEOUT 420 LABELS process)
add_mpi_test(NAME process_nodes_at_once SCRIPT process_node.sh NP 1 NODES 4
    ARGS ${CMAKE_BINARY_DIR}/tests/mpi_process_node 6+6 1,2 TIMEOUT 420 LABELS process)
add_mpi_test(NAME process_memory SOURCES process_memory.c NP 3 SPARES 6 TIMEOUT 240 LABELS process)

# The layer under the address sanitizer, with real deaths.
add_mpi_test(NAME process_asan SCRIPT process_asan.sh NP 1 ARGS ${CMAKE_SOURCE_DIR} 20 50000 TIMEOUT 1200
    LABELS process campaign)

# Every fault point of the layer is named by a test of this list.
file(READ ${CMAKE_CURRENT_LIST_FILE} own_text)
file(STRINGS ${CMAKE_SOURCE_DIR}/src/base/include/base/fault_points.def points REGEX "\"process\\.")
foreach(point IN LISTS points)
    string(REGEX REPLACE ".*\"process\\.([^\"]*)\".*" "\\1" point "${point}")
    string(FIND "${own_text}" "${point}" found)
    if(found EQUAL -1)
        message(FATAL_ERROR "no test dies at process.${point}")
    endif()
endforeach()
mend_quick(mpi.process_jump mpi.process_dies_at_meet.agreed mpi.process_derived_split mpi.process_nodes_at_once)
