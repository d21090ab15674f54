# Programs with safe points are linked to the shared library, as a user's are.
function(flow_program name)
    add_executable(${name} ${ARGN})
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
    target_compile_options(${name} PRIVATE -ffp-contract=off)
    target_link_libraries(${name} PRIVATE mend PkgConfig::OMPI m)
endfunction()

if(TARGET mend_flow)
    flow_program(flow_loops flow_loops.c)
    foreach(scenario break continue return nested deep grow move phases kinds)
        add_mpi_test(NAME flow_loops_${scenario} SCRIPT flow_loops.sh
            ARGS $<TARGET_FILE:flow_loops> ${scenario} 9 NP 3 TIMEOUT 600 LABELS flow)
        add_mpi_test(NAME flow_loops_${scenario}_all SCRIPT flow_loops.sh
            ARGS $<TARGET_FILE:flow_loops> ${scenario} 1 NP 3 TIMEOUT 3000 LABELS flow campaign)
    endforeach()
endif()
if(TARGET mend_flow)
    add_mpi_test(NAME flow_campaign SCRIPT flow_campaign.sh ARGS ${CMAKE_BINARY_DIR}/apps 1 25 NP 1 TIMEOUT 900 LABELS flow)
    # a region that grows while the memory level is tight, and a death in the agreement: a copy was lost, yet offered
    add_mpi_test(NAME flow_campaign_grown SCRIPT flow_campaign.sh ARGS ${CMAKE_BINARY_DIR}/apps 1359 1359 NP 1 TIMEOUT 300
        LABELS flow)
    add_mpi_test(NAME flow_campaign_long SCRIPT flow_campaign.sh ARGS ${CMAKE_BINARY_DIR}/apps 1000 1250 NP 1 TIMEOUT 7200
        LABELS flow campaign)
    add_mpi_test(NAME flow_campaign_nodes SCRIPT flow_campaign.sh ARGS ${CMAKE_BINARY_DIR}/apps 2000 2060 NP 10 NODES 4
        TIMEOUT 7200 LABELS flow campaign)
endif()
if(TARGET mend_flow)
    flow_program(flow_learn flow_learn.c)
    foreach(case maximum:live rarely:any butone:live turns:any converge:any honest:dead steady:any hidden:off)
        string(REGEX MATCH "(.*):(.*)" matched ${case})
        add_mpi_test(NAME flow_learn_${CMAKE_MATCH_1} SCRIPT flow_learn.sh
            ARGS $<TARGET_FILE:flow_learn> ${CMAKE_MATCH_1} ${CMAKE_MATCH_2} NP 3 TIMEOUT 600 LABELS flow)
    endforeach()
    flow_program(flow_learn_heat flow_learn_heat.c)
    add_mpi_test(NAME flow_learn_apps SCRIPT flow_learn_apps.sh
        ARGS $<TARGET_FILE:flow_learn_heat> ${CMAKE_BINARY_DIR}/apps NP 3 TIMEOUT 600 LABELS flow)
endif()
if(TARGET mend_flow)
    flow_program(flow_misuse flow_misuse.c)
    add_mpi_test(NAME flow_misuse SCRIPT flow_misuse.sh ARGS $<TARGET_FILE:flow_misuse> NP 2 TIMEOUT 900 LABELS flow)
endif()
if(TARGET mend_flow)
    add_mpi_test(NAME flow_resume SCRIPT flow_resume.sh ARGS ${CMAKE_BINARY_DIR}/apps NP 3 TIMEOUT 1200 LABELS flow)
endif()
if(TARGET mend_flow)
    foreach(step step1 step2 step3 step4 step5)
        flow_program(example_${step} ${CMAKE_SOURCE_DIR}/examples/${step}/${step}.c)
        set_target_properties(example_${step} PROPERTIES OUTPUT_NAME ${step}
            RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/examples)
    endforeach()
    add_mpi_test(NAME flow_steps SCRIPT flow_steps.sh ARGS ${CMAKE_BINARY_DIR}/examples NP 3 TIMEOUT 600 LABELS flow)
endif()
if(TARGET mend_flow)
    flow_program(flow_shrink flow_shrink.c)
    add_mpi_test(NAME flow_shrink SCRIPT flow_shrink.sh ARGS $<TARGET_FILE:flow_shrink> NP 4 TIMEOUT 600 LABELS flow)
endif()
if(TARGET mend_flow)
    flow_program(flow_everything flow_everything.c)
    add_mpi_test(NAME flow_everything SCRIPT flow_everything.sh ARGS $<TARGET_FILE:flow_everything> 1 12 NP 4 TIMEOUT 900 LABELS flow)
    add_mpi_test(NAME flow_everything_long SCRIPT flow_everything.sh ARGS $<TARGET_FILE:flow_everything> 1000 1200 NP 4
        TIMEOUT 7200 LABELS flow campaign)
    # a rank on each of three nodes, spares on the fourth: whoever takes a place was started on another node
    add_mpi_test(NAME flow_everything_nodes SCRIPT flow_everything.sh ARGS $<TARGET_FILE:flow_everything> 2 6 NP 4 NODES 4
        TIMEOUT 600 LABELS flow)
    add_mpi_test(NAME flow_everything_nodes_long SCRIPT flow_everything.sh ARGS $<TARGET_FILE:flow_everything> 2000 2060 NP 4
        NODES 4 TIMEOUT 7200 LABELS flow campaign)
endif()
if(TARGET mend_flow)
    mend_quick(mpi.flow_steps mpi.flow_campaign_grown)
endif()
# Views in GPU memory, over the stand-in of the driver. tests/device/counts.sh runs the same program on a GPU.
if(TARGET mend_flow)
    flow_program(device_views ${CMAKE_SOURCE_DIR}/tests/device/views.c)
    target_link_libraries(device_views PRIVATE Threads::Threads ${CMAKE_DL_LIBS})
    add_dependencies(device_views fake_driver)
    foreach(seed RANGE 1 8)
        set(label "")
        if(seed GREATER 1)
            set(label campaign)
        endif()
        add_mpi_test(NAME flow_device_views_${seed} PROGRAM device_views ARGS 2 ${seed} NP 4 SPARES 2 TIMEOUT 240
            LABELS "flow;fault;device;${label}"
            ENV MEND_FLOW_SPARES=2 MEND_FLOW_EVERY=7 MEND_STORE_DELTA=hash MEND_DEVICE_DRIVER=${CMAKE_BINARY_DIR}/tests/libfake_driver.so)
    endforeach()
    # the driver fails in one save, which is given up
    add_mpi_test(NAME flow_device_views_broken PROGRAM device_views ARGS 0 1 NP 3 TIMEOUT 120 LABELS "flow;fault;device"
        ENV MEND_FLOW_EVERY=7 MEND_TEST_BREAK=cuMemcpyDtoDAsync MEND_DEVICE_DRIVER=${CMAKE_BINARY_DIR}/tests/libfake_driver.so)
endif()
