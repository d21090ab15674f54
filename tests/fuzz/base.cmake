mend_fuzzer(NAME config SOURCES config.c)
mend_fuzzer(NAME fault SOURCES fault.c)
