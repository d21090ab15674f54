mend_bench(NAME fenix_data NP 4 SOURCES fenix_data.c)
