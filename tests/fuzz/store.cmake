mend_fuzzer(NAME image SOURCES image.c)
mend_fuzzer(NAME bundle SOURCES bundle.c)
