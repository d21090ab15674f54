#!/usr/bin/env bash
# process_node.sh PROGRAM RANKS+SPARES NODES…: while PROGRAM works on emulated nodes, all processes of the
# named nodes and their local storage are lost, one node (or several, as 0,1) after each recovery.
set -uo pipefail
program=$1 np=${2%+*} spares=${2#*+}; shift 2
export MEND_TEST_SPARES=$spares MEND_TEST_NP=$np
name=$(basename "$program")
# shellcheck disable=SC2086
"$MEND_SOURCE/tests/harness/within" 400 $MEND_MPIRUN -n $((np + spares)) "$program" $# </dev/null &
job=$!
at_work() { find "$MEND_TEST_DIR" -maxdepth 1 -name 'go.*' | sed 's/.*go\.//' | sort -n | tail -1; }
last=-1
for lost; do
    while :; do
        generation=$(at_work)
        [ "${generation:--1}" -gt $last ] && break
        kill -0 $job 2>/dev/null || { echo "the job ended before node $lost was lost"; exit 1; }
        sleep 0.05
    done
    killers=()
    for k in ${lost//,/ }; do node ranks "$k" "$name" & killers+=($!); done
    wait "${killers[@]}"
    echo "nodes $lost are lost in generation $generation"
    last=$generation
done
: >"$MEND_TEST_DIR/enough"
wait $job
exit 0 # the marker says how it went
