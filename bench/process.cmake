mend_bench(NAME process_parts SOURCES process_bench.c)
mend_bench(NAME process SCRIPT process.sh)
