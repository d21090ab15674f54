mend_bench(NAME store_1 NP 1 SOURCES store.c)
mend_bench(NAME store_2 NP 2 SOURCES store.c)
mend_bench(NAME store_4 NP 4 SOURCES store.c)
