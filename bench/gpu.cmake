mend_bench(NAME gpu NP 1 SOURCES gpu/gpu.c)
