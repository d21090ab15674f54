#!/usr/bin/env bash
# Two emulated nodes, three ranks on one and one on the other: some ranks have one partner on their own machine and one
# on another. Every version has its copies, and a rank that is killed comes back from one. Then: input from a pipe comes to
# rank 0. No node is lost here, also on a machine that stands still as a whole for 5 s, as a virtual one may. Called by
# tests/harness/mpitest on the head.
set -uo pipefail
cd "$MEND_TEST_DIR" || exit 1
fail() {
    echo "FAIL: $*"
    cat err
    grep -vE 'undo' job/events.jsonl 2>/dev/null | tail -40 | cut -c1-200
    exit 1
}
. "$MEND_SOURCE/tests/fault/told.sh"
mpicc.openmpi -O2 -o steady "$MEND_SOURCE/tests/fault/apps/steady.c" || exit 1
native() { mpirun.openmpi --oversubscribe --bind-to none --mca btl self,sm --mca pml ob1 -n 4 "$@" 2>native.err || { cat native.err >&2; return 1; }; }
count() { local n; n=$(grep -c "$1" job/events.jsonl 2>/dev/null); echo "${n:-0}"; }
await() { until [ "$(count "$1")" -ge "$2" ]; do kill -0 $runner 2>/dev/null || fail "the job ended before $2 x $1"; [ "$(count recover.noticed)" -le "${allowed:-0}" ] || fail "a recovery without a death"; sleep 0.02; done; }
untold -- ./steady ./enough 4096
"$MEND_BUILD/bin/mend" run -n 4 --spares 1 --no-refill --every 200ms --node-timeout 30s --host node0:3,node1:2 --dir "$PWD/job" -q --launcher /mnt/ctl/rsh -- ./steady ./enough 4096 >got 2>err & runner=$!
await '"level":"partner"' 12
mapfile -t there < <("$MEND_SOURCE/tests/harness/node" list 0 capsule.openmpi)
allowed=9; kill -9 "${there[0]}" || fail "nobody on node0"
await '"how":"res' 4; await '"level":"partner"' $(($(count '"level":"partner"') + 8))
tell
wait $runner || fail "run: code $?"
reference
cmp got want || fail "the output differs"
[ "$(count '"run.launch"')" = 1 ] || fail "launched $(count '"run.launch"') times"
mpicc.openmpi -O2 -o odd "$MEND_SOURCE/tests/fault/apps/odd.c" -pthread || exit 1
seq 9 | native ./odd input | sort >want
seq 9 | "$MEND_BUILD/bin/mend" run -n 4 --spares 1 --node-timeout 30s --host node0:3,node1:2 --dir "$PWD/other" -q --launcher /mnt/ctl/rsh -- ./odd input >got 2>err || fail "input: code $?"
[ "$(wc -l <want)" -ge 9 ] && sort got | cmp - want || fail "input: $(cat got)"
echo PASS >"$MEND_TEST_MARKER"
