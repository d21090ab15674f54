# Tests. Every test has a time limit that ends in a failure with the stacks of all its processes. A limit is in
# seconds of a quiet machine: tests/harness/yardstick counts them slower on a slow or busy one.
#
# PROCESSORS counts half cores: `make check` gives ctest twice as many as there are cores, and one more. An MPI job with
# its script takes 2, for it waits half of its time. MPICH's ranks spin while they wait: a test that runs them takes 3,
# so that one Open MPI job fits beside it on two cores. A build or a job of four nodes takes 4, a fuzzer, whose time is
# fixed, 2, and all else 1. Builds come first (COST), then tests that take 3, each with others beside it.

# mend_limit(TEST seconds): ctest's own TIMEOUT, which knows the wall's clock only: the last net, under the limit
# that tests/harness/within or tests/harness/mpitest counts.
function(mend_limit name seconds)
    math(EXPR net "${seconds} * 30 + 600")
    set_tests_properties(${name} PROPERTIES TIMEOUT ${net})
endfunction()

# mend_limited_test(NAME n TIMEOUT s COMMAND …): add_test, with a limit of s seconds of a quiet machine.
function(mend_limited_test)
    cmake_parse_arguments(ARG "" "NAME;TIMEOUT" "COMMAND" ${ARGN})
    list(GET ARG_COMMAND 0 program)
    if(TARGET ${program})
        list(REMOVE_AT ARG_COMMAND 0)
        list(PREPEND ARG_COMMAND $<TARGET_FILE:${program}>)
    endif()
    add_test(NAME ${ARG_NAME} COMMAND ${CMAKE_SOURCE_DIR}/tests/harness/alone
        ${CMAKE_SOURCE_DIR}/tests/harness/within ${ARG_TIMEOUT} ${ARG_COMMAND})
    mend_limit(${ARG_NAME} ${ARG_TIMEOUT})
endfunction()

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
    if(MEND_SANITIZE)
        math(EXPR ARG_TIMEOUT "${ARG_TIMEOUT} * 4")
    endif()
    mend_limited_test(NAME unit.${ARG_NAME} TIMEOUT ${ARG_TIMEOUT} COMMAND test_${ARG_NAME} ${ARG_ARGS})
    set_tests_properties(unit.${ARG_NAME} PROPERTIES LABELS "unit;${ARG_LABELS}")
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
    set(options --build ${CMAKE_BINARY_DIR} --np ${ARG_NP} --spares ${ARG_SPARES} --nodes ${ARG_NODES} --timeout ${ARG_TIMEOUT})
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
    mend_limit(mpi.${ARG_NAME} ${ARG_TIMEOUT})
    set_tests_properties(mpi.${ARG_NAME} PROPERTIES PROCESSORS 2 SKIP_RETURN_CODE 77
        LABELS "mpi;${ARG_LABELS}")
endfunction()

# mend_cli_test(NAME n SCRIPT file.sh [TIMEOUT s] [LABELS …]): a shell script that uses build/bin/mend.
function(mend_cli_test)
    cmake_parse_arguments(ARG "" "NAME;SCRIPT;TIMEOUT" "LABELS" ${ARGN})
    if(NOT ARG_TIMEOUT)
        set(ARG_TIMEOUT 120)
    endif()
    mend_limited_test(NAME cli.${ARG_NAME} TIMEOUT ${ARG_TIMEOUT} COMMAND bash ${CMAKE_CURRENT_SOURCE_DIR}/${ARG_SCRIPT})
    set_tests_properties(cli.${ARG_NAME} PROPERTIES SKIP_RETURN_CODE 77
        LABELS "cli;${ARG_LABELS}"
        ENVIRONMENT "MEND=${CMAKE_BINARY_DIR}/bin/mend;MEND_BUILD=${CMAKE_BINARY_DIR};MEND_SOURCE=${CMAKE_SOURCE_DIR}")
endfunction()

# mend_fuzzer(NAME n SOURCES … [SECONDS s] [MAXLEN bytes] [CHECK s])
# A libFuzzer target (LLVMFuzzerTestOneInput) against libmend-core with the address and undefined
# sanitizers. It is built by clang in a build of its own (test build.fuzz) and runs for a few seconds in
# `make check` (at most 10, all together within MEND_FUZZ_BUDGET), for 30 times SECONDS (default 60) in `make campaign`.
# CHECK: so many seconds in `make check` whatever the budget, for readers of what others may have written.
# Seeds are taken from tests/fuzz/corpus/NAME/ and a dictionary from tests/fuzz/NAME.dict, if there.
set(MEND_FUZZ_BUDGET 48 CACHE STRING "Seconds of one core that all fuzzers together take in make check")
set_property(GLOBAL PROPERTY MEND_FUZZERS "")
function(mend_fuzzer)
    cmake_parse_arguments(ARG "" "NAME;SECONDS;MAXLEN;CHECK" "SOURCES" ${ARGN})
    if(NOT ARG_CHECK)
        set(ARG_CHECK 0)
    endif()
    if(NOT ARG_SECONDS)
        set(ARG_SECONDS 60)
    endif()
    if(NOT ARG_MAXLEN)
        set(ARG_MAXLEN 65536)
    endif()
    set_property(GLOBAL APPEND PROPERTY MEND_FUZZERS "${ARG_NAME}:${ARG_SECONDS}:${ARG_MAXLEN}:${ARG_CHECK}")
    if(NOT MEND_FUZZ)
        return()
    endif()
    add_executable(fuzz_${ARG_NAME} EXCLUDE_FROM_ALL ${ARG_SOURCES})
    set_target_properties(fuzz_${ARG_NAME} PROPERTIES
        RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/fuzz OUTPUT_NAME ${ARG_NAME})
    get_property(built GLOBAL PROPERTY MEND_LAYERS_BUILT)
    foreach(layer IN LISTS built)
        target_include_directories(fuzz_${ARG_NAME} PRIVATE
            $<TARGET_PROPERTY:mend_${layer},INTERFACE_INCLUDE_DIRECTORIES> ${CMAKE_SOURCE_DIR}/src/${layer})
    endforeach()
    target_link_libraries(fuzz_${ARG_NAME} PRIVATE mend-core_static)
    target_link_options(fuzz_${ARG_NAME} PRIVATE -fsanitize=fuzzer)
    add_dependencies(fuzzers fuzz_${ARG_NAME})
endfunction()

# Called after all fuzzers are known: share the budget among them.
function(mend_fuzz_tests)
    get_property(fuzzers GLOBAL PROPERTY MEND_FUZZERS)
    list(LENGTH fuzzers count)
    if(count EQUAL 0 OR NOT MEND_INNER_BUILDS)
        return()
    endif()
    math(EXPR share "${MEND_FUZZ_BUDGET} / ${count}")
    if(share GREATER 10)
        set(share 10)
    endif()
    foreach(fuzzer IN LISTS fuzzers)
        string(REGEX MATCH "^(.*):([0-9]+):([0-9]+):([0-9]+)$" matched "${fuzzer}")
        set(name ${CMAKE_MATCH_1})
        set(seconds ${CMAKE_MATCH_2})
        set(length ${CMAKE_MATCH_3})
        set(check ${CMAKE_MATCH_4})
        math(EXPR long "30 * ${seconds}")
        if(check GREATER 0)
            set(seconds ${check})
        elseif(seconds GREATER share)
            set(seconds ${share})
        endif()
        add_test(NAME fuzz.${name} COMMAND ${CMAKE_SOURCE_DIR}/tests/harness/fuzz
            ${CMAKE_BINARY_DIR}-fuzz ${name} ${seconds} ${length})
        add_test(NAME fuzz_long.${name} COMMAND ${CMAKE_SOURCE_DIR}/tests/harness/fuzz
            ${CMAKE_BINARY_DIR}-fuzz ${name} ${long} ${length})
        mend_limit(fuzz.${name} ${seconds}) # a fuzzer ends by itself
        mend_limit(fuzz_long.${name} ${long})
        set_tests_properties(fuzz.${name} PROPERTIES LABELS fuzz)
        set_tests_properties(fuzz_long.${name} PROPERTIES LABELS "fuzz;campaign")
        set_tests_properties(fuzz.${name} fuzz_long.${name} PROPERTIES PROCESSORS 2 FIXTURES_REQUIRED fuzz_build
            SKIP_RETURN_CODE 77)
    endforeach()
endfunction()

# The same sources built another way, as one test: sanitizers (and their unit tests), clang, fuzzers.
function(mend_inner_build kind)
    mend_limited_test(NAME build.${kind} TIMEOUT 1500 COMMAND ${CMAKE_SOURCE_DIR}/tests/harness/inner-build
        ${kind} ${CMAKE_BINARY_DIR}-${kind})
    set_tests_properties(build.${kind} PROPERTIES LABELS build PROCESSORS 4
        SKIP_RETURN_CODE 77 COST 1000)
endfunction()

# mend_quick(TEST…): these tests stand for their kind in `make check-quick` (label quick). Call it after the tests'
# other properties are set. All of them together take two minutes of two quiet cores: add one, look at the sum.
function(mend_quick)
    foreach(name IN LISTS ARGN)
        if(NOT TEST ${name})
            message(FATAL_ERROR "mend_quick: there is no test ${name}")
        endif()
        set_property(TEST ${name} APPEND PROPERTY LABELS quick)
    endforeach()
endfunction()
