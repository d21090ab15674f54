# Tests. Every MPI test has a timeout that ends in a failure with the stacks of all ranks.

# Let a test or benchmark program use a library of ours and the internal headers of every layer.
function(mend_use_layers target)
    get_property(built GLOBAL PROPERTY MEND_LAYERS_BUILT)
    foreach(layer IN LISTS built)
        target_include_directories(${target} PRIVATE
            $<TARGET_PROPERTY:mend_${layer},INTERFACE_INCLUDE_DIRECTORIES>
            ${CMAKE_SOURCE_DIR}/src/${layer})
    endforeach()
    if(MEND_WITH_MPI)
        target_link_libraries(${target} PRIVATE mend_static)
    else()
        target_link_libraries(${target} PRIVATE mend-core_static)
    endif()
endfunction()

# mend_unit_test(NAME n [MPI] SOURCES … [LABELS …] [TIMEOUT s] [ARGS …])   cmocka, one process
# Without MPI it is built against libmend-core only and also runs in the sanitizer builds.
function(mend_unit_test)
    cmake_parse_arguments(ARG "MPI" "NAME;TIMEOUT" "SOURCES;LABELS;ARGS" ${ARGN})
    if(ARG_MPI AND NOT MEND_WITH_MPI)
        return()
    endif()
    add_executable(test_${ARG_NAME} ${ARG_SOURCES})
    set_target_properties(test_${ARG_NAME} PROPERTIES
        RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
    get_property(built GLOBAL PROPERTY MEND_LAYERS_BUILT)
    foreach(layer IN LISTS built)
        if(ARG_MPI OR layer IN_LIST MEND_CORE_LAYERS)
            target_include_directories(test_${ARG_NAME} PRIVATE
                $<TARGET_PROPERTY:mend_${layer},INTERFACE_INCLUDE_DIRECTORIES>
                ${CMAKE_SOURCE_DIR}/src/${layer})
        endif()
    endforeach()
    if(ARG_MPI)
        target_link_libraries(test_${ARG_NAME} PRIVATE mend_static PkgConfig::CMOCKA)
    else()
        target_link_libraries(test_${ARG_NAME} PRIVATE mend-core_static PkgConfig::CMOCKA)
    endif()
    if(NOT ARG_TIMEOUT)
        set(ARG_TIMEOUT 120)
    endif()
    add_test(NAME unit.${ARG_NAME} COMMAND test_${ARG_NAME} ${ARG_ARGS})
    set_tests_properties(unit.${ARG_NAME} PROPERTIES TIMEOUT ${ARG_TIMEOUT} LABELS "unit;${ARG_LABELS}")
endfunction()

# add_mpi_test(NAME n (SOURCES … | PROGRAM target | SCRIPT file) NP n [SPARES s] [NODES k]
#              [FAULT text] [KILL rank@place] [KILL_RANDOM seed [KILL_WINDOW ms]] [SPAWN]
#              [ARGS …] [ENV K=V …] [LABELS …] TIMEOUT t)
#
# KILL: that rank dies by SIGKILL when it reaches that fault point. KILL_RANDOM: a rank dies at a time
# (within KILL_WINDOW after all ranks are there) that both come from the seed. NODES: on emulated nodes
# (tests/harness/nodes), skipped where namespaces are not allowed. SPAWN: MPI_Comm_spawn will be used.
# On nodes: MEND_TEST_DIR is shared, MEND_TEST_LOCAL is each node's own.
#
# Runs NP+SPARES ranks under the flags of share/launch. The program proves its result by writing the
# word PASS to the file that MEND_TEST_MARKER names (one rank, at its very end): mpirun's exit code is
# not believed alone. SPARES reaches the program as MEND_TEST_SPARES.
function(add_mpi_test)
    cmake_parse_arguments(ARG "SPAWN"
        "NAME;NP;SPARES;NODES;FAULT;KILL;KILL_RANDOM;KILL_WINDOW;TIMEOUT;PROGRAM;SCRIPT" "SOURCES;ARGS;ENV;LABELS" ${ARGN})
    if(NOT MEND_WITH_MPI)
        return()
    endif()
    if(ARG_SOURCES)
        add_executable(mpi_${ARG_NAME} ${ARG_SOURCES})
        set_target_properties(mpi_${ARG_NAME} PROPERTIES
            RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
        mend_use_layers(mpi_${ARG_NAME})
        set(command $<TARGET_FILE:mpi_${ARG_NAME}>)
    elseif(ARG_PROGRAM)
        set(command $<TARGET_FILE:${ARG_PROGRAM}>)
    else()
        set(command ${CMAKE_CURRENT_SOURCE_DIR}/${ARG_SCRIPT})
    endif()
    foreach(option SPARES NODES)
        if(NOT ARG_${option})
            set(ARG_${option} 0)
        endif()
    endforeach()
    set(fault ${ARG_FAULT})
    if(ARG_KILL)
        string(REGEX MATCH "^([0-9]+)@(.+)$" matched "${ARG_KILL}")
        list(APPEND fault "${CMAKE_MATCH_2}:rank=${CMAKE_MATCH_1}:kill")
    endif()
    string(REPLACE ";" "," fault "${fault}")
    set(options --np ${ARG_NP} --spares ${ARG_SPARES} --nodes ${ARG_NODES} --timeout ${ARG_TIMEOUT})
    if(fault)
        list(APPEND options --fault ${fault})
    endif()
    if(ARG_KILL_RANDOM)
        list(APPEND options --kill-random ${ARG_KILL_RANDOM})
    endif()
    if(ARG_KILL_WINDOW)
        list(APPEND options --kill-window ${ARG_KILL_WINDOW})
    endif()
    if(ARG_SPAWN)
        list(APPEND options --spawn)
    endif()
    foreach(pair IN LISTS ARG_ENV)
        list(APPEND options --env ${pair})
    endforeach()
    add_test(NAME mpi.${ARG_NAME}
        COMMAND ${CMAKE_SOURCE_DIR}/tests/harness/mpitest ${options} -- ${command} ${ARG_ARGS})
    math(EXPR slack "${ARG_TIMEOUT} + 60")
    set_tests_properties(mpi.${ARG_NAME} PROPERTIES TIMEOUT ${slack} PROCESSORS 2 SKIP_RETURN_CODE 77
        LABELS "mpi;${ARG_LABELS}")
endfunction()

# mend_cli_test(NAME n SCRIPT file.sh [TIMEOUT s] [LABELS …]): a shell script that uses build/bin/mend.
function(mend_cli_test)
    cmake_parse_arguments(ARG "" "NAME;SCRIPT;TIMEOUT" "LABELS" ${ARGN})
    if(NOT ARG_TIMEOUT)
        set(ARG_TIMEOUT 120)
    endif()
    add_test(NAME cli.${ARG_NAME} COMMAND bash ${CMAKE_CURRENT_SOURCE_DIR}/${ARG_SCRIPT})
    set_tests_properties(cli.${ARG_NAME} PROPERTIES TIMEOUT ${ARG_TIMEOUT} SKIP_RETURN_CODE 77
        LABELS "cli;${ARG_LABELS}"
        ENVIRONMENT "MEND=${CMAKE_BINARY_DIR}/bin/mend;MEND_BUILD=${CMAKE_BINARY_DIR};MEND_SOURCE=${CMAKE_SOURCE_DIR}")
endfunction()
