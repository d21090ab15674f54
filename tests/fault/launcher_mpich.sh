#!/usr/bin/env bash
# On emulated nodes, under Mend's own launcher: MPICH's ranks, which it serves by PMI-1. A rank is killed, then the node
# of another one; each time the job is launched again, without the dead node, and the output must equal that of an
# undisturbed run. Called by tests/harness/mpitest on the head.
set -uo pipefail
cd "$MEND_TEST_DIR" || exit 1
node=$MEND_SOURCE/tests/harness/node
command -v mpirun.mpich >/dev/null || { echo "no MPICH here"; exit 77; }
fail() { echo "FAIL: $*"; cat err; grep -vE 'checkpoint.commit|undo' job/events.jsonl 2>/dev/null | tail -40 | cut -c1-200; exit 1; }
mpicc.openmpi -O2 -o steady "$MEND_SOURCE/tests/fault/apps/steady.c" || exit 1
# shellcheck disable=SC2086
$MEND_MPIRUN -n 2 ./steady 4000 4096 >want 2>native.err || { cat native.err; fail "native run"; }
count() { local n; n=$(grep -c "$1" job/events.jsonl 2>/dev/null); echo "${n:-0}"; }
await() { until [ "$(count "$1")" -ge "$2" ]; do kill -0 $runner 2>/dev/null || fail "the job ended before $2 x $1"; sleep 0.02; done; }
# (not on node0: UCX does not use a bridge, which is all the network that the head of emulated nodes has)
"$MEND_BUILD/bin/mend" run -n 2 --mpi mpich --every 200ms --retries 9 --host node1:1,node2:1,node3:1 --dir "$PWD/job" -q \
    --launcher /mnt/ctl/rsh --node-timeout 10s -- ./steady 4000 4096 >got 2>err & runner=$!
await checkpoint.commit 4
"$node" ranks 1 capsule.mpich || fail "node 1 could not be hit"
await '"restart"' 1; await checkpoint.commit $(($(count checkpoint.commit) + 4))
"$node" kill 1 || fail "node 1 could not be killed"
await '"launch.lost"' 1; await '"restart"' 2
wait $runner || fail "run: code $?"
cmp got want || fail "the output differs"
for k in 0 2 3; do
    for _ in $(seq 100); do left=$("$node" list $k capsule.mpich; "$node" list $k mend-node); [ -n "$left" ] || break; sleep 0.1; done
    [ -z "$left" ] || fail "processes are left on node$k: $left"
done
echo "PASS launched $(count run.launch) times" >"$MEND_TEST_MARKER"
