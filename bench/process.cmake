mend_bench(NAME process_parts UNLISTED SOURCES process_bench.c)
mend_bench(NAME process_calls SCRIPT process.sh calls)
mend_bench(NAME process_repair SCRIPT process.sh repair)
