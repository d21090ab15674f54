mend_fuzzer(NAME plan_model SOURCES plan_model.c MAXLEN 4096)
mend_fuzzer(NAME plan_trace SOURCES plan_trace.c MAXLEN 4096)
