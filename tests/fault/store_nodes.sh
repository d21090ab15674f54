#!/usr/bin/env bash
# store_nodes.sh PROGRAM LEVELS: the program runs with one rank a node; node 1, then node 3 is killed with its disk.
set -uo pipefail
program=$1 levels=$2
# shellcheck disable=SC2086
$MEND_MPIRUN -n $((MEND_TEST_NP + MEND_TEST_SPARES)) "$program" "$levels" & job=$!
for kill in 1:1 2:3; do
    until [ -e "/mnt/shared/kill-${kill%:*}" ]; do
        kill -0 $job 2>/dev/null || { echo "the program ended before kill ${kill%:*}"; exit 1; }
        sleep 0.05
    done
    rsh "node${kill#*:}" 'ls -l /mnt/local/*/* 2>/dev/null | wc -l' | sed "s/^/files on node ${kill#*:} before its death: /"
    node ranks "${kill#*:}" "${program##*/}"
done
wait $job
