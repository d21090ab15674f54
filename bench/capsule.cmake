mend_bench(NAME capsule SCRIPT capsule.sh)
