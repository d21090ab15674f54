#!/usr/bin/env bash
# flow_loops.sh PROGRAM SCENARIO STEP: kill a rank at every STEP-th tick of a scenario, and two at once, and two in a row; the
# checksum is always that of a run without kills.
set -uo pipefail
program=$1 scenario=$2 step=$3 np=3
export MEND_FLOW_EVERY=5
job() { # args
    # shellcheck disable=SC2086
    "$MEND_SOURCE/tests/harness/within" ${FLOW_LIMIT:-100} $MEND_MPIRUN -n $((np + MEND_FLOW_SPARES)) "$program" "$scenario" "$@" 2>"$MEND_TEST_DIR/err" |
        grep -o 'checksum.*'
}
export MEND_FLOW_SPARES=0
expected=$(job)
[ -n "$expected" ] || { cat "$MEND_TEST_DIR/err"; exit 1; }
jobs=0 bad=0
try() {
    local got
    got=$(job "$@" --mark "$MEND_TEST_DIR/mark.$jobs")
    jobs=$((jobs + 1))
    [ "$got" = "$expected" ] && return
    echo "$scenario $*: got '$got', expected '$expected'"
    cat "$MEND_TEST_DIR/err"
    bad=$((bad + 1))
}
for ((tick = 0; tick < 41; tick += step)); do
    MEND_FLOW_SPARES=1 try -k "$((tick % np))@$tick"
done
MEND_FLOW_SPARES=2 try -k 0@12 -k 2@12
MEND_FLOW_SPARES=2 try -k 1@24 -k 1@26
echo "$scenario: $jobs jobs with kills, $bad wrong"
[ $bad = 0 ] && echo PASS >"$MEND_TEST_MARKER"
