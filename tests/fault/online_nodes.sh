#!/usr/bin/env bash
# On emulated nodes: all ranks of a node die with its storage, later one rank of another; the output must
# equal that of a native run. With MEND_TEST_LEVELS the images must come from there. Called by tests/harness/mpitest on the head.
set -uo pipefail
cd "$MEND_TEST_DIR" || exit 1
fail() {
    echo "FAIL: $*"
    cat err
    # shellcheck disable=SC2046
    "$MEND_SOURCE/tests/harness/stacks" $(for k in 0 1 2 3; do "$MEND_SOURCE/tests/harness/node" list $k capsule.openmpi; done)
    grep -vE 'checkpoint.commit|undo' job/events.jsonl 2>/dev/null | tail -80 | cut -c1-200
    exit 1
}
mpicc.openmpi -O2 -o steady "$MEND_SOURCE/tests/fault/apps/steady.c" || exit 1
where=(--host node0:2,node1:2,node2:2,node3:2)
if [ -n "${MEND_TEST_HOSTFILE:-}" ]; then
    printf 'node%d slots=2\n' 0 1 2 3 >hosts
    where=(--hostfile hosts)
fi
launcher=(--launcher /mnt/ctl/rsh)
[ "${MEND_TEST_LAUNCHER:-}" != mpirun ] || launcher=(--launcher mpirun --launcher-args "--prtemca plm_ssh_agent /mnt/ctl/rsh")
# shellcheck disable=SC2086
$MEND_MPIRUN -n 4 ./steady 2000 4096 >want 2>native.err || { cat native.err; fail "native run"; }
"$MEND_BUILD/bin/mend" run -n 4 --spares 4 --every 300ms "${where[@]}" --dir "$PWD/job" -q \
    ${MEND_TEST_LEVELS:+--levels $MEND_TEST_LEVELS --local-dir /mnt/local} "${launcher[@]}" -- ./steady 2000 4096 >got 2>err & runner=$!
count() { local n; n=$(grep -c "$1" job/events.jsonl 2>/dev/null); echo "${n:-0}"; }
await() { until [ "$(count "$1")" -ge "$2" ]; do kill -0 $runner 2>/dev/null || return 1; sleep 0.1; done; }
await "\"level\":\"${MEND_TEST_LEVEL:-memory}\"" 8 || fail "the job ended before it was hit"
"$MEND_SOURCE/tests/harness/node" ranks 1 capsule.openmpi || fail "node 1 could not be hit"
await '"how":"res' 4 || fail "no recovery after the loss of a node"
if [ -n "${MEND_TEST_LEVELS:-}" ]; then
    [ "$(count recover.fetched)" -ge 4 ] || fail "not restored from $MEND_TEST_LEVELS"
fi
wait $runner || { cat err; fail "run"; }
cmp got want || fail "the output differs"
echo "PASS $(grep -c '"how":"resumed"' job/events.jsonl) ranks resumed" >"$MEND_TEST_MARKER"
