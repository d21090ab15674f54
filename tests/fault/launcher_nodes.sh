#!/usr/bin/env bash
# Start and end on many emulated nodes, and the messages that they take: first on a part of the nodes, then on all of them,
# with MEND_TEST_EACH ranks on each. A fence has two messages a node; all messages together grow no worse than N log N, by the
# head's own count. Called by tests/harness/mpitest on the head.
set -uo pipefail
cd "$MEND_TEST_DIR" || exit 1
fail() { echo "FAIL: $*"; cat err; tail -5 report; exit 1; }
mpicc.openmpi -O2 -o odd "$MEND_SOURCE/tests/fault/apps/odd.c" -pthread || exit 1
head=$MEND_BUILD/lib/mend/mend-node each=$MEND_TEST_EACH
export OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,sm,tcp OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_mpi_add_procs_cutoff=4096 OMPI_MCA_coll=^han
before=0
for nodes in $((MEND_TEST_NODES / 3)) "$MEND_TEST_NODES"; do
    ranks=$((nodes * each))
    hosts=$(for ((k = 0; k < nodes; k++)); do printf 'node%d:%d,' $k "$each"; done)
    # (time-outs of a machine that has far more processes than cores)
    "$head" head -n $ranks --host "${hosts%,}" --agent /mnt/ctl/rsh --start-timeout 300 --node-timeout 300 --report 3 -- ./odd brief 3>report >got 2>err </dev/null ||
        fail "$ranks ranks on $nodes nodes: code $?"
    [ "$(grep -c 'was here' got)" = $ranks ] && [ "$(grep -c '^ended [0-9]* exit 0$' report)" = $ranks ] || fail "$ranks ranks on $nodes nodes: not all have come and ended"
    [ "$(awk '/^started/ { print $4 }' report | sort -u | wc -l)" = "$nodes" ] || fail "not all of $nodes nodes have ranks"
    read -r all fences of_fences < <(awk '/^messages/ { print $2 + $3, $5, $6 }' report)
    echo "$ranks ranks on $nodes nodes: $all messages, $fences fences of $of_fences messages"
    [ "$fences" -ge 1 ] && [ "$of_fences" = $((2 * nodes * fences)) ] || fail "a fence has not two messages a node"
    [ $before = 0 ] || awk -v a="$all" -v b=$before -v n=$ranks -v m=$last 'BEGIN { exit !(a / b <= n * log(n) / (m * log(m))) }' || fail "more than N log N"
    before=$all last=$ranks
    for ((k = 0; k < nodes; k++)); do
        for _ in $(seq 100); do left=$("$MEND_SOURCE/tests/harness/node" list $k odd; "$MEND_SOURCE/tests/harness/node" list $k mend-node); [ -n "$left" ] || break; sleep 0.1; done
        [ -z "$left" ] || fail "processes are left on node$k: $left"
    done
done
echo PASS >"$MEND_TEST_MARKER"
