mend_fuzzer(NAME config SOURCES config.c CHECK 6)
mend_fuzzer(NAME fault SOURCES fault.c)
mend_fuzzer(NAME environment SOURCES environment.c MAXLEN 4096)
