mend_fuzzer(NAME image SOURCES image.c CHECK 6)
mend_fuzzer(NAME bundle SOURCES bundle.c CHECK 6)
mend_fuzzer(NAME topology SOURCES topology.c ${CMAKE_SOURCE_DIR}/src/store/levels/placement.c MAXLEN 4096)
if(TARGET fuzz_topology) # the store itself is not built without MPI
    target_include_directories(fuzz_topology PRIVATE ${CMAKE_SOURCE_DIR}/src/store)
endif()
