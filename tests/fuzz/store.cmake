mend_fuzzer(NAME image SOURCES image.c CHECK 60)
mend_fuzzer(NAME bundle SOURCES bundle.c CHECK 60)
mend_fuzzer(NAME topology SOURCES topology.c ${CMAKE_SOURCE_DIR}/src/store/place.c MAXLEN 4096)
