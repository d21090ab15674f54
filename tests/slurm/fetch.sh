#!/usr/bin/env bash
# Slurm's packages, before the tests that need them: inside their network namespaces nothing can be fetched.
log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT
"$MEND_SOURCE/env/slurm" --fetch 2>"$log" || { echo "SKIP: Slurm cannot be had here: $(tail -1 "$log")"; exit 77; }
