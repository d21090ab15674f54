mend_fuzzer(NAME config SOURCES config.c CHECK 60)
mend_fuzzer(NAME fault SOURCES fault.c)
