mend_fuzzer(NAME image SOURCES image.c CHECK 60)
mend_fuzzer(NAME bundle SOURCES bundle.c CHECK 60)
