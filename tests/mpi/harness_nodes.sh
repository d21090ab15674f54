#!/usr/bin/env bash
# Emulated nodes: each with a name and storage of its own, one shared folder; nodes die as ordered.
# harness_nodes.sh ranks|off|names PROGRAM
set -uo pipefail
what=$1 program=$2
start() { # in the background, until it is in its loop
    # shellcheck disable=SC2086
    $MEND_MPIRUN "${extra[@]}" -n $((MEND_TEST_NP + MEND_TEST_SPARES)) "$program" "$@" & job=$!
    until [ -e /mnt/shared/ready ]; do kill -0 $job 2>/dev/null || { echo "the program did not start"; exit 1; }; sleep 0.05; done
}
extra=()
case $what in
    names)
        echo head >/mnt/local/file
        rsh node1 'test ! -e /mnt/local/file && touch /mnt/shared/from-$(hostname)' || { echo "storage is not its own"; exit 1; }
        [ -e /mnt/shared/from-node1 ] || { echo "the folder is not shared"; exit 1; }
        # the launcher may miss the end of processes that are gone at once, on a busy machine, and wait for ever
        names=$($MEND_MPIRUN -n "$MEND_TEST_NP" sh -c 'hostname; sleep 1' | sort -u | tr '\n' ' ')
        [ "$names" = "node0 node1 node2 " ] && echo PASS >/mnt/shared/marker || echo "names: $names" ;;
    ranks) # all ranks of one node
        start 2
        node ranks 1 "${program##*/}"
        wait $job ;;
    off) # one node, without a word
        mapfile -t extra < <(sed -e 's/#.*//' -e '/^[[:space:]]*$/d' "$MEND_SOURCE/share/launch/openmpi-detector")
        start 2 400
        node off 2
        wait $job ;;
esac
